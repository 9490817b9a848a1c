#include "pfc/pause_receiver.h"

#include <gtest/gtest.h>

#include <vector>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

constexpr uint8_t kLossless = 0x18;
constexpr PortId kPort(0);
constexpr Priority kThree(3);

Instant at(Duration since) {
  return Instant::at(since);
}

struct Receiver {
  explicit Receiver(const config::PortConfig& config) : receiver(2) {
    (void)receiver.configure(kPort, PauseRxPlan::of(config, kLossless), Instant());
    (void)receiver.configure(PortId(1), PauseRxPlan::of(config, kLossless), Instant());
  }
  PauseChange pfc(uint8_t enable, uint16_t quanta, Duration now) {
    std::array<uint16_t, kPriorities> times;
    times.fill(quanta);
    return receiver.on_pfc(kPort, enable, times, at(now));
  }
  std::vector<PauseChange> expire(Duration now) {
    std::vector<PauseChange> changes;
    receiver.expire(at(now), [&](const PauseChange& change) { changes.push_back(change); });
    return changes;
  }
  uint8_t queues() const { return receiver.paused_queues(kPort); }
  PauseReceiver receiver;
};

config::PortConfig port_at(BitRate speed) {
  config::PortConfig port = config::default_port("p");
  port.speed = speed;
  port.role = config::PortRole::fabric;
  return port;
}

TEST(PauseReceiver, QuantaAreTimedAtThePortSpeed) {
  struct Case {
    BitRate speed;
    Duration quantum;
  };
  for (const Case& c :
       {Case{1_Gbps, 512'000_ps}, Case{10_Gbps, 51'200_ps}, Case{25_Gbps, 20'480_ps},
        Case{40_Gbps, 12'800_ps}, Case{100_Gbps, 5'120_ps}}) {
    Receiver r(port_at(c.speed));
    (void)r.pfc(0x08, 65'535, 3_us);
    EXPECT_EQ(r.receiver.next_deadline(), at(3_us + c.quantum * 65'535)) << c.speed.bps();
    (void)r.pfc(0x08, 1, 3_us);  // a later frame replaces the time
    EXPECT_EQ(r.receiver.next_deadline(), at(3_us + c.quantum)) << c.speed.bps();
  }
}

TEST(PauseReceiver, EndsExactlyAtExpiry) {
  Receiver r(port_at(10_Gbps));
  EXPECT_EQ(r.pfc(0x08, 100, 0_us).queues, 0x08);
  EXPECT_TRUE(r.expire(5'119'999_ps).empty());
  EXPECT_EQ(r.queues(), 0x08);
  const auto changes = r.expire(5'120'000_ps);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].ended, 0x08);
  EXPECT_EQ(changes[0].queues, 0x08);
  EXPECT_EQ(r.queues(), 0);
  EXPECT_EQ(r.receiver.next_deadline(), Instant::never());
}

TEST(PauseReceiver, PausingOnePriorityStopsThatOneAlone) {
  Receiver r(port_at(10_Gbps));
  (void)r.pfc(0x08, 100, 0_us);
  EXPECT_EQ(r.queues(), 0x08);
  EXPECT_EQ(r.receiver.paused_queues(PortId(1)), 0);
  (void)r.pfc(0x10, 200, 0_us);
  EXPECT_EQ(r.queues(), 0x18);
  (void)r.expire(5'120_ns);
  EXPECT_EQ(r.queues(), 0x10);
}

TEST(PauseReceiver, XonResumesAtOnce) {
  Receiver r(port_at(10_Gbps));
  (void)r.pfc(0x18, 65'535, 0_us);
  const PauseChange change = r.pfc(0x08, 0, 7_us);
  EXPECT_EQ(change.xon, 0x08);
  EXPECT_EQ(change.ended, 0x08);
  EXPECT_EQ(r.queues(), 0x10);
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(9_us)), 7_us);
}

TEST(PauseReceiver, PausedTimeIsExactHoweverLateThePoll) {
  Receiver r(port_at(10_Gbps));
  (void)r.pfc(0x08, 100, 1_us);
  (void)r.pfc(0x08, 100, 3_us);  // refreshed: ends at 8.12 us
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(4_us)), 3_us);
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(50_us)), 7'120_ns);
  EXPECT_EQ(r.receiver.take_paused_time(kPort, kThree, at(4_us)), 3_us);
  EXPECT_EQ(r.receiver.uncounted_time(kPort, kThree, at(4_us)), 0_us);
  EXPECT_EQ(r.receiver.uncounted_time(kPort, kThree, at(6_us)), 2_us);
  EXPECT_EQ(r.receiver.uncounted_time(kPort, kThree, at(50_us)), 4'120_ns);
  (void)r.pfc(0x08, 100, 100_us);  // the first pause ended long ago
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(101_us)), 8'120_ns);
  EXPECT_EQ(r.receiver.take_paused_time(kPort, kThree, at(101_us)), 5'120_ns);
}

