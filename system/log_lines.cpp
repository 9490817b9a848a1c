#include "system/log_lines.h"

#include <unistd.h>
#include <ext/stdio_sync_filebuf.h>

#include <array>
#include <atomic>
#include <iostream>
#include <mutex>
#include <utility>

#include "net/text/printable.h"
#include "system/time_text.h"

namespace eddy {
namespace {

std::atomic<bool> as_json{false};

constexpr std::string_view kObject = R"({"time":")";  // as the line of an object begins

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "";
}

// Who reads it may be gone.
void write_out(const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

// A stream's lines, as far as they have been written.
struct Lines {
  std::function<LogLevel()> level;
  std::mutex mutex;
  std::string part;
};

ssize_t write_lines(void* cookie, const char* data, size_t size) {
  Lines& lines = *static_cast<Lines*>(cookie);
  const LogLevel level = lines.level();
  const std::lock_guard lock(lines.mutex);
  std::string_view rest(data, size);
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    lines.part += rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const std::string line = std::exchange(lines.part, {});
    if (line.empty()) continue;
    write_out((line.starts_with(kObject) ? line : json_line(level, line)) + "\n");
  }
  lines.part += rest;
  return static_cast<ssize_t>(size);
}

// For a stream of C++, which else keeps the FILE that it began with; as long as the process.
std::streambuf* buffer_of(std::FILE* file) {
  return new __gnu_cxx::stdio_sync_filebuf<char>(file);
}

}  // namespace

std::string json_line(LogLevel level, std::string_view message) {
  std::string out = std::string(kObject) + time_text(unix_now_ns()) + R"(","level":")";
  out.append(name_of(level)).append(R"(","message":")");
  for (const char c : printable(message)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"}";
}

std::FILE* json_stream(std::function<LogLevel()> level) {
  auto* lines = new Lines;  // as long as the process: so is the stream
  lines->level = std::move(level);
  cookie_io_functions_t functions{};
  functions.write = write_lines;
  std::FILE* stream = fopencookie(lines, "w", functions);
  if (stream == nullptr) return stderr;
  setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
  return stream;
}

void log_as_json() {
  if (as_json.exchange(true)) return;
  // Libraries that say something there themselves mean a warning.
  stderr = json_stream([] { return LogLevel::warning; });
  std::cerr.rdbuf(buffer_of(stderr));
}

void log_stdout_as_json() {
  stdout = json_stream([] { return LogLevel::info; });
  std::cout.rdbuf(buffer_of(stdout));
}

bool logs_json() {
  return as_json.load();
}

void say_lines(LogLevel level, std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (!line.empty() || !logs_json()) log_line(level, printable(line));
  }
}

void log_line(LogLevel level, std::string_view line) {
  if (logs_json()) return write_out(json_line(level, line) + "\n");
  const std::string whole = std::string(line) + "\n";
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

}  // namespace eddy
