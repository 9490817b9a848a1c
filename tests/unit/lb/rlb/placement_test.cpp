// Where RLB puts new flows that meet a warned path, and what it does with those that the warning
// names.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "net/byte_order.h"
#include "net/congestion/destination_tag.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr size_t kMembers = 4;
constexpr LeafId kLeaf(5);
constexpr QueueId kQueue(3);
constexpr uint32_t kCulprit = 0x0a000101;
constexpr uint32_t kVictim = 0x0a000102;

// A packet whose destination can be read, as one that a switch has received.
struct alignas(64) Framed {
  rte_mbuf mbuf{};
  Packet packet{};
  std::array<uint8_t, 20> header{};

  Framed(uint64_t flow, uint32_t destination) {
    packet = make_packet(flow);
    store_be32(header.data() + 16, destination);
    packet.l2_len = 0;
  }
  Framed(const Framed&) = delete;
};
static_assert(offsetof(Framed, packet) == sizeof(rte_mbuf));

struct Rig {
  explicit Rig(const std::string& scheme, const config::RlbConfig& with = {})
      : rlb(with),
        flows(static_cast<size_t>(rlb.guard.flows)),
        selector(test::make(scheme, paths, {}, {.rlb_config = &rlb})) {}

  static Paths one_leaf() {
    PathSet set = make_set(kMembers);
    set.leaf = kLeaf;
    return Paths({set});
  }
  void warn(MemberIndex member, std::vector<uint32_t> named = {}) {
    WarningMark mark{.port = PortId(member),
                     .leaf = kLeaf,
                     .queue = kQueue,
                     .severity = 20,
                     .sequence = ++sequence,
                     .source = 100u + member,
                     .origin = 200u + member,
                     .expiry = now + 10_s};
    for (size_t i = 0; i < named.size(); ++i)
      mark.culprits[i] = {kLeaf, 10'000, destination_tag(named[i])};
    table.mark(mark);
  }
  PathView view() {
    return paths.view_with(
        now, {.warnings = &table, .paths = &paths.measured(), .flows = &flows, .slots = &slots});
  }
  MemberIndex send(uint64_t flow, uint32_t destination = kVictim) {
    now = now + 100_ns;
    for (size_t port = 0; port < kMembers; ++port)  // for schemes that look
      paths.queue(port, static_cast<uint32_t>(mix64(flow * 8 + port)) >> 16);
    Framed framed(flow, destination);
    const PathView view = this->view();
    const MemberIndex member = select_one(*selector, view, framed.packet);
    for (size_t i = 0; i < kDecisions; ++i)
      decisions[i] += view.decisions(static_cast<Decision>(i));
    return member;
  }
  uint32_t seen(Decision decision) const { return decisions[static_cast<size_t>(decision)]; }

  config::RlbConfig rlb;
  Paths paths = one_leaf();
  WarningTable table{paths.sets(), kMembers, {.culprits = true}};
  FlowPaths flows;
  FlowSlots slots{65'536};
  std::unique_ptr<Selector> selector;
  Instant now = Instant::at(1_ms);
  uint32_t sequence = 0;
  std::array<uint32_t, kDecisions> decisions{};
};

config::RlbConfig placing(config::Placement placement,
                          config::GuardMode guard = config::GuardMode::strict) {
  config::RlbConfig rlb{.preset = config::RlbPreset::standard};
  rlb.placement = placement;
  rlb.guard.mode = guard;
  rlb.recirculation.enabled = false;
  return rlb;
}

class AroundCulprits : public testing::TestWithParam<std::string> {};

// Whatever the scheme: packets to a culprit go as if nothing were warned, all others go round.
TEST_P(AroundCulprits, TheirPacketsHeedNoWarningAndOthersDo) {
  using config::GuardMode;
  for (const GuardMode guard : {GuardMode::strict, GuardMode::off}) {
    const config::RlbConfig config = placing(config::Placement::alternative, guard);
    Rig warned(GetParam(), config);
    Rig calm(GetParam(), config);
    warned.warn(0, {kCulprit});
    warned.warn(1, {kCulprit, 7, 8});
    for (uint64_t flow = 0; flow < 60; ++flow)
      ASSERT_EQ(warned.send(flow, kCulprit), calm.send(flow, kCulprit)) << flow;
    EXPECT_GT(warned.seen(Decision::culprit), 5u);
    EXPECT_EQ(warned.seen(Decision::rerouted), 0u);
    for (uint64_t flow = 1'000; flow < 1'060; ++flow) ASSERT_GE(warned.send(flow, kVictim), 2);
    EXPECT_GT(warned.seen(Decision::rerouted), 0u);
  }
}

// It is a culprit of one path, and a victim of the other.
TEST_P(AroundCulprits, AnotherPathsWarningIsHeeded) {
  Rig rig(GetParam(), placing(config::Placement::alternative));
  rig.warn(0, {kCulprit});
  rig.warn(1, {kVictim});
  for (uint64_t flow = 0; flow < 200; ++flow) ASSERT_NE(rig.send(flow, kCulprit), 1);
}

std::vector<std::string> scheme_names() {
  std::vector<std::string> names;
  for (const SchemeInfo& scheme : schemes()) names.emplace_back(scheme.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Schemes, AroundCulprits, testing::ValuesIn(scheme_names()),
                         [](const auto& info) { return info.param; });

// A list names whom it names; the warning is no worse to the rest than without it.
TEST(Culprits, AListMakesNoWarningStronger) {
  const config::RlbConfig config = placing(config::Placement::alternative);
  Rig named("ecmp", config);
  Rig plain("ecmp", config);
  named.warn(0, {1, 2, 3, 4});
  plain.warn(0);
  for (uint64_t flow = 0; flow < 500; ++flow) ASSERT_EQ(named.send(flow), plain.send(flow));
}

// A warned path of two flows that are the first of theirs: delays decide for them alone.
TEST(Placement, NewFlowsTakeTheQuickestUnwarnedPath) {
  for (const char* scheme : {"ecmp", "letflow"}) {
    Rig rig(scheme, placing(config::Placement::least_delay));
    rig.warn(0);
    rig.paths.measure(0, 0, 1_us, rig.now);
    rig.paths.measure(0, 1, 9_us, rig.now);
    rig.paths.measure(0, 2, 5_us, rig.now);
    rig.paths.measure(0, 3, 7_us, rig.now);
    uint32_t placed = 0;
    for (uint64_t flow = 0; flow < 100; ++flow) {
      const MemberIndex member = rig.send(flow);
      ASSERT_NE(member, 0);
      if (rig.seen(Decision::placed) == placed) continue;
      placed = rig.seen(Decision::placed);
      EXPECT_EQ(member, 2) << scheme;
    }
    EXPECT_GT(placed, 10u);
    EXPECT_EQ(rig.seen(Decision::rerouted), placed);
  }
}

TEST(Placement, ByTheSchemesAlternativeFlowsSpread) {
  Rig rig("ecmp", placing(config::Placement::alternative));
  rig.warn(0);
  rig.paths.measure(0, 1, 9_us, rig.now);
  rig.paths.measure(0, 2, 5_us, rig.now);
  rig.paths.measure(0, 3, 7_us, rig.now);
  std::array<int, kMembers> got{};
  for (uint64_t flow = 0; flow < 200; ++flow) ++got[rig.send(flow)];
  EXPECT_EQ(got[0], 0);
  for (const MemberIndex member : {1, 2, 3}) EXPECT_GT(got[member], 30);
}

// What is not known to be quicker is not taken for it.
TEST(Placement, WithoutMeasuresTheAlternativeStands) {
  Rig blind("ecmp", placing(config::Placement::least_delay));
  Rig plain("ecmp", placing(config::Placement::alternative));
  blind.warn(0);
  plain.warn(0);
  for (uint64_t flow = 0; flow < 200; ++flow) ASSERT_EQ(blind.send(flow), plain.send(flow));
}

// A flow that is known is moved as ever.
TEST(Placement, AFlowThatHasSentIsNotPlaced) {
  Rig rig("ecmp", placing(config::Placement::least_delay));
  const MemberIndex home = rig.send(1);
  for (MemberIndex member = 0; member < kMembers; ++member)
    rig.paths.measure(0, member, 5_us, rig.now);
  rig.paths.drained(0, home, rig.now + 10_ns);
  rig.warn(home);
  EXPECT_NE(rig.send(1), home);
  EXPECT_EQ(rig.seen(Decision::rerouted), 1u);
  EXPECT_EQ(rig.seen(Decision::placed), 0u);
}

}  // namespace
}  // namespace eddy::lb
