// Packets that took different paths leave for their host in order, or after a bounded wait.
#include "lb/stages/resequencer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>

#include "net/roce.h"
#include "switch/dataplane/state/snapshot.h"
#include "tests/support/one_switch.h"
#include "tests/support/stages.h"

namespace eddy::test {
namespace {

constexpr size_t kHost = 0;
constexpr size_t kUplink = 2;
constexpr size_t kOther = 3;
constexpr Duration kWait = 50_us;

// Host ports 0 and 1, uplinks 2 and 3.
config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({.leaves = 2, .spines = 2}).leaves[0];
  config.resequence.enabled = true;
  config.resequence.wait = kWait;
  return config;
}

struct Rig : OneSwitch {
  explicit Rig(const config::SwitchConfig& with = leaf(), size_t shards = 1,
               StageMaker stage = nullptr)
      : OneSwitch(with, shards, std::move(stage)) {
    run_for(1_us);
  }
  // From leaf 2 to the host, or from `from` on if that is not an uplink; psn is counted from 0.
  void down(size_t from, uint32_t psn, RoceOpcode opcode = RoceOpcode::write_middle,
            uint32_t pair = 7, uint32_t payload = 1'000) {
    RocePacket packet{.addresses = {host_ip(2, 1), host_ip(1, 1)}, .dscp = kLosslessDscp};
    packet.source_port = 4'000;
    packet.bth = {.opcode = opcode, .destination_qpn = pair, .psn = psn & kPsnMask};
    packet.payload_len = opcode == RoceOpcode::read_request ? 0 : payload;
    Frame frame(2'000);
    const size_t ethernet =
        encode(EthernetHeader{port_mac(config, from), host_mac(2, 1), kEtherTypeIpv4}, frame);
    const std::vector<uint8_t> octets(packet.payload_len);
    frame.resize(ethernet + encode(packet, octets, Octets(frame).subspan(ethernet)));
    inject(from, frame);
    run_for(10_ns);
  }
  void first(size_t from, uint32_t psn, uint32_t pair = 7) {
    down(from, psn, RoceOpcode::write_first, pair);
  }
  // The numbers that the host has got, of one queue pair.
  std::vector<uint32_t> got(uint32_t pair = 7) {
    run_for(5_us);
    std::vector<uint32_t> numbers;
    for (const Arrival& arrival : seen(kHost)) {
      RocePacket packet;
      const ConstOctets frame(arrival.frame);
      if (decode(frame.subspan(kEthernetHeader), packet) == CodecVerdict::ok &&
          packet.bth.destination_qpn == pair)
        numbers.push_back(packet.bth.psn);
    }
    return numbers;
  }
  uint64_t counted(PortCounter which) { return count(object(), kHost, which); }
};

using Numbers = std::vector<uint32_t>;

TEST(Resequencer, WhatIsAheadWaitsForWhatIsMissing) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  rig.down(kUplink, 13);
  EXPECT_EQ(rig.got(), (Numbers{10}));
  EXPECT_EQ(rig.object().balance().held, 2u);
  EXPECT_TRUE(rig.object().balance().holds());
  EXPECT_EQ(rig.object().pg_status(PortId(kUplink), PriorityGroupId(3)).used, 0);
  EXPECT_GT(rig.object().buffer_status().stages_used, 2'000) << "they are charged apart";
  rig.down(kOther, 11);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 13}));
  EXPECT_EQ(rig.counted(PortCounter::resequence_held_packets), 2u);
  EXPECT_EQ(rig.counted(PortCounter::resequence_missed_flows), 0u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// With nothing set aside, and where what is set aside is full, they stay with their group.
TEST(Resequencer, WithoutRoomOfItsOwnAPacketStaysChargedAsItWas) {
  for (const Bytes stages : {0_B, 1'500_B}) {
    config::SwitchConfig config = leaf();
    config.buffer.cell_bytes = 1;
    config.buffer.stages = stages;
    Rig rig(config);
    rig.first(kUplink, 10);
    rig.down(kUplink, 12);
    rig.down(kUplink, 13);
    rig.run_for(5_us);
    const int64_t in_group = rig.object().pg_status(PortId(kUplink), PriorityGroupId(3)).used;
    const int64_t apart = rig.object().buffer_status().stages_used;
    const bool some = stages != 0_B;
    EXPECT_EQ(apart > 1'000, some) << stages.count();
    EXPECT_GT(in_group, some ? 1'000 : 2'000);
    EXPECT_LT(in_group, some ? 1'500 : 3'000);
    EXPECT_EQ(rig.counted(PortCounter::stage_unplaced_packets), some ? 1u : 0u);
    rig.down(kOther, 11);
    EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 13}));
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

// What is held above XOFF would have paused the spine; moved away it resumes it.
TEST(Resequencer, HoldingPausesNobodyAndLetsAPausedSenderGoOn) {
  for (const bool apart : {true, false}) {
    config::SwitchConfig config = leaf();
    config.buffer.profiles["lossless"].xoff = 8'192_B;
    if (!apart) config.buffer.stages = 0_B;
    Rig rig(config);
    rig.first(kUplink, 10);
    for (uint32_t psn = 12; psn < 32; ++psn) rig.down(kUplink, psn);
    rig.run_for(5_us);
    EXPECT_EQ(rig.object().pg_status(PortId(kUplink), PriorityGroupId(3)).pausing, !apart);
    EXPECT_EQ(count(rig.object(), kUplink, kLossless, PfcCounter::pfc_tx_xoff), apart ? 0u : 1u);
    rig.down(kOther, 11);
    rig.run_for(60_us);
    EXPECT_EQ(rig.got().size(), 22u);
    EXPECT_EQ(count(rig.object(), kUplink, kLossless, PfcCounter::pfc_tx_xon), apart ? 0u : 1u);
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Resequencer, WhatIsLetGoStaysInItsBufferUntilItHasLeft) {
  config::SwitchConfig config = leaf();
  config.buffer.cell_bytes = 1;
  Rig rig(config);
  rig.first(kUplink, 10);
  for (uint32_t psn = 12; psn < 16; ++psn) rig.down(kUplink, psn);
  rig.run_for(5_us);
  const int64_t held = rig.object().buffer_status().stages_used;
  rig.down(kOther, 11);
  EXPECT_EQ(rig.object().balance().held, 4u) << "in the host's queue, behind 11";
  EXPECT_EQ(rig.object().buffer_status().stages_used, held);
  rig.run_for(10_us);
  EXPECT_EQ(rig.object().buffer_status().stages_used, 0);
  EXPECT_EQ(rig.object().buffer_status().stages_watermark.user, held);
  EXPECT_EQ(rig.object().buffer_status().stages_watermark.persistent, held);
}

TEST(Resequencer, APortThatGoesDownLosesWhatWasHeldForIt) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  rig.run_for(5_us);
  rig.fabric.set_link(rig.node, PortId(kHost), false);
  rig.run_for(kWait);
  EXPECT_EQ(drops(rig.object(), DropReason::egress_down), 1u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Resequencer, AnyOrderComesOutInOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    Rig rig;
    Numbers numbers(40);
    std::iota(numbers.begin(), numbers.end(), kPsnMask - 20u);
    Numbers mixed = numbers;
    std::shuffle(mixed.begin(), mixed.end(), random);
    for (const uint32_t psn : mixed)
      rig.down(kUplink + random() % 2, psn,
               psn == numbers[0] ? RoceOpcode::write_first : RoceOpcode::write_middle);
    for (uint32_t& psn : numbers) psn &= kPsnMask;
    rig.run_for(60_us);
    ASSERT_EQ(rig.got(), numbers) << "round " << round;
  }
}

TEST(Resequencer, FlowsDoNotWaitForEachOther) {
  Rig rig;
  rig.first(kUplink, 10, 1);
  rig.down(kUplink, 12, RoceOpcode::write_middle, 1);
  rig.first(kUplink, 70, 2);
  rig.down(kUplink, 71, RoceOpcode::write_middle, 2);
  EXPECT_EQ(rig.got(2), (Numbers{70, 71}));
  EXPECT_EQ(rig.got(1), (Numbers{10}));
}

TEST(Resequencer, WhatDoesNotComeIsWaitedForUntilATimerThatTheSwitchAnnounces) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  const Instant held = rig.fabric.now();
  EXPECT_LE(rig.object().shard(ShardId(0)).next_deadline(), held + kWait);
  rig.down(kUplink, 13);
  rig.run_for(kWait - 10_us);
  EXPECT_EQ(rig.got(), (Numbers{10}));
  rig.run_for(10_us);
  EXPECT_EQ(rig.got(), (Numbers{10, 12, 13}));
  EXPECT_EQ(rig.counted(PortCounter::resequence_missed_flows), 1u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Resequencer, WhatEveryPathHasOvertakenIsLost) {
  config::SwitchConfig config = leaf();
  config.resequence.loss_proof = config::LossProof::ports;
  Rig rig(config);
  rig.first(kUplink, 10);
  Numbers all = {10};
  for (uint32_t psn = 12; psn < 40; ++psn) rig.down(kUplink, psn);
  EXPECT_EQ(rig.got(), all) << "it may come by the other one";
  for (uint32_t psn = 41; psn < 60; ++psn) rig.down(kOther, psn);
  rig.run_for(40_us);
  for (uint32_t psn = 12; psn < 40; ++psn) all.push_back(psn);
  EXPECT_EQ(rig.got(), all) << "11 is lost, 40 may not be";
  rig.down(kUplink, 40);
  for (uint32_t psn = 40; psn < 60; ++psn) all.push_back(psn);
  rig.run_for(20_us);
  EXPECT_EQ(rig.got(), all);
  rig.down(kOther, 11);
  all.push_back(11);
  EXPECT_EQ(rig.got(), all);
  EXPECT_EQ(rig.counted(PortCounter::resequence_missed_flows), 1u);
}

TEST(Resequencer, NotIfAPathIsDown) {
  config::SwitchConfig config = leaf();
  config.resequence.loss_proof = config::LossProof::ports;
  Rig rig(config);
  rig.fabric.set_link(rig.node, PortId(kOther), false);
  rig.first(kUplink, 10);
  for (uint32_t psn = 12; psn < 40; ++psn) rig.down(kUplink, psn);
  rig.run_for(40_us);
  EXPECT_GT(rig.got().size(), 16u) << "the only path that is left has overtaken it";
}

TEST(Resequencer, ASecondGapIsWaitedForAnew) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  rig.run_for(kWait - 20_us);
  rig.down(kUplink, 14);
  rig.down(kOther, 11);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12}));
  rig.run_for(kWait - 20_us);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12})) << "since 12 left, not since 12 came";
  rig.run_for(20_us);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 14}));
}

