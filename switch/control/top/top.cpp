#include "switch/control/top/top.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "switch/control/report/table.h"
#include "switch/control/top/terminal.h"
#include "switch/control/top/top_screen.h"

namespace eddy::control {
namespace {

// Takes the first key off `bytes`: a letter, or an escape sequence of arrows and the like.
std::string take_key(std::string& bytes) {
  size_t length = 1;
  if (bytes.starts_with("\033[") || bytes.starts_with("\033O")) {
    length = 2;
    while (length < bytes.size() && (bytes[length] < '@' || bytes[length] > '~')) ++length;
    ++length;
  }
  std::string key = bytes.substr(0, length);
  bytes.erase(0, length);
  if (key.starts_with("\033O")) key[1] = '[';  // as some terminals send arrows
  return key;
}

class Top {
 public:
  Top(const TopSource& source, int interval_ms) : source_(source), interval_(interval_ms) {
    state_.views = source.views;
  }

  Problems run() {
    if (!refresh()) return {problem_};
    const Signals signals;
    const Terminal terminal;
    while (!state_.ended) {
      draw();
      wait(signals, terminal);
    }
    return {};
  }

 private:
  using Clock = std::chrono::steady_clock;

  // What was there stays where it cannot be read.
  bool refresh() {
    const Result<Json> answer = source_.read(state_.view);
    read_at_ = Clock::now();
    shown_ = state_.view;
    problem_ = answer.ok() ? "" : answer.problems().front();
    if (answer.ok()) report_ = answer.value();
    return answer.ok();
  }

  void draw() const {
    const Screen screen = top_screen(state_, report_, problem_, screen_size());
    std::string out = "\033[H";
    for (size_t i = 0; i < screen.lines.size(); ++i) {
      const bool stands_out = i == screen.heads;
      out += (stands_out ? "\033[7m" : "") + screen.lines[i] + (stands_out ? "\033[0m" : "") +
             "\033[K" + (i + 1 < screen.lines.size() ? "\r\n" : "");
    }
    send_to_terminal(out + "\033[J");
  }

  // Until a key, a signal, or the time for the next reading.
  void wait(const Signals& signals, const Terminal& terminal) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(read_at_ + interval_ - Clock::now())
            .count();
    std::array<pollfd, 2> waits{{{STDIN_FILENO, POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    poll(waits.data(), waits.size(),
         state_.paused ? -1 : static_cast<int>(std::max<int64_t>(left, 0)));
    for (int signal = signals.next(); signal != 0; signal = signals.next())
      if (handle_signal(signal, &terminal)) state_.ended = true;
    if (waits[0].revents != 0) take_keys();
    const bool other_view = shown_ != state_.view;
    if (other_view || (!state_.paused && Clock::now() >= read_at_ + interval_)) refresh();
  }

  void take_keys() {
    std::array<char, 256> buffer{};
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0) {  // the terminal is gone
      state_.ended = true;
      return;
    }
    std::string bytes(buffer.data(), static_cast<size_t>(got));
    while (!bytes.empty()) press(state_, take_key(bytes), report_);
  }

  const TopSource& source_;
  const std::chrono::milliseconds interval_;
  TopState state_;
  Json report_ = Json::object();
  std::string problem_;
  size_t shown_ = 0;  // view of report_
  Clock::time_point read_at_;
};

// Without a terminal: every view once, whole.
Problems print_all(const TopSource& source) {
  for (size_t view = 0; view < source.views.size(); ++view) {
    const Result<Json> report = source.read(view);
    if (!report.ok()) return report.problems();
    std::cout << source.views[view] << "\n" << render_table(report.value()) << "\n";
  }
  return {};
}

}  // namespace

TopSource source_of_one(ReadReport read) {
  return {.views = top_view_names(),
          .read = [read = std::move(read)](size_t view) { return read(top_views()[view]); }};
}

Problems run_top(const TopSource& source, int interval_ms) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return print_all(source);
  return Top(source, interval_ms).run();
}

}  // namespace eddy::control
