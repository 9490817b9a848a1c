// eddyctl: looks at and changes a running switch over its control socket. Exit codes: 0 done, 1 the
// switch refused or cannot be reached, 2 the command line is wrong.
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "net/text/plain_name.h"
#include "net/version.h"
#include "switch/control/report/counter_docs.h"
#include "switch/control/report/report_options.h"
#include "switch/control/report/table.h"
#include "switch/control/report/words.h"
#include "switch/control/serve/client.h"
#include "switch/control/top/top.h"
#include "system/command_line.h"
#include "system/hostile_json.h"
#include "system/run_folder.h"
#include "system/say.h"
#include "system/usage.h"

namespace eddy::control {
namespace {

constexpr int kDone = 0;
constexpr int kRefused = 1;
constexpr int kUsage = 2;

struct Arguments {
  std::string name;
  std::string socket;
  bool json = false;
  bool markdown = false;
  int watch_s = 0;
  ReportOptions options;
  std::vector<std::string> words;
};

// What the words mean: one report, or one request that changes something.
struct Action {
  std::optional<Report> report;
  Json request = Json::object();
};

int fail(int code, const Problems& problems) {
  say("eddyctl: ", problems);
  return code;
}

std::string described(const std::string& command, std::string_view help) {
  constexpr size_t kWidth = 28;
  return "  " + command + std::string(kWidth - command.size(), ' ') + std::string(help) + "\n";
}

std::string footer() {
  std::string out = "Commands:\n";
  for (const Word& word : report_words())
    out += described("show " + std::string(word.name), word.help);
  for (const Word& word : clear_words())
    out += described("clear " + std::string(word.name), word.help);
  out += "  clear watermarks KIND, clear persistent-watermarks KIND: of one kind, which is\n";
  for (const Word& word : watermark_words())
    out += described("    " + std::string(word.name), word.help);
  return out + described("set port P tx on|off", "start or stop transmission of a port") +
         described("reload", "apply the configuration file again, all or nothing") +
         described("top", "ports, queues, PFC, drops, paths, workers, live; h for its keys") +
         described("list", "names of the running switches") +
         described("counters", "every counter and its meaning");
}

// The word at `position`, or what would be valid there.
Result<std::string> word_at(const std::vector<std::string>& words, size_t position,
                            std::span<const Word> valid) {
  const std::string after = position == 0 ? "" : " after \"" + words[position - 1] + "\"";
  if (position >= words.size())
    return Result<std::string>::failure("a word is missing" + after +
                                        "; valid are: " + join_words(valid));
  for (const Word& word : valid)
    if (word.name == words[position]) return words[position];
  return Result<std::string>::failure("\"" + words[position] + "\" is not valid" + after +
                                      "; valid are: " + join_words(valid));
}

Result<Action> parse_set(const std::vector<std::string>& words) {
  static constexpr Word kObjects[] = {{"port", ""}};
  static constexpr Word kAttributes[] = {{"tx", ""}};
  static constexpr Word kValues[] = {{"on", ""}, {"off", ""}};
  if (Result<std::string> object = word_at(words, 1, kObjects); !object.ok())
    return object.problems();
  if (words.size() < 3) return Result<Action>::failure("name of the port missing after \"port\"");
  if (Result<std::string> attribute = word_at(words, 3, kAttributes); !attribute.ok())
    return attribute.problems();
  const Result<std::string> value = word_at(words, 4, kValues);
  if (!value.ok()) return value.problems();
  return Action{{}, Json{{"command", "set"}, {"port", words[2]}, {"tx", value.value()}}};
}

size_t length_of(const std::vector<std::string>& words) {
  if (words[0] == "set") return 5;
  if (words[0] == "clear") return words.size() > 1 && words[1] != "counters" ? 3 : 2;
  return words[0] == "show" ? 2 : 1;
}

// clear counters | clear [persistent-]watermarks [KIND]
Result<Action> parse_clear(const std::vector<std::string>& words) {
  const Result<std::string> what = word_at(words, 1, clear_words());
  if (!what.ok()) return what.problems();
  Json request{{"command", "clear"}, {"what", what.value()}};
  if (words.size() > 2) {
    const Result<std::string> kind = word_at(words, 2, watermark_words());
    if (!kind.ok()) return kind.problems();
    request["kind"] = kind.value();
  }
  return Action{{}, std::move(request)};
}

Result<Action> parse_words(const std::vector<std::string>& words) {
  static constexpr Word kCommands[] = {{"show", ""}, {"clear", ""}, {"set", ""},     {"reload", ""},
                                       {"top", ""},  {"list", ""},  {"counters", ""}};
  const Result<std::string> command = word_at(words, 0, kCommands);
  if (!command.ok()) return command.problems();
  if (words.size() > length_of(words))
    return Result<Action>::failure("\"" + words[length_of(words)] + "\" is too much");
  if (command.value() == "set") return parse_set(words);
  if (command.value() == "show") {
    const Result<std::string> report = word_at(words, 1, report_words());
    if (!report.ok()) return report.problems();
    return Action{parse_report(report.value()), Json::object()};
  }
  if (command.value() == "clear") return parse_clear(words);
  return Action{{}, Json{{"command", command.value()}}};
}

// Switches by their sockets: whose control or telemetry socket is served, and what is wrong with
// the control sockets that are there otherwise.
struct Sockets {
  std::set<std::string> running;
  std::map<std::string, std::string> problems;  // by name
};

Sockets find_sockets() {
  Sockets found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(kSocketDirectory, ignored)) {
    if (entry.path().extension() != ".sock" || !is_plain_name(entry.path().stem().native()))
      continue;
    const Problems problems = try_socket(entry.path(), SOCK_STREAM);
    if (problems.empty()) found.running.insert(entry.path().stem());
    if (!problems.empty()) found.problems[entry.path().stem()] = problems.front();
  }
  for (const auto& [name, socket] : telemetry_sockets(dpdk_run_folder()))
    found.running.insert(name);
  return found;
}

std::string listed(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// No name was given; the problem, or empty and the name is that of the only one that runs.
Problems choose_only_one(Arguments& arguments, const Sockets& sockets) {
  if (sockets.running.size() > 1)
    return {"several switches run here, choose with --name: " + listed(sockets.running)};
  if (sockets.running.empty()) {
    const std::string telemetry = dpdk_run_folder();
    Problems out{"no switch runs here (looked in " + std::string(kSocketDirectory) +
                 (telemetry.empty() ? "" : " and " + telemetry) + ")"};
    for (const auto& [name, problem] : sockets.problems) out.push_back(problem);
    return out;
  }
  arguments.name = *sockets.running.begin();
  return {};
}

// Fills in --name when there is one switch; the problem, or empty.
Problems choose_switch(Arguments& arguments) {
  if (!arguments.socket.empty()) return {};
  const Sockets sockets = find_sockets();
  if (arguments.name.empty()) return choose_only_one(arguments, sockets);
  if (sockets.running.contains(arguments.name)) return {};
  const auto problem = sockets.problems.find(arguments.name);
  if (problem != sockets.problems.end()) return {problem->second};
  return {"no switch \"" + arguments.name + "\" runs here" +
          (sockets.running.empty() ? "" : "; running: " + listed(sockets.running))};
}

std::string control_socket(const Arguments& arguments) {
  return arguments.socket.empty() ? default_socket_path(arguments.name) : arguments.socket;
}

// Texts of the result are for a terminal, unless --json asks for them as they are.
Result<Json> over_socket(const Arguments& arguments, const Json& request,
                         const Patience& patience = {}) {
  Result<Json> answer = request_over_socket(control_socket(arguments), request, patience);
  if (!answer.ok()) return answer.problems();
  if (!answer->value("ok", false))
    return answer->value("problems", Problems{"the answer has neither result nor problems"});
  const Json result = answer->value("result", Json::object());
  return arguments.json ? result : with_printable_texts(result);
}

// In ASCII: a terminal obeys some characters beyond it.
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', true) + "\n";
}

Result<Json> read_report(const Arguments& arguments, Report report) {
  Json request{{"command", "show"}, {"report", std::string(to_string(report))}};
  request["all"] = arguments.options.all;
  if (arguments.options.port) request["port"] = *arguments.options.port;
  if (arguments.options.leaf) request["leaf"] = *arguments.options.leaf;
  if (arguments.options.top) request["top"] = *arguments.options.top;
  Result<Json> result = over_socket(arguments, request);
  if (!result.ok()) return result;
  if (Problems problems = check_report(result.value()); !problems.empty()) return problems;
  return result;
}

int show_once(const Arguments& arguments, Report report) {
  const Result<Json> value = read_report(arguments, report);
  if (!value.ok()) return fail(kRefused, value.problems());
  std::cout << (arguments.json ? json_line(value.value()) : render_table(value.value()))
            << std::flush;
  return kDone;
}

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

int change(const Arguments& arguments, const Json& request) {
  Patience patience;
  if (request.value("command", "") == "reload") {
    patience.give_up_ms = kReloadMs;
    patience.still_waiting = [] {
      std::cerr << "eddyctl: no answer yet; a reload that restarts ports may take "
                << kReloadMs / 1'000 << " s\n";
    };
  }
  const Result<Json> result = over_socket(arguments, request, patience);
  if (!result.ok()) return fail(kRefused, result.problems());
  if (arguments.json)
    std::cout << json_line(result.value());
  else
    print_change(result.value());
  return kDone;
}

int top(const Arguments& arguments) {
  if (arguments.json)
    return fail(kUsage, {"top is for people; for programs: eddyctl --json show REPORT"});
  constexpr int kMillisecondsASecond = 1'000;
  const int interval = std::max(1, arguments.watch_s) * kMillisecondsASecond;
  const Problems problems =
      run_top([&](Report report) { return read_report(arguments, report); }, interval);
  return problems.empty() ? kDone : fail(kRefused, problems);
}

// Of words beside --help: one that is wrong has no help; words may be missing.
std::string wrong_word(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const Result<Action> action = parse_words(words);
  return action.ok() || !action.problems().front().starts_with('"') ? ""
                                                                    : action.problems().front();
}

int run(Arguments& arguments) {
  if (!arguments.name.empty())
    if (Problems problems = check_plain_name("--name", arguments.name); !problems.empty())
      return fail(kUsage, problems);
  const Result<Action> action = parse_words(arguments.words);
  if (!action.ok()) return fail(kUsage, action.problems());
  const std::string command = action.value().request.value("command", "");
  if (command == "counters") {
    std::cout << (arguments.markdown ? counters_markdown() : counters_text());
    return kDone;
  }
  if (command == "list") {
    for (const std::string& name : find_sockets().running) std::cout << name << "\n";
    return kDone;
  }
  if (Problems problems = choose_switch(arguments); !problems.empty())
    return fail(kRefused, problems);
  if (command == "top") return top(arguments);
  if (action.value().report) return show(arguments, *action.value().report);
  Json request = action.value().request;
  if (command == "clear" && arguments.options.port) request["port"] = *arguments.options.port;
  return change(arguments, request);
}

void declare(CLI::App& app, Arguments& arguments) {
  app.footer(footer());
  auto* name = app.add_option("--name", arguments.name, "which switch; default: the only one");
  app.add_option("--socket", arguments.socket, "its control socket, instead of --name")
      ->excludes(name);
  app.add_flag("--json", arguments.json, "for programs: one JSON value a line");
  app.add_flag("--all", arguments.options.all, "rows in which nothing has happened, too");
  app.add_option("--port", arguments.options.port, "only rows of this port; clear: only this port");
  app.add_option("--leaf", arguments.options.leaf, "only rows of this destination leaf");
  app.add_option("--top", arguments.options.top, "at most so many rows (flows: 50 unless said)")
      ->check(CLI::Range(uint64_t{1}, kMostTop));
  app.add_option("--watch", arguments.watch_s,
                 "repeat every N seconds; top: every second unless said")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--markdown", arguments.markdown, "counters: as docs/counters.md");
  app.add_option("words", arguments.words, "the command, as below");
}

}  // namespace
}  // namespace eddy::control

int main(int argc, char** argv) {
  CLI::App app("Looks at and changes a running Eddy switch.", "eddyctl");
  eddy::control::Arguments arguments;
  app.set_version_flag("--version", eddy::version_line("eddyctl"));
  eddy::control::declare(app, arguments);
  eddy::spell_out_help(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    const std::string wrong = eddy::control::wrong_word(app.get_option("words")->results());
    return wrong.empty() ? app.exit(asked) : eddy::control::fail(eddy::control::kUsage, {wrong});
  } catch (const CLI::ParseError& error) {
    return eddy::say_usage(app, error) == 0 ? eddy::control::kDone : eddy::control::kUsage;
  }
  try {
    return eddy::control::run(arguments);
  } catch (const std::exception& error) {
    eddy::say("eddyctl: the answer is not as expected: ", {error.what()});
    return eddy::control::kRefused;
  }
}
