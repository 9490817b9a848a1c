// A preview says what select() would do, and leaves no trace: every scheme, bare and with RLB,
// beside a twin that nobody asks.
#include "lb/preview.h"

#include <gtest/gtest.h>

#include <string>

#include "lb/registry.h"
#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr size_t kMembers = 4;
constexpr LeafId kLeaf(5);

Paths one_leaf() {
  PathSet set = make_set(kMembers);
  set.leaf = kLeaf;
  return Paths({set});
}

// A selector with all that it looks at.
struct Twin {
  Twin(const std::string& scheme, bool with_rlb,
       const config::RlbConfig& with = {.preset = config::RlbPreset::standard})
      : rlb(with),
        flows(static_cast<size_t>(rlb.guard.flows)),
        selector(make(scheme, paths, {}, {.rlb_config = with_rlb ? &rlb : nullptr})),
        warned(with_rlb) {}

  PathView view() {
    return paths.view_with(now, {.warnings = warned ? &table : nullptr,
                                 .paths = &paths.measured(),
                                 .flows = warned ? &flows : nullptr});
  }
  void warn(MemberIndex member, bool on) {
    table.mark({.port = PortId(member),
                .leaf = kLeaf,
                .queue = QueueId(3),
                .severity = static_cast<uint8_t>(on ? 20 : 0),
                .sequence = ++sequence,
                .source = 100u + member,
                .origin = 200u + member,
                .expiry = now + 10_s});
  }

  config::RlbConfig rlb;
  Paths paths = one_leaf();
  WarningTable table{paths.sets(), kMembers};
  FlowPaths flows;
  std::unique_ptr<Selector> selector;
  bool warned;
  Instant now = Instant::at(1_ms);
  uint32_t sequence = 0;
};

// What befalls the paths, drawn: the same for both.
void befall(Twin& twin, uint32_t what, uint32_t how) {
  const auto member = static_cast<MemberIndex>(how % kMembers);
  const uint32_t size = how / kMembers;
  switch (what) {
    case 0:
      return twin.paths.queue(member, size % 200'000);
    case 1:
      return twin.paths.load(member, size % 100, twin.now);
    case 2:
      return twin.paths.measure(0, member, Duration::microseconds(8 + size % 60), twin.now);
    case 3:
      twin.paths.port(member).paused_queues = static_cast<uint8_t>(size % 2 == 0 ? 0 : 1 << 3);
      return;
    case 4:
      return twin.paths.drained(0, member, twin.now);
    case 5:
      if (twin.warned) twin.warn(member, size % 2 == 0);
      return;
    case 6:
      twin.paths.live() = size % 3 == 0 ? MemberMask{0xf} & ~(MemberMask{1} << member) : 0xf;
      return;
  }
}

struct Case {
  std::string scheme;
  bool rlb;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.scheme << (of.rlb ? " with RLB" : "");
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const SchemeInfo& scheme : schemes())
    for (const bool rlb : {false, true}) all.push_back({std::string(scheme.name), rlb});
  return all;
}
class Preview : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Preview, testing::ValuesIn(cases()), [](const auto& info) {
  return info.param.scheme + (info.param.rlb ? "_rlb" : "");
});

TEST_P(Preview, SaysWhatIsChosenAndLeavesNoTrace) {
  Twin asked(GetParam().scheme, GetParam().rlb);
  Twin alone(GetParam().scheme, GetParam().rlb);
  ASSERT_NE(asked.selector, nullptr);
  RandomStream draw(7, 1, 1);
  size_t others = 0;
  MemberIndex last = 0;
  for (int i = 0; i < 6'000; ++i) {
    // Long silences, too: in them guards fall asleep and looks grow old.
    const auto later = Duration::nanoseconds(draw.below(100) == 0 ? 2'000'000 : draw.below(3'000));
    const uint32_t what = draw.below(7);
    const uint32_t how = draw.next();
    for (Twin* twin : {&asked, &alone}) {
      twin->now = twin->now + later;
      befall(*twin, what, how);
    }
    const uint64_t flow = draw.below(40);
    if (draw.below(2) == 0) {  // about another one, and no packet comes of it
      Packet other = make_packet(draw.below(60));
      const Packet before = other;
      (void)asked.selector->preview(asked.view(), other, 0);
      EXPECT_EQ(std::memcmp(&other, &before, sizeof other), 0);
      continue;
    }
    Packet packet = make_packet(flow);
    const lb::Preview said = asked.selector->preview(asked.view(), packet, 0);
    const MemberIndex member = select_one(*asked.selector, asked.view(), packet);
    ASSERT_EQ(said.by, lb::Preview::By::scheme);
    ASSERT_EQ(said.member, member) << "packet " << i;
    Packet same = make_packet(flow);
    ASSERT_EQ(select_one(*alone.selector, alone.view(), same), member) << "packet " << i;
    others += member != last ? 1 : 0;
    last = member;
  }
  EXPECT_GT(others, 100u);
}

TEST(PreviewOf, ControlTrafficIsByEcmp) {
  Twin twin("letflow", false);
  Packet packet = make_packet(1);
  packet.flags = kPacketIp | kPacketRoce | kPacketRoceControl;
  const lb::Preview said = twin.selector->preview(twin.view(), packet, 0);
  EXPECT_EQ(said.by, lb::Preview::By::ecmp);
  EXPECT_EQ(said.reason, Reason::hash);
  EXPECT_EQ(select_one(*twin.selector, twin.view(), packet), said.member);
}

TEST(PreviewOf, AFlowletThatGoesOnAndOneThatBegins) {
  Twin twin("letflow", false);
  Packet packet = make_packet(1);
  EXPECT_EQ(twin.selector->preview(twin.view(), packet, 0).reason, Reason::begins);
  const MemberIndex member = select_one(*twin.selector, twin.view(), packet);
  const lb::Preview said = twin.selector->preview(twin.view(), packet, 0);
  EXPECT_EQ(said.reason, Reason::keeps);
  EXPECT_EQ(said.member, member);
  twin.paths.live() &= ~(MemberMask{1} << member);
  EXPECT_EQ(twin.selector->preview(twin.view(), packet, 0).reason, Reason::leaves);
}

// A packet asked about while a path was warned does not keep the guard awake.
TEST(PreviewOf, TheOrderGuardSleepsOn) {
  config::RlbConfig moves{.preset = config::RlbPreset::standard};
  moves.guard.mode = config::GuardMode::paced;
  moves.guard.scope = config::GuardScope::moves;
  moves.granularity = config::Granularity::unit;
  Twin asked("letflow", true, moves);
  Twin alone("letflow", true, moves);
  for (Twin* twin : {&asked, &alone}) twin->warn(1, true);
  Packet packet = make_packet(1);
  (void)asked.selector->preview(asked.view(), packet, 0);
  for (Twin* twin : {&asked, &alone}) {
    twin->warn(1, false);
    twin->now = twin->now + 1_us;
  }
  for (uint64_t flow = 0; flow < 20; ++flow) {
    Packet a = make_packet(flow);
    Packet b = make_packet(flow);
    ASSERT_EQ(select_one(*asked.selector, asked.view(), a),
              select_one(*alone.selector, alone.view(), b));
  }
  EXPECT_EQ(asked.flows.flows(), 0u);  // that a guard which is awake watches
  EXPECT_EQ(alone.flows.flows(), 0u);
}

}  // namespace
}  // namespace eddy::lb
