#include "net/lldp.h"

#include "net/byte_order.h"
#include "net/ethernet.h"

namespace eddy {
namespace {

constexpr uint8_t kEnd = 0;
constexpr uint8_t kChassisId = 1;
constexpr uint8_t kPortId = 2;
constexpr uint8_t kTtl = 3;
constexpr uint8_t kSystemName = 5;
constexpr uint8_t kChassisMac = 4;          // subtype
constexpr uint8_t kPortInterfaceAlias = 1;  // subtype
constexpr uint8_t kPortInterfaceName = 5;   // subtype
constexpr uint8_t kPortLocal = 7;           // subtype
constexpr size_t kTlvHeader = 2;
constexpr size_t kMandatory = 3;  // TLVs that come first, in order of their types
constexpr size_t kMacAddress = 6;

// Writes TLVs one after the other.
class TlvWriter {
 public:
  explicit TlvWriter(Octets out) : out_(out) {}

  uint8_t* open(uint8_t type, size_t length) {
    ASSERT(out_.size() >= end_ + kTlvHeader + length);
    uint8_t* at = out_.data() + end_;
    store_be16(at, static_cast<uint16_t>(type << 9 | length));
    end_ += kTlvHeader + length;
    return at + kTlvHeader;
  }
  size_t end() const { return end_; }

 private:
  Octets out_;
  size_t end_ = 0;
};

void put_text(uint8_t* at, std::string_view text) {
  ASSERT(text.size() <= kLldpTextLimit);
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
}

std::string_view as_text(ConstOctets octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

bool take_chassis(ConstOctets value, LldpFrame& frame) {
  if (value.size() < 2) return false;
  if (value[0] != kChassisMac) return true;
  if (value.size() != 1 + kMacAddress) return false;
  frame.chassis = load_mac(&value[1]);
  return true;
}

bool take_port(ConstOctets value, LldpFrame& frame) {
  if (value.size() < 2 || value.size() > 1 + kLldpTextLimit) return false;
  const uint8_t subtype = value[0];
  if (subtype == kPortInterfaceName || subtype == kPortInterfaceAlias || subtype == kPortLocal)
    frame.port = as_text(value.subspan(1));
  return true;
}

bool take_ttl(ConstOctets value, LldpFrame& frame) {
  if (value.size() < 2) return false;
  frame.ttl_seconds = load_be16(value.data());
  return true;
}

bool take_system_name(ConstOctets value, LldpFrame& frame) {
  if (value.size() > kLldpTextLimit) return false;
  frame.system_name = as_text(value);
  return true;
}

// TLV number `index` of the frame, counted from 0: the first three are in a fixed order, and none
// of them comes again.
bool take_tlv(size_t index, uint8_t type, ConstOctets value, LldpFrame& frame) {
  const bool mandatory = type >= kChassisId && type <= kTtl;
  if (mandatory != (index < kMandatory) || (mandatory && type != index + 1)) return false;
  if (type == kChassisId) return take_chassis(value, frame);
  if (type == kPortId) return take_port(value, frame);
  if (type == kTtl) return take_ttl(value, frame);
  return type != kSystemName || take_system_name(value, frame);
}

}  // namespace

size_t encode(const LldpFrame& frame, Octets out) {
  ASSERT(out.size() >= kEthernetHeader && !frame.port.empty());
  rewrite_macs(out.data(), kLldpDestination, frame.source);
  store_be16(&out[12], kEtherTypeLldp);
  TlvWriter tlvs(out.subspan(kEthernetHeader));
  uint8_t* chassis = tlvs.open(kChassisId, 1 + kMacAddress);
  chassis[0] = kChassisMac;
  store_mac(chassis + 1, frame.chassis);
  uint8_t* port = tlvs.open(kPortId, 1 + frame.port.size());
  port[0] = kPortInterfaceName;
  put_text(port + 1, frame.port);
  store_be16(tlvs.open(kTtl, 2), frame.ttl_seconds);
  put_text(tlvs.open(kSystemName, frame.system_name.size()), frame.system_name);
  tlvs.open(kEnd, 0);
  return pad_frame(out, kEthernetHeader + tlvs.end());
}

CodecVerdict decode(ConstOctets octets, LldpFrame& frame) {
  frame = LldpFrame{};
  if (octets.size() < kEthernetHeader) return CodecVerdict::truncated;
  if (load_be16(&octets[12]) != kEtherTypeLldp) return CodecVerdict::wrong_type;
  frame.source = load_mac(&octets[6]);
  if (load_mac(&octets[0]) != kLldpDestination || frame.source.is_multicast())
    return CodecVerdict::bad_address;
  ConstOctets rest = octets.subspan(kEthernetHeader);
  size_t index = 0;
  for (; rest.size() >= kTlvHeader; ++index) {
    const uint16_t header = load_be16(rest.data());
    const auto type = static_cast<uint8_t>(header >> 9);
    const size_t length = header & 0x1ff;
    if (type == kEnd) return index < kMandatory ? CodecVerdict::bad_option : CodecVerdict::ok;
    if (rest.size() < kTlvHeader + length) return CodecVerdict::bad_option;
    if (!take_tlv(index, type, rest.subspan(kTlvHeader, length), frame))
      return CodecVerdict::bad_option;
    rest = rest.subspan(kTlvHeader + length);
  }
  return index >= kMandatory && rest.empty() ? CodecVerdict::ok : CodecVerdict::truncated;
}

}  // namespace eddy
