#include "bench/hop.h"

#include <rte_cycles.h>
#include <rte_ring.h>

#include <atomic>
#include <memory>
#include <thread>

#include "bench/bare_hop.h"
#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

constexpr size_t kPolls = 400;               // a sample of the one-threaded measurement
constexpr size_t kPacketsOfSample = 64'000;  // of the two-threaded one
constexpr size_t kInFlight = 1'024;          // packets between two threads, as in a device's ring
constexpr int64_t kPicosecondsACycle = 400;  // roughly

// Every host port on the first worker, every uplink on the second.
config::SwitchConfig split_config(const Case& spec) {
  config::SwitchConfig config = config_of(spec);
  config.workers = 2;
  for (config::PortConfig& port : config.ports)
    port.worker = port.role == config::PortRole::host ? 0 : 1;
  return config;
}

// A host port and two uplinks on each worker. Leaves with even numbers are reached by the first
// worker's uplinks, the others by the second one's.
config::SwitchConfig mirrored_config(const Case& spec) {
  config::SwitchConfig config = config_of(spec);
  config.workers = 2;
  config.ports[0].worker = 0;
  config.ports[1].worker = 1;
  for (size_t u = 0; u < spec.uplinks; ++u)
    config.ports[spec.hosts + u].worker = u < spec.uplinks / 2 ? 0 : 1;
  for (config::LeafConfig& leaf : config.leaves) {
    const size_t first = spec.hosts + leaf.id.index() % 2 * spec.uplinks / 2;
    leaf.paths = {{config.ports[first].name, 1, {}}, {config.ports[first + 1].name, 1, {}}};
  }
  return config;
}

enum class Way : uint8_t { stay, cross };

// What comes in on worker w's host port: frames to leaves of its own uplinks, or of the other's.
ReplaySpec replay_to(const Case& spec, const config::SwitchConfig& config, size_t w, Way way) {
  ReplaySpec replay = replay_of(spec, config);
  replay.ingress = {PortId(w)};
  replay.macs = {replay.macs[w]};
  std::vector<IpAddress> destinations;
  const size_t first = way == Way::stay ? w : 1 - w;  // destination i is on leaf i + 2
  for (size_t i = first; i < replay.destinations.size(); i += 2)
    destinations.push_back(replay.destinations[i]);
  replay.destinations = destinations;
  return replay;
}

// A world for each shard, one pool for both, polled by one thread.
class OneThread {
 public:
  OneThread(const Case& spec, Way way)
      : config_(mirrored_config(spec)), object_(make_switch(config_, 2)) {
    const auto pool = ReplayIo::make_pool();
    for (size_t w = 0; w < 2; ++w)
      worlds_.push_back(std::make_unique<ReplayIo>(replay_to(spec, config_, w, way), pool));
    for (size_t port = 0; port < config_.ports.size(); ++port)
      worlds_[static_cast<size_t>(config_.ports[port].worker)]->raise_link(PortId(port));
    run(2 * kPolls);
  }

  // Cycles a packet, of shards whose caches and predictors are their own again.
  double sample() {
    run(kPolls);
    const uint64_t before = rte_rdtsc();
    run(kPolls);
    return static_cast<double>(rte_rdtsc() - before) / (kPolls * 2 * kBurst);
  }

  void run(size_t polls) {
    for (size_t i = 0; i < polls; ++i) {
      now_ = now_ + kPollGap;
      for (size_t shard = 0; shard < worlds_.size(); ++shard) {
        worlds_[shard]->next_poll();
        object_->shard(ShardId(shard)).poll(*worlds_[shard], now_);
      }
    }
  }

 private:
  config::SwitchConfig config_;
  std::unique_ptr<Switch> object_;
  std::vector<std::unique_ptr<ReplayIo>> worlds_;
  Instant now_ = Instant::at(1_ms);
};

// The sending end of a device whose packets come back to the receiving worker over a ring.
class SinkIo final : public Io {
 public:
  explicit SinkIo(rte_ring& back) : back_(back) {}
  void raise_link(PortId port) { links_.push_back({port, true}); }

  Received receive(std::span<Packet*>) override { return {}; }
  const News& news() override {
    done_now_.swap(done_);
    done_.clear();
    links_now_.swap(links_);
    links_.clear();
    news_ = {.completions = done_now_, .link_changes = links_now_};
    return news_;
  }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant) override {
    done_.push_back(port);
    free(packets);
    return static_cast<uint16_t>(packets.size());
  }
  Packet* allocate() override { return nullptr; }
  void free(std::span<Packet* const> packets) override {
    rte_ring_sp_enqueue_bulk(&back_, reinterpret_cast<void* const*>(packets.data()),
                             static_cast<unsigned>(packets.size()), nullptr);
  }

 private:
  rte_ring& back_;
  std::vector<PortId> done_, done_now_;
  std::vector<LinkChange> links_, links_now_;
};

