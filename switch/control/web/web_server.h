// WebServer: the live page over HTTP, and what it shows as server-sent events.
//
// GET and HEAD of five paths: /, its style and script, /live (a stream of pictures) and /port (the
// tables of one port). Nothing can be changed. Whoever asks by another name than this server's, or
// from another page, is refused (own_host.h). One thread waits for all clients at once (epoll), so
// one that says nothing, or half of a request, keeps nobody waiting; it is sent away after
// kIdleSeconds. A second thread asks switches for tables, one question after the other. publish()
// may be called by any thread and waits for nobody: who reads slowly is given the newest picture
// next and never hears of those between. Bounds: kMostClients, of them kMostWatchers streams, a
// request of kRequestBytes, kMostQuestions that wait; a picture a stream.
// Source: libmicrohttpd; WHATWG HTML, "Server-sent events".
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "net/result.h"
#include "switch/control/serve/socket_server.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace eddy::control {

// What everybody is shown; both are whole events, live_picture.h makes them.
struct Picture {
  uint64_t shape = 0;  // which switches and links there are; 0: none yet
  std::string shape_event;
  std::string values_event;
};

class WebServer {
 public:
  static constexpr unsigned kMostClients = 512;
  static constexpr size_t kMostWatchers = 32;
  static constexpr size_t kMostQuestions = 64;
  static constexpr unsigned kIdleSeconds = 5;
  static constexpr size_t kRequestBytes = size_t{16} << 10;

  struct Answer {
    unsigned status = 200;
    std::string json;
  };
  // The tables of a port of a switch; both names are what a client has said. Called by a thread of
  // the server's; may take seconds.
  using Tables = std::function<Answer(const std::string& name, const std::string& port)>;

  // `address`: "127.0.0.1:9480"; port 0: any that is free.
  static Result<std::unique_ptr<WebServer>> open(const std::string& address, Tables tables);
  // Ends all streams.
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // Where it listens, with the port that it has.
  const std::string& address() const { return address_; }
  void publish(Picture picture);
  size_t watchers() const;
  // Readable once somebody has begun to watch; read by the caller.
  int wake_fd() const { return wake_.get(); }

 private:
  friend struct WebCallbacks;
  struct Stream;
  struct Question;

  WebServer(std::string address, Tables tables);
  Problems start(Fd listener);
  void answer_questions();

  const std::string address_;
  const std::string machine_;  // its name where others reach us
  const Tables tables_;
  const Fd wake_;
  MHD_Daemon* daemon_ = nullptr;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable asked_;
  std::shared_ptr<const Picture> picture_;
  std::list<Stream*> streams_;
  std::deque<Question*> questions_;  // that wait
  bool ending_ = false;
  std::thread asker_;
};

}  // namespace eddy::control
