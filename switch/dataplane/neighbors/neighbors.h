// NeighborTable: who answers for an address on a port: MAC, state, and packets that wait for it.
//
// Local to the shard that owns the port, which alone sends and hears ARP and ND there. Bounded: a
// full table refuses new entries until one of the others is erased; least_missed says which. The
// resolution protocol is in adjacency.h; this is the memory. Cost: find is a hash, a probe and a
// 16-octet compare; least_missed looks at every entry. Source: RFC 826, RFC 4861.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "lb/packet_fifo.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/units.h"

namespace eddy {

// In the order in which they are missed; what stands after `failed` but `incomplete` has a MAC.
enum class NeighborState : uint8_t {
  free,
  failed,      // did not answer; packets to it are dropped, and it is asked again now and then
  incomplete,  // asked, no answer yet; packets wait
  lost,        // had answered and does no more; still used, asked again now and then
  probing,     // aged; still used while asked again
  reachable,
  fixed,  // configured with its MAC; never ages
};
constexpr bool has_mac(NeighborState state) {
  return state >= NeighborState::lost;
}

struct Neighbor {
  IpAddress address;
  MacAddress mac;
  PortId port;
  NeighborState state = NeighborState::free;
  uint8_t requests = 0;        // sent in the current attempt
  bool wanted = false;         // packets went to it since it was last asked or confirmed
  bool kept = false;           // configured: never forgotten while its port is up
  uint16_t next_free = 0;      // of the table
  Instant changed_at;          // last answer; before there was one: first question
  uint64_t configured_by = 0;  // generation of the last snapshot that names it
  int64_t held = 0;            // octets that wait, in whole cells
  PacketFifo waiting;
};

class NeighborTable {
 public:
  static constexpr uint32_t kWaiting = 32;  // packets a neighbor may hold back while incomplete

  NeighborTable(size_t capacity, size_t ports);

  Neighbor* find(PortId port, const IpAddress& address) { return find(port, words_of(address)); }
  // By the 16 octets of the address, as they lie in memory.
  using Words = std::array<uint64_t, 2>;
  Neighbor* find(PortId port, const Words& words) {
    for (size_t slot = home_of(port, words);; slot = (slot + 1) & (slots_.size() - 1)) {
      const uint16_t number = slots_[slot];
      if (number == kEmpty) return nullptr;
      Neighbor& there = entries_[number - 1u];
      const Words its = words_of(there.address);
      if (((its[0] ^ words[0]) | (its[1] ^ words[1])) == 0 && there.port == port) return &there;
    }
  }
  // A free entry under this key, or null when the table is full. The key must not exist.
  Neighbor* insert(PortId port, const IpAddress& address);
  void erase(Neighbor* neighbor);  // waiting packets must be gone
  bool full() const { return free_ == kNone && used_ == entries_.size(); }
  // Entries of the port that are not kept.
  size_t learned(PortId port) const { return learned_[port.index()]; }
  PortId most_learned() const;  // the port with most of them
  void keep(Neighbor& neighbor, bool kept);
  // The entry of the port to do without: not kept, the one whose state is missed least, not wanted
  // rather than wanted, changed longest ago. None above `limit`.
  Neighbor* least_missed(PortId port, NeighborState limit);
  // All that were ever in use.
  std::span<Neighbor> entries() { return {entries_.data(), used_}; }
  std::span<const Neighbor> entries() const { return {entries_.begin(), used_}; }

 private:
  static Words words_of(const IpAddress& address) {
    Words words;
    std::memcpy(words.data(), address.octets().data(), sizeof words);
    return words;
  }
  size_t home_of(PortId port, const Words& words) const {
    uint64_t hash = (words[0] ^ std::rotl(words[1], 23) ^ port.index()) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    return hash & (slots_.size() - 1);
  }
  size_t slot_of(PortId port,
                 const IpAddress& address) const;  // the key's slot, or the empty one it would take

  static constexpr uint16_t kNone = 0xffff;
  static constexpr uint16_t kEmpty = 0;
  Reserved<Neighbor> entries_;
  size_t used_ = 0;                // of entries_; those behind have never been written
  uint16_t free_ = kNone;          // of those in front, by Neighbor::next_free
  Reserved<uint16_t> slots_;       // entry + 1; open addressing, power of two, at most half full
  std::vector<uint16_t> learned_;  // by port
};

}  // namespace eddy
