// RLB around every registered scheme.
#include "lb/rlb/rlb.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr size_t kMembers = 4;
constexpr QueueId kQueue(3);
constexpr LeafId kLeaf(5);

class RlbAround : public testing::TestWithParam<std::string> {
 protected:
  static Paths one_leaf() {
    PathSet set = make_set(kMembers);
    set.leaf = kLeaf;
    return Paths({set});
  }
  void warn(MemberIndex member, uint8_t severity = 20, uint32_t origin = 0) {
    table.mark({.port = PortId(member),
                .leaf = kLeaf,
                .queue = QueueId(3),
                .severity = severity,
                .sequence = ++sequence_,
                .source = 100u + member,
                .origin = origin == 0 ? 200u + member : origin,
                .expiry = Instant::at(1_s)});
  }
  // The member that a packet of a new flow gets, with whatever waits at each port.
  MemberIndex choose(Selector& selector) {
    for (size_t port = 0; port < kMembers; ++port)
      paths.queue(port,
                  static_cast<uint32_t>(mix64(static_cast<uint64_t>(flow_) * 8 + port)) >> 16);
    view_ = paths.view(Instant::at(10_us * ++flow_), &table);
    Packet packet = make_packet(static_cast<uint64_t>(flow_));
    return select_one(selector, view_, packet);
  }
  // RLB stands aside now and then, and moves nothing.
  void expect_scheme_decides() {
    uint32_t suspended = 0;
    std::array<int, kMembers> got{};
    for (int i = 0; i < 400; ++i) {
      ++got[choose(*wrapped)];
      suspended += view_.decisions(Decision::suspended);
      EXPECT_EQ(view_.decisions(Decision::rerouted), 0u);
    }
    for (const int packets : got) EXPECT_GT(packets, 0);
    EXPECT_GT(suspended, 0u);
  }

  Paths paths = one_leaf();
  WarningTable table{paths.sets(), kMembers};
  std::unique_ptr<Selector> wrapped = test::make(GetParam(), paths, {}, {.rlb = true});
  PathView view_ = paths.view();
  int64_t flow_ = 0;

 private:
  uint32_t sequence_ = 0;
};

TEST_P(RlbAround, ChoosesAsTheSchemeWhileNothingIsWarned) {
  const auto bare = test::make(GetParam(), paths);
  for (int64_t i = 0; i < 1'000; ++i) {
    Packet packet = make_packet(static_cast<uint64_t>(i % 37));
    Packet same = packet;
    const Instant now = Instant::at(7_us * i);
    const PathView plain = paths.view(now);
    const PathView warned = paths.view(now, &table);
    ASSERT_EQ(select_one(*wrapped, warned, packet), select_one(*bare, plain, same)) << i;
  }
}

TEST_P(RlbAround, LeavesNothingOnAWarnedPathWhileAnotherIsNot) {
  warn(0);
  warn(1);
  uint32_t rerouted = 0;
  std::array<int, kMembers> got{};
  for (int i = 0; i < 400; ++i) {
    ++got[choose(*wrapped)];
    rerouted += view_.decisions(Decision::rerouted);
  }
  EXPECT_EQ(got[0] + got[1], 0);
  EXPECT_GT(got[2], 0);
  EXPECT_GT(got[3], 0);
  EXPECT_GT(rerouted, 100u);
  // Hermes wants the path on which least was sent, and on the warned ones nothing was.
  EXPECT_LT(rerouted, GetParam() == "hermes" ? 401u : 300u);
}

TEST_P(RlbAround, AnotherQueueIsNotConcerned) {
  warn(0);
  const auto bare = test::make(GetParam(), paths);
  for (uint64_t i = 0; i < 200; ++i) {
    Packet packet = make_packet(i);
    packet.queue = QueueId(4);
    Packet same = packet;
    const PathView warned = paths.view({}, &table);
    ASSERT_EQ(select_one(*wrapped, warned, packet), select_one(*bare, paths.view(), same));
  }
}

TEST_P(RlbAround, TakesTheLeastBadWhenAllAreWarned) {
  for (MemberIndex member = 0; member < kMembers; ++member) warn(member, member == 2 ? 5 : 40);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(choose(*wrapped), 2);
}

TEST_P(RlbAround, StandsAsideWhenTheReceiversLeafWarnsOfMostPaths) {
  constexpr uint32_t kReceiver = 99;
  for (MemberIndex member = 0; member < 3; ++member) warn(member, 30, kReceiver);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(choose(*wrapped), 3) << "a path is left";
    EXPECT_EQ(view_.decisions(Decision::suspended), 0u);
  }
  warn(3, 10);
  expect_scheme_decides();
}

// As the papers' presets have it: although a path is left.
TEST_P(RlbAround, StandsAsideEarlyWhereThatIsWanted) {
  config::RlbConfig rlb{.preset = config::RlbPreset::standard};
  rlb.suspend = config::Suspend::most;
  wrapped = test::make(GetParam(), paths, {}, {.rlb_config = &rlb});
  constexpr uint32_t kReceiver = 99;
  for (MemberIndex member = 0; member < 3; ++member) warn(member, 30, kReceiver);
  expect_scheme_decides();
}

TEST_P(RlbAround, OneLivePathIsTakenWarnedOrNot) {
  paths.live() = 0b0100;
  warn(2);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(choose(*wrapped), 2);
    EXPECT_EQ(view_.decisions(Decision::suspended) + view_.decisions(Decision::all_warned), 0u)
        << "there was nothing to decide";
  }
}

TEST_P(RlbAround, RoceRepliesAreNotMoved) {
  warn(0);
  const auto bare = test::make(GetParam(), paths);
  for (uint64_t i = 0; i < 200; ++i) {
    Packet reply = make_packet(i);
    reply.set(kPacketRoceControl);
    Packet same = reply;
    const PathView warned = paths.view({}, &table);
    ASSERT_EQ(select_one(*wrapped, warned, reply), select_one(*bare, paths.view(), same));
  }
}

TEST_P(RlbAround, RoceRepliesThatGoByTheSchemeAreMovedAsDataIs) {
  warn(0);
  const auto asked = test::make(GetParam(), paths, {}, {.rlb = true, .control_by_scheme = true});
  const PathView warned = paths.view({}, &table);
  for (uint64_t i = 0; i < 200; ++i) {
    Packet data = make_packet(i);
    Packet reply = data;
    reply.set(kPacketRoceControl);
    ASSERT_NE(select_one(*asked, warned, reply), 0) << "the warned one";
    ASSERT_EQ(reply.member, select_one(*wrapped, warned, data));
  }
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const SchemeInfo& scheme : schemes()) names.emplace_back(scheme.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Schemes, RlbAround, testing::ValuesIn(scheme_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace eddy::lb
