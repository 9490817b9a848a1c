#include "tests/unit/control/serve/telemetry_reader.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "switch/control/serve/client.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

Problems problem(const std::string& path, const std::string& what) {
  return {path + ": " + what};
}

Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval timeout{5, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), generic, sizeof(address)) != 0)
    return problem(path, std::strerror(errno));
  return fd;
}

// One SOCK_SEQPACKET conversation with DPDK telemetry.
class Telemetry {
 public:
  Telemetry(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  // The greeting says how long answers get.
  Problems greet() {
    Result<Json> greeting = receive();
    if (!greeting.ok()) return greeting.problems();
    buffer_.resize(greeting->value("max_output_len", kReadBytes) + 1);
    return {};
  }

  Result<Json> ask(const std::string& command) {
    if (::send(fd_.get(), command.data(), command.size(), MSG_NOSIGNAL) < 0)
      return problem(path_, std::strerror(errno));
    return receive();
  }

 private:
  Result<Json> receive() {
    const ssize_t got = ::recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
    if (got < 0) return problem(path_, std::strerror(errno));
    if (got == 0) return problem(path_, "closed without an answer; too many telemetry clients?");
    Json answer = Json::parse(std::string_view(buffer_.data(), static_cast<size_t>(got)), nullptr,
                              /*allow_exceptions=*/false);
    if (!answer.is_object()) return problem(path_, "the answer is not a JSON object");
    return answer;
  }

  std::string path_;
  Fd fd_;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
};

std::string parameters(const ReportOptions& options, uint64_t page, uint64_t snapshot) {
  std::string text = "page=" + std::to_string(page);
  if (page > 0) text += ",snapshot=" + std::to_string(snapshot);
  if (options.all) text += ",all=1";
  if (options.port) text += ",port=" + *options.port;
  if (options.leaf) text += ",leaf=" + std::to_string(*options.leaf);
  if (options.top) text += ",top=" + std::to_string(*options.top);
  return text;
}

// The first page with the rows of all of them, as an array again.
Result<Json> read_pages(Telemetry& telemetry, const std::string& path, Report report,
                        const ReportOptions& options) {
  const std::string command = "/eddy/" + std::string(to_string(report));
  Json out;
  Json rows = Json::array();
  uint64_t pages = 1;
  uint64_t snapshot = 0;
  for (uint64_t page = 0; page < pages; ++page) {
    Result<Json> answer = telemetry.ask(command + "," + parameters(options, page, snapshot));
    if (!answer.ok()) return answer.problems();
    const Json body = answer->value(command, Json());
    if (!body.is_object()) return problem(path, "does not know " + command);
    if (body.contains("error")) return problem(path, body.value("error", ""));
    if (page == 0) out = body;
    pages = body.value("pages", uint64_t{1});
    snapshot = body.value("snapshot", uint64_t{0});
    const Json page_rows = body.value("rows", Json::object());
    for (const auto& [number, row] : page_rows.items()) rows.push_back(row);
  }
  for (const char* key : {"page", "pages", "snapshot"}) out.erase(key);
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

Result<Json> report_over_telemetry(const std::string& path, Report report,
                                   const ReportOptions& options) {
  Result<Fd> fd = connect_to(path);
  if (!fd.ok()) return fd.problems();
  Telemetry telemetry(path, std::move(*fd));
  if (Problems problems = telemetry.greet(); !problems.empty()) return problems;
  return read_pages(telemetry, path, report, options);
}

}  // namespace eddy::control
