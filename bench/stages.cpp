#include "bench/stages.h"

#include <rte_cycles.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "lb/path_view.h"
#include "switch/dataplane/pipeline/short_way.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/queues/queue_row.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

enum class Stage : uint8_t { driver, receive, buffer, select, egress };
constexpr size_t kStages = static_cast<size_t>(Stage::egress) + 1;
constexpr std::array<const char*, kStages> kNames = {
    "stage.driver", "stage.receive", "stage.buffer", "stage.select", "stage.egress"};
constexpr size_t kPolls = 320;

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
        egress_(context_, buffer_, config_.ports.size()),
        stubs_(config_.ports.size(), Packet{}) {
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
      Gathered gathered;
      if constexpr (kLast >= Stage::receive) receive(burst, got.port, gathered);
      if constexpr (kLast >= Stage::buffer) admit(burst, gathered);
      if constexpr (kLast >= Stage::select) select(burst);
      if constexpr (kLast >= Stage::egress)
        send(burst, gathered.octets());
      else
        swallow<kLast >= Stage::buffer>(burst);
    }
  }

  [[gnu::noinline]] void receive(std::span<Packet* const> burst, PortId from, Gathered& gathered) {
    const ShortWay way(from, context_.settings(from), *snapshot_->routes, /*sums_good=*/false);
    if (way.take_untagged(burst, gathered) != burst.size()) std::abort();
  }

  [[gnu::noinline]] void admit(std::span<Packet* const> burst, const Gathered& gathered) {
    const PlainBurst all = gathered.over(burst, 0);
    int64_t charge = 0;
    for (Packet* packet : burst) {
      const int64_t each = buffer_.cell().charge_of(packet->wire_len);
      packet->charged_bytes = static_cast<uint32_t>(each);
      charge += each;
    }
    if (!buffer_.admit_burst(burst, all.pgs, charge, all.octets, 0)) std::abort();
  }

  [[gnu::noinline]] void select(std::span<Packet* const> burst) {
    std::array<uint16_t, kBurst> sets;
    for (size_t i = 0; i < burst.size(); ++i)
      sets[i] = snapshot_->next_hops[burst[i]->next_hop].set;
    const lb::PathView view(context_.now, snapshot_->path_sets, live_.data(),
                            common_.signals.data());
    snapshot_->schemes[0].selector->select(view, burst, sets);
  }

  // All of them to one queue of each port, whose row stays known.
  [[gnu::noinline]] void send(std::span<Packet* const> burst, uint32_t octets) {
    QueueRow* const rows = egress_.rows();
    for (Packet* packet : burst) {
      QueueRow& row = rows[packet->queue.index() * stubs_.size() + packet->egress_port.index()];
      if (row.longest == 0) open(row, *packet, octets);
      row.octets += packet->wire_len;
      row.packets.push(packet);
    }
    const size_t queue = burst[0]->queue.index();
    for (size_t port = 0; port < stubs_.size(); ++port) {
      QueueRow& row = rows[queue * stubs_.size() + port];
      if (std::exchange(row.longest, 0) != 0) egress_.close(row);
    }
    egress_.service();
    buffer_.flush();
  }
  void open(QueueRow& row, const Packet& packet, uint32_t octets) {
    row.port = packet.egress_port;
    row.queue = packet.queue;
    row.octets = 0;
    row.longest = UINT32_MAX;
    row.stub = &stubs_[row.port.index()];
    if (row.state == nullptr && !egress_.learn(row)) std::abort();
    if (egress_.open(row, octets, false) < 0) std::abort();
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
  std::vector<Packet> stubs_;  // by port
  std::vector<lb::MemberMask> live_;
};

// A round's samples of all loops, one after the other.
std::array<double, kStages> sample_all(Rig& rig) {
  return {rig.sample<Stage::driver>(), rig.sample<Stage::receive>(), rig.sample<Stage::buffer>(),
          rig.sample<Stage::select>(), rig.sample<Stage::egress>()};
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
