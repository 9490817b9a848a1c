// SocketServer: lines in, lines out, on one Unix stream socket, for many clients that may be slow
// or hostile.
//
// Nothing here blocks but poll(). A client is read only while it has no answer waiting, so it holds
// at most one request line and one answer; it is served one line a round. An answer may hand over
// file descriptors (SCM_RIGHTS), and something that lasts as long as the connection: such a client
// is not sent away. Mode of the socket: 0660.
// Owner and thread: one (wake() may come from anywhere, a signal handler too). Units: nanoseconds
// of the caller's clock. Bounds: Limits. Cost of a round: linear in the clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/result.h"

namespace eddy::control {

// A file descriptor that is closed once.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

class SocketServer {
 public:
  struct Limits {
    size_t clients = 64;
    size_t line_bytes = 64 * 1024;
    int64_t evict_idle_ns = 10'000'000'000;  // who may be sent away when all places are taken
  };
  struct Answer {
    Answer(std::string text) : line(std::move(text)) {}  // NOLINT(google-explicit-constructor)
    std::string line;                                    // without its newline
    std::vector<Fd> descriptors;                         // go with it, at most kMostDescriptors
    std::shared_ptr<void> lease;  // is let go of when the client is gone, however it went
  };
  static constexpr size_t kMostDescriptors = 4;
  // Gets a line without its newline.
  using Handler = std::function<Answer(std::string_view line)>;
  // Answers what the handler never sees: too long a line, too many clients.
  using Refusal = std::function<std::string(std::string_view why)>;

  // Makes the directory, removes the socket of a dead process; a live one is a problem.
  static Result<std::unique_ptr<SocketServer>> open(std::string path, Handler handler,
                                                    Refusal refusal, Limits limits);
  ~SocketServer();  // unlinks the socket, unless another stands there by now

  // Waits until something happens, at most timeout_ms, and serves it. True after a wake().
  bool serve(int timeout_ms, int64_t now_ns);
  void wake() const;  // async-signal-safe
  size_t client_count() const { return clients_.size(); }

 private:
  struct Client;
  SocketServer(std::string path, Handler handler, Refusal refusal, Limits limits);
  Problems listen_on_path();
  void accept_clients(int64_t now_ns);
  void admit(Fd fd, int64_t now_ns);
  bool evict_idle(int64_t now_ns);
  void serve_client(Client& client, short events, int64_t now_ns);
  void answer_one_line(Client& client, int64_t now_ns);

  std::string path_;
  Handler handler_;
  Refusal refusal_;
  Limits limits_;
  Fd listener_;
  Fd wake_;
  bool bound_ = false;
  bool accept_paused_ = false;  // out of descriptors: try again next round
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace eddy::control
