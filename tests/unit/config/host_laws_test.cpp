// The keys that the registry of hosts' laws makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/experiment_load.h"
#include "host/registry.h"

namespace eddy::config {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

Result<LoadedExperiment> load_host(const std::string& host) {
  return load_experiment_text("f.yaml", "traffic: []\nhost: " + host + "\n", {});
}
Experiment experiment_with(const std::string& host) {
  const auto loaded = load_host(host);
  EXPECT_TRUE(loaded.ok()) << loaded.problems().front();
  return loaded.ok() ? loaded.value().runs.front().experiment : Experiment{};
}
std::string problem_of(const std::string& host) {
  const auto loaded = load_host(host);
  return loaded.ok() || loaded.problems().size() != 1 ? "" : loaded.problems().front();
}

TEST(HostLaws, EveryLawCanBeNamed) {
  for (const host::RateControlInfo& law : host::rate_controls())
    EXPECT_EQ(experiment_with("{congestion_control: " + std::string(law.name) + "}")
                  .host.congestion_control,
              law.name);
  for (const host::RecoveryInfo& law : host::recoveries())
    EXPECT_EQ(experiment_with("{recovery: " + std::string(law.name) + "}").host.recovery, law.name);
  for (const host::EntropyInfo& law : host::entropies())
    EXPECT_EQ(
        experiment_with("{recovery: irn, entropy: " + std::string(law.name) + "}").host.entropy,
        law.name);
  for (const host::PacingInfo& law : host::pacings())
    EXPECT_EQ(experiment_with("{pacing: " + std::string(law.name) + "}").host.pacing, law.name);
}

TEST(HostLaws, DefaultsAreTheOldOnes) {
  const HostConfig host = experiment_with("{}").host;
  const host::Laws laws = host::laws_of(host);
  EXPECT_EQ(laws.rate_control.law->name, "dcqcn");
  EXPECT_EQ(laws.recovery.law->name, "go_back_n");
  EXPECT_EQ(laws.entropy.law->name, "fixed");
  EXPECT_EQ(laws.pacing.law->name, "by_rate");
  EXPECT_THAT(host.law_parameters, IsEmpty());
}

TEST(HostLaws, RatesHaveUnitsAndAreDilated) {
  Experiment experiment =
      experiment_with("{congestion_control: timely, timely: {additive_increase: 2.5Gbps}}");
  EXPECT_EQ(experiment.host.law_parameters.at("timely.additive_increase"), 2'500'000'000);
  EXPECT_THAT(print_experiment(experiment), HasSubstr("additive_increase: 2500Mbps\n"));
  experiment.run.time_dilation = 10;
  EXPECT_EQ(scaled(experiment).host.law_parameters.at("timely.additive_increase"), 250'000'000);
  EXPECT_EQ(scaled(experiment).host.law_parameters.at("timely.min_rate"), 1'000'000);
  EXPECT_EQ(scaled(experiment).host.law_parameters.at("timely.t_low"), (500_us).ps());
  EXPECT_EQ(
      problem_of("{timely: {min_rate: 10}}"),
      "f.yaml:2:27: host.timely.min_rate: '10' has no unit: a rate is a number with one of bps "
      "kbps Mbps Gbps Tbps, such as 100Gbps");
}

TEST(HostLaws, TheReorderBufferHasTwoSpellings) {
  const auto recovery = [](const std::string& host) {
    return host::laws_of(experiment_with(host).host).recovery.law->name;
  };
  EXPECT_EQ(recovery("{reorder_buffer: true}"), "reorder_buffer");
  EXPECT_EQ(recovery("{recovery: reorder_buffer}"), "reorder_buffer");
  EXPECT_EQ(recovery("{recovery: irn, reorder_buffer: true}"), "irn");
}

// A law without them is no key: its section would be one that nothing can stand in.
TEST(HostLaws, ParametersOfOneKeyAreDeclaredAlike) {
  std::map<std::string, ParameterInfo> keys;
  for (const host::LawInfo* law : host::all_laws())
    for (const ParameterInfo& info : law->parameters) {
      const auto [found, first] = keys.emplace(host::parameter_key(law->name, info.name), info);
      const ParameterInfo& other = found->second;
      EXPECT_TRUE(first || (other.kind == info.kind && other.min == info.min &&
                            other.max == info.max && other.fallback == info.fallback &&
                            other.help == info.help && other.source == info.source))
          << found->first;
    }
  EXPECT_EQ(problem_of("{fixed: {a: 1}}").empty(), false);
}

TEST(HostLaws, LawsOfOneNameShareASection) {
  const HostConfig host =
      experiment_with(
          "{congestion_control: mp_rdma, recovery: selective_ack, entropy: mp_rdma,"
          " mp_rdma: {delta: 16, explore: 20, decrease: 250}}")
          .host;
  const host::Laws laws = host::laws_of(host);
  EXPECT_THAT(laws.rate_control.parameters, ElementsAre(Pair("decrease", 250), Pair("delta", 16)));
  EXPECT_THAT(laws.entropy.parameters, ElementsAre(Pair("delta", 16), Pair("explore", 20)));
}

TEST(HostLaws, DeclaredParametersAreKeysOfASection) {
  const HostConfig host =
      experiment_with(
          "{congestion_control: swift, entropy: flowbender, swift: {base_target: 20us, beta: 500},"
          " flowbender: {randomise: false}}")
          .host;
  EXPECT_THAT(host.law_parameters,
              ElementsAre(Pair("flowbender.randomise", 0), Pair("swift.base_target", (20_us).ps()),
                          Pair("swift.beta", 500)));
  const host::Laws laws = host::laws_of(host);
  EXPECT_THAT(laws.rate_control.parameters,
              ElementsAre(Pair("base_target", (20_us).ps()), Pair("beta", 500)));
  EXPECT_THAT(laws.entropy.parameters, ElementsAre(Pair("randomise", 0)));
}

TEST(HostLaws, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(problem_of("{congestion_control: swif}"),
            "f.yaml:2:28: host.congestion_control: 'swif' is unknown, did you mean 'swift'?");
  EXPECT_THAT(problem_of("{entropy: cubic}"), HasSubstr("'cubic' is unknown, valid are fixed"));
  EXPECT_EQ(problem_of("{swift: {beta: 2000}}"),
            "f.yaml:2:22: host.swift.beta: '2000' is out of range, valid is 1 to 1000");
  EXPECT_THAT(problem_of("{swift: {base_target: 3}}"),
              StartsWith("f.yaml:2:29: host.swift.base_target: '3' has no unit"));
  EXPECT_EQ(problem_of("{swift: {bata: 3}}"),
            "f.yaml:2:16: unknown key 'bata', did you mean 'beta'?");
  EXPECT_EQ(problem_of("{selective_ack: 3}"),
            "f.yaml:2:23: host.selective_ack: this is one word, write the keys of selective_ack");
}

TEST(HostLaws, PacketsThatOvertakeNeedARecoveryThatKeepsThem) {
  for (const host::EntropyInfo& entropy : host::entropies())
    for (const host::RecoveryInfo& recovery : host::recoveries()) {
      const std::string laws = "{entropy: " + std::string(entropy.name) +
                               ", recovery: " + std::string(recovery.name) + "}";
      EXPECT_EQ(problem_of(laws).empty(), !(entropy.spreads && recovery.drops_ahead)) << laws;
    }
  EXPECT_EQ(problem_of("{entropy: reps}"),
            "f.yaml:2:17: host.entropy: reps lets packets overtake each other, and host.recovery: "
            "go_back_n drops those that do, write one that keeps them, such as selective_ack");
  EXPECT_EQ(problem_of("{entropy: reps, reorder_buffer: true}"), "");
  EXPECT_EQ(problem_of("{entropy: flowbender}"), "") << "one overtaking a move";
}

TEST(HostLaws, WhoDrainsNeedsAnAckForEachPacket) {
  for (const host::EntropyInfo& entropy : host::entropies()) {
    const std::string law = "{entropy: " + std::string(entropy.name) + ", reorder_buffer: true, ";
    EXPECT_EQ(problem_of(law + "ack_every: 2}").empty(), !entropy.drains) << entropy.name;
    EXPECT_EQ(problem_of(law + "ack_every: 1}"), "");
  }
  EXPECT_EQ(problem_of("{entropy: flowcut, ack_every: 4}"),
            "f.yaml:2:17: host.entropy: flowcut knows by ACKs what has arrived, and "
            "host.ack_every is 4, write 1");
}

TEST(HostLaws, PrintingLoadsBack) {
  for (const char* host :
       {"{}", "{congestion_control: swift, swift: {flow_range: 0ps, base_target: 7us}}",
        "{recovery: selective_ack, selective_ack: {reorder: 7, rto: 1ms}}",
        "{entropy: flowbender, flowbender: {threshold: 0, epochs: 3, randomise: false}}",
        "{swift: {base_target: auto}}"}) {
    const Experiment experiment = experiment_with(host);
    const auto again = load_experiment_text("f.yaml", print_experiment(experiment), {});
    ASSERT_TRUE(again.ok()) << again.problems().front();
    EXPECT_TRUE(again.value().runs.front().experiment == experiment) << host;
  }
}

TEST(HostLaws, AVariantMayChangeALawAndItsParameters) {
  const auto loaded = load_experiment_text("f.yaml", R"(
traffic: []
host: {swift: {beta: 500}}
matrix:
  host.congestion_control: [dcqcn, swift]
  host.swift.beta: [800, 900]
)",
                                           {});
  ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
  ASSERT_EQ(loaded.value().runs.size(), 4u);
  EXPECT_THAT(loaded.value().runs[0].experiment.host.law_parameters, IsEmpty())
      << "800 is the default";
  EXPECT_EQ(loaded.value().runs[3].experiment.host.congestion_control, "swift");
  EXPECT_EQ(loaded.value().runs[3].experiment.host.law_parameters.at("swift.beta"), 900);
}

TEST(HostLaws, TimesAreStretchedAlsoWhereTheFileIsSilent) {
  Experiment experiment = experiment_with("{swift: {base_target: 900ms}}");
  experiment.run.time_dilation = 1'000;
  const HostConfig slow = scaled(experiment).host;
  EXPECT_EQ(slow.law_parameters.at("swift.base_target"), (900_s).ps());
  EXPECT_EQ(slow.law_parameters.at("swift.hop_target"), (1_ms).ps());
  EXPECT_EQ(slow.law_parameters.at("selective_ack.rto"), (4_s).ps());
  EXPECT_FALSE(slow.law_parameters.contains("swift.flow_range")) << "auto stays auto";
  EXPECT_FALSE(slow.law_parameters.contains("swift.beta"));
  EXPECT_EQ(host::laws_of(slow).rate_control.law->name, "dcqcn");
}

}  // namespace
}  // namespace eddy::config
