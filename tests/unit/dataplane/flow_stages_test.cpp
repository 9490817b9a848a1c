// Stages hold, order, pace and mark packets at both places; their host charges what they hold,
// bounds it, and gets everything back.
#include "switch/dataplane/queues/flow_stages.h"

#include <gtest/gtest.h>

#include "net/ip.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"
#include "tests/support/stages.h"

namespace eddy::test {
namespace {

using lb::StagePlace;

constexpr size_t kFrom = 0;
constexpr size_t kTo = 1;
constexpr StagePlace kPlaces[] = {StagePlace::from_hosts, StagePlace::to_hosts};

// A stage at one place of a switch with two hosts, the same for all shards.
template <class Stage>
struct Rig : OneSwitch {
  explicit Rig(StagePlace place, size_t shards = 1, config::SwitchConfig with = config_of(1))
      : Rig(place, std::make_shared<Stage>(), with, shards) {}
  Rig(StagePlace place, std::shared_ptr<Stage> made, const config::SwitchConfig& with,
      size_t shards)
      : OneSwitch(with, shards,
                  [place, made, shards](StagePlace at, ShardId shard) {
                    // The stage's own shard is that of the port that it stands at.
                    const bool here = at == place && (shards == 1 || shard == shard_of(place));
                    return here ? made : nullptr;
                  }),
        stage(*made) {
    run_for(1_us);
  }
  static ShardId shard_of(StagePlace place) {
    return ShardId(place == StagePlace::from_hosts ? 0 : 1);
  }
  static config::SwitchConfig config_of(size_t shards) {
    config::SwitchConfig config = hosts_switch(2);
    config.buffer.cell_bytes = 1;
    config.buffer.stages = 100'000_B;
    spread_over_workers(config, shards);
    return config;
  }
  // Lengths of what the host has got: they tell packets apart.
  std::vector<uint32_t> got() {
    run_for(20_us);
    std::vector<uint32_t> lengths;
    for (const Arrival& arrival : seen(kTo)) lengths.push_back(arrival.wire_len);
    return lengths;
  }
  void give(size_t wire_len, uint8_t dscp = kLosslessDscp, uint8_t ecn = 0) {
    send(kFrom, kTo, dscp, wire_len, ecn);
    run_for(2_us);
  }
  int64_t stages_used() { return object().buffer_status().stages_used; }
  int64_t group_used() { return object().pg_status(PortId(kFrom), PriorityGroupId(3)).used; }
  uint64_t counted(PortCounter which) {
    return count(object(), kFrom, which) + count(object(), kTo, which);
  }

