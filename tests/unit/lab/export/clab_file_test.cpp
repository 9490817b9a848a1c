#include "lab/export/clab_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "tests/unit/lab/export/exported.h"

namespace eddy::lab {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

YAML::Node topology_of(const FabricExport& fabric) {
  const auto files = clab_folder(fabric);
  if (!files) {
    ADD_FAILURE() << files.problems().front();
    return {};
  }
  const YAML::Node document = YAML::Load(text_of(files.value(), "demo.clab.yml"));
  EXPECT_EQ(document["name"].as<std::string>(), "demo");
  EXPECT_EQ(document.size(), 2u);
  return document["topology"];
}

// Those that every release of containerlab documents for a node of kind linux.
TEST(ClabFile, NodesHaveKeysThatAllReleasesKnow) {
  const std::set<std::string> known = {"kind", "image", "user",       "labels", "env",
                                       "cmd",  "binds", "entrypoint", "exec"};
  for (const auto hosts : {ExportedHosts::eddyhost, ExportedHosts::linux})
    for (const auto& node : topology_of(demo(hosts, true))["nodes"]) {
      EXPECT_EQ(node.second["kind"].as<std::string>(), "linux");
      for (const auto& key : node.second)
        EXPECT_TRUE(known.contains(key.first.as<std::string>())) << key.first;
      for (const auto& label : node.second["labels"]) EXPECT_TRUE(label.second.IsScalar());
    }
}

TEST(ClabFile, LinuxHostsAreLinked) {
  const YAML::Node topology = topology_of(demo(ExportedHosts::linux, true));
  ASSERT_EQ(topology["links"].size(), 4u);
  EXPECT_THAT(topology["links"][3]["endpoints"].as<std::vector<std::string>>(),
              ElementsAre("leaf2:eth2", "leaf2-host2:eth1"));
  const YAML::Node host = topology["nodes"]["leaf2-host2"];
  EXPECT_THAT(host["exec"].as<std::vector<std::string>>(),
              ElementsAre("ip link set eth1 address 02:aa:00:02:00:02 mtu 1500",
                          "ip address add 10.0.2.2/32 dev eth1", "ip link set eth1 up",
                          "ip route add 10.0.0.0/22 via 169.254.0.4 dev eth1 onlink",
                          "ethtool -K eth1 tx off"));
}

TEST(ClabFile, EddyhostNeedsNoLinks) {
  const YAML::Node topology = topology_of(demo(ExportedHosts::eddyhost));
  EXPECT_FALSE(topology["links"]);
  const YAML::Node hosts = topology["nodes"]["hosts"];
  EXPECT_EQ(hosts["entrypoint"].as<std::string>(), "eddyhost");
  EXPECT_THAT(hosts["cmd"].as<std::string>(),
              HasSubstr(" --port '*=net_memif{n},socket=/run/eddy/{host}.memif' --switch "
                        "leaf1=/run/eddy/leaf1.sock "));
}

TEST(ClabFile, WordsAreQuotedAsAShellReadsThem) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.eddyhost = {"a b", "it's", "", "x;y", "plain=1"};
  EXPECT_EQ(topology_of(fabric)["nodes"]["hosts"]["cmd"].as<std::string>(),
            R"('a b' 'it'\''s' '' 'x;y' plain=1)");
}

TEST(ClabFile, WhatItWouldReplaceIsRefused) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.eddyhost.emplace_back("x=$HOME");
  const auto files = clab_folder(fabric);
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(files.problems(), ElementsAre(HasSubstr("would replace the $ in \"x=$HOME\"")));
}

}  // namespace
}  // namespace eddy::lab
