// BucketTable: from a hash to a member, through a fixed number of buckets for each path set
// (resilient hashing).
//
// Each bucket belongs to one member, and that never changes. While that member is dead, the keys of
// the bucket go through a fixed sequence of other buckets to the first one whose member is live. So
// only the keys of a dead member move, and they come back with it; when a second member dies, only
// what stood on it moves. Sets whose buckets are alike share them, as all with one member do, and
// sets whose members leave by the same ports as the same paths share a list of these. Octets: all
// different buckets and lists, and 8 a set, once for all copies of a table. Owner: the selector.
// Bounds: rounding gives a member less than one bucket more or less than its share. Cost: a hash
// and two loads; while the member is dead, up to 8 more of each. Source: reference A.1, A.2.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "lb/members.h"
#include "lb/path_set.h"
#include "net/ids.h"
#include "net/packet.h"

namespace eddy::lb {

inline constexpr uint32_t kEcmpBuckets = 256;  // reference A.1

// What a packet takes of a member: one word, as in Packet.
struct PathExit {
  PortId port;
  PathId path;
  auto operator<=>(const PathExit&) const = default;
};

enum class BucketShare : uint8_t { equal, weighted };

// How many of `slots` slots each member gets: in proportion to its weight, within one slot; `tie`
// says which of equals gets what is left over. The weights are not all 0.
std::vector<uint32_t> shares_of(std::span<const uint32_t> weights, uint32_t slots, uint64_t tie);
// The same as a list of member indices, each member's slots spread as evenly as can be.
std::vector<MemberIndex> spread_over(std::span<const uint32_t> weights, uint32_t slots,
                                     uint64_t tie);
// The weights of a set's members, or 1 each; 0 of detours beside others.
std::vector<uint32_t> weights_of(const PathSet& set, BucketShare share);

class BucketTable {
 public:
  struct Shape {
    uint32_t buckets;
    BucketShare share;
    uint64_t seed;  // of the switch: seed_of()
  };

  BucketTable(std::span<const PathSet> sets, const Shape& shape);

  // `live` is not empty.
  MemberIndex pick(uint16_t set, uint32_t balance_hash, MemberMask live) const {
    const uint64_t hash = mix64(balance_hash ^ seed_);
    const MemberIndex home = at(set, hash);
    if (contains(live, home)) [[likely]]
      return home;
    return detour(set, hash, live);
  }
  // The packet takes the member of its set: as assign(), which looks at the set itself.
  void assign_to(Packet& packet, uint16_t set, MemberIndex member) const {
    static_assert(offsetof(Packet, path) == offsetof(Packet, egress_port) + sizeof(PortId) &&
                  sizeof(PathExit) == sizeof(PortId) + sizeof(PathId));
    const PathExit& chosen = exits_[sets_[set].exits + member];
    packet.member = member;
    std::memcpy(&packet.egress_port, &chosen.port, sizeof chosen);
  }

 private:
  static constexpr int kProbes = 8;

  struct Set {  // where its buckets and its members begin
    uint32_t homes;
    uint32_t exits;
  };
  struct Shared {
    std::vector<Set> sets;
    std::vector<MemberIndex> homes;
    std::vector<PathExit> exits;
  };

  MemberIndex at(uint16_t set, uint64_t hash) const {
    return homes_[sets_[set].homes + scaled_to(static_cast<uint32_t>(hash >> 32), buckets_)];
  }
  MemberIndex detour(uint16_t set, uint64_t hash, MemberMask live) const;

  uint64_t seed_;
  uint32_t buckets_;
  std::shared_ptr<const Shared> shared_;
  const Set* sets_;  // there, as are these
  const MemberIndex* homes_;
  const PathExit* exits_;
};

// Packets that no scheme is asked for: those with any of `flags` go by ECMP.
class ByEcmp {
 public:
  ByEcmp(const BucketTable& table, uint16_t flags) : table_(&table), flags_(flags) {}
  bool has(const Packet& packet) const { return (packet.flags & flags_) != 0; }
  uint16_t flags() const { return flags_; }  // one that has any of them goes so
  MemberIndex pick(const Packet& packet, uint16_t set, MemberMask live) const {
    return table_->pick(set, packet.balance_hash, live);
  }

 private:
  const BucketTable* table_;
  uint16_t flags_;  // of Packet::flags
};

}  // namespace eddy::lb
