// Packets that are traced: what is said of each as it comes is what becomes of it, within bursts,
// too; nothing else changes, and what is too much is counted.
#include <gtest/gtest.h>

#include <map>

#include "lb/registry.h"
#include "net/random.h"
#include "switch/dataplane/object/capture.h"
#include "switch/dataplane/object/packet_tracer.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

constexpr size_t kUplinks = 4;
constexpr size_t kLeafHosts = 2;

// A leaf whose ports are up, polled by hand.
struct PolledLeaf {
  explicit PolledLeaf(const std::string& scheme, bool rlb = false)
      : config(leaf_spine({.leaves = 2, .spines = kUplinks, .hosts = kLeafHosts, .scheme = scheme})
                   .leaves[0]) {
    config.path_service.shim = config::ShimUse::off;
    if (rlb) config.rlb = config::rlb_preset(config::RlbPreset::standard);
    auto made = Switch::create(config, {.shards = 1});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    for (size_t port = 0; port < config.ports.size(); ++port)
      io.links.push_back({PortId(port), true});
    poll();
  }
  Shard& shard() { return object->shard(ShardId(0)); }
  void poll(Duration later = 1_us) {
    now = now + later;
    io.complete(now);
    shard().poll(io, now);
    EXPECT_TRUE(object->balance().holds());
  }
  void drain() {
    for (int i = 0; i < 400; ++i) poll();
  }
  Frame frame(size_t flow, const char* to = "10.2.1.2") const {
    UdpSpec spec{.destination_mac = port_mac(config, 0),
                 .source_mac = host_mac(1, 1),
                 .source = host_ip(1, 1),
                 .destination = ip(to),
                 .dscp = kLosslessDscp};
    spec.source_port = static_cast<uint16_t>(1'000 + flow);
    spec.frame_len = 500;
    return udp_frame(spec);
  }
  PacketPool pool{8'192, 1'024};
  ManualIo io{pool};
  config::SwitchConfig config;
  std::unique_ptr<Switch> object;
  Instant now;
};

// A ring and what came out of it.
struct Trace {
  explicit Trace(Switch& traced, uint32_t most = kMostTraced, size_t octets = 1u << 20)
      : object(traced), data(octets), reader(state, tail, data) {
    about.most = most;
    order.ports.set();
    order.ring = CaptureWriter(state, tail, data);
    order.trace = &about;
  }
  ~Trace() { capture(object.shard(ShardId(0)), nullptr); }
  void begin() { capture(object.shard(ShardId(0)), &order); }
  void read() {
    CapturedPacket packet;
    while (reader.next(packet)) {
      if (packet.head.direction != CaptureDirection::trace) {
        EXPECT_NE(packet.head.trace, 0);
        ends.emplace(packet.head.trace, packet.head);
        continue;
      }
      Explanation said;
      ASSERT_LE(packet.frame.size(), sizeof said);
      std::memcpy(static_cast<void*>(&said), packet.frame.data(), packet.frame.size());
      EXPECT_TRUE(is_sound(said));
      EXPECT_EQ(packet.frame.size(), explanation_size(said.options));
      EXPECT_EQ(said.packet, nullptr);
      EXPECT_TRUE(told.emplace(packet.head.trace, said).second);
    }
    EXPECT_FALSE(reader.broken());
    reader.release();
  }
  uint64_t lost() const {
    uint64_t sum = 0;
    for (size_t port = 0; port < kMaxPorts; ++port) sum += reader.lost(port);
    return sum;
  }

