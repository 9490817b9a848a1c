#include "switch/control/ctl/capture.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "net/capture/capture_section.h"
#include "net/version.h"
#include "switch/control/ctl/capture_file.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/serve/capture_memory.h"
#include "switch/control/serve/client.h"
#include "system/capture_filter.h"
#include "system/say.h"
#include "system/time_text.h"

namespace eddy::control {
namespace {

constexpr int kRestMs = 1;            // between two looks at rings that were empty
constexpr size_t kRound = 16 * 1024;  // packets of a ring that are put in order at once
constexpr size_t kMostReasons = 256;

std::atomic<int> stop_signal{0};

void note_signal(int number) {
  stop_signal = number;
}

bool stopped() {
  return stop_signal != 0;
}

// Calls that wait are interrupted.
void watch_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
}

uint64_t time_now_ns() {
  return static_cast<uint64_t>(unix_now_ns());
}

std::string packets(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " packet" : " packets");
}

// What the switch says of the capture that it has begun.
struct Terms {
  size_t rings = 0;
  size_t ring_octets = 0;
  CaptureSection::Names names;
};

Result<Terms> read_terms(const Json& said) {
  if (said.value("format", 0) != kCaptureFormat)
    return Result<Terms>::failure("the switch is of another version, whose captures " +
                                  version_line("eddyctl") + " cannot read");
  Terms terms;
  terms.rings = said.value("rings", size_t{0});
  terms.ring_octets = said.value("ring_octets", size_t{0});
  terms.names.application = version_line("eddyctl") + ", " + said.value("version", "");
  terms.names.owner = said.value("switch", "");
  const Json ports = said.value("ports", Json::array());
  if (ports.size() > kMaxPorts) return Result<Terms>::failure("the switch has too many ports");
  for (const Json& port : ports)
    terms.names.ports.push_back({port.value("name", ""), port.value("speed_bps", uint64_t{0})});
  terms.names.reasons = said.value("reasons", std::vector<std::string>());
  terms.names.reasons.resize(std::min(terms.names.reasons.size(), kMostReasons));
  return terms;
}

// From the switch's rings to the file.
class Run {
 public:
  Run(const Arguments& arguments, uint64_t most, CaptureFilter filter, OpenAnswer link)
      : snap_(arguments.snap), most_(most), filter_(std::move(filter)), link_(std::move(link)) {}

  Problems open(const std::string& path, const Json& said) {
    Result<Terms> terms = read_terms(said);
    if (!terms.ok()) return terms.problems();
    Result<std::unique_ptr<CaptureView>> view =
        CaptureView::map(link_.descriptors, terms->rings, terms->ring_octets);
    if (!view.ok()) return view.problems();
    view_ = std::move(*view);
    port_count_ = terms->names.ports.size();
    section_.emplace(out_, std::move(terms->names));
    if (Problems problems = file_.open(path); !problems.empty()) return problems;
    section_->begin(snap_, time_now_ns());
    return flush();
  }

  // Until something ends it, which the problems say if nobody asked for it.
  Problems follow() {
    while (!stopped() && !enough()) {
      const bool more = read_round();
      if (Problems problems = flush(); !problems.empty()) return problems;
      if (more) continue;
      if (broken_) return {"the switch has written what is no packet"};
      if (file_.reader_is_gone()) return {"standard output: its reader has closed it"};
      if (!rest()) return {"the switch has ended"};
    }
    return {};
  }

  // What is in the rings by now, and the counts.
  Problems finish() {
    for (size_t i = 0; i < kLastRounds && !enough() && read_round(); ++i)
      if (Problems problems = flush(); !problems.empty()) return problems;
    count_lost();
    section_->end(time_now_ns());
    return flush();
  }

  void sum_up() const {
    std::string line = packets(kept_) + " captured";
    if (section_->lost() != 0)
      line += ", " + std::to_string(section_->lost()) +
              " lost: they came faster than they were written";
    if (section_->skipped() != 0)
      line += ", " + std::to_string(section_->skipped()) + " not let through by the filter";
    say("eddyctl: ", {line}, LogLevel::info);
  }

 private:
  static constexpr size_t kLastRounds = 64;
  // Octets that are written at once: so many are lost, at most, where a disk is full.
  static constexpr size_t kPiece = 32 * 1024;

  bool enough() const { return section_->written() >= most_; }

