// Every timer shows in next_deadline(): a world that polls only then sees each thing happen at its
// picosecond and nothing before. And what is idle costs a poll nothing.
#include <gtest/gtest.h>

#include "net/arp.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/instructions.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr Duration kFrameTime = 800_ps * 1024;  // 1,000 octets at 10 Gb/s

// One shard under a clock that jumps.
struct Rig {
  explicit Rig(const config::SwitchConfig& with) : config(with) {
    auto made = Switch::create(config, {.shards = 1});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    for (size_t i = 0; i < config.ports.size(); ++i) io.links.push_back({PortId(i), true});
    poll(Instant());
  }
  Shard& shard() { return object->shard(ShardId(0)); }
  Instant deadline() { return shard().next_deadline(); }
  void poll(Instant at) {
    now = at;
    io.complete(now);
    shard().poll(io, now);
  }
  void send(uint8_t dscp, size_t wire_len = 1000) {
    UdpSpec spec = between(config, 0, 1, dscp);
    spec.frame_len = wire_len;
    spec.readable_len = 96;
    io.arrive(PortId(0), udp_frame(spec), wire_len);
  }
  // A poll one picosecond before `at` does nothing; the deadline is `at`; a poll then sends.
  void expect_send_at(Instant at) {
    EXPECT_EQ(deadline(), at);
    const uint64_t before = io.transmits;
    poll(at - 1_ps);
    EXPECT_EQ(io.transmits, before) << "too early";
    EXPECT_EQ(deadline(), at);
    poll(at);
    EXPECT_GT(io.transmits, before);
  }

  config::SwitchConfig config;
  PacketPool pool{4096, 256};
  ManualIo io{pool};
  std::unique_ptr<Switch> object;
  Instant now;
};

TEST(Deadline, NoneWithoutAnythingToDo) {
  Rig rig(hosts_switch(2));
  EXPECT_EQ(rig.deadline(), Instant::never());
  rig.send(0);
  rig.poll(Instant::at(1_us));
  EXPECT_EQ(rig.deadline(), Instant::never()) << "the world reports when the line is free";
}

TEST(Deadline, EndOfAPause) {
  Rig rig(hosts_switch(2));
  rig.io.arrive(PortId(1), pause_frame(bit(kLossless), 1000));
  rig.send(kLosslessDscp);
  rig.poll(Instant());
  rig.expect_send_at(Instant::at(51'200_ps * 1000));
}

TEST(Deadline, RefreshOfAnXoff) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.profiles["lossless"].xoff = 10'000_B;
  config.ports[1].watchdog.enabled = false;
  Rig rig(config);
  rig.io.arrive(PortId(1), pause_frame(bit(kLossless), kLongestPause));
  for (int i = 0; i < 12; ++i) rig.send(kLosslessDscp);
  rig.poll(Instant());
  for (int i = 1; i <= 5; ++i) rig.expect_send_at(Instant::at(100_us * i));
}

TEST(Deadline, OfTheWatchdog) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].watchdog = {
      true, 2_ms, 2_ms, 1_ms, config::WatchdogDetect::stalled, config::WatchdogAction::alert};
  Rig rig(config);
  rig.io.arrive(PortId(1), pause_frame(bit(kLossless), kLongestPause));
  rig.send(kLosslessDscp);
  rig.poll(Instant::at(3_us));
  EXPECT_EQ(rig.deadline(), Instant::at(1_ms + 3_us));
  rig.io.arrive(PortId(1), pause_frame(bit(kLossless), kLongestPause));
  rig.poll(rig.deadline());
  EXPECT_EQ(rig.deadline(), Instant::at(2_ms + 3_us));
  rig.poll(rig.deadline());
  EXPECT_EQ(count(*rig.object, 1, kLossless, PfcCounter::pfcwd_storms), 1u);
}

