// eddyd: the switch as a process.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/load.h"
#include "net/quantity.h"
#include "net/text/printable.h"
#include "net/text/required_version.h"
#include "net/version.h"
#include "pfc/advice.h"
#include "plugin/plugins.h"
#include "plugin/trial.h"
#include "switch/control/sonic/config_db.h"
#include "switch/control/sonic/sonic_import.h"
#include "switch/daemon.h"
#include "switch/dpdk/eal.h"
#include "switch/pcap_daemon.h"
#include "switch/show_capabilities.h"
#include "system/command_line.h"
#include "system/log_lines.h"
#include "system/say.h"
#include "system/usage.h"

namespace {

using eddy::DaemonOptions;
using eddy::Problems;

struct Request {
  std::string config;
  std::string plugin;
  std::string import_sonic;
  bool import_report = false;
  bool check = false;
  bool schema = false;
  bool print_config = false;
  bool capabilities = false;
  bool json = false;
  bool json_log = false;
  std::string clock = "tsc";
  std::string events;
  std::string drain_time = "10ms";
  std::optional<std::string> wait;
  std::string ready_within = "10s";
  std::optional<std::string> require_name;
  std::optional<std::string> require_version;
  std::vector<std::string> eal;
};

eddy::Result<eddy::config::LoadedConfig> load(const Request& request) {
  return eddy::config::load_file(request.config, eddy::config::Purpose::daemon,
                                 &eddy::plugin::plugins_of_process());
}

int run_from_captures(const Request& request, const eddy::config::SwitchConfig& config) {
  const auto drain_time = eddy::parse_duration(request.drain_time);
  if (!drain_time) {
    eddy::say("eddyd: --drain-time: ", drain_time.problems());
    return eddy::kExitBadConfig;
  }
  return eddy::run_pcap(
      {.config = config, .events_path = request.events, .drain_time = drain_time.value()});
}

void show_capabilities(const Request& request, const eddy::config::SwitchConfig& config) {
  const std::string shown =
      request.json ? eddy::capability_demand_json(config) : eddy::capability_demand_text(config);
  std::fputs(shown.c_str(), stdout);
}

// What isolation is worth where it is on, and what the settings will do to PFC and DCQCN, behind
// what
// --check says of them.
void warn(const eddy::config::SwitchConfig& given) {
  const eddy::config::SwitchConfig config = eddy::config::scaled(given);
  auto advice = eddy::pfc::advise(config, eddy::pfc::guessed_facts(config));
  if (!advice) return;  // describe() has said why
  for (const eddy::pfc::Advice& each : *advice)
    if (!each.warning && each.subject == eddy::pfc::AdviceSubject::isolation)
      std::fputs(
          eddy::printable_lines(eddy::pfc::text_of(each) + "\n  " + each.because + "\n").c_str(),
          stdout);
  for (const eddy::pfc::Advice& each : *advice)
    if (each.warning)
      std::fputs(eddy::printable_lines("warning: " + eddy::pfc::text_of(each) + "\n").c_str(),
                 stdout);
}

int serve(const Request& request, const eddy::config::SwitchConfig& config) {
  DaemonOptions options;
  options.config_path = request.config;
  options.config = config;
  options.plugins = &eddy::plugin::plugins_of_process();
  options.eal_arguments = request.eal;
  options.json_log = request.json_log;
  if (request.wait) {
    const auto patience = eddy::parse_duration(*request.wait);
    if (!patience) {
      eddy::say("eddyd: --wait: ", patience.problems());
      return eddy::kExitBadConfig;
    }
    options.patience = patience.value();
  }
  const auto ready_within = eddy::parse_duration(request.ready_within);
  if (!ready_within) {
    eddy::say("eddyd: --ready-within: ", ready_within.problems());
    return eddy::kExitBadConfig;
  }
  options.ready_within = ready_within.value();
  return eddy::run_daemon(options);
}

// What is wrong with the command line itself.
Problems check_request(const Request& request) {
  if (request.require_version) {
    Problems problems =
        eddy::check_required_version(eddy::build_version(), *request.require_version);
    if (!problems.empty()) return problems;
  }
  return eddy::check_file_prefix(request.eal);
}

// With the parameters of a plugin, if one is named: by itself or by the configuration.
int print_schema(const Request& request) {
  std::vector<const eddy::config::LoadedScheme*> schemes;
  if (!request.plugin.empty()) {
    auto loaded = eddy::plugin::plugins_of_process().load(
        std::filesystem::absolute(request.plugin).string(), {});
    if (!loaded) {
      eddy::say("eddyd: ", loaded.problems());
      return eddy::kExitBadConfig;
    }
    schemes = std::move(*loaded);
  } else if (!request.config.empty()) {
    const auto loaded = load(request);
    if (!loaded) {
      eddy::say("", loaded.problems());
      return eddy::kExitBadConfig;
    }
    if (const auto* own = loaded.value().config.load_balancer.loaded) schemes = {own};
  }
  std::fputs(eddy::config::json_schema(schemes).c_str(), stdout);
  return eddy::kExitOk;
}

// The configuration goes to standard output, what became of the file to standard error.
int import_sonic(const Request& request) {
  std::string text;
  std::error_code error;
  const std::filesystem::path path = request.import_sonic;
  if (!std::filesystem::is_regular_file(path, error)) {
    eddy::say("eddyd: ", {request.import_sonic + ": is no file that can be read"});
    return eddy::kExitBadConfig;
  }
  std::ifstream stream(path, std::ios::binary);
  constexpr size_t kEnough = eddy::control::ConfigDb::kMostOctets + 1;
  text.resize(kEnough);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  const auto imported = eddy::control::import_sonic(request.import_sonic, text);
  if (!imported) {
    eddy::say("", imported.problems());
    return eddy::kExitBadConfig;
  }
  std::fputs(imported.value().yaml.c_str(), stdout);
  const eddy::ImportReport& report = imported.value().report;
  std::fputs(request.import_report ? report.text().c_str()
                                   : (report.counts() + "; --report says what and why\n").c_str(),
             stderr);
  return eddy::kExitOk;
}

int run(const Request& request) {
  if (request.schema) return print_schema(request);
  if (!request.import_sonic.empty()) return import_sonic(request);
  if (request.capabilities && request.config.empty()) {
    const std::string table =
        request.json ? eddy::capability_table_json() : eddy::capability_table_text();
    std::fputs(table.c_str(), stdout);
    return eddy::kExitOk;
  }
  if (const Problems problems = check_request(request); !problems.empty()) {
    eddy::say("eddyd: ", problems);
    return eddy::kExitBadConfig;
  }
  if (request.config.empty()) {
    eddy::say("eddyd: ", {"--config FILE is missing (see --help)"});
    return eddy::kExitBadConfig;
  }
  auto loaded = load(request);
  if (!loaded) {
    eddy::say("", loaded.problems());
    return eddy::kExitBadConfig;
  }
  if (request.require_name && *request.require_name != loaded->config.name) {
    eddy::say("eddyd: ", {request.config + " is of switch " + loaded->config.name + ", not of " +
                          (request.require_name->empty() ? "\"\"" : *request.require_name)});
    return eddy::kExitBadConfig;
  }
  eddy::say("", loaded->warnings, eddy::LogLevel::warning);
  if (request.print_config) std::fputs(print_config(loaded->config).c_str(), stdout);
  if (request.check) {
    std::fputs(eddy::printable_lines(describe(loaded->config)).c_str(), stdout);
    warn(loaded->config);
  }
  if (request.capabilities) show_capabilities(request, loaded->config);
  if (request.print_config || request.check || request.capabilities) return eddy::kExitOk;
  if (request.clock == "pcap") return run_from_captures(request, loaded->config);
  return serve(request, loaded->config);
}

// The configuration, and what is done with it instead of running.
void declare_words(CLI::App& app, Request& request) {
  auto* const config = app.add_option("--config", request.config, "configuration file (YAML)");
  auto* const check =
      app.add_flag("--check", request.check, "check the configuration, say what it means, and end");
  auto* const print = app.add_flag("--print-config", request.print_config,
                                   "print the configuration in force, and end")
                          ->excludes(check);
  auto* const schema = app.add_flag("--schema", request.schema,
                                    "print the JSON Schema of the configuration, and end")
                           ->excludes(check)
                           ->excludes(print);
  auto* const capabilities =
      app.add_flag("--capabilities", request.capabilities,
                   "print what each kind of port asks of the kernel, with --config what this one "
                   "does, and end")
          ->excludes(check)
          ->excludes(print)
          ->excludes(schema);
  auto* const sonic =
      app.add_option("--import-sonic", request.import_sonic,
                     "print what a config_db.json of SONiC is as a configuration, and end")
          ->excludes(check)
          ->excludes(print)
          ->excludes(schema)
          ->excludes(capabilities)
          ->excludes(config);
  app.add_flag("--report", request.import_report,
               "with --import-sonic: say what was taken, approximated and ignored")
      ->needs(sonic);
  app.add_option("--plugin", request.plugin, "with --schema: know this plugin's parameters, too")
      ->needs(schema);
  app.add_flag("--json", request.json, "with --capabilities: as JSON")->needs(capabilities);
}

void declare_service(CLI::App& app, Request& request) {
  app.add_flag("--json-log", request.json_log, "log one JSON object a line");
  app.add_option("--wait", request.wait,
                 "wait so long for the network interfaces that devices name, and for as many as "
                 "CLAB_INTFS says")
      ->take_last();
  app.add_option("--ready-within", request.ready_within,
                 "with a service manager: when it is told that the switch is ready although ports "
                 "are down")
      ->capture_default_str();
  app.add_option("--require-name", request.require_name,
                 "end unless the configuration is of a switch of this name");
  app.add_option("--require-version", request.require_version,
                 "end unless this is that version, the last number left aside")
      ->take_last();
  app.add_option("--clock", request.clock,
                 "tsc, or pcap: run from the captures of net_pcap ports, in their time")
      ->check(CLI::IsMember({"tsc", "pcap"}))
      ->capture_default_str();
  app.add_option("--events", request.events, "with --clock pcap: write events here, JSON lines");
  app.add_option("--drain-time", request.drain_time,
                 "with --clock pcap: how long to run after the last frame")
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  if (eddy::plugin::is_trial(argc, argv)) return eddy::plugin::run_trial();
  Request request;
  request.eal = eddy::split_off_eal(argc, argv);
  CLI::App app("Eddy, a lossless Ethernet switch on DPDK ports", "eddyd");
  app.footer(
      "Arguments after -- go to DPDK's EAL. Exit codes: 0 ended on request, 1 failed,\n"
      "2 bad configuration or usage.");
  app.set_version_flag("--version", eddy::version_line("eddyd"));
  declare_words(app, request);
  declare_service(app, request);
  eddy::spell_out_help(argc, argv);
  // Before the line is understood: what is wrong with it shall be an object, too.
  if (std::find(argv, argv + argc, std::string_view("--json-log")) != argv + argc)
    eddy::log_as_json();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    const std::string unknown = eddy::unknown_words(app);
    if (unknown.empty()) return app.exit(asked);
    eddy::say("eddyd: ", {unknown});
    return eddy::kExitBadConfig;
  } catch (const CLI::ParseError& error) {
    return eddy::say_usage(app, error) == 0 ? eddy::kExitOk : eddy::kExitBadConfig;
  }
  return eddy::end_of_output("eddyd: ", run(request));
}
