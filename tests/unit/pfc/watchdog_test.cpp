#include "pfc/watchdog.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "config/config.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

constexpr PortId kPort(1);
constexpr uint8_t kQueue3 = 0x08;

Instant at(Duration since) {
  return Instant::at(since);
}

// One queue under pauses; polls come exactly at the deadlines.
struct Dog {
  explicit Dog(const config::WatchdogConfig& config) : dog(4) { configure(config); }
  void configure(const config::WatchdogConfig& config, Duration now = {}) {
    config::PortConfig port = config::default_port("p");
    port.watchdog = config;
    (void)dog.configure(kPort, WatchdogPlan::of(port, 0x18), at(now));
  }
  void pause(Duration now) {
    frame(now);
    if (!paused) dog.on_paused(kPort, kQueue3, kQueue3, at(now));
    paused = true;
  }
  void frame(Duration now) { dog.on_pause_frame(kPort, kQueue3, at(now)); }
  void resume(Duration now) {
    if (paused) dog.on_paused(kPort, 0, kQueue3, at(now));
    paused = false;
  }
  void poll(Duration now) {
    dog.poll(
        at(now), [&](PortId, QueueId) { return progress; },
        [&](const WatchdogVerdict& verdict) {
          EXPECT_EQ(verdict.port, kPort);
          EXPECT_EQ(verdict.queue, QueueId(3));
          (verdict.storm ? began : ended) = now;
        });
  }
  // Polls at every deadline up to `until`; pause frames come every `refresh`.
  void run(Duration from, Duration until, Duration refresh) {
    Duration next_frame = from;
    while (true) {
      const Duration due = dog.next_deadline().since_zero();
      const Duration now = std::min(due, next_frame);
      if (now > until) return;
      if (now == next_frame) {
        pause(now);
        next_frame += refresh;
      }
      poll(now);
    }
  }
  bool storm() const { return dog.storming(kPort) == kQueue3; }

  Watchdog dog;
  QueueProgress progress{true, Instant()};
  bool paused = false;
  std::optional<Duration> began;
  std::optional<Duration> ended;
};

config::WatchdogConfig config_of(Duration detection, Duration interval,
                                 config::WatchdogDetect detect = config::WatchdogDetect::stalled) {
  config::WatchdogConfig config;
  config.detection_time = detection;
  config.restoration_time = 2_ms;
  config.poll_interval = interval;
  config.detect = detect;
  return config;
}

TEST(Watchdog, AnIdlePortCostsNothing) {
  Dog d(config_of(1_ms, 1_ms));
  EXPECT_EQ(d.dog.next_deadline(), Instant::never());
}

TEST(Watchdog, FiresBetweenDetectionAndDetectionPlusOnePoll) {
  const unsigned seed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    const Duration detection = 100_us * static_cast<int64_t>(1 + random() % 50);
    const Duration interval = 70_us * static_cast<int64_t>(1 + random() % 30);
    const Duration stalls_at = 10_us * static_cast<int64_t>(random() % 500);
    Dog d(config_of(detection, interval));
    d.progress.since = at(stalls_at);  // paused from 0 on, but packets left until then
    d.run(0_us, stalls_at + detection + interval * 2, 100_us);
    ASSERT_TRUE(d.began.has_value()) << "case " << i;
    EXPECT_GE(*d.began, stalls_at + detection) << "case " << i;
    EXPECT_LT(*d.began, stalls_at + detection + interval) << "case " << i;
  }
}

TEST(Watchdog, AnEmptyQueueDoesNotStall) {
  Dog d(config_of(1_ms, 200_us));
  d.progress.backlogged = false;
  d.run(0_us, 20_ms, 100_us);
  EXPECT_FALSE(d.began.has_value());
}

TEST(Watchdog, AQueueThatSendsDoesNotStall) {
  Dog d(config_of(1_ms, 200_us));
  for (int i = 0; i < 100; ++i) {
    d.pause(200_us * i);
    d.progress.since = at(200_us * i);
    d.poll(200_us * i);
  }
  EXPECT_FALSE(d.began.has_value());
}

TEST(Watchdog, APauseThatEndsIsNoStorm) {
  Dog d(config_of(1_ms, 200_us));
  d.pause(0_us);
  d.resume(500_us);  // starved by other queues from here on
  for (int i = 1; i < 100; ++i) d.poll(200_us * i);
  EXPECT_FALSE(d.began.has_value());
  EXPECT_EQ(d.dog.next_deadline(), Instant::never());  // no longer watched
}

