#include "switch/control/ctl/telemetry_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "switch/control/serve/client.h"
#include "switch/control/serve/socket_server.h"
#include "system/hostile_json.h"
#include "system/unix_socket.h"

namespace eddy::control {
namespace {

constexpr size_t kAnswerBytes = 64 * 1024;
constexpr std::array kOfTheProcess = {"/info", "/eal/heap_list", "/eal/heap_info,0"};
constexpr std::array kOfAPort = {"/ethdev/info", "/ethdev/link_status", "/ethdev/stats",
                                 "/ethdev/xstats"};

class Telemetry {
 public:
  Problems open(const std::string& path) {
    path_ = path;
    sockaddr_un address;
    if (!fill_unix_address(path, address)) return {path + ": path is too long"};
    fd_ = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const timeval patience{kAnswerMs / 1'000, 0};
    for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO})
      ::setsockopt(fd_.get(), SOL_SOCKET, which, &patience, sizeof(patience));
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      return {path + ": " + std::strerror(errno)};
    const Result<Json> greeting = receive();
    return greeting.ok() ? Problems{} : greeting.problems();
  }

  // The answer's one member, which bears the command's name.
  Result<Json> ask(const std::string& command) {
    if (::send(fd_.get(), command.data(), command.size(), MSG_NOSIGNAL) < 0)
      return Result<Json>::failure(path_ + ": " + std::strerror(errno));
    Result<Json> answer = receive();
    if (!answer.ok() || !answer->is_object() || answer->empty()) return answer;
    return Json(answer->begin().value());
  }

 private:
  Result<Json> receive() {
    std::vector<char> buffer(kAnswerBytes);
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return Result<Json>::failure(path_ + ": no answer within 2 s");
    if (got <= 0) return Result<Json>::failure(path_ + ": closed without an answer");
    return parse_json(path_, std::string_view(buffer.data(), static_cast<size_t>(got)),
                      kAnswerBounds);
  }

  std::string path_;
  Fd fd_;
};

}  // namespace

Result<Json> dpdk_view(const std::string& socket) {
  Telemetry telemetry;
  if (Problems problems = telemetry.open(socket); !problems.empty()) return problems;
  Json view = Json::object();
  const auto add = [&](const std::string& command) -> Problems {
    Result<Json> answer = telemetry.ask(command);
    if (!answer.ok()) return answer.problems();
    view[command] = std::move(*answer);
    return {};
  };
  for (const char* command : kOfTheProcess)
    if (Problems problems = add(command); !problems.empty()) return problems;
  const Result<Json> ports = telemetry.ask("/ethdev/list");
  if (!ports.ok()) return ports.problems();
  for (const Json& port : ports.value())
    for (const char* command : kOfAPort)
      if (Problems problems = add(std::string(command) + "," + port.dump()); !problems.empty())
        return problems;
  return view;
}

}  // namespace eddy::control
