// The agents that stand by themselves: who probes idle paths, and who tells of loads in turn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "lb/agents/idle_prober.h"
#include "lb/agents/load_reports.h"
#include "lb/registry.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;

// A leaf whose paths are all this shard's; what is sent is kept.
class Alone final : public Voice {
 public:
  explicit Alone(std::span<const PathSet> sets)
      : sets_(sets), live_(sets.size(), ~MemberMask{0}), table_(sets, {.base_rtt = 8_us}) {}

  PathView view() override { return {now, sets_, live_.data(), nullptr}; }
  LeafId leaf() const override { return LeafId(1); }
  PathTable* paths() override { return &table_; }
  bool is_own_set(uint16_t set) const override { return set != not_own; }
  bool owns(PathKey path) const override { return path.member != of_another_shard; }
  bool wants_answer(PathKey path) const override { return path.member == awaited; }
  bool stamps_prove() const override { return proves; }
  void wake_others() override { ++woken; }
  Duration proof_lag() const override { return 2_us; }
  bool send(const Utterance& utterance) override {
    EXPECT_EQ(utterance.message.shim.kind, ShimKind::probe);
    sent.push_back({utterance.path.set, utterance.path.member});
    return true;
  }
  void disbelieve(PortId) override {}

  Instant now = Instant::at(1'000_us);
  std::vector<std::pair<uint16_t, MemberIndex>> sent;
  uint16_t not_own = UINT16_MAX;
  MemberIndex of_another_shard = UINT8_MAX;
  MemberIndex awaited = UINT8_MAX;
  bool proves = true;
  int woken = 0;

 private:
  std::span<const PathSet> sets_;
  std::vector<MemberMask> live_;
  PathTable table_;
};

struct AgentRig {
  std::array<PathSet, 2> sets = {test::make_set(3), test::make_set(2)};
  Alone voice{sets};
  IdleProber::Plan plan{.sets = 2, .first = 1, .round = 40_us, .probes = true, .rest = 30_us};

