// LineClock gives what a sorted list gives; and what a shard does for a world that goes by the
// clock is what it does for one that reports all lines.
#include "switch/dataplane/queues/line_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "net/random.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy {
namespace {

using namespace eddy::literals;

TEST(LineClock, IsEmptyAtFirstAndAtTheEnd) {
  LineClock lines(2);
  EXPECT_EQ(lines.next(), Instant::never());
  lines.start(PortId(1), Instant() + 5_ns);
  EXPECT_EQ(lines.next(), Instant() + 5_ns);
  EXPECT_EQ(lines.pop(), PortId(1));
  EXPECT_EQ(lines.next(), Instant::never());
}

TEST(LineClock, GivesThoseOfOneInstantInTheirOrder) {
  LineClock lines(4);
  for (const size_t port : {2, 0, 3}) lines.start(PortId(port), Instant() + 1_ns);
  EXPECT_EQ(lines.pop(), PortId(2));
  EXPECT_EQ(lines.pop(), PortId(0));
  EXPECT_EQ(lines.pop(), PortId(3));
}

TEST(LineClock, GivesWhatASortedListGives) {
  struct Frame {
    PortId port;
    Instant at;
  };
  constexpr size_t kPorts = 24;
  RandomStream random(1, 0, 0);
  LineClock lines(kPorts);
  std::vector<Frame> expected;
  size_t stopped = 0, popped = 0;
  Instant now;
  for (int step = 0; step < 20'000; ++step) {
    const PortId port(random.below(kPorts));
    const auto running = std::find_if(expected.begin(), expected.end(),
                                      [port](const Frame& frame) { return frame.port == port; });
    if (running != expected.end() && random.below(4) == 0) {
      lines.stop(port);
      expected.erase(running);
      ++stopped;
    } else if (running == expected.end()) {
      const Frame frame{port, now + 1_ns * static_cast<int64_t>(random.below(50))};
      lines.start(port, frame.at);
      const auto later = [](const Frame& a, const Frame& b) { return a.at < b.at; };
      expected.insert(std::upper_bound(expected.begin(), expected.end(), frame, later), frame);
    }
    now = now + 1_ns;
    while (!expected.empty() && expected.front().at <= now) {
      ASSERT_EQ(lines.next(), expected.front().at);
      ASSERT_EQ(lines.pop(), expected.front().port);
      expected.erase(expected.begin());
      ++popped;
    }
    ASSERT_EQ(lines.next(), expected.empty() ? Instant::never() : expected.front().at);
  }
  EXPECT_GT(stopped, 1'000u);
  EXPECT_GT(popped, 1'000u);
}

TEST(LineClock, IsRebasedWithItsFrames) {
  LineClock lines(2);
  lines.start(PortId(0), Instant() + 7_ns);
  lines.start(PortId(1), Instant() + 5_ns);
  const Rebase rebase(Rebase::Way::forward);
  Instant expected = Instant() + 5_ns;
  rebase.shift(expected);
  lines.rebase(rebase);
  EXPECT_EQ(lines.next(), expected);
  EXPECT_EQ(lines.pop(), PortId(1));
}

// A switch whose world reports all lines, or goes by the clock: polled when a line or a deadline is
// due.
struct ByClock {
  ByClock(bool by_clock, Bytes xoff) : config(test::hosts_switch(4)) {
    config.buffer.profiles["lossless"] = {
        .lossless = true, .mode = config::BufferMode::fixed, .xoff = xoff, .xon_offset = 1'000_B};
    object = std::move(*Switch::create(config, {.shards = 1}));
    io.by_clock = by_clock;
    for (size_t i = 0; i < config.ports.size(); ++i) io.links.push_back({PortId(i), true});
    poll(Instant());
  }
  void poll(Instant at) {
    io.complete(at);
    object->shard(ShardId(0)).poll(io, at);
    ++polls;
  }
  void send(size_t to, Instant at) {
    test::UdpSpec spec = test::between(config, 0, to, test::kLosslessDscp);
    spec.frame_len = 1'000;
    spec.readable_len = 96;
    run_until(at - 1_ps);
    io.arrive(PortId(0), test::udp_frame(spec), 1'000);
    poll(at);
  }
  void run_until(Instant end) {
    for (;;) {
      Instant next = object->shard(ShardId(0)).next_deadline();
      for (const auto& line : io.line_free) next = std::min(next, line.first);
      if (next > end) return;
      poll(next);
    }
  }

  config::SwitchConfig config;
  test::PacketPool pool{256, 256};
  test::ManualIo io{pool};
  std::unique_ptr<Switch> object;
  size_t polls = 0;
};

// Three frames to three ports, and one more to the first when its line is long free.
void send_four(ByClock& rig) {
  rig.send(1, Instant() + 1_us);
  rig.send(2, Instant() + 1'050_ns);
  rig.send(3, Instant() + 1'100_ns);
  rig.send(1, Instant() + 5_us);
  rig.run_until(Instant() + 5'500_ns);
}

void expect_same(const ByClock& a, const ByClock& b) {
  ASSERT_EQ(a.io.sent.size(), b.io.sent.size());
  for (size_t i = 0; i < a.io.sent.size(); ++i) {
    EXPECT_EQ(a.io.sent[i].port, b.io.sent[i].port);
    EXPECT_EQ(a.io.sent[i].at, b.io.sent[i].at);
    EXPECT_EQ(a.io.sent[i].frame, b.io.sent[i].frame);
  }
  const auto used = [](const ByClock& rig) {
    return rig.object->pg_status(PortId(0), PriorityGroupId(3)).used;
  };
  EXPECT_EQ(used(a), used(b));
}

TEST(LinesByClock, AreSettledWithoutAPoll) {
  ByClock reported(false, 100'000_B), by_clock(true, 100'000_B);
  send_four(reported);
  send_four(by_clock);
  expect_same(by_clock, reported);
  EXPECT_EQ(by_clock.io.sent.size(), 4u);
  EXPECT_EQ(reported.polls - by_clock.polls, 3u);
  // Between two polls, too.
  const Instant end = Instant() + 1_ms;
  reported.run_until(end);
  EXPECT_EQ(by_clock.object->shard(ShardId(0)).settle_lines(end), reported.io.sent.back().at);
  expect_same(by_clock, reported);
  EXPECT_EQ(by_clock.object->pg_status(PortId(0), PriorityGroupId(3)).used, 0);
}

// The third frame pauses the sender, and what is on the lines then resumes it in its time.
TEST(LinesByClock, AreAskedForWhenASenderIsPaused) {
  ByClock reported(false, 2'500_B), by_clock(true, 2'500_B);
  send_four(reported);
  send_four(by_clock);
  EXPECT_EQ(by_clock.io.sent.size(), 6u) << "four frames, XOFF and XON";
  expect_same(by_clock, reported);
}

// A frame that waits for the line of another starts when that has left.
TEST(LinesByClock, AreAskedForWhenAFrameWaits) {
  ByClock reported(false, 100'000_B), by_clock(true, 100'000_B);
  for (ByClock* rig : {&reported, &by_clock}) {
    rig->send(1, Instant() + 1_us);
    rig->send(1, Instant() + 1'100_ns);
    rig->run_until(Instant() + 5_us);
    (void)rig->object->shard(ShardId(0)).settle_lines(Instant() + 5_us);
  }
  EXPECT_EQ(by_clock.io.sent.size(), 2u);
  expect_same(by_clock, reported);
}

}  // namespace
}  // namespace eddy