TEST(Resequencer, ASenderThatGoesBackIsFollowed) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  rig.run_for(kWait + 1_us);
  rig.down(kUplink, 11);
  rig.down(kUplink, 13);
  rig.down(kOther, 12);
  EXPECT_EQ(rig.got(), (Numbers{10, 12, 11, 12, 13}));
}

// Also while the flow never falls silent: what was given up for lost, by the timer, at a limit or
// because every path has overtaken it, is where the sender goes back to; it is watched from there
// on. A copy that comes later still is a duplicate and takes nothing back.
TEST(Resequencer, WhatWasGivenUpIsGoneBackToOnce) {
  for (const std::string_view why : {"timer", "limit", "proof"}) {
    config::SwitchConfig config = leaf();
    if (why == "limit") config.resequence.packets = 16;
    if (why == "proof") config.resequence.loss_proof = config::LossProof::ports;
    Rig rig(config);
    rig.first(kUplink, 10);
    Numbers all = {10};
    for (uint32_t psn = 12; psn < 28; ++psn) rig.down(psn < 20 ? kUplink : kOther, psn);
    if (why == "limit") rig.down(kUplink, 28);
    if (why == "timer") {
      rig.run_for(kWait - 10_us);
      rig.down(kUplink, 28);  // it goes on all the time
    }
    rig.run_for(25_us);
    for (uint32_t psn = 12; psn < (why == "proof" ? 28 : 29); ++psn) all.push_back(psn);
    ASSERT_EQ(rig.got(), all) << why;
    rig.down(kUplink, 11);
    rig.down(kUplink, 13);
    rig.down(kOther, 12);
    for (const uint32_t psn : {11, 12, 13}) all.push_back(psn);
    EXPECT_EQ(rig.got(), all) << why << ": 13 waits for 12";
    rig.down(kOther, 11);
    rig.down(kUplink, 14);
    for (const uint32_t psn : {11, 14}) all.push_back(psn);
    EXPECT_EQ(rig.got(), all) << why << ": 14 was due";
    EXPECT_EQ(leftovers(rig.object()), "") << why;
  }
}

