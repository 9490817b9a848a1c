#include "switch/control/ctl/top_of_all.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/fabric_watch.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/top/links.h"
#include "switch/control/top/top.h"
#include "switch/control/top/top_screen.h"

namespace eddy::control {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOnAScreen{300};                   // who is slower is shown a second later
constexpr milliseconds kOnce{kAnswerMs + kAnswerMs / 4};  // until who hangs is known to

std::string title_of(const Arguments& arguments) {
  return arguments.fabric.empty() ? folder_of(arguments) : "fabric " + arguments.fabric;
}

// The report of a view of fabric_view_names(), read anew.
Json read_view(FabricWatch& watch, const std::string& title, size_t view, milliseconds patience) {
  const std::string name(fabric_view_names()[view]);
  const Report report = parse_report(name).value_or(Report::ports);
  watch.look(report, patience);
  if (name == "links") return links_report(title, watch.switches());
  if (name == "switches") return switches_report(title, watch.switches());
  return merged_report(title, name, watch.switches(), watch.reports());
}

int print_json(FabricWatch& watch, const Arguments& arguments) {
  for (;;) {
    watch.look(Report::ports, kOnce);
    const Json links = links_report("", watch.switches());
    const Json switches = switches_report("", watch.switches());
    std::cout << json_line({{"folder", folder_of(arguments)},
                            {"switches", switches.at("rows")},
                            {"links", links.at("rows")}})
              << std::flush;
    if (arguments.watch_s == 0) return kDone;
    if (!std::cout) return kRefused;
    std::this_thread::sleep_for(std::chrono::seconds(arguments.watch_s));
  }
}

}  // namespace

int top_of_all(const Arguments& arguments) {
  const Result<std::vector<Target>> targets = targets_of(arguments);
  if (!targets.ok()) return fail(kRefused, targets.problems());
  FabricWatch watch(folder_of(arguments));
  if (arguments.json) return print_json(watch, arguments);
  const bool on_a_screen = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  const std::string title = title_of(arguments);
  const TopSource source{.views = fabric_view_names(), .read = [&](size_t view) -> Result<Json> {
                           return read_view(watch, title, view, on_a_screen ? kOnAScreen : kOnce);
                         }};
  constexpr int kMillisecondsASecond = 1'000;
  const Problems problems = run_top(source, std::max(1, arguments.watch_s) * kMillisecondsASecond);
  return problems.empty() ? kDone : fail(kRefused, problems);
}

}  // namespace eddy::control
