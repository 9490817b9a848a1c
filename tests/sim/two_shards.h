// TwoShards: a switch of two shards with a thread each, and a third thread that is its control.
//
// Even ports are the first shard's. Owner: the test; what the threads share is atomic or the
// switch's own matter. Bounded by the number of packets that the sources have.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "switch/dataplane/object/shard.h"
#include "tests/sim/thread_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {

class TwoShards : public testing::Test {
 protected:
  static constexpr Duration kStep = Duration::microseconds(2);  // of virtual time, a poll
  static constexpr uint64_t kPollsWithoutEnd = 50'000'000;      // far more than any end needs

  explicit TwoShards(const config::SwitchConfig& config) {
    auto made = Switch::create(config, {.shards = 2});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    ios[0].connect(1, ios[1].returned());
    ios[1].connect(0, ios[0].returned());
  }

  // What control does; sets control_done at its end.
  virtual void control() = 0;
  // One turn of a shard's thread, the `polls`-th; true: it had nothing to do.
  virtual bool turn(size_t shard, uint64_t polls) = 0;

  PollStats poll(size_t shard) {
    clocks[shard] = clocks[shard] + kStep;
    ios[shard].begin_poll(clocks[shard]);
    return object->shard(ShardId(shard)).poll(ios[shard], clocks[shard]);
  }

  // All three threads to their ends.
  void run_threads() {
    std::thread controller([this] { control(); });
    std::thread first([this] { work(0); });
    std::thread second([this] { work(1); });
    controller.join();
    first.join();
    second.join();
    settle();
  }

  void expect_an_empty_switch() {
    EXPECT_EQ(leftovers(*object), "");
    EXPECT_EQ(object->reclaim(), 0u);
    EXPECT_EQ(object->balance().held, 0u);
    EXPECT_EQ(drops(*object, DropReason::headroom_full), 0u);
    for (ThreadIo& io : ios) {
      io.begin_poll({});
      EXPECT_EQ(io.packets_at_home(), ThreadIo::kPackets);
    }
  }

  Flight flight;
  std::array<ThreadIo, 2> ios{ThreadIo(flight, 0), ThreadIo(flight, 1)};
  std::array<Instant, 2> clocks{};
  std::unique_ptr<Switch> object;
  std::atomic<bool> control_done{false};

 private:
  static constexpr int kPollsToSettle = 4;  // credits and XONs under way
  static constexpr int kMostPolls = 40;

  // A probe of the switch's own may have gone out with the last poll. Its octets are its queue's
  // until the line is free, by the next one, with which another may go.
  void settle() {
    for (int i = 0; i < kPollsToSettle || (i < kMostPolls && !leftovers(*object).empty()); ++i)
      for (size_t shard : {0, 1}) poll(shard);
  }
  void work(size_t shard) {
    for (uint64_t polls = 1; !flight.over() || !control_done; ++polls) {
      if (polls == kPollsWithoutEnd) return ADD_FAILURE() << "packets do not come to an end";
      if (turn(shard, polls)) std::this_thread::yield();
    }
  }
};

}  // namespace eddy::test
