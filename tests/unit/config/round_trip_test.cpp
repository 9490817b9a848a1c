// What is printed loads back to the same configuration; what changes is named with its class.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "config/diff.h"
#include "config/document.h"
#include "config/load.h"
#include "tests/unit/config/random_config.h"

namespace eddy::config {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> example_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(EDDY_SOURCE_DIR "/config/examples"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

SwitchConfig loaded(const std::string& text) {
  const auto result = load_text("f.yaml", text);
  EXPECT_TRUE(result.ok()) << result.problems().front() << "\n" << text;
  return result.ok() ? result.value().config : SwitchConfig{};
}

class Examples : public testing::TestWithParam<fs::path> {};

TEST_P(Examples, LoadWithoutWarningAndPrintToThemselves) {
  const auto first = load_file(GetParam());
  ASSERT_TRUE(first.ok()) << first.problems().front();
  EXPECT_THAT(first.value().warnings, testing::IsEmpty());
  const std::string printed = print_config(first.value().config);
  EXPECT_TRUE(loaded(printed) == first.value().config) << printed;
  const std::string brief = print_brief(first.value().config);
  EXPECT_TRUE(loaded(brief) == first.value().config) << brief;
  EXPECT_LT(brief.size(), printed.size() / 2) << brief;
  EXPECT_THAT(describe(first.value().config), testing::HasSubstr("buffer: "));
}

std::string example_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Files, Examples, testing::ValuesIn(example_files()), example_name);

class RoundTrip : public testing::TestWithParam<uint64_t> {};

TEST_P(RoundTrip, OfARandomConfiguration) {
  const SwitchConfig config = random_config(GetParam());
  const std::string printed = print_config(config);
  const auto again = load_text("random.yaml", printed, Purpose::object);
  ASSERT_TRUE(again.ok()) << "seed " << GetParam() << ": " << again.problems().front();
  EXPECT_TRUE(again.value().config == config) << "seed " << GetParam() << "\n" << printed;
  EXPECT_TRUE(diff(config, again.value().config).empty()) << "seed " << GetParam();
}
TEST_P(RoundTrip, OfARandomConfigurationInBrief) {
  const SwitchConfig config = random_config(GetParam());
  const std::string brief = print_brief(config);
  EXPECT_LT(brief.size(), print_config(config).size()) << "seed " << GetParam();
  const auto again = load_text("brief.yaml", brief, Purpose::object);
  ASSERT_TRUE(again.ok()) << "seed " << GetParam() << ": " << again.problems().front();
  EXPECT_TRUE(again.value().config == config) << "seed " << GetParam() << "\n" << brief;
}
INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, testing::Range<uint64_t>(1, 13));

TEST(Generated, FilesAreCurrent) {
  EXPECT_EQ(text_of(EDDY_SOURCE_DIR "/config/eddyd.schema.json"), json_schema())
      << "run: ninja config_docs";
  EXPECT_EQ(text_of(EDDY_SOURCE_DIR "/docs/configuration.md"), keys_as_markdown())
      << "run: ninja config_docs";
}

struct Expected {
  std::string key;
  KeyClass key_class;
  std::string port;
};

void expect_changes(const std::string& before, const std::string& after,
                    const std::vector<Expected>& expected) {
  const auto changes = diff(loaded(before), loaded(after));
  ASSERT_EQ(changes.size(), expected.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].key, expected[i].key);
    EXPECT_EQ(to_string(changes[i].key_class), to_string(expected[i].key_class)) << changes[i].key;
    EXPECT_EQ(changes[i].port, expected[i].port) << changes[i].key;
  }
}

constexpr const char* kTwoPorts = R"(
switch: {name: s}
ports:
  p0: {device: d0, addresses: [10.0.0.1/24]}
  p1: {device: d1, role: fabric}
)";

