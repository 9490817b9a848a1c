#include "switch/control/ctl/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "net/text/plain_name.h"
#include "switch/control/ctl/action.h"
#include "switch/control/ctl/health.h"
#include "switch/control/report/words.h"
#include "system/say.h"

namespace eddy::control {
namespace {

constexpr std::array<std::string_view, 3> kDirections = {"in", "out", "drop"};

bool is_direction(const std::string& word) {
  return std::ranges::find(kDirections, word) != kDirections.end();
}

void declare_which(CLI::App& app, Arguments& arguments) {
  auto* name =
      app.add_option("--name", arguments.name,
                     "which switch; default: what EDDY_SWITCH names, else the only one that runs");
  app.add_option("--dir", arguments.dirs,
                 "folder of the control sockets, such as /run/eddy/lab/FABRIC; capture: in, out "
                 "and drop are --direction (./in is a folder)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->default_str(std::string(kSocketDirectory));
  auto* socket = app.add_option("--socket", arguments.socket,
                                "its control socket, instead of --name and --dir")
                     ->excludes(name);
  auto* fabric =
      app.add_option("--fabric", arguments.fabric,
                     "healthy, top, techsupport, web: all switches of a fabric of eddylab, "
                     "instead of --dir; without a name, of the only one")
          ->expected(0, 1)
          ->excludes(name)
          ->excludes(socket);
  app.parse_complete_callback([&app, &arguments, fabric] {
    for (const CLI::Option* option : app.get_options())
      if (option->count() > 0 && !option->get_lnames().empty())
        arguments.given.push_back("--" + option->get_lnames().front());
    arguments.of_fabric = fabric->count() > 0;
    // "--fabric top": the word that follows is the command where there is no other.
    if (arguments.of_fabric && arguments.words.empty() && !arguments.fabric.empty())
      arguments.words.push_back(std::exchange(arguments.fabric, ""));
  });
}

struct Concerns {
  std::string_view option;
  std::vector<std::string_view> commands;
};

// --fabric is not here: it says itself what it is for.
const std::vector<Concerns>& concerns() {
  static const std::vector<std::string_view> of_one_switch = {
      "show", "show config", "watch",   "clear",   "set",   "set pfcwd",   "reload",
      "top",  "healthy",     "capture", "explain", "trace", "techsupport", "web"};
  static const std::vector<std::string_view> of_a_folder = [] {
    std::vector<std::string_view> commands = of_one_switch;
    commands.push_back("list");
    return commands;
  }();
  static const std::vector<Concerns> all = {
      {"--name", of_one_switch},
      {"--socket", of_one_switch},
      {"--dir", of_a_folder},
      {"--json",
       {"show", "show config", "watch", "clear", "set", "set pfcwd", "reload", "top", "healthy",
        "explain", "trace"}},
      {"--all", {"show", "show config", "watch", "top", "healthy", "techsupport", "web"}},
      {"--port", {"show", "watch", "clear", "set pfcwd"}},
      {"--leaf", {"show", "watch"}},
      {"--top", {"show", "watch"}},
      {"--style", {"show"}},
      {"--watch", {"show", "watch", "top", "web"}},
      {"--listen", {"web"}},
      {"--check", {"reload"}},
      {"--ports", {"healthy"}},
      {"--out", {"techsupport"}},
      {"--write", {"capture"}},
      {"--direction", {"capture"}},
      {"--filter", {"capture", "trace"}},
      {"--count", {"capture", "trace"}},
      {"--snap", {"capture"}},
      {"--markdown", {"counters"}}};
  return all;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

std::vector<std::string> port_choices() {
  std::vector<std::string> words;
  for (const Word& word : port_choice_words()) words.emplace_back(word.name);
  return words;
}

void declare_capture(CLI::App& app, Arguments& arguments) {
  app.add_option("-w,--write", arguments.write,
                 "capture: the pcapng file, written anew; -: standard output");
  app.add_option("--direction", arguments.direction,
                 "capture: only packets that come in, go out or are dropped; default: all")
      ->check(CLI::IsMember(std::vector<std::string>(kDirections.begin(), kDirections.end())));
  app.add_option("--filter", arguments.filter,
                 "capture, trace: which packets, as in pcap-filter(7)");
  app.add_option("--count", arguments.count,
                 "capture, trace: ends after so many packets; trace: 10 unless said, " +
                     std::to_string(kMostTraced) + " at most")
      ->type_name("UINT");
  app.add_option("--snap", arguments.snap, "capture: at most so many octets of a packet")
      ->check(CLI::Range(uint32_t{1}, kCaptureMostSnap));
}

}  // namespace

void declare(CLI::App& app, Arguments& arguments) {
  app.footer(footer());
  declare_which(app, arguments);
  app.add_flag("--json", arguments.json, "for programs: one JSON value a line");
  app.add_flag(
      "--all", arguments.options.all,
      "rows in which nothing has happened, too; healthy, top, web: every switch of the folder");
  app.add_option("--style", arguments.style,
                 "show: sonic: SONiC's words and columns, such as show pfc counters, pfcwd show "
                 "stats, show queue watermark, show priority-group watermark shared")
      ->check(CLI::IsMember(std::vector<std::string>{"sonic"}));
  app.add_option("--port", arguments.options.port,
                 "only rows of this port; clear, set pfcwd: only this port");
  app.add_option("--leaf", arguments.options.leaf, "only rows of this destination leaf");
  app.add_option("--top", arguments.options.top, "at most so many rows (flows: 50 unless said)")
      ->check(CLI::Range(uint64_t{1}, kMostTop));
  app.add_option("--watch", arguments.watch_s,
                 "repeat every N seconds; top, watch, web: every second unless said")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--check", arguments.check,
               "reload: says what it would change, and changes nothing");
  app.add_option("--listen", arguments.listen,
                 "web: address and port of the page; port 0: any that is free")
      ->default_str(kWebAddress);
  app.add_option("--ports", arguments.ports, "healthy: whose ports have to be up; default: fabric")
      ->check(CLI::IsMember(port_choices()));
  app.add_option("--out", arguments.out,
                 "techsupport: the archive, a new file; -: standard output");
  declare_capture(app, arguments);
  app.add_flag("--markdown", arguments.markdown, "counters: as docs/counters.md");
  app.add_option("words", arguments.words, "the command, as below");
}

Problems default_name(Arguments& arguments) {
  if (!arguments.name.empty() || !arguments.socket.empty()) return {};
  const char* name = std::getenv(kSwitchVariable);
  if (name == nullptr || *name == '\0') return {};
  arguments.name = name;
  return check_plain_name(kSwitchVariable, arguments.name);
}

Problems check_names(const Arguments& arguments) {
  return arguments.name.empty() ? Problems{} : check_plain_name("--name", arguments.name);
}

Problems check_options(const Arguments& arguments, std::string_view command) {
  Problems problems;
  for (const Concerns& each : concerns()) {
    if (std::ranges::find(arguments.given, each.option) == arguments.given.end()) continue;
    if (std::ranges::find(each.commands, command) != each.commands.end()) continue;
    problems.push_back(std::string(each.option) + " does not concern " + std::string(command) +
                       "; it is for " + joined(each.commands));
  }
  return problems;
}

Problems settle_dirs(Arguments& arguments) {
  const bool of_capture = !arguments.words.empty() && arguments.words.front() == "capture";
  for (const std::string& dir : arguments.dirs) {
    std::string& meant = of_capture && is_direction(dir) ? arguments.direction : arguments.folder;
    if (!meant.empty() && meant != dir) return {"--dir " + dir + " and " + meant + ": one of them"};
    meant = dir;
  }
  if (arguments.folder.empty() || (arguments.socket.empty() && !arguments.of_fabric)) return {};
  return {"--dir " + arguments.folder + " and " +
          (arguments.of_fabric ? "--fabric" : "--socket " + arguments.socket) + ": one of them"};
}

Result<uint64_t> count_of(const Arguments& arguments, uint64_t usual, uint64_t most) {
  const std::string& said = arguments.count;
  if (std::ranges::find(arguments.given, "--count") == arguments.given.end()) return usual;
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), count);
  if (error == std::errc() && end == said.data() + said.size() && count >= 1 && count <= most)
    return count;
  return Result<uint64_t>::failure("--count " + said + ": no whole number from 1 " +
                                   (most == UINT64_MAX ? "on" : "to " + std::to_string(most)));
}

int fail(int code, const Problems& problems) {
  say("eddyctl: ", problems);
  return code;
}

}  // namespace eddy::control
