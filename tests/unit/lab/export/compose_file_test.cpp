#include "lab/export/compose_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "tests/unit/lab/export/exported.h"

namespace eddy::lab {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

YAML::Node services_of(const FabricExport& fabric) {
  return YAML::Load(text_of(compose_folder(fabric), "compose.yaml"))["services"];
}

std::vector<std::string> words(const YAML::Node& node) {
  return node ? node.as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::vector<std::string> keys(const YAML::Node& node) {
  std::vector<std::string> out;
  for (const auto& each : node) out.push_back(each.first.as<std::string>());
  return out;
}

TEST(ComposeFile, EveryContainerHasAsLittleAsItNeeds) {
  for (const auto hosts : {ExportedHosts::eddyhost, ExportedHosts::linux})
    for (const auto& each : services_of(demo(hosts))) {
      const YAML::Node& service = each.second;
      EXPECT_THAT(words(service["cap_drop"]), ElementsAre("ALL")) << each.first;
      EXPECT_THAT(words(service["security_opt"]), ElementsAre("no-new-privileges:true"));
      EXPECT_TRUE(service["read_only"].as<bool>());
      EXPECT_FALSE(service["privileged"]);
      EXPECT_FALSE(service["pid"]);
      EXPECT_EQ(service["labels"]["org.eddy.fabric"].as<std::string>(), "demo");
      EXPECT_EQ(service["labels"]["org.eddy.node"].as<std::string>(), each.first.as<std::string>());
    }
}

TEST(ComposeFile, MemifAloneNeedsNoNetworkNoCapabilityAndNoRoot) {
  const YAML::Node services = services_of(demo(ExportedHosts::eddyhost));
  EXPECT_THAT(keys(services), ElementsAre("leaf1", "leaf2", "spine1", "spine2", "hosts"));
  for (const auto& each : services) {
    EXPECT_EQ(each.second["network_mode"].as<std::string>(), "none");
    EXPECT_FALSE(each.second["cap_add"]) << each.first;
    EXPECT_EQ(each.second["user"].as<std::string>(), "6480:6480");
  }
  const YAML::Node leaf = services["leaf1"];
  EXPECT_THAT(words(leaf["command"]),
              ElementsAre("--config", "/etc/eddy/leaf1.yaml", "--require-version", "0.2.0"));
  EXPECT_EQ(leaf["environment"]["EDDY_SWITCH"].as<std::string>(), "leaf1");
  EXPECT_EQ(leaf["image"].as<std::string>(), "eddy:${EDDY_TAG:-0.2.0}");
  EXPECT_EQ(leaf["volumes"][0]["source"].as<std::string>(), "./config/leaf1.yaml");
  EXPECT_THAT(words(services["hosts"]["depends_on"]),
              ElementsAre("leaf1", "leaf2", "spine1", "spine2"));
}

TEST(ComposeFile, SwitchesWithLinuxHostsLiveInTheNetworkOfWire) {
  const YAML::Node services = services_of(demo(ExportedHosts::linux));
  EXPECT_EQ(services["leaf1"]["network_mode"].as<std::string>(), "service:wire");
  EXPECT_EQ(services["leaf1"]["user"].as<std::string>(), "0:6480");
  EXPECT_THAT(words(services["leaf1"]["depends_on"]), ElementsAre("wire"));
  EXPECT_EQ(services["spine1"]["network_mode"].as<std::string>(), "none");
  EXPECT_FALSE(services["spine1"]["cap_add"]);
  EXPECT_THAT(words(services["wire"]["cap_add"]), ElementsAre("NET_ADMIN"));
  EXPECT_THAT(words(services["wire"]["command"]),
              testing::Contains("leaf2-host1=leaf2-host1,mac=02:aa:00:02:00:01,mtu=1500"));
  const YAML::Node host = services["leaf2-host1"];
  EXPECT_EQ(host["network_mode"].as<std::string>(), "none");
  EXPECT_THAT(words(host["cap_add"]), UnorderedElementsAre("NET_ADMIN", "NET_RAW"));
  EXPECT_THAT(words(host["command"]),
              ElementsAre("join", "leaf2-host1", "--device", "eth0", "--address", "10.0.2.1",
                          "--gateway", "169.254.0.3"));
  EXPECT_THAT(words(host["extra_hosts"]), testing::Contains("leaf1-host2:10.0.1.2"));
}

// Compose replaces $NAME; what users write into --set is theirs.
TEST(ComposeFile, DollarsOfOthersAreNotReplaced) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.eddyhost.emplace_back("$HOME ${PATH}");
  EXPECT_EQ(words(services_of(fabric)["hosts"]["command"]).back(), "$$HOME $${PATH}");
}

TEST(ComposeFile, ATitleIsNoSyntax) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.title = "x\nservices: {}";
  EXPECT_EQ(services_of(fabric).size(), 5u);
}

TEST(ComposeFile, TheFolderIsWhole) {
  const std::vector<OutFile> files = compose_folder(demo(ExportedHosts::linux));
  std::vector<std::string> paths;
  for (const OutFile& file : files) paths.push_back(file.path.string());
  EXPECT_THAT(paths,
              UnorderedElementsAre("compose.yaml", ".env", "README.md", "experiment/demo.yaml",
                                   "config/leaf1.yaml", "config/leaf2.yaml", "config/spine1.yaml",
                                   "config/spine2.yaml"));
  EXPECT_THAT(text_of(files, "README.md"),
              HasSubstr("docker exec leaf1-host1 ping -c 3 leaf2-host2"));
}

}  // namespace
}  // namespace eddy::lab
