#include "net/pause_frame.h"

#include "net/byte_order.h"
#include "net/ethernet.h"

namespace eddy {
namespace {
constexpr uint16_t kOpcodePause = 0x0001;
constexpr uint16_t kOpcodePfc = 0x0101;
constexpr size_t kOpcode = 14;
constexpr size_t kLegacyTime = 16;
constexpr size_t kLegacyEnd = 18;
constexpr size_t kEnableVector = 16;
constexpr size_t kTimes = 18;
constexpr size_t kPfcEnd = 34;
}  // namespace

PauseFrame PauseFrame::all_priorities(const MacAddress& source, uint16_t time) {
  PauseFrame frame;
  frame.source = source;
  frame.legacy = true;
  frame.enabled = 0xff;
  frame.quanta.fill(time);
  return frame;
}

size_t encode(const PauseFrame& frame, Octets out) {
  zero_front(out, kMinimumFrame);
  rewrite_macs(out.data(), kPauseDestination, frame.source);
  store_be16(&out[12], kEtherTypeMacControl);
  store_be16(&out[kOpcode], frame.legacy ? kOpcodePause : kOpcodePfc);
  if (frame.legacy) {
    store_be16(&out[kLegacyTime], frame.quanta[0]);
    return kMinimumFrame;
  }
  store_be16(&out[kEnableVector], frame.enabled);
  for (size_t i = 0; i < frame.quanta.size(); ++i)
    store_be16(&out[kTimes + 2 * i], frame.quanta[i]);
  return kMinimumFrame;
}

CodecVerdict decode(ConstOctets octets, PauseFrame& frame) {
  frame = PauseFrame{};
  if (octets.size() < kLegacyEnd) return CodecVerdict::truncated;
  if (load_be16(&octets[12]) != kEtherTypeMacControl) return CodecVerdict::wrong_type;
  frame.source = load_mac(&octets[6]);
  if (load_mac(&octets[0]) != kPauseDestination || frame.source.is_multicast())
    return CodecVerdict::bad_address;
  const uint16_t opcode = load_be16(&octets[kOpcode]);
  if (opcode == kOpcodePause) {
    frame = PauseFrame::all_priorities(frame.source, load_be16(&octets[kLegacyTime]));
    return CodecVerdict::ok;
  }
  if (opcode != kOpcodePfc) return CodecVerdict::wrong_type;
  if (octets.size() < kPfcEnd) return CodecVerdict::truncated;
  frame.enabled = octets[kEnableVector + 1];
  for (size_t i = 0; i < frame.quanta.size(); ++i)
    frame.quanta[i] = load_be16(&octets[kTimes + 2 * i]);
  return CodecVerdict::ok;
}

}  // namespace eddy
