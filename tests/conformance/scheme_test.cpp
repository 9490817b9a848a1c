// The conformance suite over every registered scheme, and what the suite itself must do to be worth
// anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "lab/conformance/allocations.h"
#include "lab/conformance/made.h"
#include "lab/conformance/run.h"
#include "lab/conformance/suite.h"

namespace eddy::conformance {
namespace {

using lb::SchemeInfo;

struct Case {
  SchemeInfo scheme;
  Check check;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const SchemeInfo& scheme : lb::probed_schemes())
    for (const Check& check : checks())
      if (!check.ordered || scheme.promises_order) all.push_back({scheme, check});
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.scheme.name) + "_" + std::string(info.param.check.name);
}

class SchemeConformance : public testing::TestWithParam<Case> {};

TEST_P(SchemeConformance, Holds) {
  const CheckResult result = run_check(GetParam().check, GetParam().scheme);
  EXPECT_GT(result.variants, 0u);
  for (const std::string& problem : result.problems)
    ADD_FAILURE() << problem << " (seed " << kSeed << ")";
}

INSTANTIATE_TEST_SUITE_P(Registry, SchemeConformance, testing::ValuesIn(cases()), name_of);

const SchemeInfo& probed(std::string_view name) {
  for (const SchemeInfo& scheme : lb::probed_schemes())
    if (scheme.name == name) return scheme;
  return lb::probed_schemes().front();
}

RunResult warned_run(std::string_view scheme, const RlbCase& rlb) {
  Problems problems;
  const Variant variant{{}, &rlb};
  const auto selector = Maker{probed(scheme), variant, problems}.usual(six_sets());
  return run(*selector, {.warned = true, .loop = true});
}

// A warned world makes RLB do all that it can do; else the checks with RLB would show little.
TEST(ConformanceWorld, GivesRlbSomethingToDecide) {
  std::array<uint32_t, lb::kDecisions> decisions{};
  std::array<uint32_t, lb::kGuardEvents> guarded{};
  for (const RlbCase& rlb : rlb_cases()) {
    const RunResult result = warned_run("letflow", rlb);
    for (size_t i = 0; i < decisions.size(); ++i) decisions[i] += result.decisions[i];
    for (size_t i = 0; i < guarded.size(); ++i) guarded[i] += result.guarded[i];
    EXPECT_GT(result.went_round, 10u) << rlb.name;
    EXPECT_GT(result.came_back, 10u) << rlb.name;
    EXPECT_GT(result.followed, 0u) << rlb.name;
  }
  // What is off by default has no case here, and packets without headers name no culprit:
  // tests/unit/lb/rlb/placement_test.cpp.
  const auto usual = static_cast<size_t>(lb::Decision::forced);
  for (size_t i = 1; i <= usual; ++i) EXPECT_GT(decisions[i], 0u) << "decision " << i;
  // Patience is off by default, too: GuardedBursts/Patient, tests/unit/lb/rlb/patience_test.cpp.
  const auto usual_of_guard = static_cast<size_t>(lb::GuardEvent::replaced);
  for (size_t i = 0; i <= usual_of_guard; ++i) EXPECT_GT(guarded[i], 0u) << "guard " << i;
}

TEST(ConformanceWorld, CountsAllocations) {
  const uint64_t before = allocations();
  const auto kept = std::make_unique<std::vector<int>>(3);
  EXPECT_EQ(allocations(), before + 2);
}

TEST(Conformance, LeavesOutWhatNeedsProbesWhereThereAreNone) {
  const SchemeInfo& bare = *lb::find_scheme("ecmp");
  size_t left_out = 0;
  for (const Check& check : checks()) left_out += variants_for(check, bare).empty() ? 1 : 0;
  EXPECT_EQ(left_out, 5u);
  for (const Check& check : checks())
    EXPECT_FALSE(variants_for(check, probed("ecmp")).empty()) << check.name;
}

// What the schemes below have in common: none of them is as it should be.
struct Faulty {
  using Token = lb::NoToken;
  static constexpr std::string_view kSummary = "what a check should find";
  static constexpr bool kPromisesOrder = false;
  struct Parameters {
    int64_t unused = 0;
  };
  static constexpr auto parameters() {
    return std::array{
        lb::ranged<&Parameters::unused>("unused", 0, 1, {"is not looked at", "nowhere"})};
  }
  Faulty(const lb::SelectorInit&, const Parameters&) {}
  void commit(const lb::PathView&, const Packet&, uint16_t, lb::MemberIndex, const Token&) const {}

