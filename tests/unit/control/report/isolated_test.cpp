// show isolated on a real leaf: who congests its ports, and whose packets it isolates.
#include <gtest/gtest.h>

#include "net/congestion/cim.h"
#include "net/congestion/destination_tag.h"
#include "net/ethernet.h"
#include "switch/control/serve/operations.h"
#include "tests/support/one_switch.h"
#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

using namespace eddy::literals;

constexpr size_t kFirstUplink = 2;

// Host ports 0 and 1, of which the second is slow; uplinks 2 and 3 to leaf 2.
config::SwitchConfig isolating_leaf(size_t workers, int64_t places) {
  config::SwitchConfig config = test::leaf_spine({}).leaves[0];
  config.isolation.enabled = true;
  config.isolation.threshold = Bytes(5'000);
  config.isolation.hosts = places;
  config.ports[1].speed = 100_Mbps;
  test::spread_over_workers(config, workers);
  return config;
}

struct IsolatingRig : test::OneSwitch {
  explicit IsolatingRig(size_t workers = 1, int64_t places = 256)
      : OneSwitch(isolating_leaf(workers, places), workers),
        operations(object(), backend,
                   {"", config, [this] { fabric.poll(node); }, [](const LoggedEvent&) {}, 0}) {
    for (const size_t port : {2, 3}) hear(port, {.kind = CimKind::hello, .origin = SwitchId(50)});
    run_for(1_us);
  }
  void hear(size_t port, Cim message) {
    message.priority = Priority(test::kLosslessDscp);
    const EthernetHeader header{.destination = test::host_mac(1, 1),
                                .source = test::host_mac(9, 9),
                                .ethertype = kEtherTypeCim,
                                .tag_count = 1,
                                .tags = {VlanTag{.pcp = 7}}};
    test::Frame frame(128);
    const size_t length = encode(header, frame);
    frame.resize(length + encode(message, Octets(frame).subspan(length)));
    inject(port, frame);
  }
  void hear_hot(uint32_t tag, uint32_t sequence) {
    hear(kFirstUplink, {.kind = CimKind::hot,
                        .origin = SwitchId(8),
                        .leaf = LeafId(2),
                        .tag = tag,
                        .sequence = sequence,
                        .expiry_ns = 500'000,
                        .queue_bytes = 64'000});
    run_for(1_us);
  }
  void send(size_t port, const IpAddress& from, const IpAddress& to, uint16_t flow) {
    test::UdpSpec spec{.destination_mac = port_mac(config, port),
                       .source_mac = test::host_mac(1, port + 1),
                       .source = from,
                       .destination = to,
                       .dscp = test::kLosslessDscp};
    spec.source_port = flow;
    spec.frame_len = 1'000;
    spec.readable_len = 128;
    inject(port, test::udp_frame(spec), 1'000);
    run_for(1_us);
  }
  Json show(const char* report = "isolated") {
    const Json answer = operations.handle({{"command", "show"}, {"report", report}}, 0);
    EXPECT_TRUE(answer.at("ok")) << answer.dump();
    return answer.at("result").at("rows");
  }

  FakeBackend backend;
  Operations operations;
};

TEST(Isolated, AHostElsewhereIsShownAsSoonAsItIsHeardOf) {
  IsolatingRig rig;
  EXPECT_TRUE(rig.show().empty());
  const IpAddress host = test::host_ip(2, 1);
  rig.hear_hot(destination_tag(host), 1);
  rig.run_for(29_us);
  Json row = rig.show().at(0);
  EXPECT_FALSE(row.contains("destination")) << "a tag alone";
  EXPECT_EQ(row.at("leaf"), 2u);
  EXPECT_EQ(row.at("state"), "hot");
  EXPECT_GE(row.at("hot_ns"), 29'000u);
  EXPECT_LE(row.at("hot_ns"), 31'000u);
  EXPECT_EQ(row.at("queued_bytes"), 64'000u);
  EXPECT_EQ(row.at("named"), "unknown");
  EXPECT_EQ(row.at("isolated_packets"), 0u);
  EXPECT_EQ(row.at("said_by"), "switch 8");
  for (const uint16_t flow : {1, 2, 2}) rig.send(0, test::host_ip(1, 1), host, flow);
  row = rig.show().at(0);
  EXPECT_EQ(row.at("destination"), to_string(host));
  EXPECT_EQ(row.at("named"), "host");
  EXPECT_EQ(row.at("isolated_flows"), 2u);
  EXPECT_EQ(row.at("isolated_packets"), 3u);
  rig.run_for(501_us);
  EXPECT_EQ(rig.show().at(0).at("state"), "cold") << "nobody said so again";
  rig.run_for(3_ms);
  EXPECT_TRUE(rig.show().empty()) << "forgotten";
}

// Each worker isolates its own hosts' packets.
TEST(Isolated, WorkersAreSummedUp) {
  IsolatingRig rig(2);
  const IpAddress host = test::host_ip(2, 1);
  rig.hear_hot(destination_tag(host), 1);
  rig.run_for(2_us);
  for (const size_t port : {0, 1}) rig.send(port, test::host_ip(1, port + 1), host, 7);
  const Json all = rig.show();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("isolated_packets"), 2u);
  EXPECT_EQ(all[0].at("isolated_flows"), 2u);
}

// More places than one slice has; IPv6, too.
TEST(Isolated, ALargeTableIsShownWhole) {
  IsolatingRig rig(1, 4'096);
  for (uint32_t i = 1; i <= 30; ++i) rig.hear_hot(i * 1'000, i);
  EXPECT_EQ(rig.show().size(), 30u);
}

TEST(Isolated, AHostHereIsShownWithItsPort) {
  IsolatingRig rig;
  for (int i = 0; i < 12; ++i)
    rig.send(kFirstUplink, test::host_ip(2, 1), test::host_ip(1, 2), i % 2);
  const Json all = rig.show();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("port"), rig.config.ports[1].name);
  EXPECT_EQ(all[0].at("destination"), to_string(test::host_ip(1, 2)));
  EXPECT_EQ(all[0].at("state"), "hot");
  EXPECT_GT(all[0].at("queued_bytes"), 5'000u);
  EXPECT_EQ(all[0].at("named"), "flows");
  EXPECT_EQ(all[0].at("named_flows"), 2u);
  EXPECT_EQ(all[0].at("said_by"), "this switch");
  EXPECT_EQ(rig.show("isolation").size(), 3u) << "the port, and the uplinks that told of it";
}

}  // namespace
}  // namespace eddy::control
