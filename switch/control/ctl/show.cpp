#include "switch/control/ctl/show.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "net/text/printable.h"
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

std::string tables_of(const Json& value) {
  if (!value.contains("hosts")) return render_table(value);
  const Json hosts{{"report", to_string(Report::isolated)}, {"rows", value.at("hosts")}};
  return render_table(value) + "\n" + render_table(hosts);
}

std::string change_text(const Json& change) {
  const auto shown = [&](const char* key) {
    const std::string text = change.value(key, "");
    return text.empty() ? "(none)" : text;
  };
  return change.value("key", "") + " (" + change.value("class", "") + "): " + shown("before") +
         " -> " + shown("after");
}

std::string keys(size_t count) {
  return std::to_string(count) + (count == 1 ? " key" : " keys");
}

// What a reload would do, in lines.
std::string check_text(const Json& result) {
  const Json& changes = result.at("changes");
  if (changes.empty() && result.at("problems").empty()) return "a reload would change nothing\n";
  std::string text = keys(changes.size()) + (changes.size() == 1 ? " differs" : " differ") +
                     "; class " + result.value("class", "") + "\n";
  for (const Json& change : changes) text += "  " + change_text(change) + "\n";
  if (result.value("applies", "") != "yes") return text + "a reload would be refused\n";
  for (const auto& [key, what] :
       {std::pair("restarts", "restarted"), {"removals", "removed"}, {"additions", "added"}})
    for (const Json& port : result.value(key, Json::array()))
      text += "  port " + port.get<std::string>() + " would be " + what + "\n";
  return text + "a reload would apply this\n";
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
            << keys(result.at("changes").size()) << " changed\n";
  for (const Json& change : result.at("changes")) std::cout << "  " << change_text(change) << "\n";
  for (const char* what : {"restarted", "removed", "added"})
    for (const Json& port : result.value(what, Json::array()))
      std::cout << "  port " << port.get<std::string>() << " " << what << "\n";
}

}  // namespace

// What is shown by port, and then by host, is two reports of the switch.
Result<Json> read_shown(const Arguments& arguments, Report report) {
  Result<Json> value = read_report(arguments, report);
  if (!value.ok() || report != Report::isolation) return value;
  const Result<Json> hosts = read_report(arguments, Report::isolated);
  if (!hosts.ok()) return hosts.problems();
  (*value)["hosts"] = hosts.value().at("rows");
  return value;
}

std::string shown_text(const Arguments& arguments, const Json& value) {
  if (arguments.json) return json_line(value);
  return arguments.sonic ? render_sonic(*arguments.sonic, value) : tables_of(value);
}

int show(const Arguments& arguments, Report report) {
  const Result<Json> value = read_shown(arguments, report);
  if (!value.ok()) return fail(kRefused, value.problems());
  std::cout << shown_text(arguments, value.value()) << std::flush;
  return std::cout ? kDone : kRefused;
}

// As a file that can be loaded: what is not of the configuration stands in comments.
int show_config(const Arguments& arguments) {
  const Result<Json> result = ask(control_socket(arguments), Json{{"command", "configuration"}});
  if (!result.ok()) return fail(kRefused, result.problems());
  const Json& value = result.value();
  if (arguments.json) {
    std::cout << json_line(value) << std::flush;
    return kDone;
  }
  const auto comment = [](const std::string& text) { return "# " + printable(text) + "\n"; };
  std::string text = comment("in force at " + value.value("switch", "") + ", generation " +
                             std::to_string(value.value("generation", uint64_t{0})) + "; file " +
                             value.value("path", ""));
  for (const Json& change : value.value("set", Json::array()))
    text += comment("set since, not in the file: " + change_text(change));
  text += printable_lines(value.value(arguments.options.all ? "in_force" : "brief", ""));
  std::cout << text << std::flush;
  return kDone;
}

int check_reload(const Arguments& arguments) {
  const Result<Json> result = for_reader(
      arguments, ask(control_socket(arguments), Json{{"command", "reload"}, {"check", true}}));
  if (!result.ok()) return fail(kRefused, result.problems());
  const Json& value = result.value();
  std::cout << (arguments.json ? json_line(value) : check_text(value)) << std::flush;
  const Problems problems = value.value("problems", Problems{});
  if (arguments.json) return problems.empty() ? kDone : kRefused;
  return problems.empty() ? kDone : fail(kRefused, problems);
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

Problems check_top(const Arguments& arguments) {
  if (arguments.json && !asks_all(arguments))
    return {
        "top is for people; for programs: eddyctl --json show REPORT, or top --all for all "
        "switches"};
  return {};
}

int top(const Arguments& arguments) {
  if (Problems problems = check_top(arguments); !problems.empty()) return fail(kUsage, problems);
  constexpr int kMillisecondsASecond = 1'000;
  const int interval = std::max(1, arguments.watch_s) * kMillisecondsASecond;
  const Problems problems = run_top(
      source_of_one([&](Report report) { return read_report(arguments, report); }), interval);
  return problems.empty() ? kDone : fail(kRefused, problems);
}

}  // namespace eddy::control
