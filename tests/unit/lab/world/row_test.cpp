#include "lab/world/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace eddy::lab {
namespace {

using testing::ElementsAre;

TEST(Row, GrowsAboveTheRoomThatItWasMadeFor) {
  Row<int> row;
  for (int i = 0; i < 5; ++i) row.append(i);
  EXPECT_THAT(row.all(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(row.end(), row.all().data() + 5);
}

TEST(Row, RoomIsMadeAheadAndNothingLost) {
  Row<int> row(1);
  row.append(7);
  row.reserve(100);
  const int* const first = row.all().data();
  for (int i = 1; i < 100; ++i) row.append(i);
  EXPECT_EQ(row.all().data(), first);
  EXPECT_EQ(row[0], 7);
  row.reserve(1);  // less than there is
  EXPECT_EQ(row.size(), 100u);
}

TEST(Row, KeepsInTheirOrderThoseThatItIsToldTo) {
  Row<int> row;
  for (int i = 0; i < 6; ++i) row.append(i);
  std::vector<int> asked;
  row.keep_if([&](int each) {
    asked.push_back(each);
    return each % 3 != 0;
  });
  EXPECT_THAT(asked, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(row.all(), ElementsAre(1, 2, 4, 5));
  row.keep_if([](int) { return false; });
  EXPECT_TRUE(row.empty());
}

}  // namespace
}  // namespace eddy::lab
