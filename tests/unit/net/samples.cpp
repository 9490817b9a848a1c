#include "tests/unit/net/samples.h"

#include <algorithm>

#include "net/arp.h"
#include "net/cnm.h"
#include "net/ethernet.h"
#include "net/icmp.h"
#include "net/ip.h"
#include "net/lldp.h"
#include "net/nd.h"
#include "net/pause_frame.h"
#include "net/roce.h"
#include "net/shim.h"

namespace eddy::test {
namespace {

constexpr MacAddress kHere = {{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kThere = {{2, 0, 0, 0, 0, 2}};
const Ipv4Address kHere4 = {0x0a010001};
const Ipv4Address kThere4 = {0x0a020001};
const Ipv6Address kHere6 = parse_ip("fd00:1::1")->v6();
const Ipv6Address kThere6 = parse_ip("fd00:2::1")->v6();
const AddressPair kPair4 = {kHere4, kThere4};
const AddressPair kPair6 = {kHere6, kThere6};

template <class Message>
Frame encoded(const Message& message, size_t limit = 2048) {
  Frame out(limit);
  out.resize(encode(message, out));
  return out;
}

EthernetHeader header_of(uint16_t ethertype, uint8_t tag_count) {
  EthernetHeader header;
  header.destination = kThere;
  header.source = kHere;
  header.ethertype = ethertype;
  header.tag_count = tag_count;
  header.tags[0] = {kEtherTypeVlan, 3, false, 0};
  if (tag_count == 2) header.tags = {{{kEtherTypeServiceVlan, 5, true, 100}, {kEtherTypeVlan, 3}}};
  return header;
}

Frame frame_of(uint16_t ethertype, const Frame& payload, uint8_t tag_count = 0) {
  Frame frame = encoded(header_of(ethertype, tag_count));
  frame.insert(frame.end(), payload.begin(), payload.end());
  const size_t length = frame.size();
  if (length < kMinimumFrame) frame.resize(kMinimumFrame);
  pad_frame(frame, length);
  return frame;
}

Frame roce_packet(RocePacket packet, const AddressPair& addresses, const Frame& payload) {
  packet.addresses = addresses;
  packet.source_port = 0xc123;
  packet.payload_len = static_cast<uint32_t>(payload.size());
  Frame out(roce_packet_length(packet));
  encode(packet, payload, out);
  return out;
}

RocePacket roce_data(RoceOpcode opcode) {
  RocePacket packet;
  packet.dscp = 26;
  packet.bth.opcode = opcode;
  packet.bth.destination_qpn = 0x123456;
  packet.bth.psn = 77;
  packet.reth = {0x1000200030004000, 0x55, 1'000'000};
  packet.immediate = 0xabcd;
  return packet;
}

Frame icmp_echo(uint8_t type) {
  const Frame body(16, 0x5a);
  return encoded(IcmpMessage{type, 0, 0x00010002, body});
}

Frame icmpv6_echo(uint8_t type) {
  const Frame body(16, 0x5a);
  Frame out(kIcmpHeader + body.size());
  encode_icmpv6({type, 0, 0x00010002, body}, kPair6, out);
  return out;
}

// The network packet inside an untagged frame.
Frame inner(const Frame& frame) {
  return Frame(frame.begin() + kEthernetHeader, frame.end());
}

Frame icmp_error(IcmpErrorReason reason, const Frame& offender) {
  IcmpError error;
  error.reason = reason;
  error.mtu = reason == IcmpErrorReason::packet_too_big ? 1280 : 0;
  error.source = is_ipv6(offender.data()) ? IpAddress(kThere6) : IpAddress(kThere4);
  Frame out(kIcmpv6ErrorLimit);
  out.resize(encode_icmp_error(error, offender, out));
  return out;
}

Frame cnm_payload() {
  Cnm cnm;
  cnm.feedback = 34;
  cnm.congestion_point = {kHere, 5};
  cnm.priority = Priority(3);
  cnm.encapsulated_destination = kThere;
  return encoded(cnm);
}

Frame nd_packet(NdKind kind) {
  NdMessage message;
  message.kind = kind;
  message.source = kHere6;
  message.destination = kind == NdKind::solicitation ? solicited_node_address(kThere6) : kThere6;
  message.target = kind == NdKind::solicitation ? kThere6 : kHere6;
  message.router = message.solicited = message.override_cached = kind == NdKind::advertisement;
  message.has_link_address = true;
  message.link_address = kHere;
  return encoded(message);
}

Frame arp_payload(ArpOperation operation) {
  const bool reply = operation == ArpOperation::reply;
  return encoded(ArpMessage{operation, kHere, kHere4, reply ? kThere : MacAddress{}, kThere4});
}

Frame pfc_frame() {
  PauseFrame pfc;
  pfc.source = kHere;
  pfc.set(Priority(3), kLongestPause);
  pfc.set(Priority(4), 0);
  return encoded(pfc);
}

Frame shim_control(ShimKind kind) {
  ShimControl control;
  control.shim.kind = kind;
  control.order_hash = 0x0123456789abcdef;
  return frame_of(kEtherTypeShim, encoded(control));
}

void add_ip(std::vector<Sample>& out) {
  const Frame payload(20, 0x11);
  const Frame udp = udp_datagram(2000, payload);
  const Frame options = from_hex("1100 0104 00000000");
  Frame behind_options = options;
  behind_options.insert(behind_options.end(), udp.begin(), udp.end());
  out.push_back({"udp_ipv4", ipv4_frame(kProtocolUdp, udp), FrameKind::ipv4});
  out.push_back({"udp_ipv6", ipv6_frame(kProtocolUdp, udp), FrameKind::ipv6});
  out.push_back({"tcp_ipv4", ipv4_frame(kProtocolTcp, tcp_segment(payload)), FrameKind::ipv4});
  out.push_back({"tcp_ipv6", ipv6_frame(kProtocolTcp, tcp_segment(payload)), FrameKind::ipv6});
  out.push_back({"udp_ipv4_tag", ipv4_frame(kProtocolUdp, udp, 1), FrameKind::ipv4});
  out.push_back({"udp_ipv6_tags", ipv6_frame(kProtocolUdp, udp, 2), FrameKind::ipv6});
  out.push_back({"udp_ipv4_shim", with_shim(ipv4_frame(kProtocolUdp, udp)), FrameKind::ipv4});
  out.push_back({"udp_ipv6_shim", with_shim(ipv6_frame(kProtocolUdp, udp, 1)), FrameKind::ipv6});
  out.push_back({"udp_ipv6_options", ipv6_frame(kProtocolDestinationOptions, behind_options),
                 FrameKind::ipv6});
}

void add_roce(std::vector<Sample>& out) {
  const Frame payload(61, 0x77);
  const Frame none;
  const Frame write = roce_packet(roce_data(RoceOpcode::write_only), kPair4, payload);
  const Frame send = roce_packet(roce_data(RoceOpcode::send_only_immediate), kPair6, payload);
  const Frame ack = roce_packet(make_ack({}, 9, 77, {kAethNakSequence, 5}), kPair4, none);
  const Frame cnp = roce_packet(make_cnp({}, 0x118), kPair4, none);
  out.push_back({"roce_write_ipv4", frame_of(kEtherTypeIpv4, write), FrameKind::ipv4});
  out.push_back({"roce_send_ipv6", frame_of(kEtherTypeIpv6, send), FrameKind::ipv6});
  out.push_back({"roce_nak", frame_of(kEtherTypeIpv4, ack), FrameKind::ipv4});
  out.push_back({"roce_cnp", frame_of(kEtherTypeIpv4, cnp), FrameKind::ipv4});
}

void add_icmp(std::vector<Sample>& out) {
  const Frame udp = udp_datagram(2000, Frame(20, 0x11));
  const Frame v4 = inner(ipv4_frame(kProtocolUdp, udp));
  const Frame v6 = inner(ipv6_frame(kProtocolUdp, udp));
  out.push_back(
      {"echo_ipv4", ipv4_frame(kProtocolIcmp, icmp_echo(kIcmpEchoRequest)), FrameKind::ipv4});
  out.push_back(
      {"echo_ipv6", ipv6_frame(kProtocolIcmpv6, icmpv6_echo(kIcmpv6EchoRequest)), FrameKind::ipv6});
  const std::pair<const char*, IcmpErrorReason> reasons[] = {
      {"unreachable", IcmpErrorReason::no_route},
      {"too_big", IcmpErrorReason::packet_too_big},
      {"time_exceeded", IcmpErrorReason::time_exceeded}};
  for (const auto& [name, reason] : reasons) {
    out.push_back({std::string(name) + "_ipv4", frame_of(kEtherTypeIpv4, icmp_error(reason, v4)),
                   FrameKind::ipv4});
    out.push_back({std::string(name) + "_ipv6", frame_of(kEtherTypeIpv6, icmp_error(reason, v6)),
                   FrameKind::ipv6});
  }
  out.push_back({"nd_solicitation", frame_of(kEtherTypeIpv6, nd_packet(NdKind::solicitation)),
                 FrameKind::ipv6});
  out.push_back({"nd_advertisement", frame_of(kEtherTypeIpv6, nd_packet(NdKind::advertisement)),
                 FrameKind::ipv6});
}

void add_control(std::vector<Sample>& out) {
  const Frame request = arp_payload(ArpOperation::request);
  LldpFrame lldp = {kHere, kHere, "Ethernet0", 120, "leaf0"};
  out.push_back({"arp_request", frame_of(kEtherTypeArp, request), FrameKind::arp});
  out.push_back(
      {"arp_reply", frame_of(kEtherTypeArp, arp_payload(ArpOperation::reply), 1), FrameKind::arp});
  out.push_back({"pfc", pfc_frame(), FrameKind::mac_control});
  out.push_back({"pause", encoded(PauseFrame::all_priorities(kHere, 100)), FrameKind::mac_control});
  out.push_back({"cnm_tag", frame_of(kEtherTypeCnm, cnm_payload(), 1), FrameKind::cnm});
  out.push_back({"lldp", encoded(lldp), FrameKind::lldp});
  for (int kind = 1; kind < kShimKinds; ++kind)
    out.push_back({"shim_kind_" + std::to_string(kind), shim_control(static_cast<ShimKind>(kind)),
                   FrameKind::shim_control});
}

}  // namespace

Frame udp_datagram(uint16_t destination_port, const Frame& payload) {
  Frame out = encoded(
      UdpHeader{1000, destination_port, static_cast<uint16_t>(kUdpHeader + payload.size()), 0});
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Frame tcp_segment(const Frame& payload) {
  TcpHeader header;
  header.source_port = 1000;
  header.destination_port = 80;
  header.flags = 0x18;
  header.window = 512;
  Frame out = encoded(header);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Frame ipv4_frame(uint8_t protocol, const Frame& transport, uint8_t tag_count) {
  Ipv4Header ip;
  ip.dscp = 26;
  ip.ecn = kEcnCapable0;
  ip.total_length = static_cast<uint16_t>(kIpv4Header + transport.size());
  ip.ttl = 64;
  ip.protocol = protocol;
  ip.source = kHere4;
  ip.destination = kThere4;
  Frame packet = encoded(ip);
  packet.insert(packet.end(), transport.begin(), transport.end());
  return frame_of(kEtherTypeIpv4, packet, tag_count);
}

Frame ipv6_frame(uint8_t protocol, const Frame& transport, uint8_t tag_count) {
  Ipv6Header ip;
  ip.dscp = 26;
  ip.payload_length = static_cast<uint16_t>(transport.size());
  ip.next_header = protocol;
  ip.hop_limit = 64;
  ip.source = kHere6;
  ip.destination = kThere6;
  Frame packet = encoded(ip);
  packet.insert(packet.end(), transport.begin(), transport.end());
  return frame_of(kEtherTypeIpv6, packet, tag_count);
}

Frame with_shim(const Frame& frame) {
  EthernetHeader header;
  if (decode(frame, header) != CodecVerdict::ok) return {};
  Shim shim;
  shim.source_leaf = LeafId(1);
  shim.destination_leaf = LeafId(2);
  shim.path = PathId(0x0102);
  shim.inner_ethertype = header.ethertype;
  const Frame octets = encoded(shim);
  Frame out = frame;
  store_be16(&out[header.size() - 2], kEtherTypeShim);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(header.size()), octets.begin(),
             octets.end());
  return out;
}

void fix_ipv4_checksum(Frame& frame, size_t offset) {
  const size_t says = (frame[offset] & 0x0f) * 4U;
  const size_t header_length = std::min(says, frame.size() - offset);
  store_be16(&frame[offset + 10], 0);
  store_be16(&frame[offset + 10],
             internet_checksum(ConstOctets(frame).subspan(offset, header_length)));
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  add_ip(out);
  add_roce(out);
  add_icmp(out);
  add_control(out);
  return out;
}

const Frame& sample(const std::string& name) {
  static const std::vector<Sample> all = samples();
  for (const Sample& each : all)
    if (each.name == name) return each.frame;
  ASSERT(!"a sample of this name");
  __builtin_unreachable();
}

}  // namespace eddy::test
