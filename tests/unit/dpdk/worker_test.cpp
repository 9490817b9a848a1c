#include "switch/dpdk/worker.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/dpdk/bridge_shard.h"
#include "tests/unit/dpdk/eal_environment.h"

namespace eddy {
namespace {

using namespace literals;
using testing_support::BridgeShard;
using testing_support::pools;

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() { clock_.calibrate(); }

  // Runs the worker in this thread until the shard has been polled `polls` times.
  void run_for(Worker& worker, int polls) {
    shard_.on_poll = [&, polls] {
      if (shard_.polls >= polls) worker.stop();
    };
    worker.run();
  }

  TscClock clock_;
  Bell bell_;
  BridgeShard shard_;
  DpdkIo io_{{}, pools().control(), bell_, shard_};
};

TEST_F(WorkerTest, StopsWhenToldAndCountsItsTurns) {
  Worker worker(shard_, io_, clock_, config::IdlePolicy::busy, 10_us);
  run_for(worker, 100);
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_polls), 100u);
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_busy_polls), 0u);
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_sleeps), 0u);
  EXPECT_GT(worker.counters().read(WorkerCounter::worker_idle_cycles), 0u);
  EXPECT_FALSE(worker.running());
}

TEST_F(WorkerTest, AdaptiveSleepsOnlyAfterItsPatienceIsGone) {
  Worker worker(shard_, io_, clock_, config::IdlePolicy::adaptive, 20_us);
  constexpr int kPatience = Idler::kSpins + Idler::kYields;
  run_for(worker, kPatience + 3);
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_sleeps), 3u);
}

TEST_F(WorkerTest, WorkDueIsNotSleptOver) {
  shard_.deadline = Instant{};
  Worker worker(shard_, io_, clock_, config::IdlePolicy::adaptive, 1_ms);
  run_for(worker, 300);
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_sleeps), 0u);
}

// A turn in progress is waited for; a worker that does not run is not.
TEST_F(WorkerTest, WaitForTurnReturnsAfterTheTurnInProgress) {
  Worker worker(shard_, io_, clock_, config::IdlePolicy::adaptive, 20_us);
  worker.wait_for_turn();
  std::atomic<int> polls{0};
  shard_.on_poll = [&] { ++polls; };
  std::thread thread([&] { worker.run(); });
  while (polls == 0) std::this_thread::yield();
  const int before = polls;
  worker.wait_for_turn();
  EXPECT_GE(polls, before);
  worker.stop();
  thread.join();
  EXPECT_EQ(worker.counters().read(WorkerCounter::worker_polls), static_cast<uint64_t>(polls));
}

// Between two turns, and the gap that this makes between two polls is no negative one.
TEST_F(WorkerTest, AHeldWorkerRestsUntilItIsToGoOn) {
  Worker worker(shard_, io_, clock_, config::IdlePolicy::adaptive, 20_us);
  worker.wait_held();  // it does not run
  std::atomic<int> polls{0};
  shard_.on_poll = [&] { ++polls; };
  std::thread thread([&] { worker.run(); });
  while (polls == 0) std::this_thread::yield();
  worker.hold();
  worker.wait_held();
  const int before = polls;
  clock_.rebase(Rebase());
  worker.rebase(Rebase());
  for (int i = 0; i < 1'000; ++i) std::this_thread::yield();
  EXPECT_EQ(polls, before);
  worker.resume();
  while (polls == before) std::this_thread::yield();
  worker.stop();
  thread.join();
  EXPECT_LT(shard_.last_poll, Instant()) << "by the new clock";
}

TEST_F(WorkerTest, AHeldWorkerThatIsToldToStopDoes) {
  Worker worker(shard_, io_, clock_, config::IdlePolicy::adaptive, 20_us);
  std::thread thread([&] { worker.run(); });
  worker.hold();
  worker.stop();
  worker.resume();
  worker.hold();
  thread.join();
}

}  // namespace
}  // namespace eddy