TEST(Resequencer, SoIsOneThatBeginsAgainAfterASilence) {
  Rig rig;
  rig.first(kUplink, 10);
  for (uint32_t psn = 11; psn < 15; ++psn) rig.down(kUplink, psn);
  rig.down(kUplink, 12);  // a duplicate
  rig.run_for(kWait + 1_us);
  rig.down(kUplink, 12);
  rig.down(kUplink, 14);
  rig.down(kOther, 13);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 13, 14, 12, 12, 13, 14}));
}

TEST(Resequencer, AFlowBeginsWithTheFirstPacketOfAMessage) {
  Rig rig;
  rig.down(kUplink, 12);
  rig.down(kUplink, 11);
  EXPECT_EQ(rig.got(), Numbers{});
  rig.first(kOther, 10);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12}));
}

TEST(Resequencer, OrWithWhatThereIsAfterTheWait) {
  Rig rig;
  rig.down(kUplink, 12);
  rig.down(kUplink, 11);
  rig.run_for(kWait + 1_us);
  rig.down(kUplink, 14);
  rig.down(kOther, 13);
  EXPECT_EQ(rig.got(), (Numbers{11, 12, 13, 14}));
}

TEST(Resequencer, BehindAReadRequestAnyNumberMayFollow) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 11, RoceOpcode::read_request);  // its responses take 11 to 18
  rig.down(kUplink, 19, RoceOpcode::write_only);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 19}));
  rig.down(kUplink, 21, RoceOpcode::read_request);
  rig.down(kUplink, 30, RoceOpcode::write_only);
  rig.down(kOther, 20, RoceOpcode::write_only);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 19, 20, 21, 30}));
}