  Switch& object;
  TraceOrder about;
  CaptureRingState state;
  CaptureRingTail tail;
  std::vector<uint8_t> data;
  CaptureReader reader;
  CaptureOrder order;
  std::map<uint16_t, Explanation> told;
  std::map<uint16_t, CaptureRecord> ends;
};

// Of UDP to a destination port, without options: "udp dst port N" of IPv4 alone.
PacketFilter from_port(uint16_t source) {
  auto filter = PacketFilter::load(std::vector<FilterInstruction>{
      {0x28, 0, 0, 34}, {0x15, 0, 1, source}, {0x06, 0, 0, 1}, {0x06, 0, 0, 0}});
  EXPECT_TRUE(filter.ok());
  return std::move(*filter);
}

void burst(PolledLeaf& leaf, RandomStream& draw, size_t packets) {
  for (size_t i = 0; i < packets; ++i) leaf.io.arrive(PortId(0), leaf.frame(draw.below(12)));
  leaf.poll();
}

TEST(Trace, WhatIsSaidOfAPacketInABurstIsWhatBecomesOfIt) {
  for (const std::string scheme : {"ecmp", "drill", "letflow", "presto", "spray", "conga"})
    for (const bool rlb : {false, true}) {
      PolledLeaf leaf(scheme, rlb);
      Trace trace(*leaf.object);
      trace.begin();
      RandomStream draw(1, 1, 1);
      for (int round = 0; round < 100; ++round) {
        burst(leaf, draw, 1 + draw.below(12));
        trace.read();
      }
      leaf.drain();
      trace.read();
      EXPECT_GT(trace.told.size(), 300u);
      EXPECT_GT(trace.lost(), 0u) << "more came in a poll than are explained";
      ASSERT_EQ(trace.ends.size(), trace.told.size());
      for (const auto& [id, said] : trace.told) {
        const CaptureRecord& end = trace.ends.at(id);
        EXPECT_EQ(said.fate, Fate::queued);
        EXPECT_EQ(end.direction, CaptureDirection::out);
        ASSERT_EQ(said.egress.index(), end.port) << scheme << (rlb ? " with RLB" : "") << " " << id;
        EXPECT_EQ(said.queue.queue.index(), end.queue);
        EXPECT_EQ(said.pg.index(), end.pg);
      }
    }
}

// Also where queues are counted once a poll, as the scheme does not look at them. Some of the flows
// that are traced go to the queue of the one that is not.
TEST(Trace, SaysWhatTheBurstBeforeHasBroughtToTheQueue) {
  uint32_t most = 0;
  for (const uint16_t flow : {2, 3, 4, 5, 6, 7, 8, 9}) {
    PolledLeaf leaf("ecmp");
    Trace trace(*leaf.object);
    trace.about.filter = from_port(static_cast<uint16_t>(1'000 + flow));
    trace.begin();
    for (int i = 0; i < 8; ++i) leaf.io.arrive(PortId(0), leaf.frame(1));
    Frame other = leaf.frame(flow);
    store_mac(other.data(), port_mac(leaf.config, 1));
    leaf.io.arrive(PortId(1), other);
    leaf.poll();
    trace.read();
    ASSERT_EQ(trace.told.size(), 1u);
    most = std::max(most, trace.told.begin()->second.queue.queued);
  }
  EXPECT_EQ(most, 8 * 500u);
}

std::vector<std::string> sent_by(PolledLeaf& leaf) {
  std::vector<std::string> all;
  for (const Sent& sent : leaf.io.sent)
    all.push_back(std::to_string(sent.port.index()) + "@" + std::to_string(sent.at.ps()) + " " +
                  std::string(sent.frame.begin(), sent.frame.end()));
  const PortCounters in = leaf.object->counters(ShardId(0))[PortId(0)];
  for (size_t which = 0; which < kPortCounters; ++which)
    all.push_back(std::to_string(in.port.read(which)));
  for (size_t which = 0; which < kDropReasons; ++which)
    all.push_back(std::to_string(in.drops.read(which)));
  return all;
}

// Schemes that look at queues once a burst look once more for a packet that is traced.
TEST(Trace, ChangesNothingElse) {
  for (const std::string scheme : {"ecmp", "letflow", "presto", "spray"}) {
    const auto run = [&](bool traced) {
      PolledLeaf leaf(scheme);
      Trace trace(*leaf.object);
      if (traced) trace.begin();
      RandomStream draw(2, 1, 1);
      for (int round = 0; round < 60; ++round) {
        burst(leaf, draw, 1 + draw.below(32));
        leaf.io.arrive(PortId(0), leaf.frame(1, "192.0.2.1"));
        trace.read();
      }
      leaf.drain();
      return sent_by(leaf);
    };
    EXPECT_TRUE(run(true) == run(false)) << scheme;
  }
}

TEST(Trace, OnlyWhatTheFilterWants) {
  PolledLeaf leaf("ecmp");
  Trace trace(*leaf.object);
  trace.about.filter = from_port(1'003);
  trace.begin();
  for (int round = 0; round < 5; ++round) {
    for (size_t flow = 0; flow < 20; ++flow) leaf.io.arrive(PortId(0), leaf.frame(flow));
    leaf.poll();
  }
  leaf.drain();
  trace.read();
  EXPECT_EQ(trace.told.size(), 5u);
  EXPECT_EQ(trace.ends.size(), 5u);
  EXPECT_EQ(trace.lost(), 0u);
  for (const auto& [id, said] : trace.told) EXPECT_EQ(said.frame.source_port, 1'003);
  EXPECT_EQ(leaf.io.sent.size(), 100u);
}

TEST(Trace, EndsOfItselfWhenEnoughWereTold) {
  PolledLeaf leaf("ecmp");
  Trace trace(*leaf.object, 3);
  trace.begin();
  for (int i = 0; i < 10; ++i) {
    leaf.io.arrive(PortId(0), leaf.frame(1));
    leaf.poll();
  }
  leaf.drain();
  trace.read();
  EXPECT_EQ(trace.told.size(), 3u);
  EXPECT_EQ(trace.lost(), 0u);
  EXPECT_EQ(leaf.io.sent.size(), 10u);
}

TEST(Trace, ADropSaysSo) {
  PolledLeaf leaf("ecmp");
  Trace trace(*leaf.object);
  trace.begin();
  leaf.io.arrive(PortId(0), leaf.frame(1, "192.0.2.1"));
  leaf.io.arrive(PortId(1), Frame(10));
  leaf.poll();
  trace.read();
  ASSERT_EQ(trace.told.size(), 2u);
  ASSERT_EQ(trace.ends.size(), 2u);
  for (const auto& [id, said] : trace.told) {
    EXPECT_EQ(said.fate, Fate::dropped);
    EXPECT_EQ(trace.ends.at(id).direction, CaptureDirection::drop);
    EXPECT_EQ(trace.ends.at(id).reason, static_cast<uint8_t>(said.reason));
  }
}

// Nobody reads: packets go on, and what was not told is counted.
TEST(Trace, AReaderThatStallsStallsNobody) {
  PolledLeaf leaf("ecmp");
  Trace trace(*leaf.object, kMostTraced, 16'384);
  trace.begin();
  RandomStream draw(3, 1, 1);
  size_t sent = 0;
  for (int round = 0; round < 300; ++round) {
    burst(leaf, draw, 3);
    sent += 3;
  }
  leaf.drain();
  EXPECT_EQ(leaf.io.sent.size(), sent);
  EXPECT_GT(trace.lost(), 500u);
  trace.read();
  const size_t before = trace.told.size();
  EXPECT_GT(before, 0u);
  burst(leaf, draw, 1);  // there is room again
  trace.read();
  EXPECT_EQ(trace.told.size(), before + 1);
}

TEST(Trace, BeginsAndEndsAnew) {
  PolledLeaf leaf("letflow");
  for (int round = 0; round < 3; ++round) {
    Trace trace(*leaf.object, 2);
    trace.begin();
    for (int i = 0; i < 3; ++i) leaf.io.arrive(PortId(0), leaf.frame(1));
    leaf.poll();
    trace.read();
    EXPECT_EQ(trace.told.size(), 2u);
  }
  leaf.drain();
  EXPECT_EQ(leaf.io.sent.size(), 9u);
}

}  // namespace
}  // namespace eddy::test
