#include "pfc/pause_sender.h"

#include <gtest/gtest.h>

#include <vector>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

Instant at(Duration since) {
  return Instant::at(since);
}

struct Sender {
  explicit Sender(const config::PortConfig& config = config::default_port("p")) : sender(kPorts) {
    for (size_t i = 0; i < kPorts; ++i) sender.configure(PortId(i), PauseTxPlan::of(config));
  }
  std::vector<OwedPause> flush(Duration now, bool works = true) {
    std::vector<OwedPause> frames;
    sender.flush(at(now), [&](const OwedPause& frame) {
      frames.push_back(frame);
      return works;
    });
    return frames;
  }
  void mark(size_t pg, bool on, size_t port = 0) {
    sender.mark(PortId(port), PriorityGroupId(pg), on);
  }
  static constexpr size_t kPorts = 130;
  PauseSender sender;
};

config::PortConfig port_at(BitRate speed, uint16_t quanta = 65'535) {
  config::PortConfig port = config::default_port("p");
  port.speed = speed;
  port.pfc.quanta = quanta;
  return port;
}

TEST(PauseSender, OwesNothingAtFirst) {
  Sender s;
  EXPECT_TRUE(s.flush(0_us).empty());
  EXPECT_EQ(s.sender.next_deadline(), Instant::never());
}

TEST(PauseSender, XoffCarriesTheConfiguredQuanta) {
  Sender s;
  s.mark(3, true, 7);
  const auto frames = s.flush(5_us);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].port, PortId(7));
  EXPECT_EQ(frames[0].enable, 0x08);
  EXPECT_EQ(frames[0].times, (std::array<uint16_t, 8>{0, 0, 0, 0xFFFF, 0, 0, 0, 0}));
  EXPECT_EQ(s.sender.paused(PortId(7)), 0x08);
  EXPECT_TRUE(s.flush(5_us).empty());
}

TEST(PauseSender, SeveralPrioritiesShareAFrame) {
  Sender s;
  s.mark(4, true);
  (void)s.flush(0_us);
  s.mark(3, true);
  s.mark(4, false);
  s.mark(6, true);
  const auto frames = s.flush(1_us);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].enable, 0x58);
  EXPECT_EQ(frames[0].xoff(), 0x48);
  EXPECT_EQ(frames[0].xon(), 0x10);
  EXPECT_EQ(frames[0].times[4], 0);
}

TEST(PauseSender, WhatIsOwedIsDueAtOnce) {
  Sender s;
  s.mark(3, true, 7);
  EXPECT_LE(s.sender.next_deadline(), at(0_us));
  s.mark(3, false, 7);  // before anybody was told
  EXPECT_EQ(s.sender.next_deadline(), Instant::never());
  s.mark(3, true, 7);
  (void)s.flush(5_us);
  const Instant refresh = s.sender.next_deadline();
  EXPECT_GT(refresh, at(5_us));
  s.mark(3, false, 7);
  EXPECT_LE(s.sender.next_deadline(), at(5_us));
  s.mark(3, true, 7);
  EXPECT_EQ(s.sender.next_deadline(), refresh);
  s.mark(3, false, 7);
  (void)s.flush(6_us);
  EXPECT_EQ(s.sender.next_deadline(), Instant::never());
}

TEST(PauseSender, PortsComeInOrder) {
  Sender s;
  for (size_t port : {129, 0, 64}) s.mark(3, true, port);
  const auto frames = s.flush(0_us);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].port, PortId(0));
  EXPECT_EQ(frames[1].port, PortId(64));
  EXPECT_EQ(frames[2].port, PortId(129));
}

TEST(PauseSender, ARefreshIsDueAtTheLimit) {
  Sender s(port_at(1_Gbps));  // half of 33.5 ms is more than 100 us
  s.mark(3, true);
  (void)s.flush(10_us);
  EXPECT_EQ(s.sender.next_deadline(), at(110_us));
  EXPECT_TRUE(s.flush(109'999'999_ps).empty());
  EXPECT_EQ(s.flush(110_us).size(), 1u);
  EXPECT_EQ(s.sender.next_deadline(), at(210_us));
}

TEST(PauseSender, ARefreshIsDueAtHalfThePauseTime) {
  Sender s(port_at(40_Gbps, 1'000));  // 1,000 x 12.8 ns
  s.mark(3, true);
  (void)s.flush(0_us);
  EXPECT_EQ(s.sender.next_deadline(), at(6'400_ns));
  const auto frames = s.flush(6'400_ns);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].times[3], 1'000);
}

TEST(PauseSender, ARefreshTakesAllStandingPausesAlong) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(0_us);
  s.mark(4, true);
  EXPECT_EQ(s.flush(50_us)[0].enable, 0x10);
  EXPECT_EQ(s.sender.next_deadline(), at(100_us));
  EXPECT_EQ(s.flush(100_us)[0].enable, 0x18);
  EXPECT_EQ(s.sender.next_deadline(), at(200_us));
}

TEST(PauseSender, ARefreshIsDueAsItWasAfterARebase) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(Rebase::kPeriod + 1_s);
  s.sender.rebase(Rebase());
  EXPECT_EQ(s.sender.next_deadline(), at(1_s + 100_us));
  const auto frames = s.flush(1_s + 100_us);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].enable, 0x08);
}

