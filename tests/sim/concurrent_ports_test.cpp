// Two threads that poll the two shards of one switch, while a third adds a port and removes it
// again, for one worker and for the other in turn, under traffic of all ports to all.
//
// As concurrent_shards_test: under ThreadSanitizer it is worth the races that are not reported, and
// in every build the switch ends empty, with its books balanced.
#include <gtest/gtest.h>

#include <thread>

#include "config/places.h"
#include "switch/control/serve/place_change.h"
#include "tests/sim/two_shards.h"

namespace eddy::test {
namespace {

constexpr int64_t kFramesAPort = 4'000;
constexpr size_t kFixed = 4;  // ports that stay, dealt out to the shards
constexpr size_t kLate = 5;   // the number of the host that comes and goes
constexpr size_t kLeastRounds = 20;
constexpr int kMostYields = 20'000;  // for a port that nobody has frames for
constexpr PortId kPlace{kFixed};

config::SwitchConfig without() {
  config::SwitchConfig config = hosts_switch(kFixed);
  spread_over_workers(config, 2);
  config.spare_ports = 1;
  return config;
}

config::SwitchConfig with_late(size_t worker) {
  config::SwitchConfig config = without();
  add_host_port(config, 1, kLate, BitRate::gbps(10));
  config.ports.back().worker = static_cast<int>(worker);
  return config;
}

// To every other host, in two lossless classes and a lossy one.
std::vector<SourceFrame> frames_into(size_t port) {
  const config::SwitchConfig config = with_late(0);
  std::vector<SourceFrame> frames;
  for (const uint8_t dscp : {kLosslessDscp, kLossyDscp, kOtherLosslessDscp})
    for (size_t to = 0; to <= kFixed; ++to) {
      if (to == port) continue;
      UdpSpec spec = between(config, port, to, dscp);
      spec.frame_len = 1000;
      spec.readable_len = 128;
      const uint8_t priorities = dscp == kLossyDscp ? uint8_t{0} : uint8_t(1u << dscp);
      frames.push_back({udp_frame(spec), 1000, priorities});
    }
  return frames;
}

// A device that is where the place is, and whose link its worker sees.
class Plug final : public control::Backend {
 public:
  Instant now() override { return {}; }
  std::vector<control::WorkerStats> worker_stats() override { return {}; }
  control::DeviceInfo device_info(PortId) override { return {}; }
  Problems check_port(PortId, const config::PortConfig&) override { return {}; }
  Problems restart_port(PortId, const config::PortConfig&) override { return {}; }
  Problems check_new_port(PortId, const config::SwitchConfig&) override { return {}; }
  Problems check_removal(PortId) override { return {}; }
  Problems plug_port(PortId place, const config::SwitchConfig& next) override {
    worker_ = static_cast<size_t>(next.ports[place.index()].worker);
    return {};
  }
  void use_port(PortId) override { wanted[worker_] = true; }
  void set_admin_up(PortId, bool up) override { wanted[worker_] = up; }
  Problems unplug_port(PortId) override {
    wanted[worker_] = false;
    while (seen[worker_]) std::this_thread::yield();
    return {};
  }

  std::array<std::atomic<bool>, 2> wanted{};  // the link, by worker
  std::array<std::atomic<bool>, 2> seen{};    // as the worker's world has it

 private:
  size_t worker_ = 0;
};

class ConcurrentPorts : public TwoShards {
 protected:
  ConcurrentPorts() : TwoShards(config::seated(without())) {
    for (size_t port = 0; port < kFixed; ++port) {
      ios[port % 2].add_source(PortId(port), frames_into(port), kFramesAPort);
      ios[port % 2].set_link(PortId(port), false);
    }
    for (ThreadIo& io : ios) {
      io.add_source(kPlace, frames_into(kPlace.index()), kFramesAPort / 2);
      io.set_link(kPlace, false);
    }
  }

  bool turn(size_t shard, uint64_t /*polls*/) override {
    const bool up = plug.wanted[shard];
    ios[shard].set_link(kPlace, up);
    for (size_t port = shard; port < kFixed; port += 2) ios[shard].set_link(PortId(port), begun);
    const bool idle = poll(shard).idle();
    plug.seen[shard] = up;
    return idle;
  }

  Problems meet() {
    for (size_t shard : {0, 1}) {
      Command nothing{.kind = Command::Kind::clear_watermarks, .watermarks = {.of = 0}};
      while (!object->post(ShardId(shard), nothing)) std::this_thread::yield();
      while (!nothing.done.load(std::memory_order_acquire)) std::this_thread::yield();
    }
    return {};
  }

  void apply(const config::SwitchConfig& next) {
    control::PlaceChange change(*object, plug,
                                {.meet = [this] { return meet(); },
                                 .wait = [] { std::this_thread::yield(); },
                                 .settled = [] {}});
    const auto seating = config::seated_like(next, object->config());
    ASSERT_TRUE(seating.ok());
    // What is in others' queues may need many polls to leave.
    for (int tries = 0; tries < 100; ++tries) {
      const Result<uint64_t> done = change.apply(seating.value());
      if (done.ok()) return object->reclaim(), void();
    }
    ADD_FAILURE() << "the port does not go";
  }

  // By the port that comes and goes.
  uint64_t carried() const {
    return count(*object, kPlace.index(), PortCounter::tx_packets) +
           count(*object, kPlace.index(), PortCounter::rx_packets);
  }

  void control() override {
    size_t round = 0;
    for (; flight.to_send > 0 || round < kLeastRounds; ++round) {
      apply(with_late(round / 2 % 2));
      begun = true;  // the others wait for the port's first time, however busy the machine is
      const uint64_t before = carried();
      for (int i = 0; i < kMostYields && carried() < before + 50; ++i) std::this_thread::yield();
      received += count(*object, kPlace.index(), PortCounter::rx_packets);
      sent += count(*object, kPlace.index(), PortCounter::tx_packets);
      apply(without());
      EXPECT_EQ(object->signals(kPlace).up.load(), 0u);
      seen_events += take_events(*object).size();
    }
    control_done = true;
  }

  Plug plug;
  std::atomic<bool> begun{false};
  size_t seen_events = 0;
  uint64_t received = 0, sent = 0;  // by the port, whose counters start anew with each round
};

TEST_F(ConcurrentPorts, ComeAndGoAndTheBooksStayBalanced) {
  run_threads();

  expect_an_empty_switch();
  EXPECT_EQ(object->balance().rx, (kFixed + 1) * kFramesAPort);
  EXPECT_GT(received, 0u);
  EXPECT_GT(sent, 0u);
}

}  // namespace
}  // namespace eddy::test
