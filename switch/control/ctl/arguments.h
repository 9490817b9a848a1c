// Arguments: the command line of eddyctl as plain values, and how CLI11 is told of it.
//
// Owner: main. Cost: once a process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/capture/capture_record.h"
#include "net/result.h"
#include "switch/control/report/report_options.h"
#include "switch/control/sonic/sonic_show.h"

// Not its header: every source with it has CLI11's own objects to make.
namespace CLI {
class App;
}

namespace eddy::control {

// Exit codes.
inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;  // by the switch, or it cannot be reached
inline constexpr int kUsage = 2;

// Names a switch where --name, --socket and --all do not.
inline constexpr const char* kSwitchVariable = "EDDY_SWITCH";

// Of web, unless --listen says otherwise.
inline constexpr const char* kWebAddress = "127.0.0.1:9480";

struct Arguments {
  std::string name;
  std::string socket;
  std::string folder;             // of control sockets; empty: /run/eddy
  std::vector<std::string> dirs;  // --dir as given: the folder, and of capture a direction
  bool of_fabric = false;         // --fabric
  std::string fabric;             // its name; empty: the only one
  bool json = false;
  bool markdown = false;
  std::string style;                // of show: sonic; empty: ours
  std::optional<SonicTable> sonic;  // what it shows then
  int watch_s = 0;
  bool check = false;                // of reload
  std::string listen;                // address and port of web
  std::string out;                   // file of techsupport; "-": standard output
  std::string ports;                 // that count for health: of port_choice_words()
  std::string write;                 // file of capture; "-": standard output
  std::string direction;             // of capture: in, out, drop; empty: all
  std::string filter;                // of capture, as pcap-filter(7); empty: none
  std::string count;                 // packets of capture and trace as given: count_of() reads it
  uint32_t snap = kCaptureMostSnap;  // octets of a frame
  ReportOptions options;
  std::vector<std::string> words;
  std::vector<std::string> given;  // options of the line, as "--json"
};

// Switches of the folder, and not one: healthy, top, techsupport, web.
inline bool asks_all(const Arguments& arguments) {
  return arguments.of_fabric ||
         (arguments.options.all && arguments.name.empty() && arguments.socket.empty());
}

void declare(CLI::App& app, Arguments& arguments);
// Takes what --dir names for the folder of the sockets or, of capture, for the direction.
Problems settle_dirs(Arguments& arguments);
// Takes the name from the environment where the line has none; the problem, or empty. For commands
// that concern one switch.
Problems default_name(Arguments& arguments);
Problems check_names(const Arguments& arguments);
// Of options that do not concern the command.
Problems check_options(const Arguments& arguments, std::string_view command);

// The number that --count says, from 1 to `most`; `usual`, where it says none.
Result<uint64_t> count_of(const Arguments& arguments, uint64_t usual, uint64_t most);

// Those that kept a value from being made, behind those that there are.
template <class T>
void add_problems(Problems& problems, const Result<T>& made) {
  if (!made.ok()) problems.insert(problems.end(), made.problems().begin(), made.problems().end());
}

// Says the problems and returns the code.
int fail(int code, const Problems& problems);

}  // namespace eddy::control