TEST(PauseSender, NoTwoXoffsWithinAMicrosecondWithoutAChange) {
  Sender s(port_at(100_Gbps, 10));  // half the pause time is 25.6 ns
  s.mark(3, true);
  (void)s.flush(0_us);
  EXPECT_EQ(s.sender.next_deadline(), at(1_us));
  EXPECT_TRUE(s.flush(999_ns).empty());
  EXPECT_EQ(s.flush(1_us).size(), 1u);
  s.mark(3, false);
  EXPECT_EQ(s.flush(1'100_ns).size(), 1u);
  s.mark(3, true);  // a change goes at once
  EXPECT_EQ(s.flush(1'200_ns).size(), 1u);
}

TEST(PauseSender, XonOnceAndNoRefreshAfterIt) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(0_us);
  s.mark(3, false);
  const auto frames = s.flush(10_us);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].xon(), 0x08);
  EXPECT_EQ(s.sender.next_deadline(), Instant::never());
  EXPECT_TRUE(s.flush(1'000_us).empty());
}

TEST(PauseSender, AChangeTakenBackBeforeTheFlushIsNotSent) {
  Sender s;
  s.mark(3, true);
  s.mark(3, false);
  EXPECT_TRUE(s.flush(0_us).empty());
}

TEST(PauseSender, AnUnsentFrameStaysOwed) {
  Sender s;
  s.mark(3, true);
  EXPECT_EQ(s.flush(0_us, false).size(), 1u);
  EXPECT_EQ(s.sender.next_deadline(), at(1_us));
  EXPECT_EQ(s.sender.paused(PortId(0)), 0);
  s.mark(4, true);
  const auto frames = s.flush(1_us);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].enable, 0x18);
  EXPECT_EQ(s.sender.next_deadline(), at(101_us));
}

TEST(PauseSender, AnUnsentRefreshStaysOwed) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(0_us);
  EXPECT_EQ(s.flush(100_us, false).size(), 1u);
  EXPECT_EQ(s.sender.next_deadline(), at(101_us));
  EXPECT_EQ(s.flush(101_us)[0].enable, 0x08);
}

TEST(PauseSender, GroupsOfOnePriorityResumeTogether) {
  config::PortConfig port = config::default_port("p");
  port.maps.pg_to_pfc[4] = Priority(3);
  Sender s(port);
  s.mark(3, true);
  s.mark(4, true);
  EXPECT_EQ(s.flush(0_us)[0].enable, 0x08);
  s.mark(3, false);
  EXPECT_TRUE(s.flush(1_us).empty());
  s.mark(4, false);
  EXPECT_EQ(s.flush(2_us)[0].xon(), 0x08);
}

TEST(PauseSender, ResumesAllAtShutdown) {
  Sender s;
  s.mark(3, true, 0);
  s.mark(4, true, Sender::kPorts - 1);
  (void)s.flush(0_us);
  s.sender.resume_all();
  const auto frames = s.flush(1_us);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].xon(), 0x08);
  EXPECT_EQ(frames[1].xon(), 0x10);
  EXPECT_TRUE(s.flush(1'000_us).empty());
}

TEST(PauseSender, APeerThatCameBackIsPausedAgain) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(0_us);
  s.sender.set_link(PortId(0), false);
  EXPECT_TRUE(s.flush(200_us).empty());
  EXPECT_EQ(s.sender.next_deadline(), Instant::never());
  s.sender.set_link(PortId(0), true);
  EXPECT_EQ(s.flush(300_us)[0].xoff(), 0x08);
}

TEST(PauseSender, WhatIsAskedForStandsBesideWhatIsFull) {
  Sender s;
  EXPECT_TRUE(s.sender.ask(PortId(0), PriorityGroupId(3), true));
  EXPECT_EQ(s.flush(0_us)[0].xoff(), 0x08);
  s.mark(3, true);
  EXPECT_TRUE(s.sender.ask(PortId(0), PriorityGroupId(3), false));
  EXPECT_TRUE(s.flush(1_us).empty()) << "it is full now";
  EXPECT_TRUE(s.sender.ask(PortId(0), PriorityGroupId(3), true));
  s.mark(3, false);
  EXPECT_TRUE(s.flush(2_us).empty()) << "it is wanted";
  EXPECT_EQ(s.flush(100_us)[0].xoff(), 0x08) << "refreshed as any other";
  EXPECT_TRUE(s.sender.ask(PortId(0), PriorityGroupId(3), false));
  EXPECT_EQ(s.flush(101_us)[0].xon(), 0x08);
}

TEST(PauseSender, WhatWasAskedForIsForgottenAtOnce) {
  Sender s;
  (void)s.sender.ask(PortId(2), PriorityGroupId(3), true);
  s.mark(4, true, 2);
  (void)s.flush(0_us);
  s.sender.forget_asked();
  EXPECT_EQ(s.flush(1_us)[0].xon(), 0x08);
  EXPECT_EQ(s.sender.paused(PortId(2)), 0x10);
}

TEST(PauseSender, NothingIsAskedOfAPortWithoutPfc) {
  config::PortConfig port = config::default_port("p");
  port.pfc.tx = false;
  Sender s(port);
  EXPECT_FALSE(s.sender.ask(PortId(0), PriorityGroupId(3), true));
  EXPECT_TRUE(s.flush(0_us).empty());
}

TEST(PauseSender, PfcTurnedOffResumesWhatWasPaused) {
  Sender s;
  s.mark(3, true);
  (void)s.flush(0_us);
  config::PortConfig port = config::default_port("p");
  port.pfc.tx = false;
  s.sender.configure(PortId(0), PauseTxPlan::of(port));
  EXPECT_EQ(s.flush(1_us)[0].xon(), 0x08);
  s.mark(4, true);
  EXPECT_TRUE(s.flush(2_us).empty());
}

}  // namespace
}  // namespace eddy::pfc
