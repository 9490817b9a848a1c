#include "switch/control/ctl/web.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "config/host_port.h"
#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/fabric_watch.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/web/live_picture.h"
#include "switch/control/web/web_server.h"
#include "system/hostile_json.h"
#include "system/say.h"

namespace eddy::control {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPictureReady{300};  // who is slower is shown a picture later, as in top
constexpr int kMillisecondsASecond = 1'000;
constexpr Report kTablesOfAPort[] = {Report::ports, Report::queues, Report::pgs,
                                     Report::pfc,   Report::drops,  Report::rlb};

std::string listen_of(const Arguments& arguments) {
  return arguments.listen.empty() ? kWebAddress : arguments.listen;
}

// What is wrong with --listen, or empty.
Problems check_address(const std::string& text) {
  const auto [host, port] = split_host_port(text);
  constexpr unsigned kLastPort = 65'535;
  unsigned number = kLastPort + 1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parse_ip(host) && error == std::errc() && end == port.data() + port.size() &&
      number <= kLastPort)
    return {};
  return {"--listen " + text +
          ": valid is an address and a port, as 127.0.0.1:9480 or [::1]:9480; port 0: any"};
}

// The signals that end it, as a file; blocked in all threads that begin later.
Fd ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return Fd(signalfd(-1, &set, SFD_CLOEXEC));
}

// The tables of a port, asked of its switch. Called by a thread of the server's, while the main
// thread says which switches there are.
class PortTables {
 public:
  PortTables(std::string folder, Target only)
      : folder_(std::move(folder)), only_(std::move(only)), stop_(eventfd(0, EFD_CLOEXEC)) {}

  // Whoever waits for a switch does so no longer.
  void stop() { eventfd_write(stop_.get(), 1); }
  void note(const std::vector<SwitchReading>& switches) {
    std::map<std::string, std::string> known;
    for (const SwitchReading& each : switches)
      known[each.name] = each.presence == Presence::answers ? "" : each.problem;
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
  }

  WebServer::Answer read(const std::string& name, const std::string& port) const {
    if (const Problems problems = check(name); !problems.empty()) return refusal(404, problems);
    const std::string socket = folder_.empty() ? only_.socket : folder_ + "/" + name + ".sock";
    Json tables = Json::array();
    for (const Report report : kTablesOfAPort) {
      try {
        ReportOptions options;
        options.port = port;
        const Result<Json> answer = ask_report(socket, report, options, {.stop_fd = stop_.get()});
        if (!answer.ok()) return refusal(502, answer.problems());
        tables.push_back(cells_of(with_printable_texts(answer.value())));
      } catch (const std::exception& error) {  // of JSON: whoever answered is no switch
        return refusal(502, {"the answer is not as expected: " + std::string(error.what())});
      }
    }
    return {200, Json{{"switch", name}, {"port", port}, {"tables", std::move(tables)}}.dump()};
  }

 private:
  // A name is only ever looked up, so no text of a client's becomes a path.
  Problems check(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(name);
    if (found == known_.end()) return {"there is no such switch"};
    return found->second.empty() ? Problems{} : Problems{found->second};
  }
  static WebServer::Answer refusal(unsigned status, const Problems& problems) {
    return {status,
            Json{{"problems", problems}}.dump(-1, ' ', true, Json::error_handler_t::replace)};
  }

  const std::string folder_;  // empty: of one switch
  const Target only_;
  const Fd stop_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> known_;  // guarded by mutex_: by name, why it does not answer
};

// Draws as long as somebody watches; reads nothing otherwise.
class Page {
 public:
  Page(FabricWatch& watch, PortTables& tables, WebServer& server, LivePicture picture,
       milliseconds every)
      : watch_(watch),
        tables_(tables),
        server_(server),
        picture_(std::move(picture)),
        every_(every),
        next_(Clock::now()) {}

  void run(const Fd& signals) {
    for (;;) {
      std::array<pollfd, 2> waits{{{signals.get(), POLLIN, 0}, {server_.wake_fd(), POLLIN, 0}}};
      poll(waits.data(), waits.size(), server_.watchers() == 0 ? -1 : left_ms());
      if (waits[0].revents != 0) return;
      eventfd_t begun = 0;
      if (waits[1].revents != 0) (void)eventfd_read(server_.wake_fd(), &begun);
      if (server_.watchers() > 0 && Clock::now() >= next_) draw();
    }
  }

 private:
  int left_ms() const {
    const auto left = std::chrono::ceil<milliseconds>(next_ - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, every_.count()));
  }

  void draw() {
    next_ = Clock::now() + every_;
    watch_.look(Report::rlb, kPictureReady);
    tables_.note(watch_.switches());
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    server_.publish(picture_.draw(watch_.switches(), watch_.reports(),
                                  std::chrono::duration_cast<milliseconds>(now).count()));
  }

  FabricWatch& watch_;
  PortTables& tables_;
  WebServer& server_;
  LivePicture picture_;
  const milliseconds every_;
  Clock::time_point next_;
};

std::string page_title(const Arguments& arguments, const Target& only) {
  if (!asks_all(arguments)) return "switch " + only.name;
  return arguments.fabric.empty() ? folder_of(arguments) : "fabric " + arguments.fabric;
}

void warn_of_remote(const std::string& listens) {
  const std::optional<IpAddress> address = parse_ip(split_host_port(listens).host);
  if (address && !is_loopback(*address))
    say("eddyctl: ",
        {"whoever reaches " + listens + " sees this page, without a password and in clear text"});
}

}  // namespace

Problems check_web(const Arguments& arguments) {
  return check_address(listen_of(arguments));
}

int web(Arguments& arguments) {
  if (Problems problems = check_web(arguments); !problems.empty()) return fail(kUsage, problems);
  const std::string listen = listen_of(arguments);
  const Result<std::vector<Target>> targets = targets_of(arguments);
  if (!targets.ok()) return fail(kRefused, targets.problems());
  const Fd signals = ending_signals();
  const Target& only = targets.value().front();
  const std::string folder = asks_all(arguments) ? folder_of(arguments) : "";
  PortTables tables(folder, only);
  auto server =
      WebServer::open(listen, [&tables](const std::string& name, const std::string& port) {
        return tables.read(name, port);
      });
  if (!server.ok()) return fail(kRefused, server.problems());
  warn_of_remote((*server)->address());
  std::cout << "http://" << (*server)->address() << "/ (Ctrl-C ends it)" << std::endl;
  FabricWatch watch = folder.empty() ? FabricWatch(only) : FabricWatch(folder);
  const milliseconds every(std::max(1, arguments.watch_s) * kMillisecondsASecond);
  Page(watch, tables, **server, LivePicture(page_title(arguments, only), every.count()), every)
      .run(signals);
  tables.stop();
  return kDone;
}

}  // namespace eddy::control