TEST(Resequencer, OnlyRequestsThatCrossedTheFabricAreWatched) {
  Rig rig;
  rig.first(1, 10);
  rig.down(1, 12);
  EXPECT_EQ(rig.got(), (Numbers{10, 12})) << "from a host of the same leaf";
  rig.down(kUplink, 40, RoceOpcode::read_response_middle, 8);
  EXPECT_EQ(rig.got(8), (Numbers{40}));
  rig.down(kUplink, 50, RoceOpcode::acknowledge, 9);
  EXPECT_EQ(rig.got(9), (Numbers{50}));
  EXPECT_EQ(rig.counted(PortCounter::resequence_held_packets), 0u);
}

TEST(Resequencer, IsOffUnlessAskedFor) {
  config::SwitchConfig config = leaf();
  config.resequence = {};
  Rig rig(config);
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  EXPECT_EQ(rig.got(), (Numbers{10, 12}));
}

// The packets of a flow, the octets of a shard.
TEST(Resequencer, AtEachLimitTheFlowGoesOnInOrder) {
  for (int which = 0; which < 2; ++which) {
    config::SwitchConfig config = leaf();
    if (which == 0) config.resequence.packets = 3;
    if (which == 1) config.resequence.cap = Bytes(3'300);
    Rig rig(config);
    rig.first(kUplink, 10);
    rig.down(kUplink, 14);
    rig.down(kUplink, 13);
    rig.down(kUplink, 12);
    EXPECT_EQ(rig.got(), (Numbers{10})) << which;
    rig.down(kUplink, 15);
    EXPECT_EQ(rig.got(), (Numbers{10, 12, 13, 14, 15})) << which;
    EXPECT_EQ(rig.counted(PortCounter::resequence_forced_flows), 1u) << which;
    rig.down(kUplink, 17);
    rig.down(kOther, 16);
    EXPECT_EQ(rig.got(), (Numbers{10, 12, 13, 14, 15, 16, 17})) << "and is watched again";
    EXPECT_EQ(leftovers(rig.object()), "") << which;
  }
}

TEST(Resequencer, WithoutAPlaceAFlowPassesAsItComes) {
  config::SwitchConfig config = leaf();
  config.resequence.flows = 64;
  Rig rig(config);
  constexpr uint32_t kPairs = 200;
  for (const uint32_t psn : {10, 12, 11})
    for (uint32_t pair = 0; pair < kPairs; ++pair)
      rig.down(kUplink, psn, RoceOpcode::write_only, pair, 64);
  uint32_t passed = 0;
  for (uint32_t pair = 0; pair < kPairs; ++pair)
    passed += rig.got(pair) == Numbers{10, 12, 11} ? 1 : 0;
  EXPECT_GE(passed, kPairs - 64 - lb::FlowOrders::kProbes);
  EXPECT_LT(passed, kPairs - 40) << "most places are taken";
  EXPECT_EQ(rig.counted(PortCounter::resequence_placeless_packets), 3u * passed);
  rig.run_for(20'000_us);
  rig.first(kUplink, 10, 1'000);
  rig.down(kUplink, 12, RoceOpcode::write_middle, 1'000);
  EXPECT_EQ(rig.got(1'000), (Numbers{10})) << "a silent flow makes room";
}

TEST(Resequencer, AReloadKeepsWhatWaitsUnlessItsKeysChange) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 12);
  config::SwitchConfig next = rig.config;
  next.load_balancer.scheme = "drill";
  ASSERT_TRUE(rig.object().reconfigure(next).ok());
  rig.fabric.poll(rig.node);
  EXPECT_EQ(rig.got(), (Numbers{10}));
  next.resequence.flows = 128;
  ASSERT_TRUE(rig.object().reconfigure(next).ok());
  rig.fabric.poll(rig.node);
  EXPECT_EQ(rig.got(), (Numbers{10, 12}));
  next.resequence.enabled = false;
  ASSERT_TRUE(rig.object().reconfigure(next).ok());
  rig.fabric.poll(rig.node);
  rig.down(kUplink, 20);
  rig.down(kUplink, 15);
  EXPECT_EQ(rig.got(), (Numbers{10, 12, 20, 15}));
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Resequencer, ADrainLetsWhatWaitsGoAtOnce) {
  Rig rig;
  rig.first(kUplink, 10);
  rig.down(kUplink, 13);
  rig.down(kUplink, 12);
  Command drain{.kind = Command::Kind::drain};
  ASSERT_TRUE(rig.object().post(ShardId(0), drain));
  rig.fabric.poll(rig.node);
  EXPECT_EQ(rig.got(), (Numbers{10, 12, 13})) << "before the wait is over";
  EXPECT_TRUE(drain.done);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(Resequencer, ASwitchWithoutHostsRemembersNoFlows) {
  config::SwitchConfig spine = leaf_spine({.leaves = 2, .spines = 2}).spines[0];
  spine.resequence.enabled = true;
  for (const bool hosts : {false, true}) {
    auto built = Snapshot::build(hosts ? leaf() : spine, {.shards = 1}, nullptr);
    ASSERT_TRUE(built.ok());
    EXPECT_EQ((*built)->schemes[0].resequencer != nullptr, hosts);
  }
}

TEST(Resequencer, WorksAtTheShardOfTheHostsPort) {
  config::SwitchConfig config = leaf();
  spread_over_workers(config, 3);
  Rig rig(config, 3);
  rig.first(kUplink, 10);
  rig.down(kUplink, 13);
  rig.down(kUplink, 12);
  rig.down(kOther, 11);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 13}));
  EXPECT_EQ(leftovers(rig.object()), "");
}

// It is the last of the stages: what another one has turned round leaves in order.
TEST(Resequencer, StandsBehindOtherStages) {
  const auto turner = std::make_shared<Turner>();
  Rig rig(leaf(), 1, [&](lb::StagePlace place, ShardId) {
    return place == lb::StagePlace::to_hosts ? turner : nullptr;
  });
  rig.first(kUplink, 10);
  for (uint32_t psn = 11; psn < 14; ++psn) rig.down(kUplink, psn);
  EXPECT_EQ(rig.got(), (Numbers{10, 11, 12, 13}));
  EXPECT_EQ(rig.counted(PortCounter::stage_held_packets), 4u);
  EXPECT_EQ(rig.counted(PortCounter::resequence_held_packets), 2u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

// Held at the host's shard, charged at the uplink's: the group gets its credit by mail.
TEST(Resequencer, TheGroupOfAnotherShardGetsItsOctetsBack) {
  config::SwitchConfig config = leaf();
  config.buffer.profiles["lossless"].xoff = 8'192_B;
  spread_over_workers(config, 3);
  Rig rig(config, 3);
  rig.first(kUplink, 10);
  for (uint32_t psn = 12; psn < 32; ++psn) rig.down(kUplink, psn);
  rig.run_for(5_us);
  EXPECT_EQ(rig.object().pg_status(PortId(kUplink), PriorityGroupId(3)).used, 0);
  EXPECT_GT(rig.object().buffer_status().stages_used, 20'000);
  rig.run_for(kWait + 60_us);
  EXPECT_EQ(rig.got().size(), 21u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

}  // namespace
}  // namespace eddy::test
