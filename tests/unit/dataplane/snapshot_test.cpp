// What a new configuration keeps of what the shards know, and what begins anew.
#include "switch/dataplane/state/snapshot.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "config/places.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

config::SwitchConfig leaf() {
  config::SwitchConfig config =
      leaf_spine({.leaves = 3, .spines = 2, .hosts = 2, .scheme = "drill"}).leaves[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  config.path_service.shim = config::ShimUse::sampled;
  config.resequence.enabled = true;
  return config;
}

std::unique_ptr<Snapshot> build(const config::SwitchConfig& config,
                                const Snapshot* previous = nullptr) {
  auto built = Snapshot::build(config, {.shards = 1}, previous);
  EXPECT_TRUE(built.ok());
  return std::move(*built);
}

// What the shard has after the change is what it had before.
std::set<std::string> kept_after(const std::function<void(config::SwitchConfig&)>& change) {
  config::SwitchConfig config = leaf();
  const auto before = build(config);
  change(config);
  const auto after = build(config, before.get());
  const ShardScheme& had = before->schemes[0];
  const ShardScheme& has = after->schemes[0];
  std::set<std::string> kept;
  if (has.selector == had.selector) kept.insert("selector");
  if (has.warnings == had.warnings) kept.insert("warnings");
  if (has.flows == had.flows && has.slots == had.slots) kept.insert("flows");
  if (has.echoes == had.echoes) kept.insert("echoes");
  if (has.judges == had.judges) kept.insert("judges");
  const auto flows = [](const ShardScheme& of) {
    return of.resequencer == nullptr ? nullptr : of.resequencer->flows();
  };
  if (flows(has) == flows(had)) kept.insert("orders");
  if (after->paths == before->paths) kept.insert("paths");
  return kept;
}

const std::set<std::string> kAll = {"selector", "warnings", "flows", "echoes",
                                    "judges",   "orders",   "paths"};
std::set<std::string> all_but(std::initializer_list<const char*> what) {
  std::set<std::string> some = kAll;
  for (const char* name : what) some.erase(name);
  return some;
}

TEST(Snapshot, KeepsWhatStillHolds) {
  EXPECT_EQ(kept_after([](auto&) {}), kAll);
  EXPECT_EQ(kept_after([](auto& c) { c.control.neighbor_age = 5_s; }), kAll);
  EXPECT_EQ(kept_after([](auto& c) { c.load_balancer.scheme = "ecmp"; }), all_but({"selector"}));
  EXPECT_EQ(kept_after([](auto& c) { ++c.seed; }), all_but({"selector"}));
  EXPECT_EQ(kept_after([](auto& c) { c.ports[2].shaper = 5_Gbps; }),
            all_but({"selector", "paths", "echoes", "judges"}))
      << "the scheme knows its lines, and the plan their capacities";
  EXPECT_EQ(kept_after([](auto& c) { c.ports[0].shaper = 5_Gbps; }), kAll)
      << "no path goes by a host's port";
  EXPECT_EQ(kept_after([](auto& c) {
              std::erase_if(c.neighbors, [&](auto& each) { return each.port == c.ports[0].name; });
              c.ports[0] = config::empty_place(0);
            }),
            kAll)
      << "nor by the place of one that is gone";
  EXPECT_EQ(kept_after([](auto& c) { c.rlb.guard.flows = 128; }), all_but({"selector", "flows"}));
  EXPECT_EQ(kept_after([](auto& c) { c.rlb.suspend = config::Suspend::most; }),
            all_but({"selector"}));
  EXPECT_EQ(kept_after([](auto& c) { c.rlb.warning.beside_pause = false; }), all_but({"warnings"}));
  EXPECT_EQ(kept_after([](auto& c) {
              for (config::PortConfig& port : c.ports) port.pg_profiles[4] = "lossy";
            }),
            all_but({"warnings"}))
      << "other queues have entries";
  EXPECT_EQ(kept_after([](auto& c) { c.resequence.flows = 128; }), all_but({"orders"}));
  EXPECT_EQ(kept_after([](auto& c) { c.path_service.sample = 77_us; }),
            all_but({"paths", "echoes", "judges"}));
}

TEST(Snapshot, OtherPathsBeginAnew) {
  const auto kOthers = all_but({"selector", "warnings", "flows", "echoes", "judges", "paths"});
  EXPECT_EQ(kept_after([](auto& c) { c.leaves[1].paths[1].weight = 3; }), kOthers);
  EXPECT_EQ(kept_after([](auto& c) { c.leaves[1].paths[1].path_id = PathId(0x01ee); }), kOthers);
  EXPECT_EQ(kept_after([](auto& c) { c.leaves[1].paths[1].port = "spine1"; }), kOthers);
  EXPECT_EQ(kept_after([](auto& c) { c.leaves[1].paths.pop_back(); }), kOthers);
}

TEST(Snapshot, HasNothingOfWhatIsOff) {
  config::SwitchConfig config = leaf();
  config.rlb = {};
  const auto plain = build(config);
  EXPECT_EQ(plain->schemes[0].warnings, nullptr);
  EXPECT_EQ(plain->schemes[0].flows, nullptr);
  EXPECT_EQ(plain->schemes[0].judges, nullptr);
  EXPECT_NE(plain->schemes[0].echoes, nullptr);
  config.path_service.shim = config::ShimUse::off;
  config.resequence.enabled = false;
  const auto bare = build(config, plain.get());
  EXPECT_EQ(bare->paths, nullptr);
  EXPECT_EQ(bare->schemes[0].echoes, nullptr);
  EXPECT_EQ(bare->schemes[0].resequencer, nullptr);
  config::SwitchConfig one_way = leaf();
  for (config::LeafConfig& to : one_way.leaves) to.paths.resize(1);
  EXPECT_EQ(build(one_way)->schemes[0].flows, nullptr) << "no path to choose";
}

// The port's own address, else a loopback, else the first of its family.
TEST(Snapshot, AnswersWithThePortsOwnAddressWhereItHasOne) {
  config::SwitchConfig config = leaf();
  const auto answer = [&config](size_t port, bool v4) {
    const auto snapshot = build(config);
    const OwnAddress* own = snapshot->own_address_on(PortId(port), v4);
    return own == nullptr ? std::string("none") : to_string(own->prefix.address);
  };
  EXPECT_EQ(answer(1, true), "10.1.2.1");
  EXPECT_EQ(answer(3, true), "10.1.1.1") << "the first";
  EXPECT_EQ(answer(1, false), "none");
  config.loopbacks = {ip("10.255.0.1"), ip("10.255.0.2"), ip("fd00::1")};
  EXPECT_EQ(answer(1, true), "10.1.2.1");
  EXPECT_EQ(answer(3, true), "10.255.0.2") << "the switch's own, the last of them";
  EXPECT_EQ(answer(1, false), "fd00::1");
  const auto snapshot = build(config);
  for (const char* own : {"10.1.1.1", "10.1.2.1", "10.255.0.1", "fd00::1"})
    EXPECT_TRUE(snapshot->owns(ip(own))) << own;
  for (const char* other : {"10.1.1.2", "10.1.3.1", "fd00::2"})
    EXPECT_FALSE(snapshot->owns(ip(other))) << other;
}

TEST(Snapshot, APortsMacIsTheSwitchsWithItsNumberUnlessItHasOne) {
  config::SwitchConfig config = bare_switch("s", 1);
  config.mac = {{0x02, 0, 0, 0, 0x10, 0xff}};
  config.ports.resize(300, config::default_port("p"));
  config.ports[7].mac = host_mac(3, 3);
  EXPECT_EQ(port_mac(config, 0), (MacAddress{{0x02, 0, 0, 0, 0x10, 0xfe}}));
  EXPECT_EQ(port_mac(config, 254), (MacAddress{{0x02, 0, 0, 0, 0x10, 0x00}}));
  EXPECT_EQ(port_mac(config, 255), (MacAddress{{0x02, 0, 0, 0, 0x11, 0xff}}));
  EXPECT_EQ(port_mac(config, 7), host_mac(3, 3));
}

// Of agents that are not a scheme's, whoever fills all shims itself has the prober at most; who is
// told to send every packet with a shim tells of loads, too.
TEST(SnapshotAgents, LoadsAreToldWhereTheConfigurationAsksForThem) {
  struct Case {
    const char* scheme;
    config::ShimUse shim;
    size_t agents;
  };
  using config::ShimUse;
  for (const Case& each :
       {Case{"conweave", ShimUse::automatic, 0}, Case{"conweave", ShimUse::every, 2},
        Case{"conga", ShimUse::automatic, 1}, Case{"conga", ShimUse::every, 1},
        Case{"ecmp", ShimUse::every, 2}, Case{"ecmp", ShimUse::sampled, 1}}) {
    config::SwitchConfig config = leaf();
    config.rlb = {};
    config.load_balancer = {.scheme = each.scheme};
    config.path_service.shim = each.shim;
    EXPECT_EQ(build(config)->schemes[0].agents.size(), each.agents)
        << each.scheme << " " << static_cast<int>(each.shim);
  }
}

}  // namespace
}  // namespace eddy::test