class TwoThreads {
 public:
  explicit TwoThreads(const Case& spec)
      : config_(split_config(spec)),
        object_(make_switch(config_, 2)),
        pool_(ReplayIo::make_pool(kInFlight)),
        ring_memory_(new RingMemory),
        back_(reinterpret_cast<rte_ring*>(ring_memory_->octets)),
        source_(replay_of(spec, config_), pool_) {
    rte_ring_init(back_, "back", kRingSlots, RING_F_SP_ENQ | RING_F_SC_DEQ);
    sink_ = std::make_unique<SinkIo>(*back_);
    for (size_t port = 0; port < config_.ports.size(); ++port) {
      if (config_.ports[port].worker == 0)
        source_.raise_link(PortId(port));
      else
        sink_->raise_link(PortId(port));
    }
  }

  // Busy cycles a packet of both threads; nothing when two CPUs are not to be had.
  std::vector<double> samples(int count) {
    std::vector<double> out;
    std::atomic<bool> pinned{true};
    std::thread sender([&] {
      if (!pin_to(kSendingCpu)) pinned = false;
      while (!stop_.load(std::memory_order_relaxed)) poll_sender();
    });
    if (!pin_to(kReceivingCpu)) pinned = false;
    for (int i = -1; i < count && pinned; ++i) {  // the first one warms up
      const double cycles = sample();
      if (i >= 0) out.push_back(cycles);
    }
    stop_ = true;
    sender.join();
    return out;
  }

 private:
  static constexpr size_t kRingSlots = 2 * kInFlight;
  struct alignas(64) RingMemory {
    uint8_t octets[sizeof(rte_ring) + kRingSlots * sizeof(void*) + 256];
  };

  // A NIC fills its buffers by itself: that their lines come back from the other core is not the
  // switch's time, so they are fetched here.
  void reuse(Packet* packet) {
    packet->wire_len = 0;
    packet->mbuf()->data_len = 0;
    packet->data()[0] = 0;
    pool_->put(packet);
  }

  double sample() {
    const uint64_t busy_there = sender_busy_.load(std::memory_order_relaxed);
    uint64_t busy_here = 0;
    for (size_t packets = 0; packets < kPacketsOfSample;) {
      void* returned[kBurst];
      const unsigned n = rte_ring_sc_dequeue_burst(back_, returned, kBurst, nullptr);
      for (unsigned i = 0; i < n; ++i) reuse(static_cast<Packet*>(returned[i]));
      if (pool_->available() < 2 * kBurst) continue;
      source_.next_poll();
      const uint64_t before = rte_rdtsc();
      packets += object_->shard(ShardId(0)).poll(source_, now()).received;
      busy_here += rte_rdtsc() - before;
    }
    return static_cast<double>(busy_here + sender_busy_.load(std::memory_order_relaxed) -
                               busy_there) /
           kPacketsOfSample;
  }

  void poll_sender() {
    const uint64_t before = rte_rdtsc();
    const PollStats stats = object_->shard(ShardId(1)).poll(*sink_, now());
    const uint64_t cycles = rte_rdtsc() - before;
    if (!stats.idle())
      sender_busy_.store(sender_busy_.load(std::memory_order_relaxed) + cycles,
                         std::memory_order_relaxed);
  }

  // Only has to move on, and agree between the threads.
  static Instant now() {
    return Instant::at(
        Duration::picoseconds(static_cast<int64_t>(rte_rdtsc()) * kPicosecondsACycle));
  }

  config::SwitchConfig config_;
  std::unique_ptr<Switch> object_;
  std::shared_ptr<test::PacketPool> pool_;
  std::unique_ptr<RingMemory> ring_memory_;
  rte_ring* back_;
  std::unique_ptr<SinkIo> sink_;
  std::atomic<bool> stop_{false};
  alignas(64) std::atomic<uint64_t> sender_busy_{0};  // nothing of the receiver's in its line
  alignas(64) ReplayIo source_;
};

const Case kHop{.name = "hop"};

}  // namespace

std::vector<Counted> counted_hop() {
  return {
      {"worker.stay", 2 * kBurst, [](size_t polls) { OneThread(kHop, Way::stay).run(polls); }},
      {"worker.cross", 2 * kBurst, [](size_t polls) { OneThread(kHop, Way::cross).run(polls); }}};
}

std::vector<Result> measure_hop(int rounds) {
  OneThread stay(kHop, Way::stay);
  OneThread cross(kHop, Way::cross);
  std::vector<double> baseline;
  std::vector<double> hop;
  for (int i = 0; i < rounds; ++i) {
    baseline.push_back(undisturbed([&] { return stay.sample(); }));
    hop.push_back(undisturbed([&] { return cross.sample(); }) - baseline.back());
  }
  std::vector<Result> results = {summarize("worker.hop", hop)};
  std::vector<double> threads = TwoThreads(kHop).samples(std::max(3, rounds / 10));
  const double alone = median(baseline);
  for (double& each : threads) each -= alone;
  if (!threads.empty()) results.push_back(summarize("worker.hop.threads", threads));
  const std::vector<double> floor = bare_hop_samples(std::max(3, rounds / 10));
  if (!floor.empty()) results.push_back(summarize("worker.hop.floor", floor));
  return results;
}

}  // namespace eddy::bench
