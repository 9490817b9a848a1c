// What a switch says it would do with a packet is what it does with it; and saying so changes
// nothing.
#include "switch/dataplane/object/explain.h"

#include <gtest/gtest.h>

#include "lb/registry.h"
#include "net/cnm.h"
#include "net/ethernet.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/one_switch.h"
#include "tests/support/packet_pool.h"
#include "tests/support/topologies.h"
#include "tests/support/warning_frame.h"

namespace eddy::test {
namespace {

// Asks one switch of a fabric.
class Asker {
 public:
  Explanation operator()(Fabric& fabric, Switch& object, size_t port, const Frame& frame,
                         size_t wire_len = 0) {
    Packet* const packet = pool_.get(frame, wire_len);
    Explanation out{.port = PortId(port), .packet = packet};
    const ShardId owner(static_cast<size_t>(object.config().ports[port].worker));
    EXPECT_TRUE(explain_packet(object.shard(owner), out, fabric.now()));
    pool_.put(packet);
    out.packet = nullptr;
    return out;
  }

 private:
  PacketPool pool_{4};
};

constexpr size_t kHosts = 2;
constexpr size_t kUplinks = 4;

struct LeafRig : OneSwitch {
  explicit LeafRig(const config::SwitchConfig& with, size_t shards = 1) : OneSwitch(with, shards) {
    run_for(1_us);
  }
  Frame frame(size_t flow, size_t from = 0, uint8_t dscp = kLosslessDscp) const {
    UdpSpec spec{.destination_mac = port_mac(config, from),
                 .source_mac = host_mac(1, from + 1),
                 .source = host_ip(1, from + 1),
                 .destination = host_ip(2, 1),
                 .dscp = dscp};
    spec.source_port = static_cast<uint16_t>(1'000 + flow);
    spec.ecn = kEcnCapable0;
    spec.frame_len = 1'000;
    spec.readable_len = 128;
    return udp_frame(spec);
  }
  Explanation ask(size_t flow, size_t from = 0) {
    return asker(fabric, object(), from, frame(flow, from), 1'000);
  }
  // The uplink by which it left, as a port; 0: it has not.
  size_t send_and_see(size_t flow, size_t from = 0) {
    std::array<size_t, kUplinks> before{};
    for (size_t i = 0; i < kUplinks; ++i) before[i] = seen(kHosts + i).size();
    inject(from, frame(flow, from), 1'000);
    run_for(10_us);
    for (size_t i = 0; i < kUplinks; ++i)
      for (size_t n = before[i]; n < seen(kHosts + i).size(); ++n)
        if (is_of(seen(kHosts + i)[n].frame, flow)) return kHosts + i;
    return 0;
  }
  static bool is_of(const Frame& frame, size_t flow) {
    constexpr size_t kSourcePortAt = kEthernetHeader + kIpv4Header;
    return frame.size() > kSourcePortAt + 2 &&
           load_be16(frame.data() + kSourcePortAt) == 1'000 + flow;
  }
  void warn(size_t uplink) {
    inject(uplink, warning_frame(config, uplink, {.sequence = ++sequence}));
    run_for(100_ns);
  }
  uint32_t sequence = 0;
  Asker asker;
};

config::SwitchConfig leaf_with(std::string_view scheme, bool rlb) {
  config::SwitchConfig config =
      leaf_spine({.leaves = 3, .spines = kUplinks, .hosts = kHosts, .scheme = std::string(scheme)})
          .leaves[0];
  config.path_service.shim = config::ShimUse::off;
  if (rlb) config.rlb = config::rlb_preset(config::RlbPreset::standard);
  return config;
}

// Everything that the first shard has counted, and when what left by the uplinks did.
std::vector<uint64_t> trace_of(LeafRig& rig) {
  std::vector<uint64_t> all;
  const Counters& counters = std::as_const(rig.object()).counters(ShardId(0));
  for (size_t i = 0; i < counters.port_count(); ++i) {
    const PortCounters port = counters[PortId(i)];
    for (size_t which = 0; which < kPortCounters; ++which) all.push_back(port.port.read(which));
    for (size_t which = 0; which < kDropReasons; ++which) all.push_back(port.drops.read(which));
    for (size_t which = 0; which < kPriorities; ++which) {
      const PgStatus pg = rig.object().pg_status(PortId(i), PriorityGroupId(which));
      all.push_back(static_cast<uint64_t>(pg.shared_watermark.user));
    }
  }
  for (size_t i = 0; i < kUplinks; ++i)
    for (const Arrival& each : rig.seen(kHosts + i))
      all.push_back(static_cast<uint64_t>(each.at.ps()));
  return all;
}

struct Case {
  std::string scheme;
  bool rlb;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.scheme << (of.rlb ? " with RLB" : "");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const lb::SchemeInfo& scheme : lb::schemes())
    if (scheme.grouped.channels == 0)
      for (const bool rlb : {false, true}) cases.push_back({std::string(scheme.name), rlb});
  return cases;
}

class EveryScheme : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Explain, EveryScheme, testing::ValuesIn(all_cases()),
                         [](const auto& info) {
                           return info.param.scheme + (info.param.rlb ? "_rlb" : "");
                         });

// Flows of several packets, some at once, with warnings in between, and how often a packet took
// another path than was said.
struct Agreement {
  size_t asked = 0;
  size_t wrong = 0;
  size_t unsaid = 0;
};
Agreement drive(LeafRig& rig, size_t asks, bool rlb) {
  Agreement found;
  for (size_t round = 0; round < 120; ++round) {
    if (rlb && round % 40 == 20) rig.warn(kHosts + round / 40);
    const size_t flow = round * 7 % 11;
    for (size_t i = 0; i < asks; ++i) rig.ask((flow + i) % 13);  // what a look keeps is of now
    rig.run_for(Duration::nanoseconds(static_cast<int64_t>(700 + 400 * (round % 7))));
    Explanation said;
    for (size_t i = 0; i < asks; ++i) said = rig.ask(flow);
    const size_t took = rig.send_and_see(flow);
    if (round % 5 == 0)  // a queue somewhere
      for (size_t i = 0; i < 6; ++i) rig.inject(1, rig.frame(20 + round + i, 1), 1'000);
    if (asks == 0 || said.fate == Fate::loops) continue;
    ++found.asked;
    if (said.choice.by == lb::Preview::By::unknown) ++found.unsaid;
    if (said.egress.index() != took) ++found.wrong;
  }
  return found;
}

TEST_P(EveryScheme, TakesThePathThatWasSaid) {
  LeafRig rig(leaf_with(GetParam().scheme, GetParam().rlb));
  const Agreement found = drive(rig, 1, GetParam().rlb);
  EXPECT_GT(found.asked, 80u);
  EXPECT_EQ(found.unsaid, 0u);
  EXPECT_EQ(found.wrong, 0u);
}

TEST_P(EveryScheme, AskingChangesNothing) {
  const auto run = [](size_t asks) {
    LeafRig rig(leaf_with(GetParam().scheme, GetParam().rlb));
    drive(rig, asks, GetParam().rlb);
    return trace_of(rig);
  };
  EXPECT_EQ(run(3), run(0));
}

TEST(Explain, EveryStepOfAPacketToAnotherLeaf) {
  LeafRig rig(leaf_with("ecmp", false));
  const Explanation said = rig.ask(1);
  EXPECT_EQ(said.fate, Fate::queued);
  EXPECT_EQ(said.last, Explanation::Step::enqueue);
  EXPECT_EQ(said.class_by, ClassBy::dscp);
  EXPECT_EQ(said.pg, PriorityGroupId(3));
  EXPECT_EQ(said.next_hop.kind, NextHop::Kind::path_set);
  EXPECT_EQ(said.leaf, LeafId(2));
  EXPECT_EQ(said.options, kUplinks);
  EXPECT_EQ(said.choice.by, lb::Preview::By::scheme);
  EXPECT_EQ(said.choice.reason, lb::Reason::hash);
  EXPECT_EQ(said.paths[said.member].port, said.egress);
  EXPECT_EQ(said.admission.verdict.verdict, pfc::AdmitVerdict::accepted);
  EXPECT_EQ(said.admission.used, 0);
  EXPECT_GE(said.admission.charge, 1'000);
  EXPECT_TRUE(said.admission.lossless);
  EXPECT_EQ(said.next_mac, NextMac::peer);
  EXPECT_EQ(said.queue.queue, QueueId(3));
  EXPECT_TRUE(said.queue.known);
  EXPECT_EQ(said.source, host_ip(1, 1));
  EXPECT_EQ(said.destination, host_ip(2, 1));
}

TEST(Explain, SeesWhatWaits) {
  LeafRig rig(leaf_with("ecmp", false));
  for (int i = 0; i < 20; ++i) rig.inject(0, rig.frame(1), 1'000);
  const Explanation said = rig.ask(1);
  const QueueId queue(3);
  EXPECT_EQ(said.queue.queued,
            static_cast<uint32_t>(rig.object().queue_status(said.egress, queue).used));
  EXPECT_GT(said.queue.queued, 15'000u);
  EXPECT_EQ(said.paths[said.member].queued, said.queue.queued);
  EXPECT_EQ(said.admission.used, rig.object().pg_status(PortId(0), PriorityGroupId(3)).used);
  EXPECT_GT(said.queue.drain, 10_us);
}

// Each kind of end: what is said to become of it, and what is counted.
TEST(Explain, SaysWhyAPacketWouldBeDropped) {
  LeafRig rig(leaf_with("ecmp", false));
  UdpSpec good{.destination_mac = port_mac(rig.config, 0),
               .source_mac = host_mac(1, 1),
               .source = host_ip(1, 1),
               .destination = host_ip(2, 1)};
  struct Refused {
    DropReason reason;
    Frame frame;
    size_t wire_len = 0;
  };
  std::vector<Refused> cases;
  const auto add = [&](DropReason reason, auto change) {
    UdpSpec spec = good;
    change(spec);
    cases.push_back({reason, udp_frame(spec), spec.frame_len});
  };
  add(DropReason::no_route, [](UdpSpec& spec) { spec.destination = ip("192.0.2.1"); });
  add(DropReason::ttl_expired, [](UdpSpec& spec) { spec.ttl = 1; });
  add(DropReason::not_for_us, [](UdpSpec& spec) { spec.destination_mac = host_mac(7, 7); });
  add(DropReason::mtu_exceeded, [](UdpSpec& spec) {
    spec.frame_len = 9'500;
    spec.readable_len = 128;
  });
  cases.push_back({DropReason::runt, Frame(10)});
  Frame bad = udp_frame(good);
  bad[20] ^= 1;
  cases.push_back({DropReason::ipv4_bad_checksum, bad});
  for (const auto& [reason, frame, wire_len] : cases) {
    const uint64_t before = drops(rig.object(), reason);
    const Explanation said = rig.asker(rig.fabric, rig.object(), 0, frame, wire_len);
    EXPECT_EQ(drops(rig.object(), reason), before);
    rig.inject(0, frame, wire_len);
    rig.run_for(1_us);
    EXPECT_EQ(said.fate, Fate::dropped);
    EXPECT_EQ(said.reason, reason);
    EXPECT_EQ(drops(rig.object(), reason), before + 1) << static_cast<int>(reason);
  }
  for (size_t i = 0; i < kUplinks; ++i) rig.fabric.set_link(rig.node, PortId(kHosts + i), false);
  rig.run_for(1_us);
  EXPECT_EQ(rig.ask(1).reason, DropReason::no_live_path);
}

TEST(Explain, AHostThatHasNotAnsweredHoldsThePacket) {
  config::SwitchConfig config = hosts_switch(2);
  config.neighbors.pop_back();
  OneSwitch rig(config);
  rig.run_for(1_us);
  Asker ask;
  const auto to = [&](size_t from, size_t host) {
    return ask(rig.fabric, rig.object(), from, udp_frame(between(rig.config, from, host)));
  };
  EXPECT_EQ(to(0, 1).fate, Fate::held);
  EXPECT_EQ(to(0, 1).next_mac, NextMac::unknown);
  const Explanation back = to(1, 0);
  EXPECT_EQ(back.fate, Fate::queued);
  EXPECT_EQ(back.next_mac, NextMac::neighbor);
  EXPECT_EQ(back.mac, host_mac(1, 1));
  EXPECT_EQ(rig.object().balance().held, 0u);
}

// The packet that is said to make its group pause the sender does.
TEST(Explain, SaysWhichPacketCausesXoff) {
  OneSwitch rig(hosts_switch(2));
  rig.run_for(1_us);
  rig.inject(1, pause_frame(bit(kLossless), 65'535));  // its host takes nothing more
  rig.run_for(1_us);
  Asker ask;
  const UdpSpec spec = [&] {
    UdpSpec made = between(rig.config, 0, 1, kLosslessDscp);
    made.frame_len = 8'000;
    made.readable_len = 128;
    return made;
  }();
  int64_t last = INT64_MAX;
  bool said = false;
  for (int i = 0; i < 2'000 && !said; ++i) {
    const Explanation now = ask(rig.fabric, rig.object(), 0, udp_frame(spec), 8'000);
    ASSERT_EQ(now.fate, Fate::queued);
    EXPECT_TRUE(now.queue.stopped);
    const int64_t left = now.admission.threshold - now.admission.used - now.admission.charge;
    EXPECT_LT(left, last);
    last = left;
    said = now.admission.verdict.pauses;
    EXPECT_FALSE(now.admission.pausing);
    rig.inject(0, udp_frame(spec), 8'000);
    EXPECT_EQ(rig.object().pg_status(PortId(0), PriorityGroupId(3)).pausing, said);
  }
  EXPECT_TRUE(said);
  EXPECT_TRUE(ask(rig.fabric, rig.object(), 0, udp_frame(spec), 8'000).admission.pausing);
}

TEST(Explain, WarnedPathsAreSaidAndRoundThem) {
  LeafRig rig(leaf_with("ecmp", true));
  const Explanation before = rig.ask(3);
  const size_t uplink = before.egress.index();
  EXPECT_FALSE(before.paths[before.member].warned);
  rig.warn(uplink);
  const Explanation after = rig.ask(3);
  EXPECT_TRUE(after.paths[before.member].warned);
  EXPECT_GT(after.paths[before.member].severity, 0);
  EXPECT_EQ(after.choice.wanted, before.member);
  EXPECT_NE(after.egress, before.egress);
  EXPECT_TRUE(after.choice.decision == lb::Decision::rerouted ||
              after.choice.decision == lb::Decision::placed);
  EXPECT_EQ(rig.send_and_see(3), after.egress.index());
}

// Of two shards the one of the ingress port answers, and says what it does not know.
TEST(Explain, APortOfAnotherShardIsAskedForNothing) {
  config::SwitchConfig config = leaf_with("ecmp", false);
  spread_over_workers(config, 2);
  LeafRig rig(config, 2);
  bool other = false;
  for (size_t flow = 0; flow < 16; ++flow) {
    const Explanation said = rig.ask(flow);
    EXPECT_EQ(said.fate, Fate::queued);
    const bool apart = config.ports[said.egress.index()].worker != config.ports[0].worker;
    EXPECT_EQ(said.next_mac, apart ? NextMac::other_shard : NextMac::peer);
    EXPECT_EQ(said.queue.known, !apart);
    other = other || apart;
    EXPECT_EQ(rig.send_and_see(flow), said.egress.index());
  }
  EXPECT_TRUE(other);
}

TEST(Explain, AShardThatHasNotBeenPolledSaysNothing) {
  Fabric fabric;
  const config::SwitchConfig config = hosts_switch(1);
  auto object = Switch::create(config, {});
  ASSERT_TRUE(object.ok());
  PacketPool pool(1);
  Explanation out{.port = PortId(0), .packet = pool.get(Frame(60))};
  EXPECT_FALSE(explain_packet((*object)->shard(ShardId(0)), out, Instant{}));
}

}  // namespace
}  // namespace eddy::test