TEST(PauseReceiver, SymmetricHeedsOnlyLosslessPriorities) {
  Receiver r(port_at(10_Gbps));
  const PauseChange change = r.pfc(0xFF, 100, 0_us);
  EXPECT_EQ(change.xoff, 0xFF);
  EXPECT_EQ(r.receiver.paused_priorities(kPort), kLossless);
}

TEST(PauseReceiver, AsymmetricHeedsAll) {
  config::PortConfig port = port_at(10_Gbps);
  port.pfc.asymmetric = true;
  Receiver r(port);
  (void)r.pfc(0xFF, 100, 0_us);
  EXPECT_EQ(r.queues(), 0xFF);
}

TEST(PauseReceiver, IgnoreHeedsNothingButReportsIt) {
  config::PortConfig port = port_at(10_Gbps);
  port.pfc.rx = config::PfcRx::ignore;
  Receiver r(port);
  EXPECT_EQ(r.pfc(0x18, 100, 0_us).xoff, 0x18);
  EXPECT_EQ(r.queues(), 0);
  EXPECT_EQ(r.receiver.next_deadline(), Instant::never());
}

// Honoured as long as it lasts, and reported as soon as it is longer than 10 ms in a window of 100.
TEST(PauseReceiver, AHonouredHostThatExceedsItsBudgetIsReportedOnceAWindow) {
  for (const config::PortRole role : {config::PortRole::host, config::PortRole::fabric}) {
    config::PortConfig port = port_at(1_Gbps);
    port.role = role;
    port.pfc.pause_budget = 10_ms;
    port.pfc.budget_window = 100_ms;
    Receiver r(port);
    std::vector<Duration> reports;
    for (int64_t us = 0; us < 250'000; us += 500) {
      const Duration now = Duration::microseconds(us);
      for (const PauseChange& change : r.expire(now))
        if (change.over_budget != 0) reports.push_back(now);
      if (us % 20'000 == 0) (void)r.pfc(0x08, 65'535, now);
      EXPECT_EQ(r.queues(), 0x08) << "it is obeyed all the time";
    }
    if (role == config::PortRole::host) {
      EXPECT_EQ(reports, (std::vector<Duration>{10_ms, 110_ms, 210_ms}));
    } else {
      EXPECT_TRUE(reports.empty());
    }
  }
}

TEST(PauseReceiver, PausesThatTogetherExceedTheBudgetAreReportedToo) {
  config::PortConfig port = port_at(1_Gbps);
  port.role = config::PortRole::host;
  port.pfc.pause_budget = 10_ms;
  port.pfc.budget_window = 100_ms;
  Receiver r(port);
  std::vector<Duration> reports;
  for (int64_t us = 0; us < 60'000; us += 100) {
    const Duration now = Duration::microseconds(us);
    for (const PauseChange& change : r.expire(now))
      if (change.over_budget != 0) reports.push_back(now);
    if (us % 10'000 == 0) (void)r.pfc(0x08, 65'535, now);
    if (us % 10'000 == 4'000) (void)r.pfc(0x08, 0, now);
  }
  EXPECT_EQ(reports, (std::vector<Duration>{22_ms})) << "4 + 4 + 2 ms";
}

TEST(PauseReceiver, AQueueIsPausedWhileAnyOfItsPrioritiesIs) {
  config::PortConfig port = port_at(10_Gbps);
  port.maps.pfc_to_queue[4] = QueueId(3);
  Receiver r(port);
  EXPECT_EQ(r.pfc(0x08, 100, 0_us).queues, 0x08);
  EXPECT_EQ(r.pfc(0x10, 200, 0_us).queues, 0);
  EXPECT_EQ(r.pfc(0x08, 0, 1_us).queues, 0);
  EXPECT_EQ(r.queues(), 0x08);
  EXPECT_EQ(r.pfc(0x10, 0, 1_us).queues, 0x08);
  EXPECT_EQ(r.queues(), 0);
}

config::PortConfig clamped_port() {
  config::PortConfig port = port_at(1_Gbps);  // a full pause is 33.55392 ms
  port.pfc.rx = config::PfcRx::clamp;
  port.pfc.pause_budget = 10_ms;
  port.pfc.budget_window = 100_ms;
  return port;
}

