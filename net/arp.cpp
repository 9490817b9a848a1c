#include "net/arp.h"

#include "net/byte_order.h"
#include "net/ethernet.h"
#include "net/protocols.h"

namespace eddy {
namespace {
constexpr uint16_t kHardwareEthernet = 1;
constexpr uint16_t kAddressSizes = 0x0604;
}  // namespace

size_t encode(const ArpMessage& message, Octets out) {
  ASSERT(out.size() >= kArpMessage);
  uint8_t* arp = out.data();
  store_be16(arp, kHardwareEthernet);
  store_be16(arp + 2, kEtherTypeIpv4);
  store_be16(arp + 4, kAddressSizes);
  store_be16(arp + 6, static_cast<uint16_t>(message.operation));
  store_mac(arp + 8, message.sender_mac);
  store_be32(arp + 14, message.sender_ip.value);
  store_mac(arp + 18, message.target_mac);
  store_be32(arp + 24, message.target_ip.value);
  return kArpMessage;
}

CodecVerdict decode(ConstOctets payload, ArpMessage& message) {
  message = ArpMessage{};
  if (payload.size() < kArpMessage) return CodecVerdict::truncated;
  const uint8_t* arp = payload.data();
  if (load_be16(arp) != kHardwareEthernet || load_be16(arp + 2) != kEtherTypeIpv4)
    return CodecVerdict::wrong_type;
  if (load_be16(arp + 4) != kAddressSizes) return CodecVerdict::bad_length;
  const auto operation = static_cast<ArpOperation>(load_be16(arp + 6));
  if (operation != ArpOperation::request && operation != ArpOperation::reply)
    return CodecVerdict::bad_value;
  message.operation = operation;
  message.sender_mac = load_mac(arp + 8);
  message.sender_ip.value = load_be32(arp + 14);
  message.target_mac = load_mac(arp + 18);
  message.target_ip.value = load_be32(arp + 24);
  return message.sender_mac.is_multicast() ? CodecVerdict::bad_address : CodecVerdict::ok;
}

}  // namespace eddy
