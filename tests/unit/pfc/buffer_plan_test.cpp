#include "pfc/buffer_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pfc/headroom.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;
using testing::HasSubstr;
using testing::Not;

HeadroomInput hardware(BitRate rate, Bytes frame) {
  HeadroomInput input;
  input.rate = rate;
  input.cable_delay = 2_us;
  input.own_frame = frame;
  input.peer_frame = frame;
  return input;
}

TEST(Headroom, AgreesWithTheTableOfTheReference) {
  struct Row {
    BitRate rate;
    int64_t small, large;
  };
  for (const Row& row : {Row{10_Gbps, 11'580, 17'772}, Row{25_Gbps, 19'912, 26'104},
                         Row{40_Gbps, 29'844, 36'036}, Row{100_Gbps, 77'508, 83'700}}) {
    EXPECT_EQ(headroom_for(hardware(row.rate, 1'104_B)).count(), row.small) << row.rate.bps();
    EXPECT_EQ(headroom_for(hardware(row.rate, 4'200_B)).count(), row.large) << row.rate.bps();
  }
  EXPECT_EQ(headroom_for(hardware(40_Gbps, 1'136_B)).rounded_up(1'024), 30'720_B);
}

TEST(Headroom, ASoftwarePeerAddsItsPollGap) {
  HeadroomInput input = hardware(40_Gbps, 1'104_B);
  input.poll_gap = 10_us;
  EXPECT_EQ(headroom_for(input).count(), 29'844 + 50'000);
  input.internal_latency = 1_us;
  EXPECT_EQ(headroom_for(input).count(), 29'844 + 55'000);
}

TEST(Headroom, ResponseIsInterpolatedBetweenSpeeds) {
  EXPECT_EQ(peer_response(10_Gbps).count(), 67 * 64);
  EXPECT_EQ(peer_response(800_Gbps).count(), 905 * 64);
  EXPECT_EQ(peer_response(1_Gbps).count(), 7 * 64);
  EXPECT_EQ(peer_response(1_Mbps).count(), 2 * 64);
  EXPECT_EQ(peer_response(30_Gbps).count(), 93 * 64);  // 80 + 38 / 3
  Bytes last;
  for (int gbps = 1; gbps < 500; ++gbps) {
    const Bytes now = peer_response(BitRate::gbps(gbps));
    EXPECT_GE(now, last) << gbps;
    last = now;
  }
}

TEST(Headroom, ShortFramesTakeMoreBufferThanLine) {
  EXPECT_EQ(worst_charge(84'000_B, 1, 24).count(), 84'000);
  EXPECT_EQ(worst_charge(84'000_B, 256, 24).count(), 256'000);    // 60 octets in a cell each
  EXPECT_EQ(worst_charge(850'000_B, 60, 24).count(), 1'200'000);  // 61 octets in two cells
}

// Frames of one length, back to back, from the packet that crosses XOFF until the last that the
// peer starts before our pause takes effect.
int64_t charged_after_xoff(const config::PortConfig& port, Duration poll_gap, int64_t cell,
                           int64_t frame) {
  const LineRate line(port.speed);
  const Bytes ours = longest_frame(port.mtu) + Bytes(port.line_overhead);
  const Duration until_obeyed = line.time_of(ours) + line.time_of(84_B) + port.cable_delay * 2 +
                                line.time_of(peer_response(port.speed)) + poll_gap;
  const int64_t frames = until_obeyed / line.time_of(Bytes(frame + port.line_overhead)) + 1;
  return (frames + 1) * round_to_cells(frame, cell);
}

TEST(Headroom, AutoHoldsFramesOfEveryLengthAtEverySpeed) {
  for (const int cell : {1, 64, 208, 256}) {
    for (const BitRate speed : {100_Mbps, 1_Gbps, 40_Gbps, 100_Gbps}) {
      config::PortConfig port = config::default_port("p");
      port.speed = speed;
      const int64_t headroom = auto_headroom(port, 10_us, cell).count();
      int64_t worst = 0;
      for (int64_t frame = 60; frame <= longest_frame(port.mtu).count(); ++frame)
        worst = std::max(worst, charged_after_xoff(port, 10_us, cell, frame));
      EXPECT_LE(worst, headroom) << "cells of " << cell << " at " << speed.bps();
      EXPECT_GT(worst, headroom / 2) << "cells of " << cell << " at " << speed.bps();
    }
  }
}

config::SwitchConfig switch_of(size_t ports, BitRate speed = 40_Gbps) {
  config::SwitchConfig config = config::default_switch("s");
  config.idle = config::IdlePolicy::busy;
  config.buffer.cell_bytes = 1;
  for (size_t i = 0; i < ports; ++i) {
    config.ports.push_back(config::default_port("port" + std::to_string(i)));
    config.ports.back().speed = speed;
    config.ports.back().pg_profiles[4] = "lossy";
  }
  return config;
}

TEST(BufferPlan, SplitsTheBuffer) {
  config::SwitchConfig config = switch_of(2);
  config.buffer.profiles["lossless"].reserved = 2_KiB;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  config.buffer.profiles["lossy"].reserved = 1_KiB;
  const auto plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  EXPECT_EQ(plan.value().reserved.count(), 2 * (2'048 + 30'720 + 7 * 1'024));
  EXPECT_EQ(plan.value().shared, config.buffer.size - plan.value().reserved);
  const PortBufferPlan& port = plan.value().ports[1];
  EXPECT_EQ(port.lossless_pgs, 0x08);
  EXPECT_EQ(port.lossless_priorities, 0x08);
  EXPECT_EQ(port.lossless_queues, 0x08);
  EXPECT_EQ(port.pgs[3].headroom, 30'720);
  EXPECT_EQ(port.pgs[3].base, 262'144);
  EXPECT_EQ(port.pgs[0].headroom, 0);
}

TEST(BufferPlan, AutoHeadroomHoldsTheFormulaAndTheCrossingPacket) {
  const config::SwitchConfig config = switch_of(1);
  const auto plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  // 2 x 2 us and 10 us at 5 octets/ns, 7,552, 84, and frames of 1,550 (24 more on the line).
  const int64_t octets = 20'000 + 50'000 + 7'552 + 84 + 1'574 + 1'550 + 1'550;
  EXPECT_EQ(plan.value().ports[0].pgs[3].headroom, (octets + 1'023) / 1'024 * 1'024);
}

// Reference C.2: 36 ports x 256 KiB fill 9 MiB with nothing left for headroom.
TEST(BufferPlan, ThePapersLeafFitsTwelveMebibytesButNotNine) {
  config::SwitchConfig config = switch_of(36);
  config.buffer.profiles["lossless"].reserved = 4'096_B;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  config.buffer.size = Bytes(10'690'560);
  EXPECT_TRUE(plan_buffer(config).ok());
  config.buffer.size = Bytes(10'690'559);
  EXPECT_FALSE(plan_buffer(config).ok());
  config.buffer.size = 9_MiB;
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  ASSERT_EQ(refused.problems().size(), 1u);
  const std::string& text = refused.problems()[0];
  EXPECT_THAT(text, HasSubstr("36 lossless PGs need 10690560 octets"));
  EXPECT_THAT(text, HasSubstr("headroom 1105920"));
  EXPECT_THAT(text, HasSubstr("buffer.size is 9437184 octets"));
  EXPECT_THAT(text, HasSubstr("port port31 PG 3"));
  EXPECT_THAT(text, HasSubstr("would fit: buffer.size 10440KiB, or xoff 222KiB"));
  EXPECT_THAT(text, Not(HasSubstr("or headroom"))) << "the thresholds alone do not fit";
  config.buffer.profiles["lossless"].xoff = 222_KiB;
  EXPECT_TRUE(plan_buffer(config).ok());
}

// A plain configuration at 10 Gb/s: idle: adaptive stands for a poll_gap of 1 ms.
TEST(BufferPlan, SaysThatBusyPollingNeedsLessHeadroom) {
  config::SwitchConfig config = switch_of(16);
  for (const Duration gap : {Duration{}, Duration::milliseconds(1)}) {
    config.idle = config::IdlePolicy::adaptive;
    config.poll_gap = gap;
    const auto refused = plan_buffer(config);
    ASSERT_FALSE(refused.ok());
    if (gap == Duration{})
      EXPECT_THAT(refused.problems()[0], HasSubstr("or switch.idle: busy"));
    else
      EXPECT_THAT(refused.problems()[0], Not(HasSubstr("idle: busy"))) << "it would change nothing";
  }
  config.idle = config::IdlePolicy::busy;
  config.poll_gap = {};
  EXPECT_TRUE(plan_buffer(config).ok());
}

// All that would make it fit is said, each to the octet; and does make it fit.
TEST(BufferPlan, SaysWhatWouldFitAndThatFits) {
  config::SwitchConfig config = switch_of(2);
  config::BufferProfile& lossless = config.buffer.profiles["lossless"];
  lossless.xoff = 40'000_B;
  lossless.headroom = 30'000_B;
  config.buffer.size = 120'000_B;
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.problems()[0],
              HasSubstr("would fit: buffer.size 137KiB, or xoff 30000B in every lossless PG, or "
                        "headroom 20000B in every lossless PG (auto: shorter poll_gap or cable, "
                        "lower speed or MTU), or fewer lossless PGs"));
  for (const int what : {0, 1, 2}) {
    config::SwitchConfig fits = config;
    if (what == 0) fits.buffer.size = 137_KiB;
    if (what == 1) fits.buffer.profiles["lossless"].xoff = 30'000_B;
    if (what == 2) fits.buffer.profiles["lossless"].headroom = 20'000_B;
    EXPECT_TRUE(plan_buffer(fits).ok()) << what;
  }
}

// What is named is set aside; what is not, by what the groups can spare.
TEST(BufferPlan, StagesHaveTheirOwnPart) {
  config::SwitchConfig config = switch_of(36);
  config.buffer.size = 12_MiB;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  auto without = plan_buffer(config);
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(without->stages, 0_B);
  config.buffer.stages = 1_MiB;
  auto plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->stages, 1_MiB);
  EXPECT_EQ(plan->reserved, without->reserved);
  EXPECT_EQ(plan->shared, without->shared - 1_MiB);
  EXPECT_EQ(plan->lossy(), without->lossy() - 1_MiB);
  config.buffer.stages = without->lossy();
  EXPECT_TRUE(plan_buffer(config).ok());
  config.buffer.stages = without->lossy() + 1_B;
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.problems().front(), HasSubstr("+ stages 2039809"));
}

TEST(BufferPlan, StagesTakeWhatGroupsCanSpareWherePacketsArePutInOrder) {
  config::SwitchConfig config = switch_of(36);
  config.buffer.size = 12_MiB;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  const auto stages = [&] {
    auto plan = plan_buffer(config);
    EXPECT_TRUE(plan.ok());
    return plan.ok() ? plan->stages : Bytes(-1);
  };
  const Bytes spare = plan_buffer(config)->lossy();
  config.ports[3].role = config::PortRole::host;
  EXPECT_EQ(stages(), 0_B) << "nothing is put in order";
  config.resequence.enabled = true;
  EXPECT_EQ(stages(), spare / 2);
  config.buffer.size = 120_MiB;
  EXPECT_EQ(stages(), (120_MiB - 30'720_B * 36) / 4) << "there is plenty";
  for (config::PortConfig& port : config.ports) port.role = config::PortRole::fabric;
  EXPECT_EQ(stages(), 0_B) << "a spine";
  config.ports[3].role = config::PortRole::host;
  config.resequence.enabled = false;
  EXPECT_EQ(stages(), 0_B);
  config.load_balancer.scheme = "conweave";
  EXPECT_EQ(stages(), (120_MiB - 30'720_B * 36) / 4) << "the scheme does";
  config.buffer.stages = 5_KiB;
  EXPECT_EQ(stages(), 5_KiB);
  config.buffer.stages.reset();
  config.buffer.size = 30'720_B * 36 + 256_KiB * 36;
  EXPECT_EQ(stages(), 0_B) << "nothing to spare";
  config.buffer.size = 9_MiB;
  config.buffer.overcommit = true;
  EXPECT_EQ(stages(), 0_B);
}

// A dynamic threshold that just works with the whole shared buffer keeps it.
TEST(BufferPlan, StagesTakeNothingThatADynamicThresholdNeeds) {
  config::SwitchConfig config = switch_of(2);
  config.resequence.enabled = true;
  config.ports[0].role = config::PortRole::host;
  config::BufferProfile& lossless = config.buffer.profiles["lossless"];
  lossless.mode = config::BufferMode::dynamic;
  lossless.dynamic_th = -5;
  lossless.headroom = 30'720_B;
  config.buffer.size = 8_MiB;
  auto plenty = plan_buffer(config);
  ASSERT_TRUE(plenty.ok()) << plenty.problems()[0];
  EXPECT_EQ(plenty->stages, (8_MiB - 61'440_B) / 4);
  while (plan_buffer(config).ok()) config.buffer.size = config.buffer.size - 1_KiB;
  config.buffer.size = config.buffer.size + 1_KiB;
  EXPECT_EQ(plan_buffer(config)->stages, 0_B);
}

TEST(BufferPlan, AnOvercommittedOneSaysWhatDoesNotFitAndRuns) {
  config::SwitchConfig config = switch_of(36);
  config.buffer.size = 9_MiB;
  config.buffer.overcommit = true;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  auto plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  EXPECT_THAT(plan->shortfall, HasSubstr("need 10543104 octets"));
  EXPECT_EQ(plan->shared, 9_MiB - 30'720_B * 36);  // the thresholds alone do not fit
  EXPECT_EQ(plan->headroom_pool, BufferPool::kNoLimit);

  config.buffer.profiles["lossless"].headroom = 200_KiB;
  config.buffer.profiles["lossy"].reserved = 1_KiB;
  plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  const Bytes half = (9_MiB - 1_KiB * 36 * 7) / 2;
  EXPECT_EQ(plan->shared, half);
  EXPECT_EQ(plan->headroom_pool, half);
  EXPECT_EQ(plan->reserved, 9_MiB - half);

  config.buffer.size = 1'024_MiB;
  EXPECT_TRUE(plan_buffer(config)->shortfall.empty());
  config.buffer.size = 200_KiB;  // less than what is reserved
  EXPECT_FALSE(plan_buffer(config).ok());
}

TEST(BufferPlan, ADynamicThresholdMustLeaveRoomToWork) {
  config::SwitchConfig config = switch_of(4);
  config.buffer.profiles["lossless"].mode = config::BufferMode::dynamic;
  config.buffer.profiles["lossless"].headroom = 30'720_B;
  config.buffer.size = 512_KiB;
  EXPECT_TRUE(plan_buffer(config).ok());
  config.buffer.size = 128_KiB;  // 8,192 octets left, an eighth of them a PG
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problems().size(), 4u);
  EXPECT_THAT(refused.problems()[0], HasSubstr("port port0 PG 3: with 8192 octets left"));
  EXPECT_THAT(refused.problems()[0], HasSubstr("at most 1024 octets; it needs 7196 octets"));
  config.buffer.size = 100'000_B;
  EXPECT_THAT(plan_buffer(config).problems().at(0), HasSubstr("headroom 122880"));
}

TEST(BufferPlan, TellsAllProblemsAtOnce) {
  config::SwitchConfig config = switch_of(2);
  config.ports[0].pg_profiles[0] = "gold";
  config.ports[1].speed = BitRate();
  config.buffer.profiles["lossless"].reserved = 1_MiB;
  config.buffer.profiles["lossless"].xon_offset = 1_MiB;
  config.buffer.profiles["lossy"].dynamic_th = 11;
  config.buffer.profiles["lossy"].headroom = 1_KiB;
  config.buffer.cell_bytes = 0;
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problems().size(), 7u);
  EXPECT_THAT(refused.problems(),
              testing::Contains(HasSubstr(
                  "port port0 PG 0: no buffer profile \"gold\"; there are: lossless, lossy")));
}

TEST(BufferPlan, RefusesWhatTheAlgorithmsCannotWorkWith) {
  config::SwitchConfig config = switch_of(1);
  config::PortConfig& port = config.ports[0];
  port.pfc.quanta = 0;
  port.pfc.rx = config::PfcRx::clamp;
  port.pfc.budget_window = Duration{};
  port.watchdog.poll_interval = Duration{};
  port.queues[0].weight = 0;
  port.queues[1].max_rate = BitRate();
  port.queues[2].dynamic_th = -11;
  config.buffer.wred["default"] = {true, 2_B, 1_B, 1.5};
  const auto refused = plan_buffer(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problems().size(), 8u);
  port.watchdog.enabled = false;
  port.pfc.rx = config::PfcRx::honour;
  EXPECT_EQ(plan_buffer(config).problems().size(), 6u);
}

TEST(BufferPlan, MbufsNeverRunOutBeforeTheBuffer) {
  config::SwitchConfig config = switch_of(1);
  config.buffer.cell_bytes = 256;
  const auto plan = plan_buffer(config);
  ASSERT_TRUE(plan.ok()) << plan.problems()[0];
  EXPECT_EQ(plan.value().mbufs(1'000), 12u * 1'024 * 1'024 / 256 + 1'000);
}

}  // namespace
}  // namespace eddy::pfc
