#include "lab/export/kube_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <map>

#include "tests/unit/lab/export/exported.h"

namespace eddy::lab {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;

// By kind and name.
std::map<std::string, YAML::Node> documents_of(const FabricExport& fabric) {
  std::map<std::string, YAML::Node> out;
  const auto files = kube_folder(fabric);
  if (!files) {
    ADD_FAILURE() << files.problems().front();
    return out;
  }
  for (const YAML::Node& each : YAML::LoadAll(text_of(files.value(), fabric.name + ".k8s.yaml")))
    out[each["kind"].as<std::string>() + " " + each["metadata"]["name"].as<std::string>()] = each;
  return out;
}

TEST(KubeFile, ThereIsAPodForEachSwitchAndOneForTheHosts) {
  std::vector<std::string> names;
  for (const auto& [name, document] : documents_of(demo(ExportedHosts::eddyhost)))
    names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("ConfigMap demo-hosts", "ConfigMap demo-leaf1", "ConfigMap demo-leaf2",
                          "ConfigMap demo-spine1", "ConfigMap demo-spine2",
                          "PersistentVolumeClaim demo-run", "Pod demo-hosts", "Pod demo-leaf1",
                          "Pod demo-leaf2", "Pod demo-spine1", "Pod demo-spine2"));
}

TEST(KubeFile, PodsStayTogetherAndAreAllowedNothing) {
  for (const auto& [name, document] : documents_of(demo(ExportedHosts::eddyhost))) {
    if (!name.starts_with("Pod ")) continue;
    const YAML::Node spec = document["spec"];
    const YAML::Node term =
        spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
    EXPECT_EQ(term["labelSelector"]["matchLabels"]["org.eddy.fabric"].as<std::string>(), "demo");
    EXPECT_EQ(document["metadata"]["labels"]["org.eddy.fabric"].as<std::string>(), "demo");
    EXPECT_EQ(term["topologyKey"].as<std::string>(), "kubernetes.io/hostname");
    const YAML::Node security = spec["containers"][0]["securityContext"];
    EXPECT_EQ(security["capabilities"]["drop"][0].as<std::string>(), "ALL");
    EXPECT_FALSE(security["capabilities"]["add"]);
    EXPECT_FALSE(security["allowPrivilegeEscalation"].as<bool>());
    EXPECT_EQ(security["runAsUser"].as<int>(), 6'480);
    EXPECT_FALSE(spec["hostNetwork"]);
    EXPECT_EQ(spec["volumes"][1]["persistentVolumeClaim"]["claimName"].as<std::string>(),
              "demo-run");
  }
}

TEST(KubeFile, TheConfigurationOfASwitchIsInItsMap) {
  const FabricExport fabric = demo(ExportedHosts::eddyhost);
  auto documents = documents_of(fabric);
  EXPECT_EQ(documents["ConfigMap demo-spine1"]["data"]["spine1.yaml"].as<std::string>(),
            fabric.switches[2].yaml);
  EXPECT_EQ(documents["ConfigMap demo-hosts"]["data"]["demo.yaml"].as<std::string>(),
            fabric.experiment_files[0].text);
  const YAML::Node leaf = documents["Pod demo-leaf1"]["spec"]["containers"][0];
  EXPECT_EQ(leaf["readinessProbe"]["exec"]["command"][1].as<std::string>(), "healthy");
  EXPECT_EQ(leaf["args"][1].as<std::string>(), "/etc/eddy/leaf1.yaml");
  EXPECT_EQ(documents["Pod demo-hosts"]["spec"]["restartPolicy"].as<std::string>(), "Never");
}

TEST(KubeFile, VariablesOfOthersAreNotReplaced) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.eddyhost.emplace_back("$(X) $Y");
  const YAML::Node args = documents_of(fabric)["Pod demo-hosts"]["spec"]["containers"][0]["args"];
  EXPECT_EQ(args[args.size() - 1].as<std::string>(), "$$(X) $Y");
}

TEST(KubeFile, WhatNoConfigMapHoldsIsRefused) {
  FabricExport fabric = demo(ExportedHosts::eddyhost);
  fabric.experiment_files.push_back({"experiment/deep/x.txt", "x"});
  EXPECT_THAT(kube_folder(fabric).problems(), ElementsAre(HasSubstr("a ConfigMap has no folders")));
  fabric.experiment_files.back() = {"experiment/x.txt", std::string(2'000'000, 'x')};
  EXPECT_THAT(kube_folder(fabric).problems(), ElementsAre(HasSubstr("a ConfigMap holds at most")));
}

}  // namespace
}  // namespace eddy::lab