 protected:
  static lb::MemberIndex one_of(lb::MemberMask members, const Packet& packet) {
    return lb::random_of(members, static_cast<uint32_t>(lb::mix64(packet.balance_hash)));
  }
};

// Proposes a member that does not live, and knows no other.
struct Dead : Faulty {
  using Faulty::Faulty;
  lb::Proposal<Token> propose(const lb::PathView& view, const Packet&, uint16_t set) const {
    const auto dead = lb::test::first_members(view.set(set).count) & ~view.live(set);
    return {lb::first_of(dead != 0 ? dead : view.live(set))};
  }
  lb::MemberIndex alternative(const lb::PathView& view, const Packet& packet, uint16_t set,
                              lb::MemberMask) const {
    return propose(view, packet, set).member;
  }
};

// Has no other member to offer than the one that it proposed.
struct Stubborn : Faulty {
  using Faulty::Faulty;
  lb::Proposal<Token> propose(const lb::PathView& view, const Packet& packet, uint16_t set) const {
    return {one_of(view.live(set), packet)};
  }
  lb::MemberIndex alternative(const lb::PathView& view, const Packet& packet, uint16_t set,
                              lb::MemberMask) const {
    return propose(view, packet, set).member;
  }
};

// Takes no member again that was dead once.
struct Grudging : Faulty {
  using Faulty::Faulty;
  lb::Proposal<Token> propose(const lb::PathView& view, const Packet& packet, uint16_t set) const {
    return {one_of(forgiven(view, set), packet)};
  }
  lb::MemberIndex alternative(const lb::PathView& view, const Packet& packet, uint16_t set,
                              lb::MemberMask tried) const {
    return one_of(view.live(set) & ~tried, packet);
  }
  void commit(const lb::PathView& view, const Packet&, uint16_t set, lb::MemberIndex,
              const Token&) {
    gone_ |= lb::test::first_members(view.set(set).count) & ~view.live(set);
  }

 private:
  lb::MemberMask forgiven(const lb::PathView& view, uint16_t set) const {
    const lb::MemberMask good = view.live(set) & ~gone_;
    return good != 0 ? good : view.live(set);
  }
  lb::MemberMask gone_ = 0;
};

CheckResult result_of(std::string_view check, const SchemeInfo& scheme) {
  for (const Check& each : checks())
    if (each.name == check) return run_check(each, scheme);
  return {};
}

// What would not come to an end with such a scheme is not begun.
TEST(Conformance, ADeadMemberIsFoundAndEndsTheChecks) {
  const auto results = run_checks(lb::describe_with_probes<Dead>("dead"));
  ASSERT_EQ(results.size(), checks().size());
  ASSERT_FALSE(results[0].problems.empty());
  EXPECT_THAT(results[0].problems.front(), testing::HasSubstr("took a member that does not live"));
  for (size_t i = 1; i < results.size(); ++i) EXPECT_EQ(results[i].variants, 0u);
}

TEST(Conformance, AnAlternativeThatIsTheSameMemberIsFound) {
  const auto result =
      result_of("wrapper_may_take_the_second", lb::describe_with_probes<Stubborn>("stubborn"));
  ASSERT_FALSE(result.problems.empty());
  EXPECT_THAT(result.problems,
              testing::Each(testing::HasSubstr("alternatives are what was tried")));
}

TEST(Conformance, AMemberThatIsNotUsedWhenItIsBackIsFound) {
  const auto scheme = lb::describe_with_probes<Grudging>("grudging");
  const auto result = result_of("member_leaves_and_returns", scheme);
  ASSERT_FALSE(result.problems.empty());
  EXPECT_THAT(result.problems, testing::Each(testing::HasSubstr("of members 0x1f it used 0x17")));
  EXPECT_TRUE(result_of("one_member_and_sixty_four", scheme).problems.empty())
      << "no other check of members finds it";
}

TEST(SchemeStreams, ShardsDrawApart) {
  for (const SchemeInfo& scheme : lb::schemes()) {
    const lb::test::Paths paths = six_sets();
    const auto of_shard = [&](uint8_t shard) {
      return run(*lb::test::make(scheme.name, paths, {}, {.shard = shard}), {}).octets;
    };
    const bool only_hashes = scheme.name == "ecmp" || scheme.name == "wcmp" ||
                             scheme.name == "hula" || scheme.name == "minimal";
    EXPECT_EQ(of_shard(0) == of_shard(1), only_hashes) << scheme.name;
  }
}

}  // namespace
}  // namespace eddy::conformance
