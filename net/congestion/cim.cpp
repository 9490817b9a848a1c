#include "net/congestion/cim.h"

#include "net/byte_order.h"

namespace eddy {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

size_t encode(const Cim& message, Octets out) {
  zero_front(out, kCimMessage);
  uint8_t* at = out.data();
  at[0] = static_cast<uint8_t>(kVersion << 4 | static_cast<unsigned>(message.kind));
  at[1] = message.hops_left;
  at[2] = static_cast<uint8_t>(message.priority.index());
  store_be16(at + 4, static_cast<uint16_t>(message.origin.index()));
  store_be16(at + 6, static_cast<uint16_t>(message.leaf.index()));
  store_be32(at + 8, message.tag);
  store_be32(at + 12, message.sequence);
  store_be32(at + 16, message.expiry_ns);
  store_be32(at + 20, message.crossed_ns);
  store_be32(at + 24, message.queue_bytes);
  return kCimMessage;
}

CodecVerdict decode(ConstOctets payload, Cim& message) {
  if (payload.size() < kCimMessage) return CodecVerdict::truncated;
  const uint8_t* at = payload.data();
  if (at[0] >> 4 != kVersion) return CodecVerdict::bad_version;
  const uint8_t kind = at[0] & 0xf;
  if (kind > static_cast<uint8_t>(CimKind::cold) || at[2] >= kPriorities)
    return CodecVerdict::bad_value;
  message = {.kind = static_cast<CimKind>(kind),
             .hops_left = at[1],
             .priority = Priority(at[2]),
             .origin = SwitchId(load_be16(at + 4)),
             .leaf = LeafId(load_be16(at + 6)),
             .tag = load_be32(at + 8),
             .sequence = load_be32(at + 12),
             .expiry_ns = load_be32(at + 16),
             .crossed_ns = load_be32(at + 20),
             .queue_bytes = load_be32(at + 24)};
  if ((message.tag == 0) != (message.kind == CimKind::hello)) return CodecVerdict::bad_value;
  return CodecVerdict::ok;
}

}  // namespace eddy
