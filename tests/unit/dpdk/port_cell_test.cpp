#include "switch/dpdk/port_cell.h"

#include <gtest/gtest.h>

namespace eddy {
namespace {

TEST(PortCell, IsAdoptedWhileUsableAndReleasedAfterwards) {
  PortCell cell;
  EXPECT_FALSE(cell.adopt());
  EXPECT_TRUE(cell.released());
  cell.usable = true;
  EXPECT_TRUE(cell.adopt());
  cell.take_back();
  EXPECT_FALSE(cell.released()) << "the worker has not heard of it";
  EXPECT_FALSE(cell.adopt());
  EXPECT_TRUE(cell.released());
}

// In the middle of adopting, the worker may already have read that it may go in.
TEST(PortCell, IsNotReleasedWhileTheWorkerAdopts) {
  PortCell cell;
  cell.usable = true;
  cell.announce();
  cell.take_back();
  EXPECT_FALSE(cell.released());
  EXPECT_FALSE(cell.settle());
  EXPECT_TRUE(cell.released());
}

}  // namespace
}  // namespace eddy
