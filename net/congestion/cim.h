// Congestion isolation messages: what a leaf tells of a host whose port is congested, and what
// switches tell their neighbors of themselves.
//
// A frame of its own EtherType with 32 octets behind it. hello: the sender isolates, too; it names
// no host. hot, cold: the host behind the tag is congested, or is no more. A switch of another
// version has another EtherType or version, and drops and counts it. Times are nanoseconds. Source:
// 802.1Qcz-2023, for the idea of a CIM; the format is ours (reference B.17).
#pragma once

#include <cstdint>

#include "net/codec.h"
#include "net/ids.h"

namespace eddy {

inline constexpr size_t kCimMessage = 32;

enum class CimKind : uint8_t { hello, hot, cold };

struct Cim {
  CimKind kind{};
  uint8_t hops_left = 0;  // switches that may yet pass it on
  Priority priority;      // that pauses the class whose packets are isolated
  SwitchId origin;        // whose host port it is, or who says hello
  LeafId leaf;            // the same, as a leaf
  uint32_t tag = 0;       // of the host: congestion/destination_tag.h; hello: 0
  uint32_t sequence = 0;  // counts the origin's messages
  uint32_t expiry_ns = 0;
  uint32_t crossed_ns = 0;   // when the queue passed its threshold: the origin's clock, modulo 2^32
  uint32_t queue_bytes = 0;  // of the host port
  bool operator==(const Cim&) const = default;
};

size_t encode(const Cim& message, Octets out);
// truncated; bad_version; bad_value: another kind, or a host without a tag.
[[nodiscard]] CodecVerdict decode(ConstOctets payload, Cim& message);

}  // namespace eddy
