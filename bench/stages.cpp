#include "bench/stages.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "lb/path_view.h"
#include "net/byte_order.h"
#include "net/parse.h"
#include "switch/dataplane/pipeline/ingress.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

enum class Stage : uint8_t { driver, parse, route, buffer, select, egress };
constexpr size_t kStages = static_cast<size_t>(Stage::egress) + 1;
constexpr std::array<const char*, kStages> kNames = {
    "stage.driver", "stage.parse", "stage.route", "stage.buffer", "stage.select", "stage.egress"};
constexpr size_t kPolls = 320;
constexpr size_t kPrefetchAhead = 4;
constexpr uint32_t kIpv4DestinationOffset = 16;

// The parts of a shard that packets pass, without what joins them.
class Rig {
 public:
  explicit Rig(const Case& spec)
      : config_(config_of(spec)),
        io_(replay_of(spec, config_)),
        common_(1, config_.ports.size()),
        snapshot_(build()),
        context_(common_, ShardId(0), config_.ports.size()),
        pause_sender_(config_.ports.size()),
        predictor_(config_.ports.size()),
        buffer_(context_, pause_sender_, predictor_, config_.ports.size()),
        egress_(context_, buffer_, config_.ports.size()) {
    context_.io = &io_;
    context_.obey(snapshot_.get());
    buffer_.adopt(*snapshot_);
    egress_.adopt(*snapshot_);
    for (size_t port = 0; port < config_.ports.size(); ++port) {
      egress_.set_up(PortId(port), true);
    }
    for (size_t set = 0; set < snapshot_->path_sets.size(); ++set)
      live_.push_back((lb::MemberMask{1} << snapshot_->path_sets[set].count) - 1);
  }

  template <Stage kLast>
  double sample() {
    return undisturbed([this] {
      run<kLast>();
      const uint64_t before = rte_rdtsc();
      run<kLast>();
      return static_cast<double>(rte_rdtsc() - before) / (kPolls * kBurst);
    });
  }

 private:
  std::unique_ptr<Snapshot> build() {
    auto built = Snapshot::build(config_, {}, nullptr);
    if (!built) {
      for (const std::string& problem : built.problems())
        std::fprintf(stderr, "%s\n", problem.c_str());
      std::exit(1);
    }
    common_.changes.publish(**built);
    return std::move(*built);
  }

  template <Stage kLast>
  void run() {
    for (size_t i = 0; i < kPolls; ++i) {
      context_.now = context_.now + kPollGap;
      if constexpr (kLast >= Stage::buffer) buffer_.begin_poll();
      for (const PortId port : io_.news().completions)
        if constexpr (kLast >= Stage::egress) egress_.line_free(port);
      io_.next_poll();
      std::array<Packet*, kBurst> burst;
      const Received got = io_.receive(burst);
      if constexpr (kLast >= Stage::parse) parse(burst, got.port);
      if constexpr (kLast >= Stage::route) route(burst);
      if constexpr (kLast >= Stage::buffer) admit(burst);
      if constexpr (kLast >= Stage::select) select(burst);
      if constexpr (kLast >= Stage::egress)
        send(burst);
      else
        swallow<kLast >= Stage::buffer>(burst);
    }
  }

  [[gnu::noinline]] void parse(std::span<Packet* const> burst, PortId from) {
    const PortSettings& settings = context_.settings(from);
    for (size_t i = 0; i < burst.size(); ++i) {
      if (i + kPrefetchAhead < burst.size()) rte_prefetch0(burst[i + kPrefetchAhead]);
      Packet* packet = burst[i];
      ParsedFrame frame;
      if (!parse_plain_udp(packet->data(), packet->data_len(), packet->wire_len, frame))
        std::abort();
      packet->ingress_port = from;
      Ingress::fill(packet, frame, settings.classes->by_dscp[frame.dscp]);
    }
  }

  [[gnu::noinline]] void route(std::span<Packet* const> burst) {
    std::array<uint32_t, kBurst> keys;
    std::array<uint16_t, kBurst> targets;
    for (size_t i = 0; i < burst.size(); ++i)
      keys[i] = load_be32(burst[i]->data() + burst[i]->l2_len + kIpv4DestinationOffset);
    snapshot_->routes->lookup({keys.data(), burst.size()}, targets.data());
    for (size_t i = 0; i < burst.size(); ++i) burst[i]->next_hop = targets[i];
  }

  [[gnu::noinline]] void admit(std::span<Packet* const> burst) {
    for (Packet* packet : burst)
      if (!buffer_.admit(packet, 0)) std::abort();
  }

  [[gnu::noinline]] void select(std::span<Packet* const> burst) {
    std::array<uint16_t, kBurst> sets;
    for (size_t i = 0; i < burst.size(); ++i)
      sets[i] = snapshot_->next_hops[burst[i]->next_hop].set;
    const lb::PathView view(context_.now, snapshot_->path_sets, live_.data(),
                            common_.signals.data());
    snapshot_->schemes[0].selector->select(view, burst, sets);
  }

  [[gnu::noinline]] void send(std::span<Packet* const> burst) {
    for (Packet* packet : burst) egress_.enqueue(packet);
    egress_.service();
    buffer_.flush();
  }

  template <bool kCharged>
  void swallow(std::span<Packet* const> burst) {
    if constexpr (kCharged) {
      for (Packet* packet : burst) buffer_.release(Charge::of(*packet));
      buffer_.flush();
    }
    io_.transmit(PortId(0), burst, context_.now);
  }

  config::SwitchConfig config_;
  ReplayIo io_;
  CommonState common_;
  std::unique_ptr<Snapshot> snapshot_;
  ShardContext context_;
  pfc::PauseSender pause_sender_;
  pfc::Predictor predictor_;
  IngressBuffer buffer_;
  Egress egress_;
  std::vector<lb::MemberMask> live_;
};

// A round's samples of all loops, one after the other.
std::array<double, kStages> sample_all(Rig& rig) {
  return {rig.sample<Stage::driver>(), rig.sample<Stage::parse>(),  rig.sample<Stage::route>(),
          rig.sample<Stage::buffer>(), rig.sample<Stage::select>(), rig.sample<Stage::egress>()};
}

}  // namespace

std::vector<Result> measure_stages(int rounds) {
  const Case spec = pipeline_cases().front();
  Rig rig(spec);
  Bench whole(spec);
  std::array<std::vector<double>, kStages> stages;
  std::vector<double> rest;
  for (int round = 0; round < rounds; ++round) {
    const std::array<double, kStages> loops = sample_all(rig);
    stages[0].push_back(loops[0]);
    for (size_t i = 1; i < kStages; ++i) stages[i].push_back(loops[i] - loops[i - 1]);
    rest.push_back(undisturbed([&] { return whole.run_slice(); }) - loops.back());
  }
  std::vector<Result> results;
  for (size_t i = 0; i < kStages; ++i) results.push_back(summarize(kNames[i], stages[i]));
  results.push_back(summarize("stage.rest", rest));
  return results;
}

}  // namespace eddy::bench
