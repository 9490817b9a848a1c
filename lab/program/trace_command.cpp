#include "lab/program/trace_command.h"

#include <iostream>
#include <utility>
#include <vector>

#include "lab/program/run_command.h"
#include "net/capture/capture_order.h"
#include "net/text/printable.h"
#include "switch/dataplane/object/capture.h"
#include "switch/dataplane/object/switch.h"
#include "switch/explain/trace_reader.h"
#include "system/capture_filter.h"
#include "system/say.h"

namespace eddy::lab {
namespace {

constexpr size_t kTraceRing = 4u << 20;

// Traces at one switch of a world from an instant on, and stops the world when all is told.
class LabTracer final : public Watcher {
 public:
  LabTracer(const TraceArguments& arguments, const WatchedRun& run, PacketFilter filter)
      : arguments_(arguments), dilation_(static_cast<uint64_t>(run.dilation())) {
    trace_.filter = std::move(filter);
    trace_.most = static_cast<uint32_t>(arguments.count);
    octets_.resize(kTraceRing);
    ring_ = CaptureReader(state_, tail_, octets_);
    order_.ports.set();
    order_.ring = CaptureWriter(state_, tail_, octets_);
    order_.trace = &trace_;
  }

  Watcher* attach(World& world, size_t switch_index, Instant from, explain::TraceNames names) {
    world_ = &world;
    reader_ = explain::TraceReader(std::move(names));
    world.at(from, [this, switch_index](World& now) {
      capture(now.switch_at(switch_index).shard(ShardId(0)), &order_);
      begun_ = true;
    });
    return this;
  }

  void on_frame(uint32_t, Step, const Packet&) override {}
  void on_turn(uint32_t) override { read(); }
  void on_instant() override { read(); }

  // After the run, whose world may be gone.
  void tell_rest() {
    for (const explain::Json& story : reader_.take_unfinished())
      if (told_ < arguments_.count) tell(story);
  }
  bool begun() const { return begun_; }
  bool broken() const { return reader_.broken() || ring_.broken(); }
  void sum_up() const {
    uint64_t lost = 0;
    for (size_t port = 0; port < kMaxPorts; ++port) lost += ring_.lost(port);
    std::string line = std::to_string(told_) + (told_ == 1 ? " packet" : " packets") + " traced";
    if (lost != 0)
      line += ", " + std::to_string(lost) + " lost: more came in a turn than are explained";
    say("eddylab: ", {line}, LogLevel::info);
  }

 private:
  void read() {
    CapturedPacket packet;
    while (told_ < arguments_.count && ring_.next(packet)) {
      packet.head.stamp_ns /= dilation_;
      if (auto story = reader_.take(packet)) tell(std::move(*story));
    }
    ring_.release();
    if (told_ >= arguments_.count || broken()) world_->stop();
  }

  void tell(explain::Json story) {
    ++told_;
    if (story.contains("at_ns")) story["at_ns"] = story["at_ns"].get<uint64_t>() / dilation_;
    std::cout << (arguments_.json ? story.dump(-1, ' ', true) + "\n"
                                  : printable_lines(explain::trace_lines(story)));
  }

  const TraceArguments& arguments_;
  const uint64_t dilation_;
  TraceOrder trace_;
  CaptureRingState state_;
  CaptureRingTail tail_;
  std::vector<uint8_t> octets_;
  CaptureReader ring_;
  CaptureOrder order_;
  explain::TraceReader reader_;
  World* world_ = nullptr;
  uint64_t told_ = 0;
  bool begun_ = false;
};

Result<PacketFilter> filter_of(const std::string& expression) {
  Result<CaptureFilter> compiled = CaptureFilter::compile(expression);
  if (!compiled.ok()) return compiled.problems();
  return PacketFilter::load(compiled->program());
}

explain::TraceNames names_of(const config::SwitchConfig& config) {
  explain::TraceNames names{.of = explain::Names::of(config), .reasons = {}};
  for (const CounterInfo& info : drop_reason_infos()) names.reasons.emplace_back(info.name);
  return names;
}

}  // namespace

void declare_trace(CLI::App& app, TraceArguments& arguments) {
  CLI::App* command = app.add_subcommand(
      "trace",
      "the next packets at a switch of a run, explained as they come, and where they went");
  declare_experiment(*command, arguments.choice);
  command->add_option("--switch", arguments.switch_name, "which")->required();
  command->add_option("--at", arguments.at, "from this instant on, such as 1.5ms; default: 0s");
  command->add_option("--filter", arguments.filter, "which packets, as in pcap-filter(7)");
  command->add_option("--count", arguments.count, "ends after so many packets; default: 10")
      ->check(CLI::Range(uint64_t{1}, uint64_t{kMostTraced}));
  declare_choice(*command, arguments.choice);
  command->add_flag("--json", arguments.json, "one JSON value a packet and line");
}

int trace_command(const TraceArguments& arguments) {
  const Result<Duration> at = read_instant(arguments.at);
  if (!at.ok()) return complain(kUsage, at.problems());
  Result<PacketFilter> filter = filter_of(arguments.filter);
  if (!filter.ok()) return complain(kUsage, filter.problems());
  const auto run = WatchedRun::load(arguments.choice);
  if (!run.ok()) return complain(kUsage, run.problems());
  const Topology& topology = run.value()->topology();
  const Result<size_t> which = find_switch(topology, arguments.switch_name);
  if (!which.ok()) return complain(kUsage, which.problems());
  LabTracer tracer(arguments, *run.value(), std::move(*filter));
  const Problems problems = run.value()->go([&](World& world) {
    return tracer.attach(world, which.value(), run.value()->in_world(at.value()),
                         names_of(topology.switches[which.value()]));
  });
  if (!problems.empty()) return complain(kUsage, problems);
  if (!tracer.begun())
    return complain(kUsage, {"--at " + arguments.at + ": the run has ended before that"});
  if (tracer.broken()) return complain(kFailed, {"the switch has written what is no packet"});
  tracer.tell_rest();
  std::cout << std::flush;
  tracer.sum_up();
  return kDone;
}

}  // namespace eddy::lab