  // False: there was nothing.
  bool read_round() {
    round_.clear();
    count_lost();
    for (CaptureReader& reader : view_->readers()) {
      CapturedPacket packet;
      for (size_t i = 0; i < kRound && reader.next(packet); ++i) round_.push_back(packet);
      broken_ |= reader.broken();
    }
    std::ranges::stable_sort(round_, {}, [](const CapturedPacket& p) { return p.head.stamp_ns; });
    for (const CapturedPacket& packet : round_) {
      if (enough()) break;
      if (out_.size() >= kPiece && !(failure_ = write_out()).empty()) break;
      if (filter_.matches(packet.frame, packet.head.wire_len))
        section_->add(packet, snap_);
      else
        section_->skip(packet.head.port);
    }
    for (CaptureReader& reader : view_->readers()) reader.release();
    return !round_.empty();
  }

  void count_lost() {
    for (size_t port = 0; port < port_count_; ++port) {
      uint64_t lost = 0;
      for (const CaptureReader& reader : view_->readers()) lost += reader.lost(port);
      section_->set_lost(port, lost);
    }
  }

  Problems flush() { return failure_.empty() ? write_out() : failure_; }

  Problems write_out() {
    Problems problems = file_.write(out_);
    if (problems.empty()) kept_ = section_->written();
    out_.clear();
    return problems;
  }

  // False: the switch is gone.
  bool rest() const {
    pollfd link{link_.connection.get(), POLLIN, 0};
    if (::poll(&link, 1, kRestMs) <= 0) return true;
    return (link.revents & (POLLHUP | POLLERR | POLLIN)) == 0;  // it says nothing more
  }

  uint32_t snap_;
  uint64_t most_;
  CaptureFilter filter_;
  OpenAnswer link_;
  CaptureFile file_{stopped};
  std::unique_ptr<CaptureView> view_;
  size_t port_count_ = 0;
  std::vector<uint8_t> out_;
  std::optional<CaptureSection> section_;
  std::vector<CapturedPacket> round_;
  uint64_t kept_ = 0;  // packets that have been written, as far as is known
  Problems failure_;   // of a write
  bool broken_ = false;
};

Json request_of(const Arguments& arguments, const std::string& port, const CaptureFilter& filter) {
  Json request{{"command", "capture"}, {"port", port}};
  const uint32_t least = filter.keeps_all() ? 1 : CaptureFilter::kSees;
  request["snap"] = std::max(arguments.snap, least);
  if (!arguments.direction.empty()) request["direction"] = arguments.direction;
  return request;
}

}  // namespace

Problems check_capture(const Arguments& arguments) {
  Problems problems;
  if (arguments.write.empty())
    problems.push_back(
        "-w is missing: a file, or - for standard output, as in eddyctl capture all -w - | tshark "
        "-r -");
  if (arguments.write == "-" && ::isatty(STDOUT_FILENO) != 0)
    problems.push_back(
        "-w -: standard output is a terminal; name a file, or a pipe to tshark -r -");
  add_problems(problems, CaptureFilter::compile(arguments.filter));
  add_problems(problems, count_of(arguments, UINT64_MAX, UINT64_MAX));
  return problems;
}

int capture(Arguments arguments, const std::string& port) {
  if (Problems problems = check_capture(arguments); !problems.empty())
    return fail(kUsage, problems);
  Result<CaptureFilter> filter = CaptureFilter::compile(arguments.filter);
  const Result<uint64_t> count = count_of(arguments, UINT64_MAX, UINT64_MAX);
  watch_signals();
  const Json request = request_of(arguments, port, *filter);
  Result<OpenAnswer> link = open_over_socket(control_socket(arguments), request, {});
  if (!link.ok()) return fail(kRefused, link.problems());
  const Json answer = std::move(link->answer);
  if (!answer.value("ok", false)) return fail(kRefused, answer.value("problems", Problems{}));
  Run run(arguments, count.value(), std::move(*filter), std::move(*link));
  if (Problems problems = run.open(arguments.write, answer.value("result", Json::object()));
      !problems.empty())
    return fail(kRefused, problems);
  Problems problems = run.follow();
  const bool written = problems.empty() || problems.front().starts_with("the switch has");
  if (written)
    if (Problems more = run.finish(); !more.empty()) problems = more;
  run.sum_up();
  return problems.empty() ? kDone : fail(kRefused, problems);
}

}  // namespace eddy::control
