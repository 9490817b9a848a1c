#include <gtest/gtest.h>

#include <map>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

// Members 0 and 1 are the shortest.
PathSet with_detours(size_t count = 8, size_t first_port = 0) {
  PathSet set = make_set(count, first_port);
  for (size_t i = 2; i < count; ++i) set.members[i].detour = true;
  return set;
}
constexpr MemberMask kShortest = 0b11;

std::unique_ptr<Selector> valiant_by_packet(const Paths& paths) {
  return make("valiant", paths, {{"granularity", "packet"}});
}

TEST(Valiant, EachPacketTakesARandomDetour) {
  Paths paths({with_detours()});
  const auto valiant = valiant_by_packet(paths);
  std::map<MemberIndex, int> taken;
  for (int i = 0; i < 6'000; ++i) {
    Packet packet = make_packet(1);
    ++taken[select_one(*valiant, paths.view(), packet)];
  }
  EXPECT_EQ(taken.size(), 6u);
  EXPECT_FALSE(taken.contains(0) || taken.contains(1));
  for (const auto& [member, packets] : taken) EXPECT_NEAR(packets, 1'000, 150) << int{member};
}

TEST(Valiant, DeadDetoursAreLeftOut) {
  Paths paths({with_detours()});
  const auto valiant = valiant_by_packet(paths);
  paths.live() = 0b10100011;
  MemberMask used = 0;
  for (int i = 0; i < 200; ++i) {
    Packet packet = make_packet(1);
    used |= bit_of(select_one(*valiant, paths.view(), packet));
  }
  EXPECT_EQ(used, 0b10100000u);
}

TEST(Valiant, WithoutDetoursThatLiveTheShortestServe) {
  Paths paths({with_detours()});
  const auto valiant = valiant_by_packet(paths);
  paths.live() = kShortest;
  MemberMask used = 0;
  for (int i = 0; i < 200; ++i) {
    Packet packet = make_packet(1);
    used |= bit_of(select_one(*valiant, paths.view(), packet));
  }
  EXPECT_EQ(used, kShortest);
}

// It has begun elsewhere: from here on the shortest way, by hash, as ecmp would send it.
TEST(Valiant, APacketOnItsWayTakesNoDetour) {
  Paths paths({with_detours()});
  const auto valiant = make("valiant", paths);
  const auto ecmp = make("ecmp", paths);
  MemberMask used = 0;
  for (uint64_t flow = 0; flow < 300; ++flow) {
    Packet packet = make_packet(flow), same = make_packet(flow);
    packet.set(kPacketShim);
    used |= bit_of(select_one(*valiant, paths.view(), packet));
    EXPECT_EQ(packet.member, select_one(*ecmp, paths.view(), same));
  }
  EXPECT_EQ(used, kShortest);
  EXPECT_EQ(valiant->flow_table({}, 0, 65'536).used, 0u);  // and is no flow of ours
  paths.live() = 0b10;
  for (uint64_t flow = 0; flow < 50; ++flow) {
    Packet packet = make_packet(flow);
    packet.set(kPacketShim);
    EXPECT_EQ(select_one(*valiant, paths.view(), packet), 1);
  }
}

// Nor does what no scheme is asked for.
TEST(Valiant, RoceControlTakesNoDetour) {
  Paths paths({with_detours()});
  const auto valiant = valiant_by_packet(paths);
  for (uint64_t flow = 0; flow < 300; ++flow) {
    Packet packet = make_packet(flow);
    packet.set(kPacketRoceControl);
    EXPECT_TRUE(contains(kShortest, select_one(*valiant, paths.view(), packet)));
  }
}

TEST(Valiant, AFlowletKeepsItsPathUntilItPauses) {
  Paths paths({with_detours(64)});
  const auto valiant = make("valiant", paths, {{"gap", "50us"}});
  Instant now;
  const auto member = [&] {
    Packet packet = make_packet(7);
    return select_one(*valiant, paths.view(now), packet);
  };
  const MemberIndex first = member();
  for (int i = 0; i < 100; ++i) {
    now = now + 50_us;  // not longer
    EXPECT_EQ(member(), first);
  }
  MemberMask used = 0;
  for (int i = 0; i < 100; ++i) {
    now = now + 50_us + Duration::picoseconds(1);
    used |= bit_of(member());
  }
  EXPECT_GT(count_of(used), 30u);
  const MemberIndex last = member();
  paths.live() &= ~bit_of(last);  // or until the path is gone
  EXPECT_NE(member(), last);
}

TEST(Valiant, TheTableForgetsTheOldestFlow) {
  Paths paths({with_detours(64)});
  const auto valiant = make("valiant", paths, {{"flows", "64"}});
  for (uint64_t flow = 0; flow < 1'000; ++flow) {
    Packet packet = make_packet(flow);
    EXPECT_FALSE(contains(kShortest, select_one(*valiant, paths.view(), packet)));
  }
  const FlowTableUse use = valiant->flow_table({}, 0, 64);
  EXPECT_EQ(use.places, 64u);
  EXPECT_EQ(use.used, 64u);
}

TEST(Valiant, AsksForDetoursInThreeChannels) {
  for (const auto name : {"valiant", "ugal"}) {
    const SchemeInfo* info = find_scheme(name);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->grouped.channels, 3);
    EXPECT_TRUE(info->grouped.detours);
    EXPECT_EQ(info->needs, ShimNeed::none);  // its shims are for channels, and measure nothing
  }
  EXPECT_EQ(find_scheme("ecmp")->grouped.channels, 0);
}

}  // namespace
}  // namespace eddy::lb
