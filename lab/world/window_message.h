// What one rank sends another at the end of a window: how far it is, and frames by value.
//
// A header of fixed length, then the frames that have left for hosts and switches of the other
// rank, in the order of their sending: arrival, line, length on the wire, flags, and the octets
// that the lab carries of a frame (its headers); and what has arrived of items of the traffic that
// others wait for. Numbers are little-endian. Reading takes nothing
// for granted: what is cut off, of another version or of another window is one problem in words.
// Owner: Ranks. Cost: some 100 octets a frame. Source: decision 0034.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lab/world/exchange.h"
#include "lab/world/flow_waits.h"
#include "net/packet.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

// What a rank tells the others, and what all together amount to.
struct Told {
  Instant next = Instant::never();    // something happens
  Instant now;                        // of its last event
  Instant action = Instant::never();  // the next that is planned
  uint64_t awaited = 0;               // receivers that lack data of another partition
  uint64_t unended = 0;               // flows with an end here that has not come
  bool stopped = false;
  bool noted = false;          // what the caller asks all of them
  std::vector<ItemEnds> ends;  // what has arrived of items that others wait for; all: of each rank
  bool operator==(const Told&) const = default;
};

struct FrameView {
  Instant at;  // of its arrival
  uint32_t line = 0;
  uint32_t wire_len = 0;
  uint16_t flags = 0;  // Packet::flags
  std::span<const uint8_t> octets;
};

inline constexpr uint32_t kWindowMagic = 0x57594445;  // "EDYW"
inline constexpr uint16_t kWindowVersion = 2;
inline constexpr size_t kWindowHeader = 60;  // octets

// An empty message, to which frames are added.
void begin_window(Message& message);
void add_frame(Message& message, Instant at, uint32_t line, const Packet& packet);
void finish_window(Message& message, uint64_t number, uint32_t frames, const Told& told);

// Frames refer to the message. Window `number` is expected.
[[nodiscard]] Problems read_window(std::span<const uint8_t> message, uint64_t number, Told& told,
                                   std::vector<FrameView>& frames);

}  // namespace eddy::lab
