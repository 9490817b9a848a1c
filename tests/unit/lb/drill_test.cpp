#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

MemberIndex choose(Selector& drill, const Paths& paths, uint64_t flow = 1) {
  Packet packet = make_packet(flow);
  return select_one(drill, paths.view(), packet);
}

TEST(Drill, OfTwoMembersTheShorterQueue) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}});
  paths.queue(0, 5'000);
  paths.queue(1, 4'999);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 1);
  paths.queue(1, 5'001);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 0);
}

TEST(Drill, ATieStaysWithTheRemembered) {
  Paths paths({make_set(16)});
  const auto drill = make("drill", paths);
  const MemberIndex first = choose(*drill, paths);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(*drill, paths), first);
}

TEST(Drill, ReportsATieOfTheShortestOnly) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}});
  const auto ties_of_100 = [&] {
    const PathView view = paths.view();
    for (uint64_t flow = 0; flow < 100; ++flow) {
      Packet packet = make_packet(flow);
      select_one(*drill, view, packet);
    }
    return view.ties();
  };
  EXPECT_GE(ties_of_100(), 95u);  // 8 draws and the remembered member hold both, but 1 in 256 times
  paths.queue(1, 1);
  EXPECT_EQ(ties_of_100(), 0u);
  Paths many({make_set(3)});
  many.queue(0, 7);
  many.queue(1, 7);
  const auto wide = make("drill", many, {{"d", "8"}});
  Packet packet = make_packet(1);
  const PathView view = many.view();
  for (int i = 0; i < 20; ++i) select_one(*wide, view, packet);  // finds and remembers member 2
  const uint32_t before = view.ties();
  for (int i = 0; i < 20; ++i) select_one(*wide, view, packet);
  EXPECT_EQ(view.ties(), before) << "longer queues that are equal are no tie";
}

TEST(Drill, MemoryHoldsTheBestMember) {
  Paths paths({make_set(32)});
  const auto drill = make("drill", paths);
  for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 10'000);
  bool found = false;
  for (int i = 0; i < 400; ++i) {
    const bool best = choose(*drill, paths) == 17;
    EXPECT_TRUE(best || !found) << "left the shortest queue at packet " << i;
    found = found || best;
  }
  EXPECT_TRUE(found);
}

