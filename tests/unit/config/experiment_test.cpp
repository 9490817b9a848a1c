// Experiments: what a file stands for, what is said about mistakes, and that printing loads back.
#include "config/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/experiment_load.h"

namespace eddy::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kBase = R"(
topology: {leaves: 4, spines: 2}
load_balancer: {scheme: drill, d: 3}
host: {dcqcn: vendor}
traffic:
  - {cdf: web_search, load: 0.6}
  - {type: incast, size: 4MB, degree: 15, period: 1ms}
)";

Result<LoadedExperiment> load(const std::string& text, const ExperimentChoice& choice = {}) {
  return load_experiment_text("f.yaml", text, choice);
}
LoadedExperiment loaded(const std::string& text, const ExperimentChoice& choice = {}) {
  auto result = load(text, choice);
  EXPECT_TRUE(result.ok()) << result.problems().front() << "\n" << text;
  if (result.ok()) return result.value();
  LoadedExperiment none;
  none.runs.emplace_back();
  return none;
}
Experiment only(const std::string& text, const ExperimentChoice& choice = {}) {
  return loaded(text, choice).runs.front().experiment;
}
std::vector<std::string> variants(const std::string& text, const ExperimentChoice& choice = {}) {
  std::vector<std::string> names;
  for (const ExperimentRun& run : loaded(text, choice).runs) names.push_back(run.variant);
  return names;
}

TEST(Experiment, DefaultsAreTheStructs) {
  const Experiment experiment = only("traffic: []");
  Experiment expected;
  expected.id = "f";
  expected.switches.buffer = default_switch("").buffer;
  expected.load_balancer.parameters = experiment.load_balancer.parameters;
  EXPECT_TRUE(experiment == expected);
}

TEST(Experiment, IdsArePlainNames) {
  for (const char* id : {"..", ".x", "-x", "a/b"}) {
    const auto refused = load("traffic: []\nid: \"" + std::string(id) + "\"");
    ASSERT_FALSE(refused.ok()) << id;
    EXPECT_THAT(refused.problems(),
                testing::ElementsAre(testing::HasSubstr("neither '.' nor '-' first")));
  }
  EXPECT_EQ(only("traffic: []\nid: a-b.c").id, "a-b.c");
}

TEST(Experiment, AFilesNameIsAnIdOnlyIfItIsPlain) {
  const std::string two_runs = "traffic: []\nmatrix: {run.duration: [1ms, 2ms]}\n";
  for (const char* name : {"...yaml", "-x.yaml", "my run.yaml", ".yaml"}) {
    const auto refused = load_experiment_text(name, two_runs, {});
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.problems(),
                testing::ElementsAre(testing::AllOf(testing::HasSubstr("id: the file's name '"),
                                                    testing::HasSubstr("is no plain name"),
                                                    testing::EndsWith("; or write id"))));
    EXPECT_TRUE(load_experiment_text(name, two_runs + "id: x\n", {}).ok());
  }
}

TEST(Experiment, KeysReachTheirMembers) {
  const Experiment experiment = only(kBase);
  EXPECT_EQ(experiment.id, "f");
  EXPECT_EQ(experiment.topology.leaves, 4);
  EXPECT_EQ(experiment.load_balancer.parameters.at("d"), "3");
  ASSERT_EQ(experiment.traffic.size(), 2u);
  EXPECT_DOUBLE_EQ(experiment.traffic[0].load, 0.6);
  EXPECT_EQ(experiment.traffic[1].type, TrafficType::incast);
  EXPECT_EQ(experiment.traffic[1].size, Bytes(4'000'000));
  EXPECT_TRUE(experiment.switches.buffer.profiles.at("lossless").lossless);
}

TEST(Dcqcn, KeysOverrideThePreset) {
  const std::string rate = "topology: {host_rate: 100Gbps}\n";
  const Experiment word = only(rate + "host: {dcqcn: vendor}");
  EXPECT_EQ(word.dcqcn, DcqcnPreset::vendor);
  EXPECT_TRUE(word.host.dcqcn == dcqcn_preset(DcqcnPreset::vendor));
  const Experiment keys = only(rate + "host: {dcqcn: {alpha_timer: 7us, preset: vendor}}");
  DcqcnConfig expected = dcqcn_preset(DcqcnPreset::vendor);
  expected.alpha_timer = 7_us;
  EXPECT_TRUE(keys.host.dcqcn == expected);
  EXPECT_TRUE(only("host: {dcqcn: {preset: none}}").host.dcqcn == DcqcnConfig{});
  const Experiment mixed = only(rate + "host: {dcqcn: {algorithm: paper, preset: vendor}}");
  EXPECT_EQ(mixed.host.dcqcn.algorithm, DcqcnAlgorithm::paper);
  EXPECT_EQ(mixed.host.dcqcn.alpha_timer, 1_us);
}

