// What a configuration may say of fabrics of groups: virtual channels and detours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"

namespace eddy::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems_of(const std::string& text) {
  const auto loaded = load_text("f.yaml", text);
  return loaded.ok() ? std::vector<std::string>{} : loaded.problems();
}

TEST(Shim, IsOnEveryPacketWhereThereAreChannels) {
  const std::string port = "ports: {p0: {device: d0}}\n";
  const std::string maps = "qos: {tc_to_next: {3: 4}}\n";
  for (const char* use : {"off", "sampled"}) {
    const std::string shim = std::string("path_service: {shim: ") + use + "}\n";
    EXPECT_THAT(problems_of(shim + maps + port),
                ElementsAre("f.yaml:1:22: path_service.shim: virtual channels (qos.tc_to_next) "
                            "stand in shims, so each packet has one; write auto, free or every"));
    EXPECT_THAT(problems_of(shim + "load_balancer: {scheme: minimal}\n" + port),
                ElementsAre("f.yaml:1:22: path_service.shim: virtual channels (minimal) stand in "
                            "shims, so each packet has one; write auto, free or every"));
  }
  EXPECT_THAT(problems_of(maps + port), IsEmpty());
}

TEST(Channels, HaveGroupsAndQueuesOfTheirOwnAndAnEnd) {
  const auto problems = [](const std::string& maps) {
    return problems_of("ports: {p0: {device: d0, qos: {" + maps + "}}}\n");
  };
  EXPECT_THAT(problems("tc_to_next: {3: 4, 4: 5}, tc_to_pg: {5: 5}"), IsEmpty());
  EXPECT_THAT(problems("tc_to_next: {3: 4, 4: 3}"),
              ElementsAre(HasSubstr("class 3 rises through more than 4 channels, or in a circle"),
                          HasSubstr("class 4 rises through more than 4 channels, or in a circle")));
  EXPECT_THAT(problems("tc_to_next: {3: 5}, tc_to_queue: {5: 3}"),
              ElementsAre(HasSubstr("class 3 has 2 channels, and 2 priority groups and 1 queues")));
  EXPECT_THAT(
      problems("tc_to_next: {4: 5, 5: 6}"),  // both are of group 0
      testing::Contains(HasSubstr("class 4 has 3 channels, and 2 priority groups and 3 queues")));
}

TEST(Detours, AreForSchemesThatTakeThem) {
  const auto problems = [](const std::string& scheme, const std::string& more = "") {
    return problems_of("load_balancer: {scheme: " + scheme + "}\n" + more +
                       "switch: {leaf: 1}\nleaves: {2: [p0, {port: p1, detour: true, hops: 5}]}\n"
                       "ports: {p0: {device: d0, role: fabric}, p1: {device: d1, role: fabric}}\n");
  };
  EXPECT_THAT(problems("ugal"), IsEmpty());
  EXPECT_THAT(problems("valiant"), IsEmpty());
  EXPECT_THAT(problems("minimal"), IsEmpty());  // it leaves them to others
  EXPECT_THAT(problems("drill"),
              ElementsAre(HasSubstr("leaves.2.1.detour: drill takes no detours, its packets would "
                                    "go astray; valiant and ugal do")));
  EXPECT_THAT(problems("ugal", "rlb: default\n"),
              ElementsAre(HasSubstr("rlb.preset: RLB takes any path of a set for as good as "
                                    "another, and ugal's detours are not; off would be valid")));
  EXPECT_THAT(problems("minimal", "rlb: default\n"),
              ElementsAre(HasSubstr("leaves.2.1.detour: RLB takes any path of a set for as good as "
                                    "another, and a detour is not; rlb.preset: off would be "
                                    "valid")));
}

}  // namespace
}  // namespace eddy::config
