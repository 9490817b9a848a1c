// HostWire: what a HostPort needs of the port it stands on: frames in bursts, and buffers to write
// frames into.
//
// One virtual call a burst. Frames are whole, each in one buffer. Owner: the world; thread: the
// port's. Source: architecture, section 4.
#pragma once

#include <cstddef>
#include <span>

#include "net/packet.h"

namespace eddy::testbed {

class HostWire {
 public:
  static constexpr size_t kBurst = 32;

  virtual ~HostWire() = default;
  // Frames that have arrived, their wire_len set; the caller's from then on.
  virtual size_t receive(std::span<Packet*> out) = 0;
  // Takes the first of the frames, as many as it can now; the others stay the caller's.
  virtual size_t transmit(std::span<Packet* const> frames) = 0;
  // Empty buffers, fewer if there are no more. Their octets are zero but for what earlier frames
  // wrote into them, and nobody but the caller's frames does.
  virtual size_t blanks(std::span<Packet*> out) = 0;
  // Received frames and blanks that are not needed any more.
  virtual void free(std::span<Packet* const> packets) = 0;
};

}  // namespace eddy::testbed