TEST(Drill, WithoutMemoryItForgets) {
  Paths paths({make_set(32)});
  const auto drill = make("drill", paths, {{"m", "0"}});
  for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 10'000);
  int best = 0;
  for (int i = 0; i < 3'200; ++i) best += choose(*drill, paths) == 17 ? 1 : 0;
  EXPECT_NEAR(best, 3'200 * (1 - 31.0 * 31 / 32 / 32), 5 * 14);  // two draws of 32
}

// With m = 2 the runner-up is remembered: when the best fills up, it is next.
TEST(Drill, TheRunnerUpIsRememberedToo) {
  Paths paths({make_set(64)});
  const auto drill = make("drill", paths, {{"m", "2"}});
  for (size_t port = 0; port < 64; ++port) paths.queue(port, 10'000);
  paths.queue(20, 1);
  paths.queue(40, 2);
  for (int i = 0; i < 2'000; ++i) choose(*drill, paths);
  EXPECT_EQ(choose(*drill, paths), 20);
  paths.queue(20, 20'000);
  EXPECT_EQ(choose(*drill, paths), 40);
}

TEST(Drill, CountsTheQueuesServedBeforeItsOwn) {
  Paths paths({make_set(2)});
  const auto drill = make("drill", paths, {{"d", "8"}, {"m", "0"}});
  paths.queue(0, 9'000, 6);   // strict priority above queue 3
  paths.queue(1, 90'000, 1);  // below: does not matter
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*drill, paths), 1);
}

TEST(Drill, UnlikePathsShareByCapacityAndNotByQueue) {
  const std::array<uint16_t, 4> weights = {40, 40, 10, 10};
  Paths paths({make_set(weights)});
  const auto drill = make("drill", paths);
  paths.queue(0, 50'000);
  paths.queue(1, 50'000);
  int slow = 0;
  for (uint64_t flow = 0; flow < 10'000; ++flow) slow += choose(*drill, paths, flow) >= 2 ? 1 : 0;
  EXPECT_NEAR(slow, 2'000, 5 * 40 + 40);  // and half a bucket
  for (uint64_t flow = 0; flow < 50; ++flow) {
    const bool first_slow = choose(*drill, paths, flow) >= 2;
    EXPECT_EQ(choose(*drill, paths, flow) >= 2, first_slow);
  }
}

TEST(Drill, ADeadComponentsFlowsUseTheOther) {
  const std::array<uint16_t, 3> weights = {40, 40, 10};
  Paths paths({make_set(weights)});
  const auto drill = make("drill", paths);
  paths.live() = 0b100;
  for (uint64_t flow = 0; flow < 100; ++flow) EXPECT_EQ(choose(*drill, paths, flow), 2);
}

TEST(Drill, PauseMattersOnlyWhenAsked) {
  Paths paths({make_set(4)});
  const auto blind = make("drill", paths, {{"m", "0"}});
  const auto aware = make("drill", paths, {{"m", "0"}, {"pfc_aware", "true"}});
  for (size_t port : {0u, 1u, 2u}) paths.port(port).paused_queues = 1 << 3;
  std::set<MemberIndex> used;
  for (int i = 0; i < 100; ++i) {
    used.insert(choose(*blind, paths));
    EXPECT_EQ(choose(*aware, paths), 3);
  }
  EXPECT_EQ(used.size(), 4u);
  paths.port(3).paused_queues = 0xFF;
  used.clear();
  for (int i = 0; i < 100; ++i) used.insert(choose(*aware, paths));
  EXPECT_EQ(used.size(), 4u);
}

// Packets with a frame to read, in plain memory.
class Hosts {
 public:
  // Of a flow, to an address.
  Packet& to(const IpAddress& address, uint64_t flow = 1) {
    const IpAddress from =
        address.is_v4() ? IpAddress(Ipv4Address{0x0a000001}) : parse_ip("fd00::1").value();
    if (packet_ != nullptr) pool_.put(packet_);
    packet_ = pool_.get(eddy::test::udp_frame({.source = from, .destination = address}));
    Packet& packet = *packet_;
    const Packet sample = make_packet(flow);
    packet.order_hash = sample.order_hash;
    packet.balance_hash = sample.balance_hash;
    packet.queue = sample.queue;
    packet.l2_len = kEthernetHeader;
    packet.flags = static_cast<uint16_t>(kPacketIp | (address.is_v4() ? 0 : kPacketIpv6));
    return packet;
  }
  Packet& to(uint32_t host, uint64_t flow = 1) {
    return to(IpAddress(Ipv4Address{0x0a010000 + host}), flow);
  }

 private:
  eddy::test::PacketPool pool_{1};
  Packet* packet_ = nullptr;
};

// One queue of 32 is the shortest by far; what its finder remembers is not drawn by luck.
struct OneShortest {
  explicit OneShortest(const ParameterMap& parameters) : drill(make("drill", paths, parameters)) {
    for (size_t port = 0; port < 32; ++port) paths.queue(port, port == 17 ? 1 : 10'000);
  }
  bool finds(Packet& packet) { return select_one(*drill, paths.view(), packet) == 17; }
  void find(uint32_t host) {
    for (int i = 0; i < 1'000; ++i)
      if (finds(hosts.to(host))) return;
    FAIL() << "1,000 draws and never the shortest queue";
  }

  Paths paths{{make_set(32)}};
  std::unique_ptr<Selector> drill;
  Hosts hosts;
};

TEST(Drill, OneMemoryForAllHostsOfALeaf) {
  OneShortest rig(ParameterMap{{"d", "1"}});
  rig.find(1);
  for (uint32_t host = 2; host < 40; ++host) EXPECT_TRUE(rig.finds(rig.hosts.to(host)));
}

TEST(Drill, AMemoryForEachHostIfAsked) {
  OneShortest rig({{"d", "1"}, {"memory", "destination_host"}});
  rig.find(1);
  int lucky = 0;
  for (uint32_t host = 2; host < 40; ++host) {
    lucky += rig.finds(rig.hosts.to(host)) ? 1 : 0;
    EXPECT_TRUE(rig.finds(rig.hosts.to(1))) << "host 1 forgot for host " << host;
  }
  EXPECT_LE(lucky, 6) << "38 hosts that draw once of 32 each";
}

TEST(Drill, AHostIsItsWholeAddress) {
  OneShortest rig({{"d", "1"}, {"memory", "destination_host"}});
  const IpAddress host = parse_ip("fd00:1::5").value();
  while (!rig.finds(rig.hosts.to(host))) {
  }
  int lucky = 0;
  for (const std::string_view other :
       {"fd00:1::6", "fd00:2::5", "fd00:1::1:0:5", "fe00:1::5", "fd00:1:1::5", "fd00:1::7:5"}) {
    lucky += rig.finds(rig.hosts.to(parse_ip(other).value())) ? 1 : 0;
    EXPECT_TRUE(rig.finds(rig.hosts.to(host)));
  }
  EXPECT_LE(lucky, 2);
}

TEST(Drill, AHostThatFindsNoPlaceTakesOne) {
  OneShortest rig({{"d", "1"}, {"memory", "destination_host"}, {"hosts", "64"}});
  int kept = 0;
  for (int round = 0; round < 20; ++round) {
    rig.find(1);
    for (uint32_t host = 2; host < 1'000; ++host) (void)rig.finds(rig.hosts.to(host));
    kept += rig.finds(rig.hosts.to(1)) ? 1 : 0;
  }
  EXPECT_LE(kept, 4) << "others have taken its place, and it draws one of 32";
}

TEST(Drill, AHostRemembersInEachComponent) {
  std::vector<uint16_t> weights(32, 40);
  weights.resize(64, 10);
  Paths paths({make_set(weights)});
  const auto drill = make("drill", paths, {{"d", "1"}, {"memory", "destination_host"}});
  for (size_t port = 0; port < 64; ++port) paths.queue(port, 10'000);
  paths.queue(5, 1);
  paths.queue(40, 1);
  Hosts hosts;
  const auto send = [&](uint64_t flow) {
    return select_one(*drill, paths.view(), hosts.to(1, flow));
  };
  uint64_t slow = 0;
  while (send(slow) < 32) ++slow;
  uint64_t fast = 0;
  while (send(fast) >= 32) ++fast;
  for (int i = 0; i < 1'000; ++i) {
    send(fast);
    send(slow);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(send(fast), 5);
    EXPECT_EQ(send(slow), 40);
  }
}

// A frame between leaves that has no IP header.
TEST(Drill, APacketToNoHostHasTheLeafsMemory) {
  OneShortest rig({{"d", "1"}, {"memory", "destination_host"}});
  const auto send = [&] {
    Packet packet = make_packet(1);
    packet.flags = 0;
    return rig.finds(packet);
  };
  while (!send()) {
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(send());
}

// Port 0: a frame of 1,500 octets is on the line, and nothing waits. Port 1: 1,000 wait.
TEST(Drill, TheFrameOnTheLineCountsUnlessToldNotTo) {
  Paths paths({make_set(2)});
  paths.queue(0, 1'500);
  paths.port(0).line_bytes = 1'500;
  paths.port(0).line_queue = 3;
  paths.queue(1, 1'000);
  const auto with = make("drill", paths, {{"d", "8"}});
  const auto without = make("drill", paths, {{"d", "8"}, {"queue", "waiting"}});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(choose(*with, paths), 1);
    EXPECT_EQ(choose(*without, paths), 0);
  }
  const auto second = make("drill", paths, {{"d", "8"}, {"m", "2"}, {"queue", "waiting"}});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose(*second, paths), 0);
}

// Reference A.6 counts the queues served before or beside the packet's own, and so does the line.
TEST(Drill, TheFrameOnTheLineIsTakenOffWhereItWasCounted) {
  PortSignals port;
  for (auto& bytes : port.queued_bytes) bytes = 0;
  port.queued_bytes[1] = 700;
  port.queued_bytes[3] = 2'000;
  port.queued_bytes[6] = 300;
  const auto waiting = [&](uint8_t queue, uint32_t octets) {
    port.line_queue = queue;
    port.line_bytes = octets;
    return port.waiting_from(QueueId(3));
  };
  EXPECT_EQ(port.waiting_from(QueueId(3)), 2'300u);
  EXPECT_EQ(waiting(3, 900), 1'400u);
  EXPECT_EQ(waiting(6, 300), 2'000u);
  EXPECT_EQ(waiting(1, 700), 2'300u) << "a queue below";
  EXPECT_EQ(waiting(kPriorities, 64), 2'300u) << "a frame of the switch's own";
  EXPECT_EQ(waiting(3, 5'000), 0u) << "read while another shard writes";
}

}  // namespace
}  // namespace eddy::lb
