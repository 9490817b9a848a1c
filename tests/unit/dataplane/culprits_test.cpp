// Which warnings a switch heeds, and the destinations that they name.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "net/byte_order.h"
#include "net/congestion/destination_tag.h"
#include "switch/dataplane/paths/path_warnings.h"
#include "tests/unit/dataplane/warnings.h"

namespace eddy::test {
namespace {

using config::Heed;

config::SwitchConfig naming(config::SwitchConfig config) {
  config.rlb.culprits = true;
  return config;
}

// Of the host's address 10.LEAF.HOST.2.
uint32_t tag_of(uint32_t leaf, uint32_t host) {
  return destination_tag(10u << 24 | leaf << 16 | host << 8 | 2);
}

Cnm naming(Cnm message, std::vector<Culprit> culprits) {
  std::ranges::copy(culprits, message.culprits.begin());
  return message;
}

// Straight from the spine behind uplink 2 of a leaf.
Cnm from_spine(uint32_t sequence, uint8_t severity) {
  Cnm message = warning(sequence, severity);
  message.warning.hops_left = 0;
  return message;
}

TEST(Heed, LocalKnowsOwnPausesOnly) {
  config::SwitchConfig config = leaf();
  config.rlb.heed = Heed::local;
  OneSwitch rig(config);
  rig.inject(2, frame_of(from_spine(1, 20)));
  rig.run_for(1_us);
  rig.inject(2, frame_of(from_spine(2, kCnmPfcSent)));
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), 0);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_unheeded_packets), 2u);
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_ignored_packets), 0u);
  rig.inject(2, pause_frame(bit(kLossless), 0xffff));
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless));
}

// A pause that was told of is over when its source only fears the next one, or nothing.
TEST(Heed, RelayedKnowsPausesOfOthersAndNoneThatIsForeseen) {
  for (const uint8_t after : {uint8_t{20}, kCnmClear}) {
    config::SwitchConfig config = leaf();
    config.rlb.heed = Heed::relayed;
    OneSwitch rig(config);
    rig.inject(2, frame_of(from_spine(1, 62)));
    rig.run_for(1_us);
    EXPECT_EQ(warned_queues(rig, 2), 0);
    rig.inject(2, frame_of(from_spine(2, kCnmPfcSent)));
    rig.run_for(1_us);
    EXPECT_EQ(warned_queues(rig, 2), bit(kLossless));
    rig.inject(2, frame_of(from_spine(3, after)));
    rig.run_for(1_us);
    EXPECT_EQ(warned_queues(rig, 2), 0);
    EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_unheeded_packets), after == 20 ? 2u : 1u);
    EXPECT_EQ(count(rig.object(), 2, PortCounter::path_warnings_cleared), 1u);
  }
}

TEST(Heed, PredictedKnowsAll) {
  OneSwitch rig(leaf());
  rig.inject(2, frame_of(from_spine(1, 1)));
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_unheeded_packets), 0u);
}

// Others may heed more than this switch does.
TEST(Heed, WhatIsNotHeededIsPassedOnAllTheSame) {
  for (const Heed heed : {Heed::local, Heed::relayed, Heed::predicted}) {
    config::SwitchConfig config = spine();
    config.rlb.heed = heed;
    OneSwitch rig(config);
    cross(rig, 0, 1);
    rig.run_for(5_us);
    std::vector<uint8_t> sent = {20, kCnmPfcSent, 20, kCnmClear};
    for (uint32_t i = 0; i < sent.size(); ++i) {
      rig.inject(1, frame_of(warning(i + 1, sent[i])));
      rig.run_for(3_us);
    }
    std::vector<uint8_t> passed;
    for (const SeenCnm& seen : cnms(rig, 0)) passed.push_back(seen.message.feedback);
    EXPECT_EQ(passed, sent);
  }
}

