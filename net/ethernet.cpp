#include "net/ethernet.h"

#include "net/byte_order.h"

namespace eddy {

size_t encode(const EthernetHeader& header, Octets out) {
  ASSERT(header.tag_count <= header.tags.size() && out.size() >= header.size());
  rewrite_macs(out.data(), header.destination, header.source);
  uint8_t* at = out.data() + 12;
  for (size_t i = 0; i < header.tag_count; ++i, at += kVlanTag) {
    const VlanTag& tag = header.tags[i];
    store_be16(at, tag.tpid);
    store_be16(at + 2, static_cast<uint16_t>(tag.pcp << 13 | (tag.drop_eligible ? 1 << 12 : 0) |
                                             (tag.vlan_id & 0x0fff)));
  }
  store_be16(at, header.ethertype);
  return header.size();
}

CodecVerdict decode(ConstOctets frame, EthernetHeader& header) {
  header = EthernetHeader{};
  if (frame.size() < kEthernetHeader) return CodecVerdict::truncated;
  header.destination = load_mac(frame.data());
  header.source = load_mac(frame.data() + 6);
  header.ethertype = load_be16(frame.data() + 12);
  while (header.ethertype == kEtherTypeVlan || header.ethertype == kEtherTypeServiceVlan) {
    if (header.tag_count == header.tags.size()) return CodecVerdict::bad_value;
    if (frame.size() < header.size() + kVlanTag) return CodecVerdict::truncated;
    const uint16_t tci = load_be16(frame.data() + header.size());
    const uint16_t tpid = header.ethertype;
    header.ethertype = load_be16(frame.data() + header.size() + 2);
    header.tags[header.tag_count++] = {tpid, static_cast<uint8_t>(tci >> 13), (tci & 1 << 12) != 0,
                                       static_cast<uint16_t>(tci & 0x0fff)};
  }
  return CodecVerdict::ok;
}

size_t pad_frame(Octets out, size_t length) {
  if (length >= kMinimumFrame) return length;
  ASSERT(out.size() >= kMinimumFrame);
  zero_front(out.subspan(length), kMinimumFrame - length);
  return kMinimumFrame;
}

}  // namespace eddy