TEST(Sizes, AreLaidOverTheFile) {
  const std::string text = std::string(kBase) + R"(
sizes:
  ci: {topology.spines: 1, topology: {leaves: 2}, traffic.0.load: 0.2, run: {seeds: [7]}}
  reduced: {}
)";
  const Experiment ci = only(text, {.size = "ci"});
  EXPECT_EQ(ci.topology.leaves, 2);
  EXPECT_EQ(ci.topology.spines, 1);
  EXPECT_DOUBLE_EQ(ci.traffic[0].load, 0.2);
  EXPECT_EQ(ci.traffic[1].degree, 15);
  EXPECT_THAT(ci.run.seeds, ElementsAre(7u));
  EXPECT_TRUE(only(text, {.size = "reduced"}) == only(text, {.size = "full"}));
  EXPECT_EQ(load(text, {.size = "tiny"}).problems(),
            Problems{"f.yaml:1:1: the file has no size 'tiny', valid are ci, reduced and full"});
  EXPECT_EQ(load(kBase, {.size = "ci"}).problems(),
            Problems{"f.yaml:1:1: the file has no size 'ci', valid is full"});
}

TEST(Matrix, IsMultipliedOut) {
  const std::string text = std::string(kBase) + R"(
matrix:
  load_balancer.scheme: [ecmp, drill]
  traffic.0.load: [0.4, 0.8]
)";
  const auto runs = loaded(text).runs;
  EXPECT_THAT(variants(text), ElementsAre("scheme=ecmp load=0.4", "scheme=ecmp load=0.8",
                                          "scheme=drill load=0.4", "scheme=drill load=0.8"));
  EXPECT_EQ(runs[0].experiment.load_balancer.scheme, "ecmp");
  EXPECT_DOUBLE_EQ(runs[1].experiment.traffic[0].load, 0.8);
}

TEST(Matrix, AnotherSchemeForgetsTheParameters) {
  const auto runs =
      loaded(std::string(kBase) + "matrix: {load_balancer.scheme: [ecmp, drill]}").runs;
  EXPECT_FALSE(runs[0].experiment.load_balancer.parameters.contains("d"));
  EXPECT_EQ(runs[1].experiment.load_balancer.parameters.at("d"), "3");  // the same: kept
}

TEST(Matrix, AnotherSchemeKeepsTheWayOfControlPackets) {
  std::string text(kBase);
  const std::string drill = "load_balancer: {scheme: drill, ";
  text.replace(text.find(drill), drill.size(), drill + "control: scheme, ");
  const auto runs = loaded(text + "matrix: {load_balancer.scheme: [ecmp, drill]}").runs;
  for (const auto& run : runs) EXPECT_EQ(run.experiment.load_balancer.control, ControlBy::scheme);
  EXPECT_FALSE(runs[0].experiment.load_balancer.parameters.contains("d"));
}

TEST(Matrix, NamedVariants) {
  const std::string list = std::string(kBase) + R"(
matrix:
  - {name: base}
  - {name: presto small cells, set: {load_balancer: {cell_bytes: 32KiB, scheme: presto}}}
)";
  EXPECT_THAT(variants(list), ElementsAre("base", "presto small cells"));
  EXPECT_EQ(loaded(list).runs[1].experiment.load_balancer.parameters.at("cell_bytes"), "32KiB");
  const std::string axes = std::string(kBase) + R"(
matrix:
  lossless: [{name: pfc}, {name: lossy, set: {switches.pfc: false}}]
  topology.failed: [[], [{fraction: 0.2}]]
)";
  EXPECT_THAT(variants(axes), ElementsAre("pfc failed=", "pfc failed=fraction:0.2",
                                          "lossy failed=", "lossy failed=fraction:0.2"));
  EXPECT_FALSE(loaded(axes).runs[2].experiment.switches.pfc);
  EXPECT_EQ(loaded(axes).runs[3].experiment.topology.failed.size(), 1u);
}

TEST(Sets, WinOverEverything) {
  const std::string text = std::string(kBase) + R"(
sizes: {ci: {traffic.0.load: 0.1}}
matrix: {traffic.0.load: [0.2, 0.3], traffic.1.degree: [5, 6]}
)";
  const ExperimentChoice choice{"ci", {"traffic.0.load=0.9", "run.seeds=[3, 4]", "id=x"}};
  EXPECT_THAT(variants(text, choice), ElementsAre("degree=5", "degree=6"));
  const Experiment experiment = only(text, choice);
  EXPECT_DOUBLE_EQ(experiment.traffic[0].load, 0.9);
  EXPECT_THAT(experiment.run.seeds, ElementsAre(3u, 4u));
  EXPECT_EQ(experiment.id, "x");
}

