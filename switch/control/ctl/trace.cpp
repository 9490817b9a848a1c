#include "switch/control/ctl/trace.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "net/version.h"
#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/serve/capture_memory.h"
#include "switch/control/serve/client.h"
#include "switch/explain/trace_reader.h"
#include "system/capture_filter.h"
#include "system/hostile_json.h"
#include "system/say.h"

namespace eddy::control {
namespace {

constexpr int kTraceRestMs = 1;  // between two looks at rings that were empty
constexpr uint64_t kUsual = 10;  // packets, unless --count says otherwise
constexpr auto kPatience = std::chrono::milliseconds(500);  // for what has come and not gone

std::atomic<int> trace_signal{0};

void note_trace_signal(int number) {
  trace_signal = number;
}

void watch_trace_signals() {
  struct sigaction action {};
  action.sa_handler = note_trace_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
}

// What the switch says of the trace that it has begun.
Problems read_trace_terms(const Json& said, explain::TraceNames& names) {
  if (said.value("trace_octets", size_t{0}) != sizeof(Explanation) ||
      said.value("format", 0) != kCaptureFormat)
    return {"the switch is of another version, whose traces " + version_line("eddyctl") +
            " cannot read"};
  names.of.name = said.value("switch", "");
  names.of.scheme = said.value("scheme", "");
  names.of.rlb = said.value("rlb", false);
  for (const Json& port : said.value("ports", Json::array()))
    names.of.ports.push_back(port.value("name", ""));
  for (const Json& each : said.value("prefixes", Json::array()))
    if (const auto prefix = parse_ip_prefix(each.get<std::string>()))
      names.of.prefixes.push_back(*prefix);
  names.reasons = said.value("reasons", std::vector<std::string>());
  return {};
}

class TraceRun {
 public:
  TraceRun(const Arguments& arguments, uint64_t most, OpenAnswer link)
      : json_(arguments.json), most_(most), link_(std::move(link)) {}

  Problems open(const Json& said) {
    explain::TraceNames names;
    if (Problems problems = read_trace_terms(said, names); !problems.empty()) return problems;
    stories_ = explain::TraceReader(std::move(names));
    auto view = CaptureView::map(link_.descriptors, said.value("rings", size_t{0}),
                                 said.value("ring_octets", size_t{0}));
    if (!view.ok()) return view.problems();
    view_ = std::move(*view);
    return {};
  }

  Problems follow() {
    auto last = std::chrono::steady_clock::now();
    while (trace_signal == 0 && told_ < most_) {
      const bool more = read_rings();
      if (broken()) return {"the switch has written what is no packet"};
      if (!std::cout) return {"standard output: " + unwritten_};
      if (more) {
        last = std::chrono::steady_clock::now();
        continue;
      }
      // What is still in the switch when all have come, and stays there, is told as it is.
      const bool all_came = told_ + stories_.open() >= most_;
      if (all_came && std::chrono::steady_clock::now() - last > kPatience) break;
      if (!rest()) return {"the switch has ended"};
    }
    while (read_rings() && !broken()) {
    }
    for (const Json& story : stories_.take_unfinished())
      if (told_ < most_) tell(story);
    return {};
  }

  void sum_up() const {
    uint64_t lost = 0;
    for (const CaptureReader& reader : view_->readers())
      for (size_t port = 0; port < stories_.names().of.ports.size(); ++port)
        lost += reader.lost(port);
    std::string line = std::to_string(told_) + (told_ == 1 ? " packet" : " packets") + " traced";
    if (lost != 0)
      line += ", " + std::to_string(lost) +
              " lost: more came than a worker explains in a poll, "
              "or than were read";
    say("eddyctl: ", {line}, LogLevel::info);
  }

 private:
  bool broken() const { return ring_broken_ || stories_.broken(); }

  bool read_rings() {
    bool any = false;
    for (CaptureReader& reader : view_->readers()) {
      CapturedPacket packet;
      while (told_ < most_ && reader.next(packet)) {
        any = true;
        if (const std::optional<Json> story = stories_.take(packet)) tell(*story);
      }
      ring_broken_ |= reader.broken();
      reader.release();
    }
    return any;
  }

  void tell(const Json& story) {
    ++told_;
    std::cout << (json_ ? json_line(story) : explain::trace_lines(with_printable_texts(story)))
              << std::flush;
    if (!std::cout && unwritten_.empty())
      unwritten_ = errno == EPIPE ? "its reader has closed it" : std::strerror(errno);
  }

  // False: the switch is gone.
  bool rest() const {
    pollfd link{link_.connection.get(), POLLIN, 0};
    if (::poll(&link, 1, kTraceRestMs) <= 0) return true;
    return (link.revents & (POLLHUP | POLLERR | POLLIN)) == 0;
  }

  bool json_;
  uint64_t most_;
  OpenAnswer link_;
  explain::TraceReader stories_;
  std::unique_ptr<CaptureView> view_;
  uint64_t told_ = 0;
  std::string unwritten_;  // why standard output has not all
  bool ring_broken_ = false;
};

}  // namespace

Problems check_trace(const Arguments& arguments) {
  Problems problems;
  add_problems(problems, count_of(arguments, kUsual, kMostTraced));
  add_problems(problems, CaptureFilter::compile(arguments.filter));
  return problems;
}

int trace(const Arguments& arguments) {
  if (Problems problems = check_trace(arguments); !problems.empty()) return fail(kUsage, problems);
  const Result<uint64_t> count = count_of(arguments, kUsual, kMostTraced);
  Result<CaptureFilter> filter = CaptureFilter::compile(arguments.filter);
  Json request{{"command", "trace"}, {"count", count.value()}};
  Json program = Json::array();
  for (const FilterInstruction& each : filter->program())
    program.push_back({each.code, each.if_true, each.if_false, each.k});
  request["filter"] = std::move(program);
  watch_trace_signals();
  Result<OpenAnswer> link = open_over_socket(control_socket(arguments), request, {});
  if (!link.ok()) return fail(kRefused, link.problems());
  const Json answer = std::move(link->answer);
  if (!answer.value("ok", false)) return fail(kRefused, answer.value("problems", Problems{}));
  TraceRun run(arguments, count.value(), std::move(*link));
  if (Problems problems = run.open(answer.value("result", Json::object())); !problems.empty())
    return fail(kRefused, problems);
  const Problems problems = run.follow();
  run.sum_up();
  return problems.empty() ? kDone : fail(kRefused, problems);
}

}  // namespace eddy::control
