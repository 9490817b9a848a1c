// Two threads that poll the two shards of one switch, and a third that is its control: packets,
// credits, links and snapshots cross between them while everything that control may call is called.
//
// What it is worth under ThreadSanitizer is in the races it does not report; in every build the
// switch has to end empty, with its books balanced. Bounded by the number of packets.
#include <gtest/gtest.h>

#include <thread>

#include "lb/registry.h"
#include "tests/sim/two_shards.h"

namespace eddy::test {
namespace {

constexpr int64_t kFramesAPort = 5'000;
constexpr size_t kLeastRounds = 20;    // of control
constexpr uint64_t kLinkPeriod = 128;  // polls
constexpr PortId kFlapping{3};

// Leaf 1 of two: hosts on ports 0 and 1, spines on 2 and 3; even ports are shard 0's.
config::SwitchConfig the_leaf() {
  config::SwitchConfig leaf = leaf_spine({}).leaves[0];
  spread_over_workers(leaf, 2);
  return leaf;
}

// The n-th configuration: hot keys only.
config::SwitchConfig changed(config::SwitchConfig leaf, size_t n) {
  const auto schemes = lb::schemes();
  leaf.load_balancer.scheme = schemes[n / 2 % schemes.size()].name;
  leaf.buffer.profiles["lossless"].xoff = Bytes::kib(static_cast<int64_t>(24 + n % 3 * 16));
  leaf.buffer.wred["default"].kmin = Bytes(1000 + static_cast<int64_t>(n % 7) * 10'000);
  leaf.ports[0].queues[3].weight = 1 + static_cast<int>(n % 20);
  leaf.ports[1].watchdog.enabled = n % 2 == 0;
  return leaf;
}

// To everybody else, in both classes; now and then a TTL that ends here, so that an ICMP error goes
// to leaf 2 or back, and a pause of 5 us.
std::vector<SourceFrame> frames_into(const config::SwitchConfig& leaf, size_t port) {
  std::vector<SourceFrame> frames;
  const bool from_host = port < 2;
  for (const uint8_t dscp : {kLosslessDscp, kLossyDscp, kOtherLosslessDscp}) {
    for (uint16_t flow = 0; flow < 8; ++flow) {
      const size_t peer = 1 - port % 2;
      UdpSpec spec{.destination_mac = port_mac(leaf, port),
                   .source = from_host ? host_ip(1, port + 1) : host_ip(2, 1),
                   .destination = from_host && flow % 2 == 0 ? host_ip(2, 1) : host_ip(1, peer + 1),
                   .source_port = static_cast<uint16_t>(1000 + flow),
                   .dscp = dscp,
                   .ecn = kEcnCapable0,
                   .ttl = static_cast<uint8_t>(dscp == kLossyDscp && flow == 7 ? 1 : 64),
                   .frame_len = 1000,
                   .readable_len = 128};
      const uint8_t priorities = dscp == kLossyDscp ? uint8_t{0} : uint8_t(1u << dscp);
      frames.push_back({udp_frame(spec), 1000, priorities});
    }
  }
  frames.push_back({pause_frame(bit(kLossless), 100), 0, 0});
  return frames;
}

class ConcurrentShards : public TwoShards {
 protected:
  ConcurrentShards() : TwoShards(the_leaf()) {
    flight.sources_open = false;  // until control has closed a port
    for (size_t port = 0; port < leaf.ports.size(); ++port)
      ios[port % 2].add_source(PortId(port), frames_into(leaf, port), kFramesAPort);
  }

  bool turn(size_t shard, uint64_t polls) override {
    if (shard == kFlapping.index() % 2 && polls % kLinkPeriod == 0)
      ios[shard].set_link(kFlapping, !ios[shard].is_up(kFlapping));
    return poll(shard).idle();
  }

  uint64_t pauses_sent() const {
    return sum(*object, [](const Counters& c) {
      return c[PortId(0)].pfc[kLossless.index()].read(PfcCounter::pfc_tx_xoff);
    });
  }

  // They are not among the packets received.
  uint64_t pfc_frames_read() const {
    uint64_t all = 0;
    for (size_t port = 0; port < object->port_count(); ++port)
      all += count(*object, port, PortCounter::pfc_rx_packets);
    return all;
  }

  void control() override {
    // However the threads run: what port 0 sends to port 1 stays there until port 0 is paused.
    EXPECT_TRUE(object->reconfigure(changed(leaf, 0)).ok());
    command({.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = false}, 1);
    flight.sources_open = true;
    while (pauses_sent() == 0 && flight.to_send > 0) std::this_thread::yield();
    size_t round = 0;
    for (; flight.to_send > 0 || round < kLeastRounds; ++round) {
      EXPECT_TRUE(object->reconfigure(changed(leaf, round)).ok());
      object->reclaim();
      command({.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = round % 2 == 0}, 1);
      command({.kind = Command::Kind::clear_watermarks}, round % 2);
      std::array<NeighborRow, 4> rows;
      command({.kind = Command::Kind::dump_neighbors, .rows = rows}, round % 2);
      look();
    }
    command({.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = true}, 1);
    control_done = true;
  }

  void command(Command&& what, size_t shard) {
    while (!object->post(ShardId(shard), what)) std::this_thread::yield();
    while (!what.done.load(std::memory_order_acquire)) std::this_thread::yield();
  }

  // Everything that may be read at any time.
  void look() {
    for (size_t port = 0; port < object->port_count(); ++port) {
      for (size_t i = 0; i < kPriorities; ++i) {
        EXPECT_GE(object->pg_status(PortId(port), PriorityGroupId(i)).used, 0);
        EXPECT_GE(object->queue_status(PortId(port), QueueId(i)).used, 0);
      }
      seen += object->signals(PortId(port)).dre_bytes.load(std::memory_order_relaxed);
      seen += count(*object, port, PortCounter::rx_packets);
    }
    EXPECT_GE(object->buffer_status().headroom_used, 0);
    seen += take_events(*object).size() + object->events(ShardId(0)).lost();
  }

  const config::SwitchConfig leaf = the_leaf();
  uint64_t seen = 0;
};

TEST_F(ConcurrentShards, EndEmptyWithTheirBooksBalanced) {
  run_threads();

  expect_an_empty_switch();
  EXPECT_EQ(object->balance().rx + pfc_frames_read(), 4u * kFramesAPort);
  EXPECT_GT(pauses_sent(), 0u);
}

}  // namespace
}  // namespace eddy::test
