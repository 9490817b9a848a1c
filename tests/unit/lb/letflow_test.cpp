#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make;
using test::make_packet;
using test::make_set;
using test::Paths;
using test::select_one;

constexpr uint64_t kFlows = 64;

std::vector<MemberIndex> send(Selector& selector, const Paths& paths, Instant now) {
  std::vector<MemberIndex> members;
  for (uint64_t flow = 0; flow < kFlows; ++flow) {
    Packet packet = make_packet(flow);
    members.push_back(select_one(selector, paths.view(now), packet));
  }
  return members;
}

// Whether flows that sent at `last` still have their flowlets at `then`: 64 flows over 64 members
// all stay by chance in one of 10^115 cases.
bool keeps(const ParameterMap& parameters, Duration last, Duration then) {
  Paths paths({make_set(64)});
  const auto letflow = make("letflow", paths, parameters);
  const auto before = send(*letflow, paths, Instant::at(last));
  return send(*letflow, paths, Instant::at(then)) == before;
}

// Golden vector I-1: one-bit ageing, gap 50 us.
TEST(LetFlow, AgeBit) {
  EXPECT_TRUE(keeps({}, 49_us, 100_us - 1_ps));
  EXPECT_FALSE(keeps({}, 49_us, 100_us));
  EXPECT_TRUE(keeps({}, 51_us, 150_us - 1_ps));
  EXPECT_FALSE(keeps({}, 51_us, 150_us));
  EXPECT_TRUE(keeps({}, 50_us, 150_us - 1_ps));
  EXPECT_FALSE(keeps({}, 50_us, 150_us));
}

