// CNMs for tests of one switch: made, sent in, and found among what left it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/cnm.h"
#include "net/ethernet.h"
#include "tests/support/control_frame.h"
#include "tests/support/one_switch.h"

namespace eddy::test {

inline constexpr CongestionPointId kLeaf2Uplink = {{{0x02, 0xed, 0, 2, 0, 0}}, 7};

// Ports 0 to 2 lead to leaves 1 to 3.
inline config::SwitchConfig spine(size_t leaves = 3) {
  config::SwitchConfig config = leaf_spine({.leaves = leaves, .spines = 1}).spines[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  return config;
}

// Host ports 0 and 1, uplinks 2 and 3 to other leaves.
inline config::SwitchConfig leaf() {
  config::SwitchConfig config = leaf_spine({.leaves = 3, .spines = 2}).leaves[0];
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  return config;
}

// Of leaf 2, straight from it.
inline Cnm warning(uint32_t sequence, uint8_t severity = 20) {
  Cnm message;
  message.feedback = severity;
  message.congestion_point = kLeaf2Uplink;
  message.priority = kLossless;
  message.warning = {.predicting_switch = SwitchId(2),
                     .destination_leaf = LeafId(2),
                     .hops_left = 1,
                     .sequence = sequence,
                     .expiry_ns = 24'000};
  return message;
}

inline Frame frame_of(const Cnm& message) {
  return control_frame(kEtherTypeCnm, message);
}

struct SeenCnm {
  Instant at;
  MacAddress to;
  EthernetHeader header;
  Cnm message;
};
inline std::vector<SeenCnm> cnms(OneSwitch& rig, size_t port) {
  std::vector<SeenCnm> all;
  for (const Arrival& arrival : rig.seen(port)) {
    SeenCnm one{.at = arrival.at};
    if (decode(arrival.frame, one.header) != CodecVerdict::ok) continue;
    if (one.header.ethertype != kEtherTypeCnm) continue;
    EXPECT_EQ(decode(ConstOctets(arrival.frame).subspan(one.header.size()), one.message),
              CodecVerdict::ok);
    all.push_back(one);
  }
  return all;
}

// From a host of one leaf to a host of another, as it comes to the spine; of 1000 octets.
inline Frame crossing(const config::SwitchConfig& config, size_t from, size_t to,
                      uint8_t dscp = kLosslessDscp) {
  UdpSpec spec{.destination_mac = port_mac(config, from),
               .source_mac = host_mac(1, 1),
               .source = host_ip(from + 1, 1),
               .destination = host_ip(to + 1, 1),
               .dscp = dscp};
  spec.frame_len = 1000;
  spec.readable_len = 128;
  return udp_frame(spec);
}
inline void cross(OneSwitch& rig, size_t from, size_t to, uint8_t dscp = kLosslessDscp) {
  rig.inject(from, crossing(rig.config, from, to, dscp), 1000);
}

// Queues of the path to leaf 2 by the uplink that are warned.
inline uint8_t warned_queues(OneSwitch& rig, size_t uplink) {
  std::array<PathRow, 8> rows;
  Command dump{.kind = Command::Kind::dump_paths, .path_rows = rows};
  EXPECT_TRUE(rig.object().post(ShardId(0), dump));
  rig.fabric.poll(rig.node);
  EXPECT_TRUE(dump.done.load());
  for (size_t i = 0; i < dump.row_count; ++i)
    if (rows[i].leaf == LeafId(2) && rows[i].member == uplink - 2) return rows[i].warned;
  ADD_FAILURE() << "no such path";
  return 0;
}

}  // namespace eddy::test
