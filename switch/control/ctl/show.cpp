#include "switch/control/ctl/show.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/report/table.h"
#include "switch/control/top/top.h"
#include "system/hostile_json.h"

namespace eddy::control {
namespace {

// Texts are for a terminal, unless --json asks for them as they are.
Result<Json> for_reader(const Arguments& arguments, Result<Json> result) {
  if (!result.ok() || arguments.json) return result;
  return with_printable_texts(result.value());
}

Result<Json> read_report(const Arguments& arguments, Report report) {
  return for_reader(arguments, ask_report(control_socket(arguments), report, arguments.options));
}

// What is shown by port, and then by host, is two reports of the switch.
Result<Json> read_with_hosts(const Arguments& arguments, Report report) {
  Result<Json> value = read_report(arguments, report);
  if (!value.ok() || report != Report::isolation) return value;
  const Result<Json> hosts = read_report(arguments, Report::isolated);
  if (!hosts.ok()) return hosts.problems();
  (*value)["hosts"] = hosts.value().at("rows");
  return value;
}

std::string tables_of(const Json& value) {
  if (!value.contains("hosts")) return render_table(value);
  const Json hosts{{"report", to_string(Report::isolated)}, {"rows", value.at("hosts")}};
  return render_table(value) + "\n" + render_table(hosts);
}

int show_once(const Arguments& arguments, Report report) {
  const Result<Json> value = read_with_hosts(arguments, report);
  if (!value.ok()) return fail(kRefused, value.problems());
  std::cout << (arguments.json    ? json_line(value.value())
                : arguments.sonic ? render_sonic(*arguments.sonic, value.value())
                                  : tables_of(value.value()))
            << std::flush;
  return kDone;
}

void print_change(const Json& result) {
  if (!result.contains("changes")) {
    std::string line;
    for (const auto& [key, value] : result.items())
      line += (line.empty() ? "" : " ") + key + " " + value.get<std::string>();
    std::cout << line << "\n";
    return;
  }
  std::cout << "generation " << result.value("generation", uint64_t{0}) << ", "
            << result.at("changes").size() << " keys changed\n";
  for (const Json& change : result.at("changes"))
    std::cout << "  " << change.value("key", "") << " (" << change.value("class", "")
              << "): " << change.value("before", "") << " -> " << change.value("after", "") << "\n";
  for (const Json& port : result.value("restarted", Json::array()))
    std::cout << "  port " << port.get<std::string>() << " restarted\n";
}

}  // namespace

int show(const Arguments& arguments, Report report) {
  if (arguments.watch_s == 0) return show_once(arguments, report);
  const bool clear_screen = !arguments.json && isatty(STDOUT_FILENO) != 0;
  for (;;) {
    if (clear_screen) std::cout << "\033[H\033[J";
    if (const int code = show_once(arguments, report); code != kDone) return code;
    if (!std::cout) return kRefused;
    std::this_thread::sleep_for(std::chrono::seconds(arguments.watch_s));
  }
}

int change(const Arguments& arguments, const Json& request) {
  Patience patience;
  if (request.value("command", "") == "reload") {
    patience.give_up_ms = kReloadMs;
    patience.still_waiting = [] {
      std::cerr << "eddyctl: no answer yet; a reload that restarts ports may take "
                << kReloadMs / 1'000 << " s\n";
    };
  }
  const Result<Json> result =
      for_reader(arguments, ask(control_socket(arguments), request, patience));
  if (!result.ok()) return fail(kRefused, result.problems());
  if (arguments.json)
    std::cout << json_line(result.value());
  else
    print_change(result.value());
  return kDone;
}

int top(const Arguments& arguments) {
  if (arguments.json)
    return fail(kUsage, {"top is for people; for programs: eddyctl --json show REPORT, or top "
                         "--all for all switches"});
  constexpr int kMillisecondsASecond = 1'000;
  const int interval = std::max(1, arguments.watch_s) * kMillisecondsASecond;
  const Problems problems = run_top(
      source_of_one([&](Report report) { return read_report(arguments, report); }), interval);
  return problems.empty() ? kDone : fail(kRefused, problems);
}

}  // namespace eddy::control
