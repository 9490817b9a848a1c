#include "net/shim.h"

#include "net/byte_order.h"

namespace eddy {
namespace {

constexpr size_t kOrderKey = 13;
constexpr size_t kNotifyBody = 5;
constexpr size_t kAckBody = 20;
constexpr size_t kAckOctets = 16;  // behind the key and its pad
constexpr size_t kHulaBody = 8;
constexpr size_t kFlowBody = 16;
constexpr size_t kFlowHold = 14;

size_t body_length(ShimKind kind) {
  switch (kind) {
    case ShimKind::data:
    case ShimKind::feedback:
    case ShimKind::probe:
    case ShimKind::probe_reply:
    case ShimKind::sweep:
    case ShimKind::swept:
      return 0;
    case ShimKind::notify:
      return kNotifyBody;
    case ShimKind::clear:
      return kOrderKey;
    case ShimKind::flowcut_ack:
      return kAckBody;
    case ShimKind::hula_probe:
      return kHulaBody;
    case ShimKind::flow_xoff:
    case ShimKind::flow_xon:
      return kFlowBody;
  }
  __builtin_unreachable();
}

bool has_order_key(ShimKind kind) {
  return kind == ShimKind::clear || kind == ShimKind::flowcut_ack || kind == ShimKind::flow_xoff ||
         kind == ShimKind::flow_xon;
}

bool is_reason(uint8_t octet) {
  return octet >= static_cast<uint8_t>(NotifyReason::path_busy) &&
         octet <= static_cast<uint8_t>(NotifyReason::kicked_out);
}

CodecVerdict decode_body(const uint8_t* body, ShimControl& control) {
  const ShimKind kind = control.shim.kind;
  if (has_order_key(kind)) control.order_hash = load_be64(body);
  if (kind == ShimKind::flowcut_ack) control.value = load_be32(body + kAckOctets);
  if (kind == ShimKind::flow_xoff) control.hold_us = load_be16(body + kFlowHold);
  if (kind == ShimKind::hula_probe) {
    control.top_of_rack = load_be24(body);
    control.utilisation = body[3];
    control.sequence = load_be32(body + 4);
  }
  if (kind == ShimKind::notify) {
    if (!is_reason(body[0])) return CodecVerdict::bad_value;
    control.reason = static_cast<NotifyReason>(body[0]);
    control.value = load_be32(body + 1);
  }
  return CodecVerdict::ok;
}

}  // namespace

CodecVerdict decode(ConstOctets octets, Shim& shim) {
  shim = Shim{};
  if (octets.size() < kShimHeader) return CodecVerdict::truncated;
  const uint8_t* at = octets.data();
  if (at[0] >> 4 != kShimVersion) return CodecVerdict::bad_version;
  if ((at[0] & 0x0f) >= kShimKinds) return CodecVerdict::bad_value;
  shim.kind = static_cast<ShimKind>(at[0] & 0x0f);
  shim.flags = at[1];
  shim.source_leaf = LeafId(load_be16(at + 2));
  shim.destination_leaf = LeafId(load_be16(at + 4));
  shim.path = PathId(load_be16(at + 6));
  shim.feedback_path = PathId(load_be16(at + 8));
  shim.congestion = at[10];
  shim.feedback_congestion = at[11];
  shim.hop_count = at[12] >> 4;
  shim.virtual_channel = at[12] >> 2 & 3;
  shim.epoch = at[12] & 3;
  shim.traffic_class = TrafficClass(at[13] >> 4);
  shim.recirculations = at[13] & 0x0f;
  shim.tolerable_delay = load_be16(at + 14);
  shim.sent_ns = load_be32(at + 16);
  shim.echoed_ns = load_be32(at + 20);
  shim.hold_ns = load_be32(at + 24);
  shim.feedback_packets = at[28];
  shim.feedback_marked = at[29];
  shim.inner_ethertype = load_be16(at + 30);
  return CodecVerdict::ok;
}

size_t encode(const ShimControl& control, Octets out) {
  const ShimKind kind = control.shim.kind;
  const size_t length = kShimHeader + body_length(kind);
  ASSERT(kind != ShimKind::data);
  zero_front(out, length);
  encode(control.shim, out);
  uint8_t* body = out.data() + kShimHeader;
  if (has_order_key(kind)) store_be64(body, control.order_hash);
  if (kind == ShimKind::flowcut_ack) store_be32(body + kAckOctets, control.value);
  if (kind == ShimKind::flow_xoff) store_be16(body + kFlowHold, control.hold_us);
  if (kind == ShimKind::hula_probe) {
    store_be24(body, control.top_of_rack);
    body[3] = control.utilisation;
    store_be32(body + 4, control.sequence);
  }
  if (kind == ShimKind::notify) {
    body[0] = static_cast<uint8_t>(control.reason);
    store_be32(body + 1, control.value);
  }
  return length;
}

CodecVerdict decode(ConstOctets octets, ShimControl& control) {
  control = ShimControl{};
  const CodecVerdict verdict = decode(octets, control.shim);
  if (verdict != CodecVerdict::ok) return verdict;
  if (control.shim.kind == ShimKind::data) return CodecVerdict::wrong_type;
  if (octets.size() < kShimHeader + body_length(control.shim.kind)) return CodecVerdict::truncated;
  return decode_body(octets.data() + kShimHeader, control);
}

}  // namespace eddy