// Packets for hosts 1 and 2 of leaf 1 come by uplink 2; who is paused takes none of his.
struct Receivers {
  explicit Receivers(const config::SwitchConfig& config, std::vector<size_t> paused,
                     size_t shards = 1)
      : rig(config, shards) {
    for (const size_t port : paused) rig.inject(port, pause_frame(bit(kLossless), 0xffff));
    rig.run_for(1_us);
  }
  void send(size_t host) {
    UdpSpec spec{.destination_mac = port_mac(rig.config, 2),
                 .source_mac = host_mac(9, 9),
                 .source = host_ip(2, 1),
                 .destination = host_ip(1, host),
                 .dscp = kLosslessDscp};
    spec.frame_len = 1000;
    spec.readable_len = 128;
    rig.inject(2, udp_frame(spec), 1000);
    rig.run_for(820_ns);
  }
  OneSwitch rig;
};

TEST(Culprits, ALeafNamesTheHostWhosePortHoldsWhatFillsTheGroup) {
  Receivers to(naming(leaf()), {0});
  for (int i = 0; i < 340; ++i) to.send(i % 8 == 7 ? 2 : 1);
  const auto told = cnms(to.rig, 2);
  ASSERT_FALSE(told.empty());
  size_t named = 0;
  for (const SeenCnm& seen : told) {
    const CulpritList& list = seen.message.culprits;
    if (seen.message.feedback == kCnmClear) continue;
    ASSERT_EQ(count_of(list), 1u) << "what goes to host 2 goes on";
    EXPECT_EQ(list[0].leaf, LeafId(1));
    EXPECT_EQ(list[0].tag, tag_of(1, 1));
    EXPECT_GT(list[0].share, 60'000);
    ++named;
  }
  EXPECT_EQ(count(to.rig.object(), 2, PortCounter::cnm_culprits_named), named);
}

TEST(Culprits, TwoHostsAreNamedByWhatWaitsForThem) {
  Receivers to(naming(leaf()), {0, 1});
  for (int i = 0; i < 300; ++i) to.send(i % 4 == 3 ? 2 : 1);
  const auto told = cnms(to.rig, 2);
  ASSERT_FALSE(told.empty());
  const CulpritList& list = told.back().message.culprits;
  ASSERT_EQ(count_of(list), 2u);
  EXPECT_EQ(list[0].tag, tag_of(1, 1));
  EXPECT_EQ(list[1].tag, tag_of(1, 2));
  EXPECT_NEAR(list[0].share, 3 * kWholeShare / 4, kWholeShare / 50);
  EXPECT_NEAR(list[1].share, kWholeShare / 4, kWholeShare / 50);
}

TEST(Culprits, WithoutTheKeyNobodyIsNamedAndMessagesAreAsTheyWere) {
  Receivers to(leaf(), {0});
  for (int i = 0; i < 300; ++i) to.send(1);
  const auto told = cnms(to.rig, 2);
  ASSERT_FALSE(told.empty());
  for (const SeenCnm& seen : told) EXPECT_EQ(count_of(seen.message.culprits), 0u);
  for (const Arrival& arrival : to.rig.seen(2)) {
    if (load_be16(arrival.frame.data() + 16) != kEtherTypeCnm) continue;
    EXPECT_EQ(arrival.frame.size(), kEthernetHeader + kVlanTag + kCnmMessage);
  }
}

// Leaf 2 has named its host, and pauses the port to it; leaf 1's packets pile up at the spine.
struct Piling {
  explicit Piling(const config::SwitchConfig& config, std::vector<Culprit> named) : rig(config) {
    cross(rig, 0, 1);
    rig.run_for(5_us);
    rig.inject(1, pause_frame(bit(kLossless), 0xffff));
    uint32_t sequence = 0;
    for (int i = 0; i < 300; ++i) {
      cross(rig, 0, 1);
      if (i % 8 == 0) rig.inject(1, frame_of(naming(warning(++sequence, kCnmPfcSent), named)));
      rig.run_for(820_ns);
    }
  }
  // What the spine says of its own port to leaf 1.
  std::vector<Cnm> own() {
    std::vector<Cnm> all;
    for (const SeenCnm& seen : cnms(rig, 0))
      if (seen.message.congestion_point.bridge == rig.config.mac) all.push_back(seen.message);
    return all;
  }
  OneSwitch rig;
};

TEST(Culprits, ASpineNamesWhomTheLeafNamed) {
  Piling spine_with(naming(spine()), {{LeafId(2), 40'000, 77}, {LeafId(2), 10'000, 78}});
  const auto own = spine_with.own();
  ASSERT_FALSE(own.empty());
  const CulpritList& list = own.back().culprits;
  ASSERT_EQ(count_of(list), 2u);
  EXPECT_EQ(list[0].tag, 77u);
  EXPECT_EQ(list[0].leaf, LeafId(2));
  EXPECT_EQ(list[1].tag, 78u);
  EXPECT_NEAR(list[0].share, 40'000, 100);
  EXPECT_NEAR(list[1].share, 10'000, 100);
}

// What crowds a link of the fabric may go another way.
TEST(Culprits, ASpineNamesNobodyByItself) {
  Piling spine_with(naming(spine()), {});
  const auto own = spine_with.own();
  ASSERT_FALSE(own.empty());
  for (const Cnm& message : own) EXPECT_EQ(count_of(message.culprits), 0u);
}

TEST(Culprits, AListThatClaimsTooMuchIsCutDown) {
  Piling spine_with(naming(spine()), {{LeafId(2), UINT16_MAX, 77},
                                      {LeafId(2), UINT16_MAX, 78},
                                      {LeafId(2), UINT16_MAX, 79},
                                      {LeafId(2), 1, 80}});
  const auto own = spine_with.own();
  ASSERT_FALSE(own.empty());
  const CulpritList& list = own.back().culprits;
  ASSERT_EQ(count_of(list), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(list[i].share, kWholeShare / 3, 100);
}

TEST(Culprits, ARelayKeepsThemWhetherItNamesAnyItselfOrNot) {
  for (const bool names : {true, false}) {
    config::SwitchConfig config = spine();
    config.rlb.culprits = names;
    OneSwitch rig(config);
    cross(rig, 0, 1);
    rig.run_for(10_us);
    const Cnm heard = naming(warning(1), {{LeafId(2), 40'000, 77}, {LeafId(2), 9'000, 78}});
    rig.inject(1, frame_of(heard));
    rig.run_for(10_us);
    const auto relayed = cnms(rig, 0);
    ASSERT_EQ(relayed.size(), 1u);
    EXPECT_EQ(relayed[0].message.culprits, heard.culprits);
    EXPECT_EQ(relayed[0].message.warning.flags, kCnmRelayed);
    EXPECT_EQ(count(rig.object(), 1, PortCounter::cnm_culprits_refused), 0u);
  }
}

// A switch that does not know of culprits has passed on 48 octets with the flags as they came; or
// somebody claims more than there may be. The warning itself holds.
TEST(Culprits, AListThatIsCutOffOrTooLongIsRefusedAndTheWarningHeeded) {
  constexpr size_t kFlags = kEthernetHeader + kVlanTag + 29;
  OneSwitch rig(naming(leaf()));
  const Cnm named = naming(from_spine(1, 20), {{LeafId(2), 40'000, 77}});
  Frame cut = frame_of(named);
  cut.resize(kEthernetHeader + kVlanTag + kCnmMessage);
  rig.inject(2, cut);
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 2), bit(kLossless));
  Frame longer = frame_of(naming(from_spine(1, 20), {{LeafId(2), 40'000, 77}}));
  longer[kFlags] = 7 << 1;
  longer.resize(200, 0x11);
  rig.inject(3, longer);
  rig.run_for(1_us);
  EXPECT_EQ(warned_queues(rig, 3), bit(kLossless));
  EXPECT_EQ(count(rig.object(), 2, PortCounter::cnm_culprits_refused), 1u);
  EXPECT_EQ(count(rig.object(), 3, PortCounter::cnm_culprits_refused), 1u);
  EXPECT_TRUE(rig.object().balance().holds());
}

size_t data_frames(OneSwitch& rig, size_t port) {
  return static_cast<size_t>(std::ranges::count_if(
      rig.seen(port), [](const Arrival& arrival) { return arrival.wire_len >= 1000; }));
}

// The uplink that a packet to the host of leaf 2 takes.
size_t taken(OneSwitch& rig, size_t host, uint16_t source_port) {
  const size_t before = data_frames(rig, 2);
  UdpSpec spec{.destination_mac = port_mac(rig.config, 0),
               .source_mac = host_mac(1, 1),
               .source = host_ip(1, 1),
               .destination = host_ip(2, host),
               .dscp = kLosslessDscp};
  spec.source_port = source_port;
  spec.frame_len = 1000;
  spec.readable_len = 128;
  rig.inject(0, udp_frame(spec), 1000);
  rig.run_for(2_us);
  return data_frames(rig, 2) > before ? 2 : 3;
}

TEST(Culprits, TheirFlowsStayAndOthersGoRound) {
  for (const char* scheme : {"ecmp", "letflow", "conga"}) {
    config::SwitchConfig config = naming(leaf());
    config.load_balancer.scheme = scheme;
    OneSwitch rig(config);
    Cnm named = naming(from_spine(1, 20), {{LeafId(2), 40'000, tag_of(2, 1)}});
    named.warning.expiry_ns = 1'000'000;
    rig.inject(2, frame_of(named));
    rig.run_for(1_us);
    size_t by_warned = 0;
    for (uint16_t flow = 0; flow < 60; ++flow) {
      by_warned += taken(rig, 1, flow) == 2 ? 1 : 0;
      EXPECT_EQ(taken(rig, 2, flow), 3u) << scheme;
    }
    EXPECT_GT(by_warned, 10u) << scheme;
    EXPECT_GE(count(rig.object(), 0, PortCounter::rlb_culprit_packets), by_warned) << scheme;
    EXPECT_GT(count(rig.object(), 0, PortCounter::rlb_rerouted_packets), 10u) << scheme;
    EXPECT_GT(count(rig.object(), 0, PortCounter::rlb_placed_flows), 10u) << scheme;
    rig.run_for(1_ms);
    bool back = false;
    for (uint16_t flow = 100; flow < 130; ++flow) back = taken(rig, 2, flow) == 2 || back;
    EXPECT_TRUE(back) << "the list has ended with its warning";
  }
}

// Other shards hear of them, too.
TEST(Culprits, AreKnownToAllShards) {
  config::SwitchConfig config = naming(leaf());
  spread_over_workers(config, 4);
  OneSwitch rig(config, 4);
  Cnm named = naming(from_spine(1, 20), {{LeafId(2), 40'000, tag_of(2, 1)}});
  named.warning.expiry_ns = 1'000'000;
  rig.inject(2, frame_of(named));
  rig.run_for(1_us);
  for (uint16_t flow = 0; flow < 60; ++flow) {
    (void)taken(rig, 1, flow);
    EXPECT_EQ(taken(rig, 2, flow), 3u);
  }
  EXPECT_GT(count(rig.object(), 0, PortCounter::rlb_culprit_packets), 10u);
}

// Seven hosts of two leaves send to one of a third, and one to its neighbor there: the leaf names
// the crowded host, the spines pass it on, and the senders' leaves leave its packets where they
// are.
TEST(Culprits, AreNamedAcrossAFabricAndNothingIsLost) {
  constexpr size_t kFrames = 400;
  for (const bool names : {true, false}) {
    LeafSpine spec = leaf_spine({.leaves = 3, .spines = 2, .hosts = 4});
    Fabric fabric(16'384, 512);
    const auto add = [&](config::SwitchConfig& config) {
      config.rlb = config::rlb_preset(config::RlbPreset::standard);
      config.rlb.culprits = names;
      config.buffer.profiles["lossless"].mode = config::BufferMode::fixed;
      config.buffer.profiles["lossless"].xoff = 80_KiB;
      return fabric.add_switch(config);
    };
    std::vector<size_t> leaves, spines;
    for (auto& leaf : spec.leaves) leaves.push_back(add(leaf));
    for (auto& spine : spec.spines) spines.push_back(add(spine));
    for (size_t l = 0; l < 3; ++l)
      for (size_t s = 0; s < 2; ++s)
        fabric.connect(leaves[l], PortId(4 + s), spines[s], PortId(l), 1_us);
    FabricHost& crowded = fabric.attach_host(leaves[2], PortId(0), 1_us);
    FabricHost& neighbor = fabric.attach_host(leaves[2], PortId(1), 1_us);
    for (size_t sender = 0; sender < 8; ++sender) {
      const size_t l = sender / 4;
      const size_t h = sender % 4;
      FabricHost& host = fabric.attach_host(leaves[l], PortId(h), 1_us);
      host.source = [&, l, h, sender, sent = size_t{0}](Transmission& next) mutable {
        if (sent == kFrames) return false;
        const auto flow = static_cast<uint16_t>(1'000 + sender * 100 + sent++ / 8);
        next = {udp_frame({.destination_mac = port_mac(spec.leaves[l], h),
                           .source = host_ip(l + 1, h + 1),
                           .destination = host_ip(3, sender == 7 ? 2 : 1),
                           .source_port = flow,
                           .dscp = kLosslessDscp,
                           .frame_len = 1000,
                           .readable_len = 96}),
                1000, kLossless};
        return true;
      };
      fabric.kick(host);
    }
    fabric.run_until(Instant::at(20_ms));
    EXPECT_EQ(crowded.received_count, 7 * kFrames);
    EXPECT_EQ(neighbor.received_count, kFrames);
    const auto sum = [&](const std::vector<size_t>& nodes, PortCounter counter) {
      uint64_t total = 0;
      for (const size_t node : nodes)
        for (size_t port = 0; port < fabric.at(node).port_count(); ++port)
          total += count(fabric.at(node), port, counter);
      return total;
    };
    EXPECT_EQ(sum({leaves[2]}, PortCounter::cnm_culprits_named) > 0, names);
    EXPECT_EQ(sum(spines, PortCounter::cnm_culprits_named) > 0, names);
    EXPECT_EQ(sum({leaves[0], leaves[1]}, PortCounter::rlb_culprit_packets) > 0, names);
    EXPECT_EQ(sum(leaves, PortCounter::cnm_culprits_refused), 0u);
    for (size_t node = 0; node < 5; ++node) {
      EXPECT_EQ(fabric.at(node).balance().dropped, 0u);
      EXPECT_EQ(leftovers(fabric.at(node)), "");
    }
  }
}

// A table that came with the key keeps lists from then on, and forgets them with it.
TEST(Culprits, TheKeyGoesOnAndOffUnderWarnings) {
  OneSwitch rig(leaf());
  uint32_t sequence = 0;
  for (const bool on : {false, true, false}) {
    rig.config.rlb.culprits = on;
    ASSERT_TRUE(rig.object().reconfigure(rig.config).ok());
    rig.run_for(1_us);
    Cnm named = naming(from_spine(++sequence, 20), {{LeafId(2), 40'000, tag_of(2, 1)}});
    named.warning.expiry_ns = 200'000;
    rig.inject(2, frame_of(named));
    rig.run_for(1_us);
    const uint64_t before = count(rig.object(), 0, PortCounter::rlb_culprit_packets);
    for (uint16_t flow = 0; flow < 30; ++flow)
      (void)taken(rig, 1, static_cast<uint16_t>(flow + sequence * 100));
    EXPECT_EQ(count(rig.object(), 0, PortCounter::rlb_culprit_packets) > before, on);
  }
  EXPECT_TRUE(rig.object().balance().holds());
}

}  // namespace
}  // namespace eddy::test
