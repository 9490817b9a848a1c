#include "switch/control/ctl/watch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "switch/control/ctl/show.h"
#include "switch/control/top/marked_table.h"
#include "switch/control/top/terminal.h"
#include "system/time_text.h"

namespace eddy::control {
namespace {

using Clock = std::chrono::steady_clock;

class Watch {
 public:
  Watch(const Arguments& arguments, Report report)
      : arguments_(arguments), report_(report), interval_(std::max(1, arguments.watch_s)) {}

  int run() {
    Result<Json> value = read_shown(arguments_, report_);
    if (!value.ok()) return fail(kRefused, value.problems());
    const Signals signals;
    if (!arguments_.json && isatty(STDOUT_FILENO) != 0) terminal_.emplace();
    for (;;) {
      const auto read_at = Clock::now();
      if (!print(value.value())) return kRefused;
      if (!wait_until(read_at + interval_, signals)) return kDone;
      value = read_shown(arguments_, report_);
      if (value.ok()) continue;
      terminal_.reset();
      return fail(kRefused, value.problems());
    }
  }

 private:
  std::string heading(const Json& value) const {
    return "show " + std::string(to_string(report_)) + " of " + value.value("switch", "") +
           ", every " + std::to_string(interval_.count()) + " s: " + time_text(unix_now_ns());
  }

  // false: nobody reads it.
  bool print(const Json& value) {
    if (terminal_) {
      draw(value);
      return true;
    }
    if (!arguments_.json) std::cout << heading(value) << "\n";
    std::cout << shown_text(arguments_, value) << (arguments_.json ? "" : "\n") << std::flush;
    return static_cast<bool>(std::cout);
  }

  void draw(const Json& value) {
    const ScreenSize size = screen_size();
    std::vector<std::string> lines = lines_of(value, size.columns);
    const size_t room = size.rows - std::min<size_t>(size.rows, 2);
    if (lines.size() > room) {
      const size_t more = lines.size() - room + 1;
      lines.resize(room - std::min<size_t>(room, 1));
      lines.push_back("... and " + std::to_string(more) +
                      " lines more; --port and --top show less");
    }
    std::string out = "\033[H" + heading(value).substr(0, size.columns) + "\033[K\r\n\033[K";
    for (const std::string& line : lines) out += "\r\n" + line + "\033[K";
    send_to_terminal(out + "\033[J");
  }

  std::vector<std::string> lines_of(const Json& value, size_t columns) {
    if (arguments_.sonic) return text_lines(shown_text(arguments_, value), columns);
    std::vector<std::string> lines = table_.lines(value, columns);
    if (!value.contains("hosts")) return lines;
    const Json hosts{{"report", to_string(Report::isolated)}, {"rows", value.at("hosts")}};
    lines.emplace_back();
    for (std::string& line : hosts_.lines(hosts, columns)) lines.push_back(std::move(line));
    return lines;
  }

  static std::vector<std::string> text_lines(const std::string& text, size_t columns) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line.substr(0, columns));
    return lines;
  }

  // false: it is to end.
  bool wait_until(Clock::time_point due, const Signals& signals) {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
      if (left <= 0) return true;
      const bool has_keys = terminal_ && terminal_->has_keys();
      std::array<pollfd, 2> waits{
          {{signals.fd(), POLLIN, 0}, {has_keys ? STDIN_FILENO : -1, POLLIN, 0}}};
      poll(waits.data(), waits.size(), static_cast<int>(left) + 1);
      for (int signal = signals.next(); signal != 0; signal = signals.next())
        if (handle_signal(signal, terminal_ ? &*terminal_ : nullptr)) return false;
      if (waits[1].revents != 0 && wants_end()) return false;
    }
  }

  // By q, or because the terminal is gone.
  static bool wants_end() {
    std::array<char, 64> keys{};
    const ssize_t got = read(STDIN_FILENO, keys.data(), keys.size());
    return got <= 0 ||
           std::ranges::find(keys.begin(), keys.begin() + got, 'q') != keys.begin() + got;
  }

  const Arguments& arguments_;
  const Report report_;
  const std::chrono::seconds interval_;
  std::optional<Terminal> terminal_;
  MarkedTable table_;
  MarkedTable hosts_;  // of show isolation, below it
};

}  // namespace

int watch(const Arguments& arguments, Report report) {
  return Watch(arguments, report).run();
}

}  // namespace eddy::control