// "rlb: default" is a section, too.
TEST(Sets, GoBelowALoneWordThatStandsForASection) {
  const std::string base = kBase + std::string("matrix:\n") +
                           "  - {name: off, set: {rlb: off}}\n"
                           "  - {name: word, set: {rlb: default}}\n"
                           "  - {name: map, set: {rlb: {preset: default, guard: {mode: off}}}}\n";
  for (const char* set : {"rlb={recirculation: {latency: 3us}}", "rlb.recirculation.latency=3us"}) {
    const LoadedExperiment file = loaded(base, {.sets = {set}});
    ASSERT_EQ(file.runs.size(), 3u);
    const auto rlb = [&](size_t i) { return file.runs[i].experiment.switches.rlb; };
    EXPECT_EQ(rlb(0).preset, RlbPreset::off);
    EXPECT_EQ(rlb(1).preset, RlbPreset::standard);
    EXPECT_EQ(rlb(1).recirculation.latency, Duration::microseconds(3));
    EXPECT_EQ(rlb(2).preset, RlbPreset::standard);
    EXPECT_EQ(rlb(2).guard.mode, GuardMode::off);
    EXPECT_EQ(rlb(1).predictor.mode, rlb_preset(RlbPreset::standard).predictor.mode);
  }
  // Words of words, and a wrong one is said at its place.
  const LoadedExperiment nested = loaded(
      kBase,
      {.sets = {"rlb=default", "rlb.failure_detector=paper", "rlb.failure_detector.mode=off"}});
  EXPECT_EQ(nested.runs[0].experiment.switches.rlb.failure_detector.mode, DetectorMode::off);
  EXPECT_EQ(load(base, {.sets = {"rlb.gard.mode=off"}}).problems(),
            Problems{"--set rlb.gard.mode=off: unknown key 'gard', did you mean 'guard'?"});
}

TEST(Sets, MayAddAnEntry) {
  const Experiment experiment = only(kBase, {.sets = {"traffic.2={type: all_to_all, size: 1MiB}",
                                                      "topology.failed.0.fraction=0.1"}});
  ASSERT_EQ(experiment.traffic.size(), 3u);
  EXPECT_EQ(experiment.traffic[2].size, 1_MiB);
  EXPECT_DOUBLE_EQ(experiment.topology.failed.at(0).fraction, 0.1);
}

struct Mistake {
  const char* name;
  std::string text;
  ExperimentChoice choice;
  std::vector<std::string> problems;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}
class ExperimentMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(ExperimentMistakes, AreReportedWithTheirPlace) {
  const auto result = load(GetParam().text, GetParam().choice);
  ASSERT_FALSE(result.ok()) << GetParam().text;
  EXPECT_EQ(result.problems(), GetParam().problems) << GetParam().text;
}

