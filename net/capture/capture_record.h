// CaptureRecord: a captured packet as it lies in a ring, in front of the frame's octets; and the
// note that a packet carries of what was decided about it.
//
// Shared with other processes of this machine through memory: fixed layout, integers of the
// machine's order. Units: octets without FCS, nanoseconds since the Unix epoch (of a lab: since the
// run's beginning). Owner: the shard while it writes, then whoever reads the ring.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "net/packet.h"

namespace eddy {

enum class CaptureDirection : uint8_t {
  in,    // as it was received
  out,   // as it was given to the line
  drop,  // as it was when it was given up
  pad,   // no packet: the rest of the ring up to its end
  trace  // a packet that is traced, as it came: no frame, but what the switch says it will do
};
inline constexpr size_t kCaptureDirections = 3;  // of packets
inline constexpr size_t kMostTraced = 4'000;     // packets of a trace, by a shard

// What RLB and its loop did to a packet, as a mask. The words are those of lb::Decision.
enum CaptureDecision : uint8_t {
  kCaptureRerouted = 1 << 0,      // to another path than the scheme's
  kCaptureAllWarned = 1 << 1,     // every path was warned: the least bad
  kCaptureSuspended = 1 << 2,     // left on a warned path: the receiver is the bottleneck
  kCaptureRecirculated = 1 << 3,  // it went round in the loop
  kCaptureForced = 1 << 4,        // it would have gone round, but a limit forbade it
  kCapturePlaced = 1 << 5,        // first packet of its flow: put where delays say
  kCaptureCulprit = 1 << 6,       // left on a warned path: it is what the path is warned for
  kCaptureFollowed = 1 << 7,      // it went round behind one of its flow
};
inline constexpr std::array<std::string_view, 8> kCaptureDecisionWords = {
    "rerouted", "all-warned", "suspended", "recirculated",
    "forced",   "placed",     "culprit",   "followed"};

inline constexpr uint8_t kCaptureNone = 0xff;        // of a queue, a group or a reason
inline constexpr uint16_t kCaptureNoPort = 0xffff;   // of a port
inline constexpr size_t kCaptureAlignment = 8;       // of records
inline constexpr uint32_t kCaptureMostSnap = 9'216;  // octets of a frame that a record may hold

struct CaptureRecord {
  uint32_t size = 0;      // of the record with what follows it, a multiple of kCaptureAlignment
  uint32_t wire_len = 0;  // of the frame
  uint64_t stamp_ns = 0;  // in, drop: of the poll; out: when its last bit leaves the (virtual) line
  uint16_t captured = 0;  // octets of the frame that follow
  uint16_t port = 0;      // by which it came; out: by which it leaves
  uint16_t from = kCaptureNoPort;  // out: by which it came
  CaptureDirection direction{};
  uint8_t queue = kCaptureNone;
  uint8_t pg = kCaptureNone;
  uint8_t reason = kCaptureNone;  // drop: DropReason
  uint8_t decisions = 0;          // CaptureDecision
  uint8_t rounds = 0;             // in the loop; 255: or more
  uint16_t trace = 0;             // of a traced packet, what it is known by; 0: it is not
  uint16_t unused = 0;
};
static_assert(sizeof(CaptureRecord) == 32, "the layout that eddyctl reads");

// While packets are captured, a packet has its note where a NIC writes hash and mark of a received
// frame, which nobody reads here and no driver on transmission. A packet that has been received or
// made while nobody captured has whatever stood there: the mark tells.
struct CaptureNote {
  uint8_t decisions = 0;
  uint8_t rounds = 0;
  uint16_t trace = 0;  // as CaptureRecord has it
};
static_assert(kMostTraced * kMaxShards <= UINT16_MAX);
inline constexpr uint32_t kCaptureNoteMark = 0xedd7ca90;

inline void put_capture_note(Packet& packet, CaptureNote note) {
  const uint64_t both = uint64_t{kCaptureNoteMark} << 32 | uint32_t{note.trace} << 16 |
                        uint32_t{note.rounds} << 8 | note.decisions;
  static_assert(sizeof(packet.mbuf()->hash.fdir) == sizeof both);
  std::memcpy(&packet.mbuf()->hash.fdir, &both, sizeof both);
}
inline CaptureNote capture_note_of(const Packet& packet) {
  uint64_t both = 0;
  std::memcpy(&both, &packet.mbuf()->hash.fdir, sizeof both);
  if (both >> 32 != kCaptureNoteMark) return {};
  return {static_cast<uint8_t>(both), static_cast<uint8_t>(both >> 8),
          static_cast<uint16_t>(both >> 16)};
}

}  // namespace eddy
