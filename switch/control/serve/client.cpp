#include "switch/control/serve/client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "switch/control/serve/socket_server.h"

namespace eddy::control {
namespace {

constexpr size_t kAnswerBytes = 64 * 1024;
constexpr size_t kMaxAnswerBytes = 64 * 1024 * 1024;

Problems problem(const std::string& path, const std::string& what) {
  return {path + ": " + what};
}

Problems system_problem(const std::string& path) {
  if (errno == EAGAIN) return problem(path, "no answer in time");
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

Result<Fd> connect_to(const std::string& path, int type, int timeout_ms) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return problem(path, "path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  timeval timeout{timeout_ms / 1'000, timeout_ms % 1'000 * 1'000};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), generic, sizeof(address)) != 0) return unreachable(path);
  return fd;
}

Result<Json> parse_answer(const std::string& path, std::string_view text) {
  Json answer = Json::parse(text, nullptr, false);
  if (answer.is_discarded() || !answer.is_object())
    return problem(path, "the answer is not a JSON object");
  return answer;
}

}  // namespace

Result<Json> request_over_socket(const std::string& path, const Json& request, int timeout_ms) {
  Result<Fd> fd = connect_to(path, SOCK_STREAM, timeout_ms);
  if (!fd.ok()) return fd.problems();
  const std::string line = request.dump() + "\n";
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t done = ::send(fd->get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (done < 0) return system_problem(path);
    sent += static_cast<size_t>(done);
  }
  std::string answer;
  std::vector<char> buffer(kAnswerBytes);
  while (answer.empty() || answer.back() != '\n') {
    const ssize_t got = ::recv(fd->get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return system_problem(path);
    if (got == 0) return problem(path, "closed without an answer");
    answer.append(buffer.data(), static_cast<size_t>(got));
    if (answer.size() > kMaxAnswerBytes) return problem(path, "the answer has no end");
  }
  return parse_answer(path, answer);
}

Problems try_socket(const std::string& path, int socket_type) {
  const Result<Fd> fd = connect_to(path, socket_type, kReadTimeoutMs);
  return fd.ok() ? Problems{} : fd.problems();
}

std::map<std::string, std::string> telemetry_sockets(const std::string& runtime_directory) {
  std::map<std::string, std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(runtime_directory, ignored)) {
    const std::string name = switch_of_prefix(entry.path().filename().string());
    const std::string socket = entry.path() / kTelemetrySocket;
    if (!name.empty() && try_socket(socket, SOCK_SEQPACKET).empty()) found[name] = socket;
  }
  return found;
}

}  // namespace eddy::control
