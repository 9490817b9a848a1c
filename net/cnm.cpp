#include "net/cnm.h"

#include "net/byte_order.h"
#include "net/ethernet.h"

namespace eddy {
namespace {
constexpr size_t kFixedPart = 24;
constexpr size_t kWarning = 24;  // with its two reserved octets
constexpr size_t kWarningReserved = 22;
constexpr size_t kMostEncapsulated = 64;

void encode_warning(const CnmWarning& warning, uint8_t* at) {
  store_be16(at, static_cast<uint16_t>(warning.predicting_switch.index()));
  store_be16(at + 2, static_cast<uint16_t>(warning.destination_leaf.index()));
  at[4] = warning.hops_left;
  at[5] = warning.flags;
  store_be32(at + 6, warning.sequence);
  store_be32(at + 10, warning.time_to_pfc_ns);
  store_be32(at + 14, warning.expiry_ns);
  store_be32(at + 18, warning.queue_bytes);
  store_be16(at + kWarningReserved, 0);
}

CnmWarning decode_warning(const uint8_t* at) {
  CnmWarning warning;
  warning.predicting_switch = SwitchId(load_be16(at));
  warning.destination_leaf = LeafId(load_be16(at + 2));
  warning.hops_left = at[4];
  warning.flags = at[5];
  warning.sequence = load_be32(at + 6);
  warning.time_to_pfc_ns = load_be32(at + 10);
  warning.expiry_ns = load_be32(at + 14);
  warning.queue_bytes = load_be32(at + 18);
  return warning;
}

}  // namespace

size_t encode(const Cnm& message, Octets out) {
  ASSERT(message.has_warning && message.feedback <= kCnmMaxFeedback);
  zero_front(out, kCnmMessage);
  uint8_t* at = out.data();
  store_be16(at, message.feedback);
  store_mac(at + 2, message.congestion_point.bridge);
  store_be16(at + 8, message.congestion_point.port);
  store_be16(at + 10, static_cast<uint16_t>(message.queue_offset));
  store_be16(at + 12, static_cast<uint16_t>(message.queue_delta));
  store_be16(at + 14, static_cast<uint16_t>(message.priority.index() << 13));
  store_mac(at + 16, message.encapsulated_destination);
  store_be16(at + 22, kWarning);
  encode_warning(message.warning, at + kFixedPart);
  return kCnmMessage;
}

CodecVerdict decode(ConstOctets payload, Cnm& message) {
  message = Cnm{};
  message.has_warning = false;
  if (payload.size() < kFixedPart) return CodecVerdict::truncated;
  const uint8_t* at = payload.data();
  if (at[0] >> 4 != 0) return CodecVerdict::bad_version;
  const size_t encapsulated = load_be16(at + 22);
  if (encapsulated > kMostEncapsulated) return CodecVerdict::bad_length;
  if (payload.size() < kFixedPart + encapsulated) return CodecVerdict::truncated;
  message.feedback = at[1] & kCnmMaxFeedback;
  message.congestion_point = {load_mac(at + 2), load_be16(at + 8)};
  message.queue_offset = static_cast<int16_t>(load_be16(at + 10));
  message.queue_delta = static_cast<int16_t>(load_be16(at + 12));
  message.priority = Priority(load_be16(at + 14) >> 13);
  message.encapsulated_destination = load_mac(at + 16);
  const uint8_t* warning = at + kFixedPart;
  message.has_warning = encapsulated == kWarning && load_be16(warning + kWarningReserved) == 0;
  if (message.has_warning) message.warning = decode_warning(warning);
  return CodecVerdict::ok;
}

}  // namespace eddy
