// The screen of `eddyctl top`: one report at a time, sorted, cut to the terminal.
//
// Pure functions of their arguments: keys change a state, a state and a report make a screen. Sizes
// are in characters; a screen has exactly as many lines as the terminal, each at most as wide.
// Texts of a switch have no control characters here. Owner and thread: the caller's.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

// What can be looked at, in the order of the keys 1, 2, ...
std::span<const Report> top_views();                    // of one switch
std::span<const std::string_view> top_view_names();     // the same, as words
std::span<const std::string_view> fabric_view_names();  // of several: links, switches, reports

struct TopState {
  std::span<const std::string_view> views = top_view_names();
  size_t view = 0;       // of views
  std::string sort_key;  // of the rows; empty: as the switch has them
  bool reversed = false;
  std::string filter;   // rows with a cell that has this text, in whatever case; empty: all
  bool typing = false;  // the filter
  bool paused = false;  // the report stays as it is
  bool help = false;
  size_t first_row = 0;     // that is shown
  size_t first_column = 1;  // that is shown beside the first
  bool ended = false;
};

// What a key does: "q", "\033[A". Unknown ones do nothing. `report`: what is on the screen.
void press(TopState& state, std::string_view key, const Json& report);

struct ScreenSize {
  size_t rows = 24;
  size_t columns = 80;
};
// Lines without newlines; `problem`: what went wrong with the last reading, or empty.
struct Screen {
  std::vector<std::string> lines;
  size_t heads = 0;  // the line that is to stand out
};
Screen top_screen(const TopState& state, const Json& report, const std::string& problem,
                  ScreenSize size);

}  // namespace eddy::control