TEST(Brief, SaysWhatIsNoDefaultAndWhatPortsShareOnce) {
  EXPECT_EQ(print_brief(loaded(R"(
switch: {name: s}
rlb: default
ports:
  p0: {device: d0, speed: 2Gbps, pgs: {3: lossless}, pfc: {refresh_limit: 1ms}}
  p1: {device: d1, speed: 2Gbps, pgs: {3: lossless, 4: lossless}, role: fabric}
)")),
            R"(switch:
  name: s
port_defaults:
  speed: 2Gbps
  pgs: {3: lossless}
ports:
  p0:
    device: d0
    pfc:
      refresh_limit: 1ms
  p1:
    device: d1
    role: fabric
    pgs: {4: lossless}
load_balancer:
  scheme: ecmp
  control: ecmp
  buckets: 256
rlb:
  preset: default
)");
}

TEST(Diff, OfEqualConfigurationsIsEmpty) {
  expect_changes(kTwoPorts, kTwoPorts, {});
}

TEST(Diff, NamesEachChangedKeyWithItsClass) {
  expect_changes(kTwoPorts, R"(
switch: {name: s, workers: 2}
qos: {dscp_to_tc: {26: 3}}
ports:
  p0: {device: d0, addresses: [10.0.0.1/24, 10.1.0.1/24], speed: 2Gbps}
  p1: {device: d1, role: fabric, pgs: {3: lossless}, queues: {3: {weight: 20}}}
load_balancer: {buckets: 512}
)",
                 {{"switch.workers", KeyClass::restart, ""},
                  {"ports.p0.speed", KeyClass::port, "p0"},
                  {"ports.p0.addresses", KeyClass::hot, "p0"},
                  {"ports.p0.qos.dscp_to_tc.26", KeyClass::hot, "p0"},
                  {"ports.p1.pgs.3", KeyClass::hot, "p1"},
                  {"ports.p1.queues.3.weight", KeyClass::hot, "p1"},
                  {"ports.p1.qos.dscp_to_tc.26", KeyClass::hot, "p1"},
                  {"load_balancer.buckets", KeyClass::hot, ""}});
}

TEST(Diff, PortsThatComeOrGoAreAChangeEach) {
  const std::string three = std::string(kTwoPorts) + "  p2: {device: d2}\n";
  expect_changes(kTwoPorts, three, {{"ports.p2", KeyClass::port, ""}});
  expect_changes(three, kTwoPorts, {{"ports.p2", KeyClass::port, ""}});
  const auto changes = diff(loaded(kTwoPorts), loaded(three));
  EXPECT_EQ(changes.front().before, "");
  EXPECT_EQ(changes.front().after, "d2");
}

TEST(Diff, TheOrderOfPortsMeansNothing) {
  expect_changes("ports: {p0: {device: d0}, p1: {device: d1}}",
                 "ports: {p1: {device: d1}, p0: {device: d0}}", {});
}

TEST(Diff, ShowsBothValues) {
  const auto changes = diff(loaded(kTwoPorts), loaded(std::string(kTwoPorts) +
                                                      "routes: [{prefix: 10.9.0.0/16, port: p0}]"));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].key, "routes");
  EXPECT_EQ(changes[0].before, "[]");
  EXPECT_EQ(changes[0].after, "[{prefix: 10.9.0.0/16, leaf: none, port: p0}]");
}

