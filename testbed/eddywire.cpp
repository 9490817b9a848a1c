// eddywire: veth pairs between the switches and the Linux hosts of a fabric in containers. Exit
// codes: 0 done, 1 failed or refused, 2 bad usage, else that of the command that `join` was given.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "net/quantity.h"
#include "net/text/plain_name.h"
#include "net/version.h"
#include "system/command_line.h"
#include "system/log_lines.h"
#include "system/say.h"
#include "system/usage.h"
#include "testbed/wire_host.h"
#include "testbed/wire_messages.h"
#include "testbed/wire_server.h"

namespace eddy::testbed {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kBySignal = 128;
constexpr mode_t kForTheGroup = 0007;  // umask: who shares the group may use the socket

struct Arguments {
  std::string socket = kWireSocket;
  std::vector<std::string> pairs;
  std::string host;
  std::string device = "eth0";
  std::string address;
  std::string gateway;
  std::string wait = "60s";
  std::vector<std::string> command;
};

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

int complain(int code, const Problems& problems) {
  say("eddywire: ", problems);
  return code;
}

int serve(const Arguments& arguments) {
  std::vector<WirePair> pairs;
  Problems problems;
  for (const std::string& text : arguments.pairs) {
    const auto pair = parse_wire_pair(text);
    if (pair)
      pairs.push_back(pair.value());
    else
      problems.push_back(pair.problems().front());
  }
  if (!problems.empty()) return complain(kUsage, problems);
  umask(kForTheGroup);
  auto server = WireServer::open(pairs, arguments.socket);
  if (!server) return complain(kFailed, server.problems());
  say("eddywire: ", {std::to_string(pairs.size()) + " pairs, " + arguments.socket}, LogLevel::info);
  problems = server->serve(stop);
  return problems.empty() ? kDone : complain(kFailed, problems);
}

Result<WireHost::Wishes> wishes_of(const Arguments& arguments) {
  Problems problems = check_plain_name("the host's name", arguments.host);
  const auto address = parse_ip(arguments.address);
  const auto gateway = parse_ip(arguments.gateway);
  if (!address || !address->is_v4())
    problems.push_back("--address " + arguments.address + ": an IPv4 address is needed");
  if (!gateway || !gateway->is_v4())
    problems.push_back("--gateway " + arguments.gateway + ": an IPv4 address is needed");
  if (!problems.empty()) return problems;
  return WireHost::Wishes{.name = arguments.host,
                          .device = arguments.device,
                          .address = address->v4(),
                          .gateway = gateway->v4(),
                          .socket = arguments.socket};
}

// Or until a signal comes.
void rest(Duration time) {
  const timespec step{0, time.ns()};
  nanosleep(&step, nullptr);
}

// The command of the host; -1: it cannot be started.
pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) std::signal(number, SIG_DFL);
  execvp(words.front(), words.data());
  say("eddywire: ", {command.front() + ": " + std::strerror(errno)});
  _exit(kFailed);
}

// Every child that has ended, since the first process of a container inherits those of all others.
// The exit code, if the command was among them; -1: it was not.
int reap(pid_t command) {
  int status = 0;
  int code = -1;
  for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG))
    if (pid == command)
      code = WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
  return code;
}

// False: there is no server, or a signal came.
Result<bool> join_within(WireHost& host, Duration time) {
  for (Duration waited; waited < time && !stop.load(std::memory_order_relaxed);
       waited += WireHost::kRetry) {
    Result<bool> joined = host.join();
    if (!joined || joined.value()) return joined;
    rest(WireHost::kRetry);
  }
  return false;
}

// The host lives for as long as its command, or until a signal; meanwhile a server that was away
// finds it again.
int live(WireHost& host, pid_t command) {
  constexpr Duration kGlance = Duration::milliseconds(200);
  bool told = false;
  for (;;) {
    if (const int code = reap(command); code >= 0) return code;
    if (stop.load(std::memory_order_relaxed)) {
      if (command <= 0) return kDone;
      kill(command, SIGTERM);
    }
    if (!host.connected()) {
      const auto joined = host.join();
      if (!joined && !told) say("eddywire: ", joined.problems());
      told = !joined;
    }
    rest(kGlance);
  }
}

int join(const Arguments& arguments) {
  const auto wishes = wishes_of(arguments);
  if (!wishes) return complain(kUsage, wishes.problems());
  const auto wait = parse_duration(arguments.wait);
  if (!wait) return complain(kUsage, {"--wait: " + wait.problems().front()});
  WireHost host(wishes.value());
  const auto joined = join_within(host, wait.value());
  if (!joined) return complain(kFailed, joined.problems());
  if (stop.load(std::memory_order_relaxed)) return kDone;
  if (!joined.value())
    return complain(kFailed, {"nobody serves " + arguments.socket + " within " + arguments.wait});
  pid_t command = 0;
  if (!arguments.command.empty()) command = start(arguments.command);
  if (command < 0) return complain(kFailed, {std::string("fork: ") + std::strerror(errno)});
  return live(host, command);
}

void declare(CLI::App& app, Arguments& arguments) {
  app.require_subcommand(1);
  app.add_option("--socket", arguments.socket, "where both meet")->capture_default_str();
  CLI::App* serving =
      app.add_subcommand("serve", "make the pairs and hand hosts their ends, until a signal");
  serving
      ->add_option("--pair", arguments.pairs,
                   "HOST=DEVICE,mac=MAC,mtu=MTU; DEVICE is the switch's end; may be given again")
      ->allow_extra_args(false)
      ->required();
  CLI::App* joining = app.add_subcommand(
      "join", "be a host: get the interface, set it up, run the command or wait for a signal");
  joining->add_option("host", arguments.host, "its name")->required();
  joining->add_option("--device", arguments.device, "what it calls its interface")
      ->capture_default_str();
  joining->add_option("--address", arguments.address, "its IPv4 address")->required();
  joining->add_option("--gateway", arguments.gateway, "the switch's, of its default route")
      ->required();
  joining->add_option("--wait", arguments.wait, "how long the server may take to come up")
      ->capture_default_str();
}

// What stands behind "--".
std::vector<std::string> split_off_command(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    std::vector<std::string> command(argv + i + 1, argv + argc);
    argc = i;
    return command;
  }
  return {};
}

}  // namespace
}  // namespace eddy::testbed

int main(int argc, char** argv) {
  using namespace eddy::testbed;
  Arguments arguments;
  arguments.command = split_off_command(argc, argv);
  CLI::App app("veth pairs between the switches and the Linux hosts of a fabric in containers.",
               "eddywire");
  app.set_version_flag("--version", eddy::version_line("eddywire"));
  app.footer("eddywire join HOST ... -- COMMAND WORDS runs a command as the host.");
  declare(app, arguments);
  eddy::spell_out_help(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return eddy::say_usage(app, error) == 0 ? kDone : kUsage;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { stop.store(true, std::memory_order_relaxed); };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  action.sa_handler = [](int) {};  // a child's end wakes who rests
  sigaction(SIGCHLD, &action, nullptr);
  return app.got_subcommand("serve") ? serve(arguments) : join(arguments);
}
