#include "lab/world/flow_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::IsEmpty;

Flow flow(uint32_t source, uint32_t destination, uint16_t item) {
  return {.source = source, .destination = destination, .size = 10_B, .traffic = item};
}

// 0 > 1, 2 > 1, then 1 > 2 by item 0; 1 > 0 by item 1, which waits for item 0.
struct Some {
  std::vector<Flow> flows = {flow(0, 1, 0), flow(2, 1, 0), flow(1, 2, 0), flow(1, 0, 1)};
  Waits waits{.flows = {{.flow = 2, .on = 0, .what = FlowWait::For::arrival},
                        {.flow = 2, .on = 1, .what = FlowWait::For::arrival}},
              .items = {{.item = 1, .after = 0, .pause = 5_us}}};
};

TEST(FlowWaits, NothingWaits) {
  const Some some;
  EXPECT_FALSE(FlowWaits(some.flows, {}, 1, 2_us).any());
}

TEST(FlowWaits, AFlowIsReadyWhenAllHasArrived) {
  const Some some;
  FlowWaits waits(some.flows, some.waits, 2, 2_us);
  std::vector<uint32_t> ready;
  ItemNews news;
  waits.arrive(0, Instant() + 1_us, ready, news);
  waits.arrive(0, Instant() + 1_us, ready, news);  // of its two queue pairs
  waits.arrive(1, Instant() + 2_us, ready, news);
  EXPECT_THAT(ready, IsEmpty());
  waits.arrive(1, Instant() + 3_us, ready, news);
  EXPECT_THAT(ready, ElementsAre(2));
  EXPECT_FALSE(news.item_ended);
  EXPECT_THAT(news.ends, ElementsAre(ItemEnds{.item = 0, .flows = 2, .last = Instant() + 3_us}));
}

TEST(FlowWaits, AFlowIsReadyWhenAnotherHasLeft) {
  std::vector<Flow> flows = {flow(0, 1, 0), flow(0, 2, 0)};
  FlowWaits waits(flows, {.flows = {{.flow = 1, .on = 0, .what = FlowWait::For::departure}}}, 1,
                  2_us);
  EXPECT_TRUE(waits.departure_matters(0));
  EXPECT_FALSE(waits.departure_matters(1));
  std::vector<uint32_t> ready;
  waits.depart(0, ready);
  EXPECT_THAT(ready, ElementsAre(1));
}

// The last of three flows is told of by another rank; word takes 2 us, and it waits for 5.
TEST(FlowWaits, AnItemBeginsWhenWordOfTheOthersEndHasCome) {
  const Some some;
  FlowWaits waits(some.flows, some.waits, 1, 2_us);
  EXPECT_THAT(waits.hear({}), IsEmpty());
  const ItemEnds two{.item = 0, .flows = 2, .last = Instant() + 9_us};
  const ItemEnds one{.item = 0, .flows = 1, .last = Instant() + 4_us};
  EXPECT_THAT(waits.hear({{two}}), IsEmpty());
  EXPECT_THAT(waits.hear({{one}}), ElementsAre(Release{Instant() + 16_us, 3}));
  EXPECT_THAT(waits.hear({}), IsEmpty());
}

TEST(FlowWaits, TheLastArrivalEndsAnItem) {
  const Some some;
  FlowWaits waits(some.flows, some.waits, 1, 2_us);
  std::vector<uint32_t> ready;
  ItemNews news;
  for (const uint32_t each : {0u, 1u}) waits.arrive(each, Instant() + 1_us, ready, news);
  EXPECT_FALSE(news.item_ended);
  waits.arrive(2, Instant() + 2_us, ready, news);
  EXPECT_TRUE(news.item_ended);
}

TEST(FlowWaits, EndsThatCannotBeAreNotHeard) {
  const Some some;
  const FlowWaits waits(some.flows, some.waits, 1, 2_us);
  const auto may_hear = [&](uint16_t item, uint32_t flows) {
    const ItemEnds ends{.item = item, .flows = flows, .last = Instant()};
    return waits.may_hear({{ends}});
  };
  EXPECT_TRUE(may_hear(0, 3));
  EXPECT_FALSE(may_hear(0, 4));
  EXPECT_FALSE(may_hear(1, 1));
}

// Of item 0 there is no flow: it has ended.
TEST(FlowWaits, AnItemWithoutFlowsHasEnded) {
  FlowWaits waits(std::vector<Flow>{flow(1, 0, 1)},
                  {.items = {{.item = 1, .after = 0, .pause = {}}}}, 1, 2_us);
  EXPECT_THAT(waits.hear({}), ElementsAre(Release{Instant() + 2_us, 0}));
}

}  // namespace
}  // namespace eddy::lab
