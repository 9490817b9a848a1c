#include "net/congestion/destination_tag.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace eddy {
namespace {

TEST(DestinationTag, IsThatOfTheAddressInTheHeader) {
  std::array<uint8_t, 40> header{};
  store_be32(header.data() + 16, 0x0a000102);
  EXPECT_EQ(destination_tag_of(header.data(), true), destination_tag(0x0a000102));
  store_be64(header.data() + 24, 0xfd00'0000'0000'0001);
  store_be64(header.data() + 32, 0x0a000102);
  EXPECT_EQ(destination_tag_of(header.data(), false),
            destination_tag(0xfd00'0000'0000'0001, 0x0a000102));
}

// What goes over the wire: another value is another protocol.
TEST(DestinationTag, IsTheSameInEveryRelease) {
  EXPECT_EQ(destination_tag(0x0a000101), 0x371dc05eu);
  EXPECT_EQ(destination_tag(0xfd00'0000'0000'0000, 1), 0x2ccc5c7cu);
}

TEST(DestinationTag, TellsHostsOfAFabricApart) {
  std::set<uint32_t> tags;
  for (uint32_t leaf = 1; leaf <= 256; ++leaf)
    for (uint32_t host = 1; host <= 64; ++host)
      tags.insert(destination_tag(10u << 24 | leaf << 8 | host));
  EXPECT_EQ(tags.size(), 256u * 64u);
  EXPECT_EQ(tags.count(0), 0u);
}

}  // namespace
}  // namespace eddy
