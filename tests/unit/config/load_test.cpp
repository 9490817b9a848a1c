#include "config/load.h"

#include <gtest/gtest.h>

#include "config/document.h"

namespace eddy::config {
namespace {

TEST(Load, ReadsAShortLeaf) {
  const auto loaded = load_text("leaf.yaml", R"(
switch:
  name: leaf1
  leaf: 1
ports:
  host1:
    device: net_af_packet0,iface=veth1
    addresses: [10.1.0.1/24]
  spine1:
    device: net_memif0,role=client
    role: fabric
  spine2:
    device: net_memif1,role=client
    role: fabric
    speed: 500Mbps
    pgs: {3: lossless}
leaves:
  2: [spine1, {port: spine2, weight: 3}]
routes:
  - {prefix: 10.2.0.0/24, leaf: 2}
)");
  ASSERT_TRUE(loaded.ok()) << loaded.problems().front();
  const SwitchConfig& config = loaded.value().config;
  EXPECT_EQ(config.name, "leaf1");
  EXPECT_EQ(config.leaf, LeafId(1));
  ASSERT_EQ(config.ports.size(), 3u);
  EXPECT_EQ(config.ports[0].name, "host1");
  EXPECT_EQ(config.ports[0].role, PortRole::host);
  EXPECT_EQ(config.ports[0].pg_profiles[3], "lossy");
  EXPECT_EQ(config.ports[2].speed, BitRate::mbps(500));
  EXPECT_EQ(config.ports[2].pg_profiles[3], "lossless");
  EXPECT_EQ(config.ports[2].pg_profiles[4], "lossy");
  ASSERT_EQ(config.leaves.size(), 1u);
  ASSERT_EQ(config.leaves[0].paths.size(), 2u);
  EXPECT_EQ(config.leaves[0].paths[0].port, "spine1");
  EXPECT_EQ(config.leaves[0].paths[1].weight, 3);
  ASSERT_EQ(config.routes.size(), 1u);
  EXPECT_EQ(config.routes[0].leaf, LeafId(2));

  const std::string text = print_config(config);
  const auto again = load_text("printed.yaml", text);
  ASSERT_TRUE(again.ok()) << again.problems().front() << "\n" << text;
  EXPECT_TRUE(again.value().config == config);
}

}  // namespace
}  // namespace eddy::config