TEST(Describe, SaysWhatALosslessPortMeans) {
  const std::string text = describe(loaded(R"(
switch: {name: s, leaf: 4, time_dilation: 10}
ports:
  p0: {device: d0, speed: 10Gbps, pgs: {3: lossless}}
  p1: {device: d1, admin_up: false, shaper: 500Mbps}
load_balancer: {scheme: ecmp}
)"));
  EXPECT_EQ(text, R"(switch s: id 1, leaf 4, MAC 02:ed:00:00:00:01
  workers 1, idle adaptive, poll gap 1ms (auto)
  time dilation 10: what follows is as it will run
load balancer: ecmp, buckets 256
buffer: 12MiB in cells of 256 octets: 397KiB set aside (reserved, headroom), 11891KiB shared
  holds at most 49152 packets: as many mbufs are needed, and those that rings hold
ports: 2
  p0: host, 1Gbps, MTU 1500, worker 0, d0
    PFC: tx on, rx honour
    PG 3: lossless (lossless): pauses priority 3 above 256KiB, resumes 4KiB below, headroom 397KiB (auto)
    every other priority group is lossy
  p1: host, 100Mbps (shaped to 50Mbps), MTU 1500, worker 0, down, d1
    PFC: tx on, rx honour
    every priority group is lossy
routes: 0, static neighbors: 0
)");
}

TEST(Describe, SaysHowASchemeIsSetAndWhichPathsLeadToALeaf) {
  const std::string text = describe(loaded(R"(
switch: {leaf: 4}
ports:
  p0: {device: d0, addresses: [10.0.0.1/24], pfc: {asymmetric: true}, pgs: {0: lossless}}
  p1: {device: d1, role: fabric}
  p2: {device: d2, role: fabric}
leaves: {7: [p1, {port: p2, weight: 3}]}
load_balancer: {scheme: letflow, gap: 70us}
)"));
  for (const char* line :
       {"load balancer: letflow, entries 65536, gap 70us, ", "    address 10.0.0.1/24\n",
        "    PFC: tx on, rx honour, asymmetric\n    PG 0: lossless (lossless): pauses priority 0 ",
        "\nleaf 7: by p1, p2 x 3\nroutes: 0, "})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

TEST(Describe, SaysHowControlPacketsGoWhereThatIsUnusual) {
  const std::string text = "ports: {p0: {device: d0}}\nload_balancer: {control: ";
  EXPECT_THAT(describe(loaded(text + "ecmp}")), testing::Not(testing::HasSubstr("control")));
  EXPECT_THAT(describe(loaded(text + "scheme}")),
              testing::HasSubstr("load balancer: ecmp, buckets 256, control by scheme\n"));
}

// A reader sees the levels of keys by two blanks each.
TEST(Print, IndentsByTwo) {
  SwitchConfig config = default_switch("s");
  config.ports = {default_port("p0")};
  config.ports[0].device = "d0";
  EXPECT_THAT(print_config(config), testing::HasSubstr("\nports:\n  p0:\n    device: d0\n"));
}

// Some readers of YAML take these words for truth values, whatever their case.
TEST(Print, QuotesWordsThatAreNoTextToOthers) {
  for (const char* word : {"no", "On", "TRUE", "null", "y"})
    EXPECT_THAT(print_config(default_switch(word)),
                testing::HasSubstr("name: \"" + std::string(word) + "\"\n"));
  EXPECT_THAT(print_config(default_switch("nope")), testing::HasSubstr("name: nope\n"));
}

TEST(Scaling, StretchesTheTimesOfAScheme) {
  SwitchConfig config = default_switch("s");
  config.time_dilation = 10;
  config.load_balancer.parameters = {{"gap", "50us"}, {"entries", "65536"}, {"cell", "64KiB"}};
  const auto parameters = scaled(config).load_balancer.parameters;
  EXPECT_EQ(parameters.at("gap"), "500us");
  EXPECT_EQ(parameters.at("entries"), "65536");
  EXPECT_EQ(parameters.at("cell"), "64KiB");
}

TEST(Positions, LeadToTheNearestKeyAbove) {
  const auto result = load_text("f.yaml", kTwoPorts);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value().message("ports.p0.device", "busy"), "f.yaml:4:16: busy");
  EXPECT_EQ(result.value().message("ports.p1.speed", "too fast"), "f.yaml:5:3: too fast");
  EXPECT_EQ(result.value().message("control.socket", "in use"), "f.yaml:1:1: in use");
}

}  // namespace
}  // namespace eddy::config
