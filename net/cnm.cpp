#include "net/cnm.h"

#include "net/byte_order.h"
#include "net/ethernet.h"

namespace eddy {
namespace {
constexpr size_t kFixedPart = 24;
constexpr size_t kWarning = 24;  // with its two reserved octets
constexpr size_t kWarningReserved = 22;
constexpr size_t kMostEncapsulated = 64;
constexpr size_t kFlagsAt = kFixedPart + 5;
constexpr int kCulpritShift = 1;
static_assert(kCnmCulpritBits == 7 << kCulpritShift);

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
  warning.flags = at[5] & static_cast<uint8_t>(~kCnmCulpritBits);
  warning.sequence = load_be32(at + 6);
  warning.time_to_pfc_ns = load_be32(at + 10);
  warning.expiry_ns = load_be32(at + 14);
  warning.queue_bytes = load_be32(at + 18);
  return warning;
}

size_t encode_culprits(const CulpritList& culprits, Octets message) {
  const size_t count = count_of(culprits);
  uint8_t* at = message.data() + kCnmMessage;
  for (size_t i = 0; i < count; ++i, at += kCnmCulprit) {
    store_be16(at, static_cast<uint16_t>(culprits[i].leaf.index()));
    store_be16(at + 2, culprits[i].share);
    store_be32(at + 4, culprits[i].tag);
  }
  uint8_t& flags = message[kFlagsAt];
  flags = static_cast<uint8_t>((flags & ~kCnmCulpritBits) | count << kCulpritShift);
  return count * kCnmCulprit;
}

// False: there are none that can be read. An entry without a share is left out.
bool decode_culprits(ConstOctets message, CulpritList& culprits) {
  const size_t count = static_cast<size_t>(message[kFlagsAt] & kCnmCulpritBits) >> kCulpritShift;
  if (count > kMostCulprits || message.size() < kCnmMessage + count * kCnmCulprit) return false;
  size_t kept = 0;
  const uint8_t* at = message.data() + kCnmMessage;
  for (size_t i = 0; i < count; ++i, at += kCnmCulprit) {
    const Culprit culprit{LeafId(load_be16(at)), load_be16(at + 2), load_be32(at + 4)};
    if (culprit.share != 0) culprits[kept++] = culprit;
  }
  return true;
}

}  // namespace

size_t encode(const Cnm& message, Octets out) {
  ASSERT(message.has_warning && message.feedback <= kCnmMaxFeedback);
  zero_front(out, kCnmMessage + count_of(message.culprits) * kCnmCulprit);
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
  return kCnmMessage + encode_culprits(message.culprits, out);
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
  if (!message.has_warning) return CodecVerdict::ok;
  message.warning = decode_warning(warning);
  message.culprits_refused = !decode_culprits(payload, message.culprits);
  return CodecVerdict::ok;
}

}  // namespace eddy
