// A pause is late when its reader did not get to it in time, and until it ends.
#include "lab/check/late_pauses.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::test {
namespace {

constexpr Priority kThree(3);
constexpr Priority kFour(4);

// Two leaves and a spine without traffic; leaf1 pauses the spine.
class LatePausesTest : public testing::Test {
 protected:
  LatePausesTest() : topology_(built(leaf_spine_of(2, 1, 1))) {
    auto made = lab::World::create(topology_, {}, [](uint32_t, uint32_t) { return 30_us; }, {});
    world_ = std::move(*made);
    while (topology_.switches[leaf_].name != "leaf1") ++leaf_;
    while (world_->lines()[line()].to >= world_->switch_count()) up_ = PortId(up_.index() + 1);
    pauses_.emplace(*world_, 10_us);
  }

  uint32_t line() const { return world_->line_of(leaf_, up_); }
  // The line has delivered more frames than the spine has read.
  void leave_unread() { world_->delivered(line()) += 1'000; }
  void pause(Priority priority, uint16_t quanta) {
    PauseFrame frame;
    frame.set(priority, quanta);
    pauses_->arrive(line(), frame);
  }
  void wait(Duration time) {
    world_->run_until(world_->now() + time);
    pauses_->look(world_->lines()[line()].to);
  }
  bool late(Priority priority) { return pauses_->late(leaf_, up_, priority); }

  lab::Topology topology_;
  std::unique_ptr<lab::World> world_;
  uint32_t leaf_ = 0;
  PortId up_ = PortId(0);
  std::optional<lab::LatePauses> pauses_;
};

TEST_F(LatePausesTest, APauseBehindUnreadFramesIsLateAfterTheTimeAndUntilItsXon) {
  leave_unread();
  pause(kThree, 65'535);
  wait(10_us);
  EXPECT_FALSE(late(kThree));
  wait(1_ns);
  EXPECT_TRUE(late(kThree));
  EXPECT_FALSE(late(kFour));
  pause(kFour, 0);
  EXPECT_TRUE(late(kThree));
  pause(kThree, 0);
  EXPECT_FALSE(late(kThree));
}

TEST_F(LatePausesTest, APauseThatWasReadIsNot) {
  pause(kThree, 65'535);
  wait(9_us);
  leave_unread();
  wait(9_us);
  EXPECT_FALSE(late(kThree));
}

TEST_F(LatePausesTest, APauseThatEndedUnreadIsNot) {
  leave_unread();
  pause(kThree, 65'535);
  pause(kThree, 0);
  wait(1_ms);
  EXPECT_FALSE(late(kThree));
}

TEST_F(LatePausesTest, NoneIsWhereAPollReadsAll) {
  pauses_.emplace(*world_, std::nullopt);
  leave_unread();
  pause(kThree, 65'535);
  wait(1_ms);
  EXPECT_FALSE(late(kThree));
}

}  // namespace
}  // namespace eddy::test
