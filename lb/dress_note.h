// A note that a scheme leaves with a packet that it has chosen for, and that its agent finds when
// the packet is dressed (PathAgent::dress), on whichever shard that is.
//
// It stands where FIFOs and the shaper keep what they need, who write there later: it is for
// dress() alone. A packet that stood in a FIFO before, for want of room in another shard's lane,
// has lost it and counts as one without. A packet is never const itself, only to a scheme that
// looks at it. Cost: a store, a load.
#pragma once

#include <cstdint>

#include "net/packet.h"
#include "net/units.h"

namespace eddy::lb {

inline void leave_note(const Packet& packet, uint32_t note) {
  const auto check = static_cast<uint32_t>(~packet.order_hash) ^ note;
  const auto word = static_cast<int64_t>(uint64_t{check} << 32 | note);
  const_cast<Packet&>(packet).sent_at = Instant::at(Duration::picoseconds(word));
}

// 0: there is none.
inline uint32_t note_of(const Packet& packet) {
  const auto word = static_cast<uint64_t>(packet.sent_at.ps());
  const auto note = static_cast<uint32_t>(word);
  const auto check = static_cast<uint32_t>(~packet.order_hash) ^ note;
  return word >> 32 == check ? note : 0;
}

}  // namespace eddy::lb
