// PathSet: the equal-cost ways to one destination leaf, as routing computed them. Immutable; owned
// by the snapshot.
//
// A member is one egress port with a static weight and the path id that goes on the wire. At most
// 64 members, so a set of members is one 64-bit mask (bit = position). A detour is longer than
// routing asks for: only schemes that take detours have sets with such members, they take them only
// where a packet enters the fabric, and no hash leads to one while there are others. Source:
// architecture, sections 5 and 6; reference 1.4, A.16.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "net/ids.h"

namespace eddy::lb {

using MemberMask = uint64_t;
using MemberIndex = uint8_t;

struct PathMember {
  PortId port;  // with the path one word, as in Packet
  PathId path;
  uint16_t weight = 1;  // 1..65535
  uint8_t hops = 0;     // links to the leaf; 0: not said
  bool detour = false;
};

struct PathSet {
  LeafId leaf;
  uint8_t count = 0;  // 1..64 members
  std::array<PathMember, kMaxPaths> members{};
};

}  // namespace eddy::lb
