#include "config/shared_list.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace eddy::config {
namespace {

using Words = SharedList<std::vector<std::string>>;
using Names = SharedList<std::array<std::string, 3>>;

template <class List>
const auto* place_of(const List& list) {
  return list.data();
}

TEST(SharedList, IsEmptyOrOfEmptyValuesAtFirst) {
  EXPECT_TRUE(Words().empty());
  EXPECT_EQ(Words().size(), 0u);
  const Names names;
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names[2], "");
  EXPECT_EQ(names, Names());
}

TEST(SharedList, CopiesShareUntilOneIsChanged) {
  const Words one{"a", "b"};
  Words two = one;
  EXPECT_EQ(place_of(one), place_of(two));
  EXPECT_EQ(one, two);
  two[1] = "c";
  EXPECT_NE(place_of(one), place_of(two));
  EXPECT_NE(one, two);
  EXPECT_EQ(one, (Words{"a", "b"}));
  EXPECT_EQ(two, (Words{"a", "c"}));
  const auto* before = place_of(two);
  two[0] = "d";
  EXPECT_EQ(place_of(two), before) << "it is alone already";
}

TEST(SharedList, EveryWayToChangeItLeavesTheOthers) {
  const Words one{"a", "b"};
  const auto changed = [&](auto&& change) {
    Words other = one;
    change(other);
    EXPECT_EQ(one, (Words{"a", "b"}));
    return other;
  };
  EXPECT_EQ(changed([](Words& w) { w.push_back("c"); }), (Words{"a", "b", "c"}));
  EXPECT_EQ(changed([](Words& w) { w.emplace_back() = "c"; }), (Words{"a", "b", "c"}));
  EXPECT_EQ(changed([](Words& w) { w.pop_back(); }), Words{"a"});
  EXPECT_EQ(changed([](Words& w) { w.resize(1); }), Words{"a"});
  EXPECT_EQ(changed([](Words& w) { w.clear(); }), Words());
  EXPECT_EQ(changed([](Words& w) { w.front() = "c"; }), (Words{"c", "b"}));
  EXPECT_EQ(changed([](Words& w) { w.back() = "c"; }), (Words{"a", "c"}));
  EXPECT_EQ(changed([](Words& w) { w.at(0) = "c"; }), (Words{"c", "b"}));
  EXPECT_EQ(changed([](Words& w) { *w.data() = "c"; }), (Words{"c", "b"}));
  EXPECT_EQ(changed([](Words& w) {
              for (std::string& word : w) word += "!";
            }),
            (Words{"a!", "b!"}));
  const Names names;
  Names filled = names;
  filled.fill("x");
  EXPECT_EQ(names[1], "");
  EXPECT_EQ(filled[1], "x");
}

TEST(SharedList, PortsShareWhatTheyHaveByDefault) {
  const PortConfig one = default_port("one");
  PortConfig two = default_port("two");
  EXPECT_EQ(place_of(one.queues), place_of(std::as_const(two).queues));
  EXPECT_EQ(place_of(one.pg_profiles), place_of(std::as_const(two).pg_profiles));
  two.queues[3].weight = 1;
  EXPECT_EQ(default_port("three").queues[3].weight, one.queues[3].weight);
}

TEST(SharedList, ScalingByNothingKeepsThemShared) {
  SwitchConfig config = default_switch("s");
  config.ports = {default_port("p")};
  const SwitchConfig same = scaled(config);
  EXPECT_EQ(place_of(same.ports[0].queues), place_of(std::as_const(config).ports[0].queues));
}

}  // namespace
}  // namespace eddy::config