TEST(Deadline, OfTheNextQuestionToANeighborAndOfItsAge) {
  config::SwitchConfig config = hosts_switch(2);
  config.neighbors.pop_back();
  config.control.neighbor_age = 5'000_ms;
  Rig rig(config);
  rig.send(0);
  rig.poll(Instant());
  rig.expect_send_at(Instant::at(1_s));
  rig.expect_send_at(Instant::at(2_s));
  Frame answer(60);
  encode(EthernetHeader{port_mac(config, 1), host_mac(1, 2), kEtherTypeArp}, answer);
  encode(ArpMessage{ArpOperation::reply, host_mac(1, 2), host_ip(1, 2).v4(), port_mac(config, 1),
                    gateway_ip(1, 2).v4()},
         Octets(answer).subspan(14));
  rig.io.arrive(PortId(1), answer);
  rig.poll(Instant::at(2'500_ms));
  rig.expect_send_at(Instant::at(7'500_ms));
}

TEST(Deadline, OfTheNextAdvertisement) {
  config::SwitchConfig config = hosts_switch(1);
  config.control.lldp = true;
  add_fabric_port(config, "spine", 10_Gbps);
  Rig rig(config);
  rig.expect_send_at(Instant::at(1_s));
  rig.expect_send_at(Instant::at(2_s));
}

TEST(Deadline, OfAShapedQueue) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].queues[0].max_rate = 1_Gbps;
  Rig rig(config);
  for (int i = 0; i < 30; ++i) rig.send(kLossyDscp);
  rig.poll(Instant());
  // 16 KiB may go at line rate, then 1,024 octets of line every 8,192 ns.
  while (rig.deadline() == Instant::never()) rig.poll(rig.io.line_free.front().first);
  const size_t burst = rig.io.sent.size();
  EXPECT_GE(burst, 16u);
  EXPECT_LE(burst, 19u);
  Instant last = rig.deadline();
  for (size_t i = burst; i < 30; ++i) {
    rig.expect_send_at(rig.deadline());
    EXPECT_TRUE(i == burst || rig.now - last == 8'192_ns) << i;
    last = rig.now;
    rig.poll(rig.now + kFrameTime);
  }
  EXPECT_EQ(rig.io.sent.size(), 30u);
}

TEST(Line, AReloadDoesNotRefillTheBucketOfAShapedQueue) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].queues[0].max_rate = 1_Gbps;
  Rig rig(config);
  for (int i = 0; i < 100; ++i) rig.send(kLossyDscp);
  for (int i = 0; i <= 100; ++i) {
    config.seed = static_cast<uint64_t>(2 + i);
    ASSERT_TRUE(rig.object->reconfigure(config).ok());
    rig.poll(Instant::at(1_us * i));
  }
  EXPECT_LE(rig.io.sent.size(), 19u + 100 / 8);
}

TEST(Deadline, OfTheNextTryAfterARefusal) {
  Rig rig(hosts_switch(2));
  rig.io.transmit_limit = 0;
  rig.send(0);
  rig.poll(Instant());
  EXPECT_EQ(count(*rig.object, 1, PortCounter::tx_refused_packets), 1u);
  rig.io.transmit_limit = SIZE_MAX;
  rig.expect_send_at(Instant::at(5_us));
}

// Port 1's line is free before the world says so. An XON for port 1 makes the end of the poll look
// at that line, which releases what holds port 0's peer back, when the poll's PFC frames have been
// sent.
TEST(Deadline, OfAnXonThatTheEndOfAPollBrings) {
  config::SwitchConfig config = hosts_switch(3);
  config.buffer.profiles["lossless"].xoff = 2'000_B;
  config.buffer.profiles["lossless"].xon_offset = 1'500_B;  // empty again
  Rig rig(config);
  const auto send = [&](size_t from, size_t to) {
    UdpSpec spec = between(config, from, to, kLosslessDscp);
    spec.frame_len = 1000;
    spec.readable_len = 96;
    rig.io.arrive(PortId(from), udp_frame(spec), 1000);
  };
  for (int i = 0; i < 2; ++i) send(0, 1);
  for (int i = 0; i < 2; ++i) send(1, 2);
  rig.poll(Instant());
  while (count(*rig.object, 1, PortCounter::tx_packets) < 3) {  // XOFF and one of the two
    ASSERT_FALSE(rig.io.line_free.empty());
    rig.poll(std::min_element(rig.io.line_free.begin(), rig.io.line_free.end())->first);
  }
  ASSERT_EQ(count(*rig.object, 2, PortCounter::tx_packets), 2u);
  const auto xons = [&] { return count(*rig.object, 0, kLossless, PfcCounter::pfc_tx_xon); };
  std::erase_if(rig.io.line_free, [](const auto& line) { return line.second == PortId(1); });
  rig.poll(Instant::at(5_us));
  ASSERT_EQ(count(*rig.object, 1, kLossless, PfcCounter::pfc_tx_xon), 1u);
  if (xons() == 0) {
    ASSERT_EQ(rig.object->pg_status(PortId(0), PriorityGroupId(3)).used, 0);
    EXPECT_EQ(rig.deadline(), Instant::at(5_us));
    rig.poll(rig.deadline());
  }
  EXPECT_EQ(xons(), 1u);
}

TEST(Deadline, OfAPfcFrameThatFoundNoBuffer) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.profiles["lossless"].xoff = 10'000_B;
  Rig rig(config);
  rig.io.control_pool_empty = true;
  for (int i = 0; i < 12; ++i) rig.send(kLosslessDscp);
  rig.poll(Instant());
  EXPECT_EQ(count(*rig.object, 0, kLossless, PfcCounter::pfc_tx_xoff), 0u);
  EXPECT_GT(count(*rig.object, 0, PortCounter::no_control_buffer), 0u);
  EXPECT_LE(rig.deadline(), Instant::at(1_us));
  rig.poll(rig.deadline());
  rig.io.control_pool_empty = false;
  rig.poll(rig.deadline());
  EXPECT_EQ(rig.now, Instant::at(2_us));
  EXPECT_EQ(count(*rig.object, 0, kLossless, PfcCounter::pfc_tx_xoff), 1u);
  EXPECT_EQ(std::count_if(rig.io.sent.begin(), rig.io.sent.end(),
                          [](const Sent& sent) { return sent.port == PortId(0); }),
            1);
  EXPECT_TRUE(rig.object->balance().holds());
}

