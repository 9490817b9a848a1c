// What `hermes` knows of paths: what its leaf sends over each, and how good each is of late.
//
// Owner: the selector's shard. Times are the scheme's ticks, octets 32 a member. Cost: a few loads
// a path; what all paths have in common at one instant is found out once (HermesSight). Source:
// reference A.10.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lb/members.h"
#include "lb/path_table.h"
#include "lb/path_view.h"
#include "net/packet.h"

namespace eddy::lb {

struct alignas(32) HermesSending {  // over a member
  uint32_t octets = 0;              // a DRE register
  uint32_t since = 0;               // when its period began
  uint32_t window = 0;              // when it began
  uint32_t packets = 0;
  uint32_t penalty_ends = 0;  // while the member counts as failed
  uint16_t retransmissions = 0;
  uint8_t timeouts = 0;
  PortId port;  // with the path one word, as in PathMember
  PathId path;
  uint32_t slow = 0;  // a register in a flow's units; below it the flow is slow

  // As assign() of the member.
  void assign_to(Packet& packet, MemberIndex member) const {
    packet.member = member;
    static_assert(offsetof(Packet, path) == offsetof(Packet, egress_port) + sizeof(PortId));
    std::memcpy(&packet.egress_port, &port, sizeof(PortId) + sizeof(PathId));
  }
};
static_assert(sizeof(HermesSending) == 32);
static_assert(offsetof(HermesSending, path) == offsetof(HermesSending, port) + sizeof(PortId));

enum class HermesClass : uint8_t { good, gray, congested };

struct HermesHeard {  // of a member, of late
  bool known;
  uint32_t delay_ns;
  uint32_t marked;  // 65'535: all
};

// What parts the classes of paths that are known.
struct HermesBounds {
  int64_t low_ns;   // above the delay of an idle path, or above nothing
  int64_t high_ns;  // likewise
  uint32_t marks;   // hundredths of 65'535

  HermesBounds above(Duration base) const {
    return {low_ns + base.ns(), high_ns + base.ns(), marks};
  }
  HermesClass class_of(const HermesHeard& heard) const {
    const uint32_t marked = heard.marked * 100;
    if (marked < marks && heard.delay_ns < low_ns) return HermesClass::good;
    if (marked > marks && heard.delay_ns > high_ns) return HermesClass::congested;
    return HermesClass::gray;
  }
};

// The paths as they are at one instant; of(set) says of a set's members.
class HermesSight {
 public:
  // `bounds`: above the delay of an idle path.
  HermesSight(const PathTable& paths, Instant now, const HermesBounds& bounds)
      : paths_(paths), recent_(paths, now), bounds_(bounds.above(paths.base_delay())) {}
  HermesSight of(uint16_t set) const {
    HermesSight sight = *this;
    sight.recent_.look_at(paths_, set);
    return sight;
  }
  HermesClass class_of(MemberIndex member) const {
    const uint32_t delay_ns = recent_.delay_ns(member);
    if (delay_ns >= PathTable::Recent::kStale) return HermesClass::gray;
    return bounds_.class_of(
        {true, delay_ns, recent_.record(member).marked.load(std::memory_order_relaxed)});
  }

 private:
  const PathTable& paths_;
  PathTable::Recent recent_;
  HermesBounds bounds_;
};

// Of members those that have the lowest rank. Arithmetic, not a branch: which is lower is what no
// predictor can know.
struct HermesLeast {
  MemberMask members = 0;
  uint64_t lowest = ~uint64_t{0};

  void add(MemberIndex member, uint64_t rank) {
    members = rank < lowest ? 0 : members;
    lowest = rank < lowest ? rank : lowest;
    members |= MemberMask{rank == lowest} << member;
  }
};

}  // namespace eddy::lb