  // Looks until `end`; after each one its time.
  std::vector<Duration> run(IdleProber& prober, Duration time) {
    const Instant from = voice.now;
    std::vector<Duration> looks;
    while (prober.next_deadline() <= from + time) {
      voice.now = std::max(voice.now, prober.next_deadline());
      prober.on_timers(voice);
      looks.push_back(voice.now - from);
    }
    return looks;
  }
};

TEST(IdleProber, LooksAtOneSetAfterTheOtherOnceARound) {
  AgentRig rig;
  IdleProber prober(rig.plan);
  EXPECT_THAT(rig.run(prober, 60_us), ElementsAre(0_us, 20_us, 40_us, 60_us));
  using Path = std::pair<uint16_t, MemberIndex>;
  EXPECT_EQ(rig.voice.sent,
            (std::vector<Path>{
                {1, 0}, {1, 1}, {0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {0, 0}, {0, 1}, {0, 2}}));
}

TEST(IdleProber, ProbesNoPathThatIsInUseOrAnothers) {
  AgentRig rig;
  IdleProber prober(rig.plan);
  const uint32_t now_ns = PathRecord::wire_time(rig.voice.now);
  rig.voice.paths()->at(0, 0).requested_ns.store(now_ns);
  rig.voice.of_another_shard = 1;
  rig.voice.not_own = 1;
  rig.run(prober, 20_us);
  using Path = std::pair<uint16_t, MemberIndex>;
  EXPECT_EQ(rig.voice.sent, (std::vector<Path>{{0, 2}}));
}

TEST(IdleProber, APathIsIdleFromItsRestOn) {
  for (const uint32_t ago : {29'999u, 30'000u}) {
    AgentRig rig;
    rig.plan.first = 0;
    IdleProber prober(rig.plan);
    for (MemberIndex i = 0; i < 3; ++i)
      rig.voice.paths()->at(0, i).requested_ns.store(PathRecord::wire_time(rig.voice.now) - ago);
    rig.run(prober, 0_us);
    EXPECT_EQ(rig.voice.sent.size(), ago < 30'000 ? 0u : 3u);
  }
}

TEST(IdleProber, WithoutProbesItAsksOnlyWhatADetectorWaitsFor) {
  AgentRig rig;
  rig.plan.probes = false;
  IdleProber prober(rig.plan);
  rig.run(prober, 100_us);
  EXPECT_TRUE(rig.voice.sent.empty());
  rig.voice.awaited = 1;
  rig.run(prober, 20_us);
  EXPECT_EQ(rig.voice.sent.size(), 1u);
}

// Others are woken once; if they still lag, what is measured proves nothing, but is measured.
TEST(IdleProber, HasOthersWokenBeforeItLooks) {
  AgentRig rig;
  IdleProber prober(rig.plan);
  rig.voice.proves = false;
  prober.on_timers(rig.voice);
  EXPECT_EQ(rig.voice.woken, 1);
  EXPECT_TRUE(rig.voice.sent.empty());
  EXPECT_EQ(prober.next_deadline(), rig.voice.now + 1_us);
  rig.voice.now = prober.next_deadline();
  prober.on_timers(rig.voice);
  EXPECT_EQ(rig.voice.woken, 1);
  EXPECT_EQ(rig.voice.sent.size(), 2u);
}

TEST(IdleProber, ARebaseMovesItsNextLook) {
  AgentRig rig;
  IdleProber prober(rig.plan);
  prober.on_timers(rig.voice);
  const Instant next = prober.next_deadline();
  prober.rebase(Rebase(Rebase::Way::forward));
  EXPECT_EQ(prober.next_deadline(), next + Rebase::kPeriod);
}

Arrival arrival(uint16_t set, uint8_t place, size_t path, uint8_t load) {
  return {.set = set, .place = place, .shim = {.path = PathId(path), .congestion = load}};
}
Dressing dress_one(LoadReports& reports, uint16_t set, bool may_report = true) {
  Dressing dressing{.set = set, .may_report = may_report};
  reports.dress({&dressing, 1});
  return dressing;
}

TEST(LoadReports, GoRoundThePlacesInUse) {
  AgentRig rig;
  LoadReports reports(rig.sets);
  EXPECT_EQ(dress_one(reports, 0).fields.written, 0) << "nothing was heard";
  const Arrival one[] = {arrival(0, 2, 5, 50)};
  reports.arrived(one);
  for (int i = 0; i < 3; ++i) {
    const Dressing dressing = dress_one(reports, 0);
    EXPECT_EQ(dressing.fields.written, kFieldReport);
    EXPECT_EQ(dressing.fields.report_place, 2);
    EXPECT_EQ(dressing.fields.report_path, PathId(5));
    EXPECT_EQ(dressing.fields.report_load, 50);
  }
  const Arrival more[] = {arrival(0, 0, 6, 60), arrival(0, 3, 7, 70), arrival(0, 2, 5, 51)};
  reports.arrived(more);
  std::map<uint8_t, int> told;
  std::map<uint8_t, uint8_t> loads;
  for (int i = 0; i < 9; ++i) {
    const Dressing dressing = dress_one(reports, 0);
    ++told[dressing.fields.report_place];
    loads[dressing.fields.report_place] = dressing.fields.report_load;
  }
  EXPECT_EQ(told, (std::map<uint8_t, int>{{0, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(loads, (std::map<uint8_t, uint8_t>{{0, 60}, {2, 51}, {3, 70}})) << "the last";
  EXPECT_EQ(dress_one(reports, 1).fields.written, 0) << "another leaf";
}

TEST(LoadReports, AnEchoHasPrecedenceAndCostsNoTurn) {
  AgentRig rig;
  LoadReports reports(rig.sets);
  const Arrival two[] = {arrival(0, 0, 5, 1), arrival(0, 1, 6, 2)};
  reports.arrived(two);
  EXPECT_EQ(dress_one(reports, 0).fields.report_place, 0);
  EXPECT_EQ(dress_one(reports, 0, /*may_report=*/false).fields.written, 0);
  EXPECT_EQ(dress_one(reports, 0).fields.report_place, 1);
}

TEST(LoadReports, WhatIsToldIsInTheRecord) {
  AgentRig rig;
  const Feedback told[] = {{kFeedbackLoad, {0, 1}, 200, rig.voice.now},
                           {kFeedbackMarks, {0, 2}, 77, rig.voice.now}};
  LoadReports::on_feedback(rig.voice, told);
  PathTable& table = *rig.voice.paths();
  EXPECT_EQ(table.at(0, 1).congestion, 200);
  EXPECT_EQ(table.at(0, 1).congestion_age(table.record_time(rig.voice.now)), Duration{});
  EXPECT_EQ(table.at(0, 2).congestion, 0) << "marks are no load";
}

TEST(Speech, IsDeclaredByTheSchemesThatSpeak) {
  EXPECT_EQ(find_scheme("conga")->speech.fields, kFieldReport);
  EXPECT_EQ(find_scheme("hermes")->speech.shim, ShimNeed::sampled);
  EXPECT_FALSE(find_scheme("hermes")->speech.has_calls()) << "it reads what is measured";
  for (const char* name : {"conga", "hermes"}) {
    EXPECT_EQ(find_scheme(name)->needs, find_scheme(name)->speech.shim);
    EXPECT_TRUE(probes_idle(name, /*rlb=*/false)) << name;
  }
  EXPECT_FALSE(probes_idle("ecmp", false));
  EXPECT_TRUE(probes_idle("ecmp", true));
  EXPECT_FALSE(probes_idle("none", true));
}

TEST(Speech, TheSelectorHasTheAgentOfItsScheme) {
  AgentRig rig;
  const std::vector<PortLine> lines(8, {10_Gbps, {}});
  for (const char* name : {"conga", "ecmp", "hermes"}) {
    const ParameterMap parameters;
    auto selector =
        make_selector(name, {.sets = rig.sets, .parameters = parameters, .lines = lines});
    ASSERT_TRUE(selector.ok());
    EXPECT_EQ((*selector)->agent() != nullptr, std::string_view(name) == "conga") << name;
  }
}

}  // namespace
}  // namespace eddy::lb
