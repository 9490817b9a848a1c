// What a sweep says while it runs.
//
// On a terminal a line for each running item, drawn again in place; else a line when one starts and
// ends. Times are seconds of a clock that is handed in. Owner: the program; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

namespace eddy::lab {

enum class ProgressStyle : uint8_t {
  quiet,   // only failures
  brief,   // starts and ends
  lines,   // and how far, every kLineSeconds
  screen,  // in place
};

struct ItemProgress {
  double share = 0;  // 0 to 1
  double simulated_ms = 0;
  uint64_t flows_ended = 0;
  uint64_t flows = 0;
  uint64_t packet_hops = 0;
};

// Between processes: one line of text.
std::string to_line(const ItemProgress& progress);
bool from_line(std::string_view line, ItemProgress& progress);

// "1h02m", "3m20s", "12s".
std::string clock_text(double seconds);

class SweepProgress {
 public:
  static constexpr double kLineSeconds = 10;

  SweepProgress(std::ostream& out, ProgressStyle style, std::function<double()> clock)
      : out_(out), style_(style), clock_(std::move(clock)), began_(clock_()) {}

  void expect(size_t items) { items_ = items; }
  // Of the screen: a longer line would take two. 0: not known.
  void set_width(size_t columns) { width_ = columns; }
  void started(size_t item, const std::string& name);
  void reported(size_t item, const ItemProgress& progress);
  // `said`: what became of it, in a few words.
  void ended(size_t item, const std::string& said);
  // Said at once, in every style.
  void say(const std::string& text);

 private:
  struct Item {
    std::string name;
    ItemProgress progress;
    double began = 0;
    double told = 0;
  };
  std::string line_of(const Item& item) const;
  std::string total_line() const;
  void clear();
  void redraw();

  std::ostream& out_;
  ProgressStyle style_;
  std::function<double()> clock_;
  double began_;
  size_t items_ = 0;
  size_t ended_ = 0;
  std::map<size_t, Item> running_;
  size_t drawn_ = 0;  // lines on the screen
  size_t width_ = 0;
};

}  // namespace eddy::lab
