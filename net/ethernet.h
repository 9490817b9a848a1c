// Ethernet headers with up to two 802.1Q / 802.1ad tags, and the few MAC rewrites of the hot path.
//
// Bounds: decode refuses a third tag. Cost: rewrite_macs is two stores. Source: 802.3 clause 3,
// 802.1Q clause 9.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/protocols.h"

namespace eddy {

struct VlanTag {
  uint16_t tpid = kEtherTypeVlan;  // 0x8100 or 0x88a8
  uint8_t pcp = 0;                 // 0..7
  bool drop_eligible = false;
  uint16_t vlan_id = 0;  // 0 (a priority tag) .. 4095
  bool operator==(const VlanTag&) const = default;
};

struct EthernetHeader {
  MacAddress destination;
  MacAddress source;
  uint16_t ethertype = 0;  // of what follows the tags
  uint8_t tag_count = 0;   // 0..2; outer first
  std::array<VlanTag, 2> tags{};

  size_t size() const { return kEthernetHeader + kVlanTag * size_t{tag_count}; }
  bool operator==(const EthernetHeader&) const = default;
};

size_t encode(const EthernetHeader& header, Octets out);
// truncated; bad_value: more than two tags.
[[nodiscard]] CodecVerdict decode(ConstOctets frame, EthernetHeader& header);

// Zeroes from `length` to the shortest frame there is and returns the frame's length (no FCS).
size_t pad_frame(Octets out, size_t length);

inline MacAddress load_mac(const uint8_t* at) {
  MacAddress mac;
  std::memcpy(mac.octets.data(), at, mac.octets.size());
  return mac;
}
inline void store_mac(uint8_t* at, const MacAddress& mac) {
  std::memcpy(at, mac.octets.data(), mac.octets.size());
}
inline void rewrite_macs(uint8_t* frame, const MacAddress& destination, const MacAddress& source) {
  store_mac(frame, destination);
  store_mac(frame + 6, source);
}

}  // namespace eddy
