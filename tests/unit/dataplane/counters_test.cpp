// What a switch counts, all of it: by port, priority group, queue, priority and reason, with
// numbers that follow from what was sent.
#include "switch/dataplane/state/counters.h"

#include <gtest/gtest.h>

#include <utility>

#include "net/icmp.h"
#include "tests/support/counted.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr uint64_t kPfcFrame = 60;

// visit(row, how many) for all that a port counts.
template <class Port, class Visit>
void visit_rows(const Port& port, Visit&& visit) {
  visit(port.port, kPortCounters);
  visit(port.drops, kDropReasons);
  for (size_t i = 0; i < kPriorities; ++i) {
    visit(port.queue[i], kQueueCounters);
    visit(port.pg[i], kPgCounters);
    visit(port.pfc[i], kPfcCounters);
  }
}

template <class Row>
struct EnumOf;
template <class C, class Enum, size_t kCount, size_t kBusy>
struct EnumOf<CounterRow<C, Enum, kCount, kBusy>> {
  using Type = Enum;
};

TEST(Counters, EachHasAPlaceOfItsOwn) {
  Counters counters(3);
  uint64_t next = 0;
  for (size_t port = 0; port < 3; ++port)
    visit_rows(counters[PortId(port)], [&]<class Row>(const Row& row, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(row.read(i), 0u);
        row[static_cast<typename EnumOf<Row>::Type>(i)].add(++next);
      }
    });
  uint64_t expected = 0;
  for (size_t port = 0; port < 3; ++port)
    visit_rows(std::as_const(counters)[PortId(port)], [&](const auto& row, size_t count) {
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(row.read(i), ++expected) << port << ' ' << i;
    });
}