// clang-format off
const Mistake kMistakes[] = {
    {"NotYaml", "topology: {leaves: [}\n", {}, {"f.yaml:1:21: not YAML: illegal flow end"}},
    {"DuplicateKeyAndMore", "id: a\nid: b\nhost: {mtu: 100}\n", {},
     {"f.yaml:2:1: duplicate key \"id\", it already stands in line 1",
      "f.yaml:3:13: host.mtu: '100' is out of range, valid is 256 to 4096"}},
    {"UnknownKey", "topolgy: {}\n", {}, {"f.yaml:1:1: unknown key 'topolgy', did you mean 'topology'?"}},
    {"KeyOfFormerName", "host: {dcqcn: {clamp_target: true}}\n", {},
     {"f.yaml:1:16: unknown key 'clamp_target', it is called 'cap_target' now"}},
    {"WithoutUnit", "topology: {host_rate: 40}\n", {},
     {"f.yaml:1:23: topology.host_rate: '40' has no unit: a rate is a number with one of bps kbps Mbps Gbps Tbps, such as 100Gbps"}},
    {"KeyOfOtherTopology", "topology:\n  kind: fat_tree\n  leaves: 4\n", {},
     {"f.yaml:3:3: topology: the key 'leaves' has no effect here, it goes with kind: leaf_spine"}},
    {"KeyOfOtherTraffic", "traffic:\n  - {type: burst, size: 1KiB, load: 0.5}\n", {},
     {"f.yaml:2:31: traffic.0: the key 'load' has no effect here, it goes with type: poisson"}},
    {"TrafficWithoutSize", "traffic:\n  - {type: burst}\n", {},
     {"f.yaml:2:5: traffic.0: no size, give the key 'size', such as 64KiB"}},
    {"LoadOverOne", "traffic:\n  - {cdf: solar, load: 1.2}\n", {},
     {"f.yaml:2:24: traffic.0.load: '1.2' is out of range, valid is 0 to 1"}},
    {"LoadOfZero", "traffic:\n  - {cdf: solar, load: 0}\n", {},
     {"f.yaml:2:24: traffic.0.load: a load is above 0 and at most 1"}},
    {"UnknownScheme", "load_balancer: {scheme: dril}\n", {},
     {"f.yaml:1:25: load_balancer.scheme: 'dril' is unknown, did you mean 'drill'?"}},
    {"UnknownParameter", "load_balancer: {scheme: ecmp, bucket: 4}\n", {},
     {"f.yaml:1:39: load_balancer: 'bucket' is no parameter of ecmp, did you mean 'buckets'?"}},
    {"UnknownPreset", "host: {dcqcn: papr}\n", {}, {"f.yaml:1:15: host.dcqcn.preset: 'papr' is unknown, did you mean 'paper'?"}},
    {"Mtu", "host: {mtu: 4097}\n", {}, {"f.yaml:1:13: host.mtu: '4097' is out of range, valid is 256 to 4096"}},
    {"LineOverhead", "topology: {line_overhead: 65}\n", {}, {"f.yaml:1:27: topology.line_overhead: '65' is out of range, valid is 0 to 64"}},
    {"SeedTwice", "run: {seeds: [1, 2, 1]}\n", {}, {"f.yaml:1:7: run.seeds: a seed stands twice, that would be the same run"}},
    {"NoSeed", "run: {seeds: []}\n", {}, {"f.yaml:1:7: run.seeds: none, give at least one"}},
    {"WredOrder", "wred: {default: {kmin: 1MiB}}\n", {}, {"f.yaml:1:24: wred.default.kmin: 1MiB is above kmax 625KiB"}},
    {"ByRateUnknownProfiles", "switches: {by_rate: [{rate: 100Gbps, wred: fast, lossless: big}]}\n", {},
     {"f.yaml:1:44: switches.by_rate.0.wred: unknown WRED profile 'fast', valid is default",
      "f.yaml:1:60: switches.by_rate.0.lossless: unknown buffer profile 'big', valid are lossless and lossy"}},
    {"QueuesUnknownWred", "switches: {queues: {3: {wred: fast}}}\n", {},
     {"f.yaml:1:31: switches.queues.3.wred: unknown WRED profile 'fast', valid is default"}},
    {"QueuesOutOfRange", "switches: {queues: {8: {weight: 0}}}\n", {},
     {"f.yaml:1:21: '8' is not a number of this map, valid is 0 to 7"}},
    {"ByRateLossy", "switches: {by_rate: [{rate: 100Gbps, lossless: lossy}]}\n", {},
     {"f.yaml:1:48: switches.by_rate.0.lossless: buffer profile 'lossy' is lossy, one with lossless: true would be valid"}},
    {"ByRateTwice", "switches:\n  by_rate: [{rate: 1Gbps, wred: default}, {rate: 1000Mbps, wred: default}]\n", {},
     {"f.yaml:2:50: switches.by_rate.1.rate: 1Gbps stands twice, give all profiles once"}},
    {"ByRateOfNothing", "switches: {by_rate: [{rate: 1Gbps}]}\n", {},
     {"f.yaml:1:22: switches.by_rate.0: no profile, give wred or lossless"}},
    {"ByRateWithoutRate", "switches: {by_rate: [{wred: default}]}\n", {},
     {"f.yaml:1:22: switches.by_rate.0: the key 'rate' is missing, it is a rate with its unit (100Gbps) 1Mbps to 1600Gbps"}},
    {"Dre", "dre: {period: 30us, alpha: 0.0001}\n", {}, {"f.yaml:1:28: dre.alpha: 0.0001 is out of range, valid is 0.001 to 1"}},
    {"Budget", "pfc: {pause_budget: 200ms}\n", {}, {"f.yaml:1:21: pfc.pause_budget: 200ms is more than budget_window 100ms"}},
    {"OfOneVariant", "matrix: {pfc.budget_window: [100ms, 500ms]}\n", {.sets = {"pfc.pause_budget=200ms"}},
     {"--set pfc.pause_budget=200ms: pfc.pause_budget: 200ms is more than budget_window 100ms (variant \"budget_window=100ms\")"}},
    {"OfSomeVariants", "pfc: {pause_budget: 90ms}\nmatrix: {pfc.budget_window: [10ms, 20ms, 30ms, 40ms, 50ms, 500ms]}\n", {},
     {"f.yaml:1:21: pfc.pause_budget: 90ms is more than budget_window 10ms (variants \"budget_window=10ms\", \"budget_window=20ms\", \"budget_window=30ms\", \"budget_window=40ms\" and 1 more)"}},
    {"OfAllVariants", "matrix: {load_balancer.scheme: [ecmp, drill]}\n", {.sets = {"pfc.pause_budget=200ms"}},
     {"--set pfc.pause_budget=200ms: pfc.pause_budget: 200ms is more than budget_window 100ms"}},
    {"DilatedTooSlow", "topology: {host_rate: 100Mbps}\nrun: {time_dilation: 1000}\n", {},
     {"f.yaml:1:23: topology.host_rate: 100Mbps divided by time_dilation 1000 is below 1Mbps"}},
    {"FaultKey", "faults:\n  - {type: link_flap, rate: 1Gbps}\n", {},
     {"f.yaml:2:23: faults.0: the key 'rate' has no effect here, it goes with type: slow_link or slow_receiver"}},
    {"SizeName", "sizes:\n  fulll: {}\n", {}, {"f.yaml:2:3: sizes: 'fulll' is no size, did you mean 'full'?"}},
    {"SizeIsWord", "sizes: {ci: 4}\n", {}, {"f.yaml:1:13: sizes.ci: write keys to change"}},
    {"SizesIsList", "sizes: [ci]\n", {}, {"f.yaml:1:8: sizes: write a map from ci, reduced, full to keys to change"}},
    {"MistakeInASize", "sizes:\n  ci: {topology.leavs: 4}\n", {.size = "ci"},
     {"f.yaml:2:8: unknown key 'leavs', did you mean 'leaves'?"}},
    {"MistakeInTheMatrix", "traffic: [{cdf: solar}]\nmatrix:\n  traffic.0.load: [0.5, high, 2]\n", {},
     {"f.yaml:3:25: traffic.0.load: 'high' is not a decimal number such as 0.2, valid is 0 to 1",
      "f.yaml:3:31: traffic.0.load: '2' is out of range, valid is 0 to 1"}},
    {"MatrixWithoutValues", "matrix:\n  traffic.0.load: 0.5\n  run.seeds: []\n", {},
     {"f.yaml:2:3: matrix.traffic.0.load: no values, write a list of values, or of {name: ..., set: {...}}",
      "f.yaml:3:3: matrix.run.seeds: no values, write a list of values, or of {name: ..., set: {...}}"}},
    {"MatrixOfSeeds", "matrix: {run.seeds: [[1, 2], [3]]}\n", {},
     {"f.yaml:1:9: matrix: run.seeds differs from variant to variant, but all are run with the same seeds; give run.seeds once, or --seed"}},
    {"MatrixIsWord", "matrix: all\n", {}, {"f.yaml:1:9: matrix: this is one word, write axes with a list of values, or of {name: ..., set: {...}}"}},
    {"MatrixTwice", "matrix: {switches.pfc: [true, true]}\n", {}, {"f.yaml:1:31: matrix: 'pfc=true' stands twice"}},
    {"NamedVariant", "matrix:\n  - {name: a, set: 4}\n  - {set: {}}\n", {},
     {"f.yaml:2:5: matrix: a named variant is {name: ..., set: {...}}",
      "f.yaml:3:5: matrix: a named variant is {name: ..., set: {...}}"}},
    {"SetMatrix", "matrix: {load_balancer.scheme: [ecmp, drill]}\n", {.sets = {"matrix.load_balancer.scheme=[plb]"}},
     {"--set matrix.load_balancer.scheme=[plb]: matrix stands at the top of a file alone, give a key of the experiment, such as load_balancer.scheme, or choose with --variant and --size"}},
    {"SetSizesAndExpect", "id: x\n", {.sets = {"sizes.ci={}", "expect=[a]"}},
     {"--set sizes.ci={}: sizes stands at the top of a file alone, give a key of the experiment, such as load_balancer.scheme, or choose with --variant and --size",
      "--set expect=[a]: expect stands at the top of a file alone, give a key of the experiment, such as load_balancer.scheme, or choose with --variant and --size"}},
    {"VariantSetsMatrix", "matrix:\n  - {name: a, set: {matrix: {switches.pfc: [true]}}}\n", {},
     {"f.yaml:2:21: matrix stands at the top of a file alone, give a key of the experiment, such as load_balancer.scheme, or choose with --variant and --size"}},
    {"SecondDocumentTooDeep", "id: x\n---\na: " + std::string(40, '[') + std::string(40, ']') + "\n", {},
     {"f.yaml:3:1: a second document, a configuration is one"}},
    {"SeedTooLarge", "run: {seeds: [9223372036854775807, 9223372036854775808]}\ntopology: {seed: 18446744073709551615}\n", {},
     {"f.yaml:1:36: run.seeds.1: seed 9223372036854775808 is too large, valid is 0 to 9223372036854775807",
      "f.yaml:2:18: topology.seed: seed 18446744073709551615 is too large, valid is 0 to 9223372036854775807"}},
    {"NegativeSeed", "run: {seeds: [-1]}\n", {}, {"f.yaml:1:15: run.seeds.0: '-1' is out of range, valid is at least 0"}},
    {"ExpectIsMap", "expect: {fct: 3}\n", {}, {"f.yaml:1:9: expect: this is a map of keys, write a list of texts"}},
    {"SetWithoutValue", "id: x\n", {.sets = {"run.seeds"}}, {"--set run.seeds: write key.path=value, such as traffic.0.load=0.6"}},
    {"SetUnknownKey", "id: x\n", {.sets = {"run.sed=4"}}, {"--set run.sed=4: unknown key 'sed', did you mean 'seeds'?"}},
    {"SetOutOfRange", "id: x\n", {.sets = {"run.time_dilation=0"}}, {"--set run.time_dilation=0: run.time_dilation: '0' is out of range, valid is 1 to 10000"}},
    {"SetNoSuchEntry", "traffic: [{cdf: solar}]\n", {.sets = {"traffic.3.load=0.1", "traffic.x.load=0.1"}},
     {"--set traffic.3.load=0.1: traffic has 1 entries, '3' is none of them; 1 would add one",
      "--set traffic.x.load=0.1: traffic has 1 entries, 'x' is none of them; 1 would add one"}},
    {"SetBelowAWord", "id: x\n", {.sets = {"id.name=4"}}, {"--set id.name=4: id is one word, it has no 'name' below it"}},
    {"SetEmptyStep", "id: x\n", {.sets = {"run..seeds=[4]"}}, {"--set run..seeds=[4]: 'run..seeds' is no path, write keys with single dots between"}},
    {"SetNotYaml", "id: x\n", {.sets = {"run.seeds=[4"}}, {"--set run.seeds=[4: not YAML: end of sequence flow not found"}},
    {"AllAtOnce", "topology: {leaves: 0}\nhost: {rto: 4}\nrun: {duraton: 1ms}\n", {.sets = {"buffer.size=1"}},
     {"f.yaml:1:20: topology.leaves: '0' is out of range, valid is 1 to 4096",
      "f.yaml:2:13: host.rto: '4' has no unit: a duration is a number with one of ps ns us ms s min h, such as 50us",
      "f.yaml:3:7: unknown key 'duraton', did you mean 'duration'?",
      "--set buffer.size=1: buffer.size: '1' has no unit: a size is a number with one of B kB KiB MB MiB GB GiB, such as 64KiB"}},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(All, ExperimentMistakes, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ExperimentLimits, TooManyVariants) {
  std::string text = "matrix:\n";
  for (const char* key : {"run.seeds", "topology.seed", "run.poll_burst"})
    text += std::string("  ") + key + ": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n";
  EXPECT_EQ(load(text).problems().back(), "f.yaml:4:3: matrix: more than 1024 variants");
}

class Attempt : public testing::Test {
 protected:
  ~Attempt() override { std::filesystem::remove(file_); }
  ExperimentAttempt of(const std::string& text, const ExperimentChoice& choice = {}) {
    std::ofstream(file_) << text;
    return try_experiment(file_, choice);
  }
  const std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                      ("eddy-attempt-" + std::to_string(getpid()) + ".yaml");
};

TEST_F(Attempt, ReadsWhatItCanAndSaysWhereTheRestIs) {
  const ExperimentAttempt attempt =
      of("topology: {leaves: 7}\nload_balancer: {scheme: nonsense}\nrun:\n  sees: [1]\n"
         "sizes: {ci: {}, full: {}}\n",
         {.sets = {"host.mtu=3"}});
  EXPECT_EQ(attempt.problems.size(), 3u);
  EXPECT_THAT(attempt.doubtful, ElementsAre("host", "load_balancer", "run"));
  EXPECT_THAT(attempt.loaded.sizes, ElementsAre("ci", "full"));
  ASSERT_EQ(attempt.loaded.runs.size(), 1u);
  EXPECT_EQ(attempt.loaded.runs.front().experiment.topology.leaves, 7);
}

TEST_F(Attempt, OfNoYamlHasNoRuns) {
  const ExperimentAttempt attempt = of("a: [\n");
  EXPECT_EQ(attempt.problems.size(), 1u);
  EXPECT_TRUE(attempt.loaded.runs.empty());
}

TEST(Expect, IsKeptAsItStands) {
  EXPECT_THAT(loaded("expect: [\"a: b\", c]").expect, ElementsAre("a: b", "c"));
  EXPECT_THAT(loaded("expect: all well").expect, ElementsAre("all well"));
}

TEST(Locate, FindsThePlaceOfALaterProblem) {
  const LoadedExperiment file = loaded(kBase, {.sets = {"traffic.0.sources=[leaf9]"}});
  const ExperimentRun& run = file.runs.front();
  EXPECT_EQ(file.locate(run, "traffic.1.degree: too many"),
            "f.yaml:7:39: traffic.1.degree: too many");
  EXPECT_EQ(file.locate(run, "traffic.1.period.x: bad"), "f.yaml:7:51: traffic.1.period.x: bad");
  EXPECT_EQ(file.locate(run, "traffic.0.sources.0: unknown"),
            "--set traffic.0.sources=[leaf9]: traffic.0.sources.0: unknown");
  EXPECT_EQ(file.locate(run, "w.csv:3: bad"), "w.csv:3: bad");
}

TEST(Files, OfTopologiesAreFoundFromTheExperiment) {
  const auto result =
      load_experiment_text("some/where/x.yaml", "topology: {kind: hpcc, file: ../t.txt}");
  ASSERT_TRUE(result.ok()) << result.problems().front();
  EXPECT_EQ(result.value().runs.front().experiment.topology.file, "some/t.txt");
  EXPECT_EQ(result.value().folder, "some/where");
  EXPECT_EQ(result.value().runs.front().experiment.id, "x");
}

void expect_round_trip(const Experiment& experiment) {
  const std::string text = print_experiment(experiment);
  const auto again = load(text);
  ASSERT_TRUE(again.ok()) << again.problems().front() << "\n" << text;
  EXPECT_TRUE(again.value().runs.front().experiment == experiment) << text;
  EXPECT_EQ(print_experiment(again.value().runs.front().experiment), text);
}

TEST(Print, LoadsBack) {
  expect_round_trip(only("id: x"));
  expect_round_trip(only(kBase));
  expect_round_trip(only(R"(
id: all.of-it
title: "yes: it's #1"
source: "12"
topology:
  kind: dragonfly
  degraded: [{fraction: 0.2, rate: 10Gbps}, {links: [a-b, "c-d.2"], rate: 1Gbps}]
  failed: [{links: [leaf1-spine2]}]
switches: {pfc: false, allow_overcommit: true, poll_gap: 1us, mtu: 1500, by_rate: [{rate: 10Gbps, wred: other}]}
buffer: {size: 9MiB, profiles: {lossless: {xoff: 100KiB, headroom: 30KiB}, extra: {mode: static}}}
wred: {default: {kmin: 5kB}, other: {ecn: false}}
pfc: {rx: clamp, quanta: 9}
watchdog: {enabled: false}
dre: {period: 40us, alpha: 0.25, q: 4}
host:
  recovery: irn
  congestion_control: dctcp
  dcqcn: {preset: paper, byte_counter: none, g_shift: 4}
  dctcp: {initial_window: 64KiB}
  nak_timer: never
  bdp: 100kB
load_balancer: {scheme: letflow, gap: 70us}
traffic:
  - {cdf: ../w.csv, truncate: 30MB, rate: 1Tbps, reference: host, paired: true, remote_only: false, sources: [leaf1, host3-5]}
  - {type: burst, name: none of it, size: 64KiB, count: 40, period: 300us, repeat: 2, paths: [spine1]}
  - {type: incast, size: 4MB, degree: 15, rate: 10Gbps, stop: 9ms}
  - {type: permutation, size: 1MiB}
  - {type: all_to_all, size: 1MiB, start: 1ns}
  - {type: long_flow, size: 1GB, destinations: [all]}
  - {type: trace, file: t.csv}
faults:
  - {type: black_hole, pairs: [leaf1.host2>leaf3.host1], probability: 0.5}
  - {type: pfc_delay, delay: 3us, links: [a-b], period: 1ms, duration: 10us}
  - {type: reconfigure, set: {load_balancer.scheme: ecmp, buffer.size: 9MiB}, start: 1ms}
run: {seeds: [18446744073709551], max_flows: 9, poll_model: busy_poll, packets: 5, sample_period: none}
)"));
}

TEST(Print, EqualExperimentsHaveEqualDigests) {
  const Experiment experiment = only(kBase);
  EXPECT_EQ(experiment_digest(experiment), experiment_digest(only(print_experiment(experiment))));
  EXPECT_NE(experiment_digest(experiment), experiment_digest(only("id: f")));
}

TEST(Scaled, DividesRatesAndStretchesTimes) {
  Experiment experiment = only(R"(
topology: {host_rate: 40Gbps, host_delay: 2us, degraded: [{fraction: 0.1, rate: 10Gbps}]}
load_balancer: {scheme: letflow, gap: 50us}
dre: {period: 30us}
traffic: [{type: incast, size: 1MB, degree: 2, period: 1ms, start: 3ms}, {cdf: solar, rate: 8Gbps}]
faults: [{type: slow_link, rate: 1Gbps, start: 2ms, duration: 1ms}, {type: reconfigure, set: {a: 1Gbps, b: 1ms}}]
switches: {by_rate: [{rate: 10Gbps, wred: default}]}
run: {time_dilation: 100, warmup: 1ms, poll_period: 1us}
)");
  const Experiment slow = scaled(experiment);
  EXPECT_EQ(slow.topology.host_rate, 400_Mbps);
  EXPECT_EQ(slow.topology.host_delay, 200_us);
  EXPECT_EQ(slow.topology.degraded[0].rate, 100_Mbps);
  EXPECT_EQ(slow.load_balancer.parameters.at("gap"), "5ms");
  EXPECT_EQ(slow.traffic[0].period, 100_ms);
  EXPECT_EQ(slow.traffic[0].start, 300_ms);
  EXPECT_EQ(slow.traffic[0].size, Bytes(1'000'000));
  EXPECT_EQ(slow.traffic[1].rate, 80_Mbps);
  EXPECT_EQ(slow.faults[0].rate, 10_Mbps);
  EXPECT_EQ(slow.faults[0].duration, 100_ms);
  EXPECT_THAT(slow.faults[1].set,
              ElementsAre(testing::Pair("a", "10Mbps"), testing::Pair("b", "100ms")));
  EXPECT_EQ(slow.switches.by_rate[0].rate, slow.topology.degraded[0].rate);
  EXPECT_EQ(slow.host.rto, 400_ms);
  EXPECT_EQ(slow.host.dcqcn.alpha_timer, 5500_us);
  EXPECT_EQ(slow.host.dcqcn.additive_increase, BitRate::bits_per_second(400'000));
  EXPECT_EQ(slow.switches.watchdog.detection_time, 20'000_ms);
  EXPECT_EQ(slow.switches.dre.period, 3'000_us);
  EXPECT_EQ(slow.switches.pfc_port.quanta, experiment.switches.pfc_port.quanta);
  EXPECT_EQ(slow.run.warmup, 100_ms);
  EXPECT_EQ(slow.run.poll_period, 1_us);  // the machine's
  EXPECT_EQ(slow.run.time_dilation, 1);
  experiment.run.time_dilation = 1;
  EXPECT_TRUE(scaled(experiment) == experiment);
}

// The longest time that a file may give, with the largest factor, is still a time.
TEST(Experiment, ScaledTimesDoNotOverflow) {
  SwitchConfig config = default_switch("s");
  config.time_dilation = 10'000;
  config.control.neighbor_age = Duration::seconds(7'200);
  const Duration age = scaled(config).control.neighbor_age;
  EXPECT_GT(age, Duration::seconds(86'400));
  EXPECT_GT(Instant() + age + age, Instant() + age);
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Generated, ExperimentFilesAreCurrent) {
  EXPECT_EQ(text_of(EDDY_SOURCE_DIR "/config/experiment.schema.json"), experiment_schema())
      << "run: ninja config_docs";
  EXPECT_EQ(text_of(EDDY_SOURCE_DIR "/docs/experiments.md"), experiment_markdown())
      << "run: ninja config_docs";
}

TEST(ExperimentExamples, LoadInEverySize) {
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(EDDY_SOURCE_DIR "/config/experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    for (const char* size : {"ci", "reduced", "full"}) {
      const auto result = load_experiment(entry.path(), {.size = size});
      ASSERT_TRUE(result.ok()) << result.problems().front();
      EXPECT_THAT(result.value().warnings, IsEmpty());
      EXPECT_THAT(result.value().expect, testing::Not(IsEmpty()));
      for (const ExperimentRun& run : result.value().runs) {
        EXPECT_EQ(run.experiment.id, entry.path().stem());
        expect_round_trip(run.experiment);
      }
    }
  }
  EXPECT_GE(files, 3u);
}

}  // namespace
}  // namespace eddy::config