TEST(Line, CatchesUpOverAtMostItsLateness) {
  Rig rig(hosts_switch(2));
  for (int i = 0; i < 100; ++i) rig.send(0);
  rig.poll(Instant());
  EXPECT_EQ(rig.io.sent.size(), 1u);
  rig.poll(Instant::at(10_us));  // all that started meanwhile: every 819.2 ns
  EXPECT_EQ(rig.io.sent.size(), 13u);
  EXPECT_EQ(rig.io.sent[12].at, Instant::at(kFrameTime * 13));
  rig.poll(Instant::at(1_ms));
  EXPECT_EQ(rig.io.sent.size(), 13u + 25u) << "20 us hold 24.4 frames";
}

// A switch that may be polled as rarely as poll_gap catches up over as much.
TEST(Line, CatchesUpOverThePollGapWhereThatIsLonger) {
  config::SwitchConfig config = hosts_switch(2);
  config.poll_gap = 100_us;
  Rig rig(config);
  for (int i = 0; i < 300; ++i) rig.send(0);
  rig.poll(Instant());
  ASSERT_EQ(rig.io.sent.size(), 1u);
  rig.poll(Instant::at(1_ms));
  EXPECT_EQ(rig.io.sent.size(), 1u + 123u) << "100 us hold 122.07 frames";
  config.poll_gap = 50_us;
  ASSERT_TRUE(rig.object->reconfigure(config).ok());
  rig.poll(Instant::at(2_ms));
  EXPECT_EQ(rig.io.sent.size(), 124u + 62u) << "50 us hold 61.04";
}

config::SwitchConfig many_ports(size_t ports) {
  config::SwitchConfig config = hosts_switch(ports, 1_Gbps);
  config.buffer.size = Bytes::mib(512);
  return config;
}

// What a poll asks of the world.
uint64_t io_calls(size_t ports, bool with_packet) {
  Rig rig(many_ports(ports));
  if (with_packet) rig.send(0);
  const uint64_t before = rig.io.calls;
  rig.poll(Instant::at(1_ms));
  return rig.io.calls - before;
}

// What a poll and the question for its deadline take.
std::optional<uint64_t> instructions(size_t ports, bool with_packet) {
  Rig rig(many_ports(ports));
  rig.send(0);
  rig.poll(Instant::at(1_ms));  // first-time work is done
  if (with_packet) rig.send(0);
  return instructions_of([&] {
    rig.poll(Instant::at(2_ms));
    if (rig.deadline() != Instant::never()) _exit(2);
  });
}

TEST(Idle, PortsAndQueuesCostAPollNothing) {
  for (const bool with_packet : {false, true}) {
    EXPECT_EQ(io_calls(4, with_packet), io_calls(250, with_packet));
    const auto few = instructions(4, with_packet), many = instructions(250, with_packet);
    ASSERT_TRUE(few && many) << "this process may not trace a child";
    const uint64_t allowed = std::max<uint64_t>(100, *few / 50);  // sanitizers look up more
    EXPECT_NEAR(static_cast<double>(*few), static_cast<double>(*many), static_cast<double>(allowed))
        << (with_packet ? "with a packet" : "idle");
  }
}

}  // namespace
}  // namespace eddy::test
