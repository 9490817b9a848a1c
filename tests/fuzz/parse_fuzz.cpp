// One input, one frame: the parser and every decoder of net/ over it. Whatever decodes must encode
// and decode to the same value again, and the parser's offsets must lie in the frame.
#include <algorithm>
#include <array>
#include <cstdint>

#include "net/arp.h"
#include "net/cnm.h"
#include "net/ethernet.h"
#include "net/icmp.h"
#include "net/ip.h"
#include "net/lldp.h"
#include "net/nd.h"
#include "net/parse.h"
#include "net/pause_frame.h"
#include "net/pcap.h"
#include "net/roce.h"
#include "net/shim.h"

namespace eddy {
namespace {

constexpr uint32_t kVirtualPayload = 1000;
using Scratch = std::array<uint8_t, 4096>;

// Decoded values that encode cannot write: IP and TCP options are skipped, foreign CNMs and port
// ids are only recognised.
template <class Message>
bool encodable(const Message&) {
  return true;
}
bool encodable(const Ipv4Header& header) {
  return header.header_length == kIpv4Header;
}
bool encodable(const TcpHeader& header) {
  return header.header_length == kTcpHeader;
}
bool encodable(const Cnm& message) {
  return message.has_warning && !message.culprits_refused;
}
bool encodable(const LldpFrame& frame) {
  return !frame.port.empty();
}

size_t encode_again(const RocePacket& packet, Octets out) {
  return encode_headers(packet, out);
}
template <class Message>
size_t encode_again(const Message& message, Octets out) {
  return encode(message, out);
}

template <class Message>
void round_trip(ConstOctets octets) {
  Message message;
  if (decode(octets, message) != CodecVerdict::ok || !encodable(message)) return;
  Scratch scratch;
  const size_t length = encode_again(message, scratch);
  Message again;
  ASSERT(decode(ConstOctets(scratch).first(length), again) == CodecVerdict::ok);
  ASSERT(again == message);
}

void check_parse(ConstOctets frame, uint32_t virtual_payload) {
  const auto readable = static_cast<uint32_t>(frame.size());
  const uint32_t wire_len = readable + virtual_payload;
  ParsedFrame fast;
  ParsedFrame slow;
  const ParseVerdict verdict = parse_frame(frame.data(), readable, wire_len, fast);
  ASSERT(verdict == detail::parse_frame_slowly(frame.data(), readable, wire_len, slow));
  ASSERT(fast.order_hash == slow.order_hash && fast.flags == slow.flags);
  if (verdict != ParseVerdict::ok) return;
  ASSERT(fast.l2_len >= kEthernetHeader && fast.l2_len <= readable);
  ASSERT(uint32_t{fast.l2_len} + fast.l3_len <= readable);
  ASSERT(uint32_t{fast.payload_len} + fast.l2_len + fast.l3_len <= wire_len);
  const bool is_ip = fast.kind == FrameKind::ipv4 || fast.kind == FrameKind::ipv6;
  ASSERT(is_ip == ((fast.flags & kPacketIp) != 0));
}

void check_icmp(ConstOctets packet) {
  IcmpMessage message;
  (void)decode(packet, message);
  (void)decode_icmpv6(packet, {}, message);
  Scratch scratch;
  std::copy(packet.begin(), packet.end(), scratch.begin());
  (void)turn_into_echo_reply(Octets(scratch).first(packet.size()));
  for (const IpAddress& source : {IpAddress(Ipv4Address{1}), IpAddress()})
    (void)encode_icmp_error({IcmpErrorReason::packet_too_big, 1500, source}, packet, scratch);
}

void check_packet(ConstOctets packet) {
  round_trip<ArpMessage>(packet);
  round_trip<Cnm>(packet);
  round_trip<Shim>(packet);
  round_trip<ShimControl>(packet);
  round_trip<Ipv4Header>(packet);
  round_trip<Ipv6Header>(packet);
  round_trip<UdpHeader>(packet);
  round_trip<TcpHeader>(packet);
  round_trip<NdMessage>(packet);
  round_trip<RocePacket>(packet);
  RocePacket roce;
  if (decode(packet, roce) == CodecVerdict::ok && roce_packet_length(roce) <= packet.size())
    (void)icrc_ok(packet);
  check_icmp(packet);
}

void check_pcap(ConstOctets file) {
  PcapReader reader;
  PcapRecord record;
  if (reader.open(file) != CodecVerdict::ok) return;
  while (!reader.at_end() && reader.next(record) == CodecVerdict::ok)
    ASSERT(record.frame.size() <= file.size());
}

}  // namespace
}  // namespace eddy

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace eddy;
  const ConstOctets frame(data, std::min(size, Scratch{}.size()));
  check_parse(frame, 0);
  check_parse(frame, kVirtualPayload);
  round_trip<EthernetHeader>(frame);
  round_trip<PauseFrame>(frame);
  round_trip<LldpFrame>(frame);
  check_pcap(frame);
  EthernetHeader header;
  const bool framed = decode(frame, header) == CodecVerdict::ok;
  check_packet(frame.subspan(framed ? header.size() : 0));
  return 0;
}