TEST(PauseReceiver, ClampCutsAPauseAtTheBudget) {
  Receiver r(clamped_port());
  (void)r.pfc(0x08, 65'535, 0_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(10_ms));
  EXPECT_EQ(r.expire(10_ms).at(0).over_budget, 0x08);
  const PauseChange refused = r.pfc(0x08, 65'535, 11_ms);
  EXPECT_EQ(refused.over_budget, 0x08);
  EXPECT_EQ(r.queues(), 0);
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(99_ms)), 10_ms);
}

TEST(PauseReceiver, ClampLeavesPausesWithinTheBudgetAlone) {
  Receiver r(clamped_port());
  for (int i = 0; i < 4; ++i) {  // 2 ms of each 5 ms
    EXPECT_EQ(r.pfc(0x08, 65'535, 5_ms * i).over_budget, 0);
    EXPECT_EQ(r.pfc(0x08, 0, 5_ms * i + 2_ms).over_budget, 0);
  }
  (void)r.pfc(0x08, 65'535, 20_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(22_ms));  // 8 ms are spent
}

TEST(PauseReceiver, ClampGrantsEachWindowItsBudget) {
  Receiver r(clamped_port());
  (void)r.pfc(0x08, 65'535, 0_ms);
  (void)r.expire(10_ms);
  EXPECT_EQ(r.pfc(0x08, 65'535, 99'999_us).over_budget, 0x08);
  (void)r.pfc(0x08, 65'535, 100_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(110_ms));
}

TEST(PauseReceiver, ClampCarriesAPauseIntoTheNextWindow) {
  Receiver r(clamped_port());
  (void)r.pfc(0x08, 1, 0_ms);  // opens the window [0, 100 ms)
  (void)r.expire(1_ms);
  (void)r.pfc(0x08, 65'535, 95_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(110_ms));  // 5 ms here, 10 ms there
  (void)r.pfc(0x08, 65'535, 105_ms);                  // a refresh changes nothing
  EXPECT_EQ(r.receiver.next_deadline(), at(110_ms));
  (void)r.expire(110_ms);
  EXPECT_EQ(r.pfc(0x08, 65'535, 150_ms).over_budget, 0x08);
}

// The budget is the configuration's: its first window has begun before the first pause does.
TEST(PauseReceiver, TheFirstWindowBeginsWhenTheBudgetDoes) {
  Receiver r(clamped_port());
  (void)r.pfc(0x08, 65'535, 95_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(110_ms));  // 5 ms of [0, 100 ms), 10 ms of the next
  (void)r.receiver.configure(kPort, PauseRxPlan::of(clamped_port(), kLossless), at(100_ms));
  (void)r.pfc(0x08, 0, 101_ms);
  (void)r.pfc(0x18, 65'535, 190_ms);
  EXPECT_EQ(r.expire(199_ms).size(), 1u) << "3 has spent 1 ms of its window before";
  EXPECT_EQ(r.queues(), 0x10);
  EXPECT_EQ(r.receiver.next_deadline(), at(210_ms));
}

TEST(PauseReceiver, TheFirstWindowIsRebased) {
  Receiver r(clamped_port());
  (void)r.receiver.configure(kPort, PauseRxPlan::of(clamped_port(), kLossless),
                             at(Rebase::kPeriod + 1'000_ms));
  r.receiver.rebase(Rebase());
  (void)r.pfc(0x08, 65'535, 1'095_ms);
  EXPECT_EQ(r.receiver.next_deadline(), at(1'110_ms));
}

TEST(PauseReceiver, AStormNeverExceedsItsBudgetInAnyWindow) {
  Receiver r(clamped_port());
  for (int ms = 0; ms < 1'000; ++ms) {
    (void)r.expire(1_ms * ms);
    (void)r.pfc(0x08, 65'535, 1_ms * ms);
  }
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(1'000_ms)), 100_ms);
}

TEST(PauseReceiver, LinkDownEndsItsPauses) {
  Receiver r(port_at(10_Gbps));
  (void)r.pfc(0x18, 65'535, 0_us);
  EXPECT_EQ(r.receiver.on_link_down(kPort, at(4_us)).queues, 0x18);
  EXPECT_EQ(r.receiver.paused_time(kPort, kThree, at(9_us)), 4_us);
  EXPECT_EQ(r.receiver.next_deadline(), Instant::never());
}

TEST(PauseReceiver, IgnoringFromNowOnEndsRunningPauses) {
  config::PortConfig port = port_at(10_Gbps);
  Receiver r(port);
  (void)r.pfc(0x18, 65'535, 0_us);
  port.pfc.rx = config::PfcRx::ignore;
  const PauseChange change =
      r.receiver.configure(kPort, PauseRxPlan::of(port, kLossless), at(2_us));
  EXPECT_EQ(change.ended, 0x18);
  EXPECT_EQ(r.queues(), 0);
}

}  // namespace
}  // namespace eddy::pfc
