// The checked-in experiments can be built: fabric and traffic, in every size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "config/experiment_load.h"
#include "lab/fabric/topology.h"
#include "lab/real/switch_config.h"
#include "lab/traffic/traffic.h"
#include "lab/traffic/traffic_files.h"
#include "lb/registry.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

struct Example {
  fs::path path;
  std::string size;
};
void PrintTo(const Example& example, std::ostream* out) {
  *out << example.path.stem().string() << " " << example.size;
}

std::vector<Example> examples() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(EDDY_SOURCE_DIR "/config/experiments"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Example> all;
  for (const fs::path& file : files)
    for (const char* size : {"ci", "reduced", "full"}) all.push_back({file, size});
  return all;
}

class Experiments : public testing::TestWithParam<Example> {};

TEST_P(Experiments, HaveAFabricAndFlows) {
  const auto loaded = config::load_experiment(GetParam().path, {.size = GetParam().size});
  ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
  const config::Experiment& experiment = loaded.value().runs.front().experiment;
  const auto topology = unscaled_topology(experiment);
  ASSERT_TRUE(topology.ok()) << topology.problems().front();
  const auto trace = make_traffic(experiment, topology.value(), experiment.run.seeds.front(),
                                  TrafficFiles(loaded.value().folder));
  ASSERT_TRUE(trace.ok()) << trace.problems().front();
  // Enough for every host to be an end of one: figures on flow tables send one way only.
  EXPECT_GE(2 * trace.value().flows.size(), topology.value().hosts.size());
  EXPECT_THAT(trace.value().warnings, testing::IsEmpty());
}

// docs/schemes.md is of these: who registers a scheme puts it into each, or its fabric refuses it.
TEST(SchemesSideBySide, HaveEverySchemeThatTheirFabricTakes) {
  for (const char* id : {"schemes-web", "schemes-incast", "schemes-slow", "schemes-permutation"}) {
    const auto loaded = config::load_experiment(
        fs::path(EDDY_SOURCE_DIR "/config/experiments") / (std::string(id) + ".yaml"),
        {.size = "ci"});
    ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
    std::set<std::string> compared;
    for (const config::ExperimentRun& run : loaded.value().runs)
      compared.insert(run.experiment.load_balancer.scheme);
    for (const lb::SchemeInfo& scheme : lb::schemes()) {
      if (compared.contains(std::string(scheme.name))) continue;
      config::Experiment with = loaded.value().runs.front().experiment;
      with.load_balancer = {};
      with.load_balancer.scheme = scheme.name;
      EXPECT_FALSE(unscaled_topology(with).ok()) << id << " lacks " << scheme.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Experiments, testing::ValuesIn(examples()), [](const auto& info) {
  std::string name = info.param.path.stem().string() + "_" + info.param.size;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace eddy::lab