TEST(Counters, APacketCountsAtItsPortsGroupAndQueue) {
  OneSwitch rig(hosts_switch(3));
  for (int i = 0; i < 3; ++i) rig.send(0, 1, kLosslessDscp, 1000);
  for (int i = 0; i < 2; ++i) rig.send(0, 2, kLossyDscp, 700);
  rig.send(2, 1, kOtherLosslessDscp, 500);
  rig.run_for(100_us);
  const Counted expected = {
      {"0.rx_packets", 5},           {"0.rx_bytes", 4'400},       {"0/3.pg_rx_packets", 3},
      {"0/3.pg_rx_bytes", 3'000},    {"0/0.pg_rx_packets", 2},    {"0/0.pg_rx_bytes", 1'400},
      {"1.tx_packets", 4},           {"1.tx_bytes", 3'500},       {"1/3.queue_tx_packets", 3},
      {"1/3.queue_tx_bytes", 3'000}, {"1/4.queue_tx_packets", 1}, {"1/4.queue_tx_bytes", 500},
      {"2.tx_packets", 2},           {"2.tx_bytes", 1'400},       {"2/0.queue_tx_packets", 2},
      {"2/0.queue_tx_bytes", 1'400}, {"2.rx_packets", 1},         {"2.rx_bytes", 500},
      {"2/4.pg_rx_packets", 1},      {"2/4.pg_rx_bytes", 500},
  };
  EXPECT_EQ(counted(rig.object()), expected);
}

// Three frames are on the way to a host that has stopped their priority; the fourth crosses XOFF.
TEST(Counters, PausesCountByPriorityInBothDirections) {
  config::SwitchConfig config = hosts_switch(2);
  config.buffer.cell_bytes = 1;
  config.buffer.profiles["lossless"].xoff = 3'500_B;
  config.buffer.profiles["lossless"].xon_offset = 1'000_B;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), 1'000));  // 51.2 us at 10 Gb/s
  for (int i = 0; i < 4; ++i) rig.send(0, 1, kLosslessDscp, 1000);
  rig.run_for(10_us);
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.run_for(50_us);
  const Counted expected = {
      {"0.rx_packets", 4},
      {"0.rx_bytes", 4'000},
      {"0/3.pg_rx_packets", 4},
      {"0/3.pg_rx_bytes", 4'000},
      {"0/3.pfc_tx_xoff", 1},
      {"0/3.pfc_tx_xon", 1},
      {"0.originated_packets", 2},
      {"0.tx_packets", 2},
      {"0.tx_bytes", 2 * kPfcFrame},
      {"1.pfc_rx_packets", 2},
      {"1/3.pfc_rx_xoff", 1},
      {"1/3.pfc_rx_xon", 1},
      {"1/3.pfc_rx_paused_ps", 10'000'000},
      {"1.tx_packets", 4},
      {"1.tx_bytes", 4'000},
      {"1/3.queue_tx_packets", 4},
      {"1/3.queue_tx_bytes", 4'000},
  };
  EXPECT_EQ(counted(rig.object()), expected);
}

// As SAI_PORT_STAT_IF_IN_UCAST_PKTS: what a MAC consumes stands in counters of its own, alone or
// among packets; a MAC control frame that no MAC of ours knows is a frame received and dropped.
TEST(Counters, PfcAndPauseAreNoPacketsReceived) {
  OneSwitch rig(hosts_switch(2));
  Frame pause = pause_frame(bit(kLossless), 0);
  pause[14] = 0x00;  // the opcode of 802.3's PAUSE: 0x0001
  Frame unknown = pause;
  unknown[14] = 0x77;
  rig.send(0, 1, kLosslessDscp, 1000);
  rig.inject(0, pause_frame(bit(Priority(5)), 0));
  rig.inject(0, pause);
  rig.inject(0, unknown);
  rig.send(0, 1, kLosslessDscp, 500);
  rig.run_for(50_us);
  const Counted all = counted(rig.object());
  EXPECT_EQ(all.at("0.rx_packets"), 3u);
  EXPECT_EQ(all.at("0.rx_bytes"), 1'500u + unknown.size());
  EXPECT_EQ(all.at("0.pfc_rx_packets"), 1u);
  EXPECT_EQ(all.at("0.pause_rx_packets"), 1u);
  EXPECT_EQ(all.count("0.consumed_packets"), 0u);
  EXPECT_EQ(drops(rig.object(), DropReason::mac_control_unknown), 1u);
  EXPECT_TRUE(rig.object().balance().holds());
}

// What a full lossless group, a full lossy one and a full lossy queue lose, of 1,000 octets each.
TEST(Counters, LossesCountAtTheGroupOrQueueThatRefused) {
  struct Case {
    uint8_t dscp;
    const char* reason;
    const char* counter;
    bool lossless;
  };
  for (const Case& each :
       {Case{kLosslessDscp, "0.drops.headroom_full", "0/3.pg_dropped_packets", true},
        Case{0, "0.drops.pg_shared_full", "0/0.pg_dropped_packets", false},
        Case{kLossyDscp, "0.drops.queue_full", "1/0.queue_dropped_packets", false}}) {
    config::SwitchConfig config = hosts_switch(2);
    if (each.dscp == kLossyDscp) config.ports[1].queues[0].dynamic_th = -8;
    OneSwitch rig(config);
    Command stop{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = false};
    ASSERT_TRUE(rig.object().post(ShardId(0), stop));
    constexpr uint64_t kSent = 2'000;
    for (uint64_t i = 0; i < kSent; ++i) rig.send(0, 1, each.dscp, 1000);
    const Counted all = counted(rig.object());
    const uint64_t lost = rig.object().balance().dropped;
    ASSERT_GT(lost, 0u) << each.reason;
    ASSERT_LT(lost, kSent) << each.reason;
    const std::string group = each.dscp == kLosslessDscp ? "0/3." : "0/0.";
    const bool by_queue = each.dscp == kLossyDscp;  // which the group has let in
    Counted expected = {{each.reason, lost},
                        {each.counter, lost},
                        {group + "pg_rx_packets", by_queue ? kSent : kSent - lost},
                        {group + "pg_rx_bytes", (by_queue ? kSent : kSent - lost) * 1'000}};
    if (each.lossless) expected[group + "lossless_dropped_packets"] = lost;
    EXPECT_EQ(only(all, {"drops.", "pg_", "lossless_", "queue_"}), expected);
    EXPECT_EQ(only(take_events(rig.object()), EventKind::lossless_drop).size(),
              each.lossless ? lost : 0);
  }
}

// The shared pool is full of lossless packets that port 1 may not send. Of the lossy group's
// reserve 16 packets come at once, for a port that is idle: its queue takes as much as its own
// reserve.
TEST(Counters, AQueueTakesItsReserveHoweverFullTheSharedPoolIs) {
  const auto sent_with = [](std::optional<Bytes> reserved) {
    config::SwitchConfig config = hosts_switch(3);
    config.buffer.cell_bytes = 1;
    config.buffer.size = 1_MiB;
    config.buffer.profiles["lossless"].mode = config::BufferMode::dynamic;
    config.buffer.profiles["lossless"].dynamic_th = 8;
    config.buffer.profiles["lossy"].reserved = 16'000_B;
    config.ports[2].queues[0].reserved = reserved;
    OneSwitch rig(config);
    Command stop{.kind = Command::Kind::set_port_tx, .port = PortId(1), .on = false};
    rig.object().post(ShardId(0), stop);
    const auto is_full = [&] {
      const BufferStatus buffer = rig.object().buffer_status();
      return buffer.shared_size - buffer.shared_used < 1'000;
    };
    for (int i = 0; i < 1'000; ++i) rig.send(0, 1, kLosslessDscp);  // up to 256 times what is free
    for (int i = 0; i < 100 && !is_full(); ++i) rig.send(0, 1, kOtherLosslessDscp);
    EXPECT_TRUE(is_full());
    for (int i = 0; i < 16; ++i) rig.send(0, 2, kLossyDscp);
    rig.run_for(1_ms);
    EXPECT_EQ(count(rig.object(), 2, QueueId(0), QueueCounter::queue_dropped_packets),
              16 - rig.seen(2).size());
    return rig.seen(2).size();
  };
  EXPECT_EQ(sent_with(std::nullopt), 16u) << "auto: as much as the group's";
  EXPECT_EQ(sent_with(4'000_B), 4u);
  EXPECT_EQ(sent_with(0_B), 0u);
}

}  // namespace
}  // namespace eddy::test