TEST(LetFlow, AgeBitAtTimeZeroAndAfterWeeks) {
  EXPECT_TRUE(keeps({}, 0_us, 99_us));
  EXPECT_FALSE(keeps({}, 0_us, 100_us));
  EXPECT_TRUE(keeps({}, 6'000'000_s, 6'000'000_s + 99_us));
  EXPECT_FALSE(keeps({}, 6'000'000_s, 6'000'000_s + 100_us));
  EXPECT_FALSE(keeps({}, 0_us, 50_us * 65'536));
}

// Whether 64 flows keep their flowlets over a pause, during which the clock is rebased or is not.
// It was rebased so often before.
bool keeps_over(Duration pause, Duration last, int rebases_before, bool rebase) {
  Paths paths({make_set(64)});
  const auto letflow = make("letflow", paths, {});
  for (int i = 0; i < rebases_before; ++i) letflow->rebase(Rebase());
  const auto before = send(*letflow, paths, Instant::at(Rebase::kPeriod + last));
  if (rebase) letflow->rebase(Rebase());
  const Duration then = (rebase ? Duration() : Rebase::kPeriod) + last + pause;
  return send(*letflow, paths, Instant::at(then)) == before;
}

TEST(LetFlow, EpochsGoOnThroughRebases) {
  for (int before = 0; before < 4; ++before)
    for (Duration last = 1_s; last < 1_s + 50_us; last = last + 7_us)
      for (Duration pause = 45_us; pause < 105_us; pause = pause + 3_us)
        EXPECT_EQ(keeps_over(pause, last, before, true), keeps_over(pause, last, before, false))
            << before << " rebases before, " << (last - 1_s).ps() << " ps, " << pause.ps() << " ps";
}

TEST(LetFlow, ExactGap) {
  const ParameterMap exact = {{"mode", "exact"}, {"gap", "70us"}};
  EXPECT_TRUE(keeps(exact, 13_us, 83_us));
  EXPECT_FALSE(keeps(exact, 13_us, 83_us + 1_ps));
}

// The one-bit scheme with a checker that visits entry i at phase i * gap / entries, played out.
class SweepingChecker {
 public:
  SweepingChecker(Duration gap, Duration phase) : gap_(gap), next_(phase) {}
  bool valid_at(Duration now) {
    for (; next_ <= now; next_ += gap_) {
      if (age_) valid_ = false;
      age_ = true;
    }
    return valid_;
  }
  void use(Duration now) {
    valid_at(now);
    valid_ = true;
    age_ = false;
  }

 private:
  Duration gap_;
  Duration next_;
  bool valid_ = false;
  bool age_ = false;
};

// Which of the 64 entries draw anew at `then` after a packet at `last`; with several seeds, since
// one draw in 64 finds the same member again.
MemberMask entries_that_draw_anew(Duration last, Duration then) {
  const ParameterMap swept = {{"entries", "64"}, {"gap", "64us"}, {"phase", "swept"}};
  Paths paths({make_set(64)});
  MemberMask anew = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const auto letflow = make("letflow", paths, swept, {.seed = seed});
    for (uint64_t entry = 0; entry < 64; ++entry) {
      Packet packet = make_packet(0);
      packet.order_hash = entry << 58;
      const MemberIndex member = select_one(*letflow, paths.view(Instant::at(last)), packet);
      if (select_one(*letflow, paths.view(Instant::at(then)), packet) != member)
        anew |= uint64_t{1} << entry;
    }
  }
  return anew;
}

TEST(LetFlow, SweptPhaseIsTheOneBitSchemeOfEachEntry) {
  const Duration last = 200_us + 500_ns;
  for (const Duration idle : {64_us, 75_us + 500_ns, 101_us, 127_us, 128_us}) {
    MemberMask expected = 0;
    for (uint64_t entry = 0; entry < 64; ++entry) {
      SweepingChecker checker(64_us, 1_us * static_cast<int64_t>(entry));
      checker.use(last);
      if (!checker.valid_at(last + idle)) expected |= uint64_t{1} << entry;
    }
    EXPECT_EQ(entries_that_draw_anew(last, last + idle), expected) << "idle " << idle.ns() << " ns";
  }
}

TEST(LetFlow, NewFlowletsDrawUniformly) {
  Paths paths({make_set(4)});
  const auto letflow = make("letflow", paths);
  std::array<int, 4> count{};
  for (int round = 0; round < 400; ++round)
    for (MemberIndex member : send(*letflow, paths, Instant::at(1_ms * round))) ++count[member];
  for (int n : count) EXPECT_NEAR(n, 6'400, 5 * 70);
}

TEST(LetFlow, DrawsByWeightWhenTold) {
  const std::array<uint16_t, 2> weights = {3, 1};
  Paths paths({make_set(weights)});
  const auto letflow = make("letflow", paths, {{"weighted", "true"}});
  int first = 0;
  for (int round = 0; round < 200; ++round)
    for (MemberIndex member : send(*letflow, paths, Instant::at(1_ms * round)))
      first += member == 0 ? 1 : 0;
  EXPECT_NEAR(first, 9'600, 5 * 49);
}

TEST(LetFlow, ADeadMembersFlowsMoveAndTheOthersStay) {
  Paths paths({make_set(8)});
  const auto letflow = make("letflow", paths);
  const auto before = send(*letflow, paths, Instant::at(0_us));
  paths.live() &= ~bit_of(before[0]);
  const auto after = send(*letflow, paths, Instant::at(1_us));
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_NE(after[i], before[0]);
    EXPECT_TRUE(before[i] == before[0] || after[i] == before[i]);
  }
  paths.live() = test::first_members(8);
  EXPECT_EQ(send(*letflow, paths, Instant::at(2_us)), after);
}

// Two flows in one entry, towards sets that have few members in common: neither moves the other.
TEST(LetFlow, AnEntrySharedByDifferentSetsDisturbsNeither) {
  Paths paths({make_set(64), make_set(2, 64)});
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto letflow = make("letflow", paths, {}, {.seed = seed});
    Packet packet = make_packet(5);
    const MemberIndex large = select_one(*letflow, paths.view(), packet, 0);
    const MemberIndex small = select_one(*letflow, paths.view(), packet, 1);
    EXPECT_LT(small, 2);
    for (int i = 1; i < 100; ++i) {
      const PathView view = paths.view(Instant::at(10_us * i));
      EXPECT_EQ(select_one(*letflow, view, packet, 0), large);
      EXPECT_EQ(select_one(*letflow, view, packet, 1), small);
    }
  }
}

}  // namespace
}  // namespace eddy::lb
