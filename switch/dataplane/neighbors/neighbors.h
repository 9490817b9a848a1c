// NeighborTable: who answers for an address on a port: MAC, state, and packets that wait for it.
//
// Local to the shard that owns the port, which alone sends and hears ARP and ND there. Bounded: a
// full table refuses new entries. The resolution protocol is in adjacency.h; this is the memory.
// Cost: find is a hash, a probe and a 16-octet compare. Source: RFC 826, RFC 4861.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/addresses.h"
#include "net/ids.h"
#include "net/units.h"
#include "switch/dataplane/state/packet_fifo.h"

namespace eddy {

enum class NeighborState : uint8_t {
  free,
  incomplete,  // asked, no answer yet; packets wait
  reachable,
  probing,  // aged; still used while asked again
  fixed,    // configured; never ages
};

struct Neighbor {
  IpAddress address;
  MacAddress mac;
  PortId port;
  NeighborState state = NeighborState::free;
  uint8_t requests = 0;        // sent in the current attempt
  Instant confirmed_at;        // last answer
  uint64_t configured_by = 0;  // fixed: generation of the last snapshot that names it
  PacketFifo waiting;
};

class NeighborTable {
 public:
  static constexpr uint32_t kWaiting = 32;  // packets a neighbor may hold back while incomplete

  explicit NeighborTable(size_t capacity);

  Neighbor* find(PortId port, const IpAddress& address);
  // A free entry under this key, or null when the table is full. The key must not exist.
  Neighbor* insert(PortId port, const IpAddress& address);
  void erase(Neighbor* neighbor);  // waiting packets must be gone
  std::span<Neighbor> entries() { return entries_; }
  std::span<const Neighbor> entries() const { return entries_; }

 private:
  size_t home_of(PortId port, const IpAddress& address) const;
  size_t slot_of(PortId port,
                 const IpAddress& address) const;  // the key's slot, or the empty one it would take

  static constexpr uint16_t kEmpty = 0xffff;
  std::vector<Neighbor> entries_;
  std::vector<uint16_t> free_;
  std::vector<uint16_t> slots_;  // open addressing, power of two, at most half full
};

}  // namespace eddy