TEST(Watchdog, ActionsShowInTheirMasks) {
  struct Case {
    config::WatchdogAction action;
    uint8_t dropping;
    uint8_t forwarding;
  };
  for (const Case& c : {Case{config::WatchdogAction::drop, kQueue3, 0},
                        Case{config::WatchdogAction::forward, 0, kQueue3},
                        Case{config::WatchdogAction::alert, 0, 0}}) {
    config::WatchdogConfig config = config_of(1_ms, 1_ms);
    config.action = c.action;
    Dog d(config);
    d.run(0_us, 3_ms, 100_us);
    EXPECT_TRUE(d.storm());
    EXPECT_EQ(d.dog.dropping(kPort), c.dropping);
    EXPECT_EQ(d.dog.forwarding(kPort), c.forwarding);
  }
}

TEST(Watchdog, RestoresWhenNoFrameCameForTheRestorationTime) {
  Dog d(config_of(1_ms, 500_us));
  d.run(0_us, 5_ms, 100_us);
  ASSERT_TRUE(d.storm());
  d.resume(5'100_us);
  while (!d.ended && d.dog.next_deadline() < at(20_ms)) d.poll(d.dog.next_deadline().since_zero());
  ASSERT_TRUE(d.ended.has_value());
  EXPECT_GE(*d.ended, 7_ms);  // the last frame came at 5 ms
  EXPECT_LT(*d.ended, 7_ms + 500_us);
  EXPECT_FALSE(d.storm());
  EXPECT_EQ(d.dog.dropping(kPort), 0);
}

TEST(Watchdog, AStormThatGoesOnIsNotRestored) {
  Dog d(config_of(1_ms, 500_us));
  d.run(0_us, 50_ms, 1'900_us);
  EXPECT_TRUE(d.storm());
  EXPECT_FALSE(d.ended.has_value());
}

TEST(Watchdog, DetectPausedNeedsNoPackets) {
  Dog d(config_of(1_ms, 300_us, config::WatchdogDetect::paused));
  d.progress.backlogged = false;
  d.run(50_us, 10_ms, 100_us);
  ASSERT_TRUE(d.began.has_value());
  EXPECT_GE(*d.began, 1'050_us);
  EXPECT_LT(*d.began, 1'350_us);
}

TEST(Watchdog, DetectPausedToleratesLessThanOnePercent) {
  for (const auto& [free, storm] : {std::pair{9_us, true}, {11_us, false}}) {
    Dog d(config_of(1_ms, 200_us, config::WatchdogDetect::paused));
    for (int i = 0; i < 5; ++i) {  // one gap in every 900 us
      d.pause(900_us * i);
      for (int k = 1; k < 9; ++k) d.poll(900_us * i + 100_us * k);
      d.resume(900_us * (i + 1) - free);
    }
    EXPECT_EQ(d.began.has_value(), storm) << free.ns();
  }
}

TEST(Watchdog, DetectPausedFiresInTimeAfterATroubledPast) {
  Dog d(config_of(1_ms, 300_us, config::WatchdogDetect::paused));
  for (int i = 0; i < 40; ++i) {  // half of the time
    d.pause(100_us * i);
    d.poll(100_us * i);
    d.resume(100_us * i + 50_us);
    d.poll(100_us * i + 50_us);
  }
  EXPECT_FALSE(d.began.has_value());
  d.run(4'010_us, 10_ms, 100_us);
  ASSERT_TRUE(d.began.has_value());
  EXPECT_GE(*d.began, 5'010_us);
  EXPECT_LT(*d.began, 5'310_us);
}

TEST(Watchdog, DisablingEndsTheStormAndTheWatch) {
  Dog d(config_of(1_ms, 500_us));
  d.run(0_us, 5_ms, 100_us);
  ASSERT_TRUE(d.storm());
  config::WatchdogConfig off;
  off.enabled = false;
  d.configure(off, 5_ms);
  EXPECT_FALSE(d.storm());
  EXPECT_EQ(d.dog.next_deadline(), Instant::never());
  d.configure(config_of(1_ms, 500_us), 6_ms);  // still paused: watched again
  EXPECT_EQ(d.dog.next_deadline(), at(6'500_us));
}

TEST(WatchdogPlan, WatchesQueuesThatPfcMayStop) {
  config::PortConfig port = config::default_port("p");
  EXPECT_EQ(WatchdogPlan::of(port, 0x18).watched, 0x18);
  port.pfc.enable = "0,3";
  port.maps.pfc_to_queue[0] = QueueId(5);
  EXPECT_EQ(WatchdogPlan::of(port, 0x18).watched, 0x28) << "queue 4 is never stopped";
  port.pfc.enable = "none";
  EXPECT_EQ(WatchdogPlan::of(port, 0x18).watched, 0);
  port.pfc.asymmetric = true;
  EXPECT_EQ(WatchdogPlan::of(port, 0x18).watched, 0xff);
}

}  // namespace
}  // namespace eddy::pfc
