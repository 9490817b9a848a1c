#include "switch/control/serve/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "net/text/plain_name.h"
#include "switch/control/serve/socket_server.h"
#include "system/hostile_json.h"
#include "system/unix_socket.h"

namespace eddy::control {
namespace {

constexpr size_t kAnswerBytes = 64 * 1024;
constexpr size_t kMostRows = 500'000;

Problems problem(const std::string& path, const std::string& what) {
  return {path + ": " + what};
}

Problems system_problem(const std::string& path) {
  return problem(path, std::strerror(errno));
}

// Why nobody can be reached there, by errno of connect().
Problems unreachable(const std::string& path) {
  if (errno == ECONNREFUSED)
    return problem(path, "nobody answers; a switch that was killed leaves its socket behind");
  if (errno == ENOENT) return problem(path, "there is no such socket");
  if (errno == EACCES) return problem(path, "only its owner and group may use it");
  return system_problem(path);
}

class Conversation {
 public:
  Conversation(const std::string& path, const Patience& patience)
      : path_(path), patience_(patience), began_(Clock::now()) {}

  Result<Json> run(const std::string& line) {
    if (Problems problems = connect(); !problems.empty()) return problems;
    if (Problems problems = send(line); !problems.empty()) return problems;
    std::string answer;
    if (Problems problems = receive(answer); !problems.empty()) return problems;
    Result<Json> json = parse_json(path_ + ": the answer", answer, kAnswerBounds);
    if (json && !json->is_object()) return problem(path_, "the answer is not a JSON object");
    return json;
  }
  // After run(), of an answer that there is.
  OpenAnswer keep(Json answer) {
    return {std::move(answer), std::move(descriptors_), std::move(fd_)};
  }

 private:
  using Clock = std::chrono::steady_clock;

  int left_ms(int of_ms) const {
    const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began_);
    return static_cast<int>(std::max<int64_t>(0, of_ms - gone.count()));
  }

  Problems too_late() const {
    return problem(path_,
                   "no answer within " + std::to_string(patience_.give_up_ms / 1'000) + " s");
  }

  // A listener whose queue is full is no descriptor to poll() for, so connect() waits itself.
  Problems connect() {
    sockaddr_un address;
    if (!fill_unix_address(path_, address)) return problem(path_, "path is too long");
    fd_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int time = patience_.give_up_ms;
    const timeval timeout{time / 1'000, time % 1'000 * 1'000};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return {};
    return errno == EAGAIN ? too_late() : unreachable(path_);
  }

  // False: it is too late, or nobody wants to know any more.
  bool wait_for(short events) {
    std::array<pollfd, 2> waits{{{fd_.get(), events, 0}, {patience_.stop_fd, POLLIN, 0}}};
    if (patience_.still_waiting && !told_) {
      if (::poll(waits.data(), waits.size(),
                 std::min(left_ms(kAnswerMs), left_ms(patience_.give_up_ms))) > 0)
        return waits[1].revents == 0;
      if (left_ms(patience_.give_up_ms) > 0) patience_.still_waiting();
      told_ = true;
    }
    int ready = 0;
    do ready = ::poll(waits.data(), waits.size(), left_ms(patience_.give_up_ms));
    while (ready < 0 && errno == EINTR);
    return ready > 0 && waits[1].revents == 0 && left_ms(patience_.give_up_ms) > 0;
  }

  Problems send(const std::string& line) {
    for (size_t sent = 0; sent < line.size();) {
      if (!wait_for(POLLOUT)) return too_late();
      const ssize_t done =
          ::send(fd_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (done < 0 && errno != EAGAIN) return system_problem(path_);
      sent += static_cast<size_t>(std::max<ssize_t>(done, 0));
    }
    return {};
  }

  Problems receive(std::string& answer) {
    std::vector<char> buffer(kAnswerBytes);
    while (answer.empty() || answer.back() != '\n') {
      if (!wait_for(POLLIN)) return too_late();
      const ssize_t got = receive_some(buffer);
      if (got < 0 && errno == EAGAIN) continue;
      if (got < 0) return system_problem(path_);
      if (got == 0) return problem(path_, "closed without an answer");
      answer.append(buffer.data(), static_cast<size_t>(got));
      if (answer.size() > kAnswerBounds.octets) return problem(path_, "the answer has no end");
    }
    return {};
  }

  // Descriptors that come along are kept.
  ssize_t receive_some(std::vector<char>& buffer) {
    iovec room{buffer.data(), buffer.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * SocketServer::kMostDescriptors)>
        control{};
    msghdr message{};
    message.msg_iov = &room;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
      for (size_t i = 0; i < (at->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
        int each = -1;
        std::memcpy(&each, CMSG_DATA(at) + i * sizeof each, sizeof each);
        descriptors_.emplace_back(each);
      }
    }
    return got;
  }

  const std::string& path_;
  const Patience& patience_;
  const Clock::time_point began_;
  Fd fd_;
  std::vector<Fd> descriptors_;
  bool told_ = false;
};

int error_of_connect(const std::string& path, int socket_type) {
  sockaddr_un address;
  if (!fill_unix_address(path, address)) return ENAMETOOLONG;
  const Fd fd(::socket(AF_UNIX, socket_type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(fd.get(), generic, sizeof(address)) == 0 ? 0 : errno;
}

bool is_flat(const Json& row) {
  return row.is_object() && std::all_of(row.begin(), row.end(),
                                        [](const Json& member) { return !member.is_structured(); });
}

}  // namespace

Result<Json> request_over_socket(const std::string& path, const Json& request,
                                 const Patience& patience) {
  return Conversation(path, patience).run(request.dump() + "\n");
}

Result<OpenAnswer> open_over_socket(const std::string& path, const Json& request,
                                    const Patience& patience) {
  Conversation conversation(path, patience);
  Result<Json> answer = conversation.run(request.dump() + "\n");
  if (!answer.ok()) return answer.problems();
  return conversation.keep(std::move(*answer));
}

Problems check_report(const Json& result) {
  const auto rows = result.find("rows");
  if (!result.is_object() || rows == result.end() || !rows->is_array())
    return {"the answer is no report: it has no rows"};
  if (rows->size() > kMostRows)
    return {"the answer is no report: it has more than " + std::to_string(kMostRows) + " rows"};
  if (!std::all_of(rows->begin(), rows->end(), is_flat))
    return {"the answer is no report: a row of it is no object of numbers and texts"};
  return {};
}

Problems try_socket(const std::string& path, int socket_type) {
  const int error = error_of_connect(path, socket_type);
  // EAGAIN: there is a listener, whose queue is full.
  if (error == 0 || error == EAGAIN) return {};
  if (error == ENAMETOOLONG) return problem(path, "path is too long");
  errno = error;
  return unreachable(path);
}

int peer_process(const std::string& path) {
  sockaddr_un address;
  if (!fill_unix_address(path, address)) return 0;
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ucred who{};
  socklen_t size = sizeof(who);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
    return 0;
  return who.pid;
}

bool is_of_another_type(const std::string& path, int socket_type) {
  return error_of_connect(path, socket_type) == EPROTOTYPE;
}

std::map<std::string, std::string> telemetry_sockets(const std::string& runtime_directory) {
  std::map<std::string, std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(runtime_directory, ignored)) {
    const std::string name = switch_of_prefix(entry.path().filename().string());
    const std::string socket = entry.path() / kTelemetrySocket;
    if (is_plain_name(name) && try_socket(socket, SOCK_SEQPACKET).empty()) found[name] = socket;
  }
  return found;
}

}  // namespace eddy::control
