// 802.1Qau congestion notification messages, carrying our warning as the encapsulated frame.
//
// The 48 octets behind EtherType 0x22E7. Offsets and deltas are in units of 64 octets; times in the
// warning are nanoseconds. A CNM from another vendor decodes with has_warning false: 24 octets of
// encapsulated frame whose last two are zero are taken for ours. Source: 802.1Q clause 33,
// reference B.3.
//
// Behind these may stand up to four culprits, 8 octets each; how many, three bits of the warning's
// flags say. Who knows nothing of them reads the 48 octets as ever.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "net/addresses.h"
#include "net/codec.h"
#include "net/ids.h"

namespace eddy {

inline constexpr size_t kMostCulprits = 4;
inline constexpr size_t kCnmMessage = 48;  // without culprits
inline constexpr size_t kCnmCulprit = 8;   // octets
inline constexpr size_t kCnmLongest = kCnmMessage + kMostCulprits * kCnmCulprit;
inline constexpr uint8_t kCnmCulpritBits = 0b1110;  // on the wire, in the flags: how many there are
inline constexpr uint8_t kCnmClear = 0;             // feedback: the warning is over
inline constexpr uint8_t kCnmPfcSent = 63;          // feedback: PFC has already been sent
inline constexpr uint8_t kCnmMaxFeedback = 63;
inline constexpr LeafId kCnmAllLeaves = LeafId::none();  // 0xffff

inline constexpr int64_t kWholeShare = 65'536;

// A destination whose backlog endangers a priority group. A host whose port holds what it cannot
// take fills the buffers of all switches on the way to it; no path avoids that port, so packets to
// it gain nothing by another path and would take the pause along. Shares are in 65,536ths of what
// waits wherever the endangered group's packets go.
struct Culprit {
  LeafId leaf;         // that it is behind
  uint16_t share = 0;  // 0: there is none
  uint32_t tag = 0;    // destination_tag()
  bool operator==(const Culprit&) const = default;
};
static_assert(sizeof(Culprit) == 8);

// The ones that there are come first.
using CulpritList = std::array<Culprit, kMostCulprits>;

constexpr size_t count_of(const CulpritList& list) {
  const auto is_there = [](const Culprit& culprit) { return culprit.share != 0; };
  return static_cast<size_t>(std::ranges::find_if_not(list, is_there) - list.begin());
}

// `part` of `whole`, both in octets.
constexpr uint16_t share_of(int64_t part, int64_t whole) {
  if (part <= 0) return 0;
  if (part >= whole) return UINT16_MAX;
  return static_cast<uint16_t>(std::clamp<int64_t>(part * kWholeShare / whole, 1, UINT16_MAX));
}

// Which ingress port of which switch is about to send PFC.
struct CongestionPointId {
  MacAddress bridge;
  uint16_t port = 0;
  bool operator==(const CongestionPointId&) const = default;
};

struct CnmWarning {
  SwitchId predicting_switch;
  LeafId destination_leaf = kCnmAllLeaves;
  uint8_t hops_left = 0;
  uint8_t flags = 0;  // but for kCnmCulpritBits
  uint32_t sequence = 0;
  uint32_t time_to_pfc_ns = 0;
  uint32_t expiry_ns = 0;
  uint32_t queue_bytes = 0;
  bool operator==(const CnmWarning&) const = default;
};

struct Cnm {
  uint8_t feedback = 0;  // 0..63, severity
  CongestionPointId congestion_point;
  int16_t queue_offset = 0;  // (Q_PFC - q) / 64
  int16_t queue_delta = 0;   // (q - previous q) / 64
  Priority priority;         // 0..7
  MacAddress encapsulated_destination;
  bool has_warning = true;
  CnmWarning warning;
  CulpritList culprits{};
  bool culprits_refused = false;  // decode: more than there may be, or cut off; the rest holds
  bool operator==(const Cnm&) const = default;
};

// The 16-bit fields saturate: (Q_PFC - q) / 64 of a deep buffer may not fit.
constexpr int16_t cnm_quantity(int64_t bytes) {
  const int64_t units = bytes / 64;
  if (units > INT16_MAX) return INT16_MAX;
  return units < INT16_MIN ? INT16_MIN : static_cast<int16_t>(units);
}

size_t encode(const Cnm& message, Octets out);
// truncated, bad_version; bad_length: more than 64 octets encapsulated.
[[nodiscard]] CodecVerdict decode(ConstOctets payload, Cnm& message);

}  // namespace eddy