  Stage& stage;
};

using Lengths = std::vector<uint32_t>;

TEST(Stages, HoldWhatTheyWantAndAreChargedForItUntilItHasLeft) {
  for (const StagePlace place : kPlaces)
    for (const size_t shards : {1, 2}) {
      Rig<Hoarder> rig(place, shards, Rig<Hoarder>::config_of(shards));
      rig.stage.wants = [](const Packet& packet) { return packet.wire_len != 500; };
      rig.give(300);
      rig.give(400);
      EXPECT_EQ(rig.got(), Lengths{});
      EXPECT_EQ(rig.stages_used(), 700);
      EXPECT_EQ(rig.group_used(), 0) << "the sender is not charged";
      EXPECT_EQ(rig.object().balance().held, 2u);
      EXPECT_TRUE(rig.object().balance().holds());
      rig.give(500);
      EXPECT_EQ(rig.got(), (Lengths{300, 400, 500}));
      EXPECT_EQ(rig.counted(PortCounter::stage_held_packets), 2u);
      EXPECT_EQ(rig.counted(PortCounter::stage_emptied_packets), 0u);
      EXPECT_EQ(leftovers(rig.object()), "");
    }
}

TEST(Stages, OrderPackets) {
  for (const StagePlace place : kPlaces) {
    Rig<Turner> rig(place);
    for (const size_t length : {300, 400, 500}) rig.give(length);
    EXPECT_EQ(rig.got(), (Lengths{400, 300})) << "500 waits for another";
    rig.run_for(2_ms);
    EXPECT_EQ(rig.got(), (Lengths{400, 300, 500})) << "until the host's deadline";
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Stages, PacePacketsByTimersThatTheSwitchAnnounces) {
  for (const StagePlace place : kPlaces) {
    Rig<Pacer> rig(place);
    for (int i = 0; i < 4; ++i) rig.send(kFrom, kTo, kLosslessDscp, 300);
    rig.run_for(100_us);
    const std::vector<Arrival>& seen = rig.seen(kTo);
    ASSERT_EQ(seen.size(), 4u);
    for (size_t i = 1; i < seen.size(); ++i)
      EXPECT_EQ((seen[i].at - seen[i - 1].at).ps(), rig.stage.gap.ps());
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Stages, MarkPacketsBeforeTheyAreQueued) {
  for (const StagePlace place : kPlaces) {
    Rig<Marker> rig(place);
    rig.stage.wants = [](const Packet& packet) { return packet.wire_len >= 400; };
    rig.stage.dscp = kOtherLosslessDscp;
    rig.give(300, kLosslessDscp, kEcnCapable0);
    rig.give(400, kLosslessDscp, kEcnCapable0);
    rig.give(500, kLosslessDscp, kEcnNotCapable);
    EXPECT_EQ(rig.got(), (Lengths{300, 400, 500}));
    const auto header = [&](size_t i) {
      Ipv4Header ip;
      const ConstOctets frame(rig.seen(kTo)[i].frame);
      EXPECT_EQ(decode(frame.subspan(kEthernetHeader), ip), CodecVerdict::ok) << "checksum";
      return ip;
    };
    EXPECT_EQ(header(0).dscp, kLosslessDscp);
    EXPECT_EQ(header(0).ecn, kEcnCapable0);
    EXPECT_EQ(header(1).dscp, kOtherLosslessDscp);
    EXPECT_EQ(header(1).ecn, kEcnCongestion);
    EXPECT_EQ(header(2).dscp, kOtherLosslessDscp);
    EXPECT_EQ(header(2).ecn, kEcnNotCapable);
    EXPECT_EQ(rig.counted(PortCounter::stage_marked_packets), 1u);
    const auto through = [&](size_t queue) {
      return count(rig.object(), kTo, QueueId(queue), QueueCounter::queue_tx_packets);
    };
    EXPECT_EQ(through(kLosslessDscp), 1u);
    EXPECT_EQ(through(kOtherLosslessDscp), 2u);
    EXPECT_EQ(count(rig.object(), kFrom, PriorityGroupId(3), PgCounter::pg_rx_packets), 3u)
        << "admitted as they came";
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Stages, ABurstIsHandedInAtOnce) {
  for (const StagePlace place : kPlaces) {
    const auto stage = std::make_shared<Hoarder>();
    const config::SwitchConfig config = hosts_switch(2);
    auto made = Switch::create(config, {.shards = 1, .stage = [&](StagePlace at, ShardId) {
                                          return at == place ? stage : nullptr;
                                        }});
    ASSERT_TRUE(made.ok());
    PacketPool pool(64, 256);
    ManualIo io(pool);
    io.links = {{PortId(0), true}, {PortId(1), true}};
    UdpSpec spec = between(config, kFrom, kTo, kLosslessDscp);
    spec.frame_len = 96;
    for (int i = 0; i < 7; ++i) io.arrive(PortId(kFrom), udp_frame(spec));
    (*made)->shard(ShardId(0)).poll(io, Instant() + 1_us);
    EXPECT_EQ(stage->largest_burst, 7u);
  }
}

// The one that a stage never lets go leaves after the time that it said, and a quarter of it.
TEST(Stages, WhatIsHeldForEverIsTakenFromThem) {
  for (const StagePlace place : kPlaces) {
    Rig<Hoarder> rig(place);
    rig.give(300);
    rig.run_for(600_us);
    rig.give(400);
    rig.run_for(380_us);
    EXPECT_EQ(rig.got(), Lengths{}) << "a millisecond";
    rig.run_for(270_us);
    EXPECT_EQ(rig.got(), (Lengths{300, 400})) << "what is younger goes with it";
    EXPECT_EQ(rig.counted(PortCounter::stage_emptied_packets), 2u);
    EXPECT_EQ(leftovers(rig.object()), "");
    rig.give(500);
    rig.run_for(900_us);
    EXPECT_EQ(rig.got(), (Lengths{300, 400})) << "and its time begins anew";
    rig.run_for(400_us);
    EXPECT_EQ(rig.got(), (Lengths{300, 400, 500}));
  }
}

TEST(Stages, AYoungPacketDoesNotInheritTheAgeOfOneThatHasGone) {
  Rig<Hoarder> rig(StagePlace::to_hosts);
  rig.stage.wants = [](const Packet& packet) { return packet.wire_len != 500; };
  for (int i = 0; i < 8; ++i) {  // something is held all the time, nothing for long
    rig.give(300);
    rig.run_for(400_us);
    rig.give(500);
    rig.give(300);
  }
  EXPECT_EQ(rig.counted(PortCounter::stage_emptied_packets), 0u);
}

TEST(Stages, WhatIsHeldAboveTheirBoundIsTakenFromThem) {
  for (const StagePlace place : kPlaces) {
    auto made = std::make_shared<Hoarder>();
    made->limits.octets = 1'000;
    Rig<Hoarder> rig(place, made, Rig<Hoarder>::config_of(1), 1);
    rig.give(600);
    rig.give(400);
    EXPECT_EQ(rig.got(), Lengths{});
    rig.give(300);
    EXPECT_EQ(rig.got(), (Lengths{600, 400, 300}));
    EXPECT_EQ(rig.counted(PortCounter::stage_emptied_packets), 3u);
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Stages, OneThatIsAlwaysDueKeepsTheSwitchFromNothing) {
  Rig<Hothead> rig(StagePlace::to_hosts);
  rig.give(300);
  rig.run_for(500_us);
  EXPECT_GT(rig.stage.calls, 400u);
  EXPECT_LE(rig.stage.calls, 510u);
  rig.run_for(800_us);
  EXPECT_EQ(rig.got(), Lengths{300});
}

TEST(Stages, WithoutRoomInTheirBufferPacketsStayChargedAsTheyWere) {
  config::SwitchConfig config = Rig<Hoarder>::config_of(1);
  config.buffer.stages = 700_B;
  for (const StagePlace place : kPlaces) {
    Rig<Hoarder> rig(place, 1, config);
    rig.give(600);
    rig.give(300);
    rig.give(100);
    EXPECT_EQ(rig.stages_used(), 700);
    EXPECT_EQ(rig.group_used(), 300);
    EXPECT_EQ(rig.counted(PortCounter::stage_unplaced_packets), 1u);
    rig.run_for(2_ms);
    EXPECT_EQ(rig.got(), (Lengths{600, 300, 100}));
    EXPECT_EQ(leftovers(rig.object()), "");
  }
}

TEST(Stages, ADrainAndAnotherChainEmptyThem) {
  for (const StagePlace place : kPlaces)
    for (const bool drains : {true, false}) {
      bool there = true;
      auto made = std::make_shared<Hoarder>();
      OneSwitch rig(Rig<Hoarder>::config_of(1), 1,
                    [&](StagePlace at, ShardId) { return at == place && there ? made : nullptr; });
      rig.run_for(1_us);
      rig.send(kFrom, kTo, kLosslessDscp, 300);
      rig.run_for(5_us);
      config::SwitchConfig next = rig.config;
      next.buffer.profiles["lossless"].xoff = 100'000_B;
      ASSERT_TRUE(rig.object().reconfigure(next).ok());
      rig.run_for(20_us);
      rig.fabric.poll(rig.node);
      EXPECT_EQ(rig.object().balance().held, 1u) << "a reload that leaves the chain alone";
      Command drain{.kind = Command::Kind::drain};
      there = false;
      if (drains)
        ASSERT_TRUE(rig.object().post(ShardId(0), drain));
      else
        ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
      rig.fabric.poll(rig.node);
      rig.run_for(5_us);
      EXPECT_EQ(rig.seen(kTo).size(), 1u) << drains;
      EXPECT_EQ(drain.done.load(), drains);
      EXPECT_EQ(leftovers(rig.object()), "");
    }
}

// Where it is to go may have changed while it was held.
TEST(Stages, WhatWasHeldAtTheSendersPortIsRoutedWhenItGoesOn) {
  Rig<Hoarder> rig(StagePlace::from_hosts);
  rig.give(300);
  rig.fabric.set_link(rig.node, PortId(kTo), false);
  rig.run_for(2_ms);
  EXPECT_EQ(drops(rig.object(), DropReason::egress_down), 1u);
  EXPECT_EQ(leftovers(rig.object()), "");
}

}  // namespace
}  // namespace eddy::test
