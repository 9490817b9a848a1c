// eddyctl: looks at and changes a running switch over its control socket. Exit codes: 0 done, 1 the
// switch refused or cannot be reached, 2 the command line is wrong.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "net/version.h"
#include "switch/control/ctl/action.h"
#include "switch/control/ctl/arguments.h"
#include "switch/control/ctl/capture.h"
#include "switch/control/ctl/explain.h"
#include "switch/control/ctl/healthy.h"
#include "switch/control/ctl/show.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/ctl/techsupport.h"
#include "switch/control/ctl/top_of_all.h"
#include "switch/control/ctl/trace.h"
#include "switch/control/ctl/watch.h"
#include "switch/control/ctl/web.h"
#include "switch/control/report/counter_docs.h"
#include "system/command_line.h"
#include "system/say.h"
#include "system/usage.h"

namespace eddy::control {
namespace {

int list(const Arguments& arguments) {
  for (const std::string& name : find_sockets(arguments).running) std::cout << name << "\n";
  return kDone;
}

// What the command does to one switch.
int run_on_one(Arguments& arguments, const Action& action) {
  if (Problems problems = choose_switch(arguments); !problems.empty())
    return fail(kRefused, problems);
  if (action.command() == "top") return top(arguments);
  if (action.command() == "capture") return capture(arguments, action.request.value("port", ""));
  if (action.command() == "explain") return explain(arguments, action.request.value("packet", ""));
  if (action.command() == "trace") return trace(arguments);
  if (action.command() == "show config") return show_config(arguments);
  if (action.report)
    return action.command() == "watch" || arguments.watch_s > 0 ? watch(arguments, *action.report)
                                                                : show(arguments, *action.report);
  if (arguments.check) return check_reload(arguments);
  Json request = action.request;
  const bool port_is_said = action.command() == "clear" || request.contains("pfcwd");
  if (port_is_said && arguments.options.port) request["port"] = *arguments.options.port;
  return change(arguments, request);
}

// Commands that may ask all switches of a folder.
bool may_ask_all(const std::string& command) {
  return command == "healthy" || command == "top" || command == "techsupport" || command == "web";
}

// What is wrong with the values of a command's options. Said before any switch is looked for.
Problems check_values(const Arguments& arguments, const std::string& command) {
  if (command == "capture") return check_capture(arguments);
  if (command == "trace") return check_trace(arguments);
  if (command == "techsupport") return check_techsupport(arguments);
  if (command == "top") return check_top(arguments);
  if (command == "web") return check_web(arguments);
  return {};
}

// What is wrong with the choice of switches, or empty and it is complete.
Problems settle_which(Arguments& arguments, const std::string& command) {
  if (arguments.of_fabric && !may_ask_all(command))
    return {
        "--fabric is for healthy, top, techsupport and web; of one of its switches: --dir "
        "/run/eddy/lab/FABRIC"};
  if (command == "healthy" && arguments.options.all && !asks_all(arguments))
    return {"--all is every switch of the folder; --name and --socket are one"};
  return may_ask_all(command) && asks_all(arguments) ? Problems{} : default_name(arguments);
}

// By SONiC's words, or by ours.
Result<Action> action_of(Arguments& arguments) {
  if (arguments.style.empty()) return parse_words(arguments.words);
  if (arguments.json)
    return Result<Action>::failure("--style is for people; for programs: --json show REPORT");
  const Result<SonicTable> table = parse_sonic_table(arguments.words);
  if (!table.ok()) return table.problems();
  arguments.sonic = table.value();
  arguments.options.all = true;  // those tables have all ports
  return Action{table.value().report, Json{{"command", "show"}}};
}

int run(Arguments& arguments) {
  if (Problems problems = check_names(arguments); !problems.empty()) return fail(kUsage, problems);
  if (Problems problems = settle_dirs(arguments); !problems.empty()) return fail(kUsage, problems);
  const Result<Action> action = action_of(arguments);
  if (!action.ok()) return fail(kUsage, action.problems());
  const std::string command = action.value().command();
  const bool of_pfcwd = action.value().request.contains("pfcwd");
  if (Problems problems = check_options(arguments, of_pfcwd ? "set pfcwd" : command);
      !problems.empty())
    return fail(kUsage, problems);
  if (Problems problems = check_values(arguments, command); !problems.empty())
    return fail(kUsage, problems);
  if (command == "counters") {
    std::cout << (arguments.markdown ? counters_markdown() : counters_text());
    return kDone;
  }
  if (command != "list" || arguments.of_fabric)
    if (Problems problems = settle_which(arguments, command); !problems.empty())
      return fail(kUsage, problems);
  if (Problems problems = choose_folder(arguments); !problems.empty())
    return fail(kRefused, problems);
  if (command == "list") return list(arguments);
  if (command == "healthy") return healthy(arguments);
  if (command == "techsupport") return techsupport(arguments);
  if (command == "top" && asks_all(arguments)) return top_of_all(arguments);
  if (command == "web") return web(arguments);
  return run_on_one(arguments, action.value());
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
    return eddy::end_of_output("eddyctl: ", eddy::control::run(arguments));
  } catch (const std::exception& error) {
    eddy::say("eddyctl: the answer is not as expected: ", {error.what()});
    return eddy::control::kRefused;
  }
}
