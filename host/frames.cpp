#include "host/frames.h"

#include "net/assert.h"
#include "net/ethernet.h"

namespace eddy::host {
namespace {

constexpr uint32_t kUdpLengthOffset = 4;

// From the switch to its hosts alone, as PFC is.
bool is_flow_control(ConstOctets frame, const ParsedFrame& parsed) {
  return parsed.kind == FrameKind::link_local && parsed.ethertype == kEtherTypeShim &&
         load_mac(frame.data()) == kPauseDestination;
}
bool stops_or_resumes(ShimKind kind) {
  return kind == ShimKind::flow_xoff || kind == ShimKind::flow_xon;
}

}  // namespace

Framer::Framer(const NicOptions& options)
    : v4_(options.address.is_v4()),
      plain_(v4_ && !options.config.icrc_check),
      icrc_check_(options.config.icrc_check),
      mtu_(static_cast<uint32_t>(options.config.mtu)),
      mac_(options.mac),
      gateway_(options.gateway),
      address_(options.address),
      dscp_(options.config.dscp),
      control_dscp_(options.config.control_dscp) {
  std::array<uint8_t, 8> front{};
  store_mac(front.data(), mac_);
  mac_raw_ = load_raw<uint64_t>(front.data());
  if (v4_) address_raw_ = __builtin_bswap32(address_.v4().value);
  bth_ = kEthernetHeader + (v4_ ? kIpv4Header : kIpv6Header) + kUdpHeader;
  ASSERT(mtu_ > 0);
}

HeaderTemplate Framer::encoded(RocePacket packet, const IpAddress& peer) const {
  ASSERT(peer.is_v4() == v4_);
  HeaderTemplate out{};
  packet.addresses = {address_, peer};
  rewrite_macs(out.data(), gateway_, mac_);
  store_be16(out.data() + 12, v4_ ? kEtherTypeIpv4 : kEtherTypeIpv6);
  encode_headers(packet, Octets(out).subspan(kEthernetHeader));
  return out;
}

HeaderTemplate Framer::data_template(const SendSpec& spec) const {
  RocePacket packet;
  packet.dscp = dscp_;
  packet.source_port = spec.source_port;
  packet.bth.opcode = RoceOpcode::write_middle;
  packet.bth.destination_qpn = spec.destination_qpn;
  packet.payload_len = mtu_;
  HeaderTemplate out = encoded(packet, spec.destination);
  // Behind the BTH stands the RETH that first and only packets send; its length is modulo 2^32.
  store_be32(out.data() + bth_ + kBthHeader + 12, static_cast<uint32_t>(spec.size.count()));
  return out;
}

HeaderTemplate Framer::reply_template(const ReceiveSpec& spec) const {
  RocePacket packet = make_ack({}, spec.source_qpn, 0, {});
  packet.dscp = control_dscp_;
  packet.source_port = spec.source_port;
  return encoded(packet, spec.source);
}

void Framer::set_lengths(uint8_t* frame, uint32_t udp_length) const {
  uint8_t* ip = frame + kEthernetHeader;
  const auto total = static_cast<uint16_t>(udp_length + kIpv4Header);
  if (v4_)
    replace_word(ip, 2, total);
  else
    store_be16(ip + 4, static_cast<uint16_t>(udp_length));
  store_be16(frame + bth_ - kUdpHeader + kUdpLengthOffset, static_cast<uint16_t>(udp_length));
}

uint32_t Framer::append_icrc(uint8_t* frame, uint32_t headers, uint32_t payload) {
  const ConstOctets covered(frame + kEthernetHeader, headers - kEthernetHeader);
  store_be32(frame + headers, __builtin_bswap32(roce_icrc(covered, payload)));
  return headers + kIcrc;
}

void Framer::write_cnp(const HeaderTemplate& from, Packet& out) const {
  uint8_t* frame = copy(from, bth_ + kBthHeader + kCnpReserved, out);
  uint8_t* bth = frame + bth_;
  bth[0] = kBthCnp;
  bth[4] = Received::kBecnBit;
  store_be32(bth + kBthHeader, 0);  // the AETH's place; what follows is zero in the template
  set_lengths(frame, kUdpHeader + kBthHeader + kCnpReserved + kIcrc);
  finish(out, bth_ + kBthHeader + kCnpReserved, 0);
}

void Framer::write_selective_ack(const HeaderTemplate& from, uint32_t psn, Aeth aeth, bool becn,
                                 const ArrivedBits& arrived, Packet& out) const {
  write_ack(from, psn, aeth, becn, out);
  uint8_t* frame = out.data();
  uint8_t* bth = frame + bth_;
  bth[0] = kBthSelectiveAcknowledge;
  store_be32(bth + kBthHeader + kAeth, arrived.psn & kPsnMask);
  store_be64(bth + kBthHeader + kAeth + 4, arrived.bits);
  set_lengths(frame, kUdpHeader + kBthHeader + kAeth + kArrivedBits + kIcrc);
  finish(out, bth_ + kBthHeader + kAeth + kArrivedBits, 0);
}

Reading Framer::read(const Packet& packet, Received& out, PauseFrame& pause) const {
  const ConstOctets frame(packet.data(), packet.data_len());
  ParsedFrame parsed;
  if (parse_frame(frame.data(), packet.data_len(), packet.wire_len, parsed) != ParseVerdict::ok)
    return Reading::malformed;
  if (parsed.kind == FrameKind::mac_control)
    return decode(frame, pause) == CodecVerdict::ok ? Reading::pause : Reading::malformed;
  if (is_flow_control(frame, parsed)) {
    ShimControl control;
    const bool sound = decode(frame.subspan(parsed.l2_len), control) == CodecVerdict::ok;
    return sound && stops_or_resumes(control.shim.kind) ? Reading::flow_stop : Reading::malformed;
  }
  if (load_mac(frame.data()) != mac_) return Reading::not_for_us;
  const bool ip = parsed.kind == FrameKind::ipv4 || parsed.kind == FrameKind::ipv6;
  if (!ip || (parsed.flags & kPacketShim) != 0) return Reading::malformed;
  RocePacket roce;
  if (decode(frame.subspan(parsed.l2_len), roce) != CodecVerdict::ok) return Reading::malformed;
  if (roce.addresses.destination != address_) return Reading::not_for_us;
  if (detail::extension_length(roce.bth.opcode) == detail::kNotOurs) return Reading::malformed;

  const uint8_t* ip_header = frame.data() + parsed.l2_len;
  out = {ip_header, ip_header + parsed.l3_len + kUdpHeader, roce.payload_len};
  // The IPv4 header may be longer than the decoded packet says, by its options.
  const uint32_t options = v4_ ? parsed.l3_len - kIpv4Header : 0;
  const Extent extent = {parsed.l2_len, static_cast<uint32_t>(roce_header_length(roce)) + options,
                         static_cast<uint32_t>(roce_packet_length(roce)) + options};
  return icrc_check_ && !icrc_ok(packet, extent) ? Reading::malformed : Reading::roce;
}

ShimControl Framer::flow_stop_of(const Packet& packet) {
  const ConstOctets frame(packet.data(), packet.data_len());
  ParsedFrame parsed;
  ShimControl control;
  (void)parse_frame(frame.data(), packet.data_len(), packet.wire_len, parsed);
  (void)decode(frame.subspan(parsed.l2_len), control);
  return control;
}

uint64_t Framer::order_hash(const HeaderTemplate& of_data) const {
  const uint32_t headers = bth_ + kBthHeader;
  ParsedFrame parsed;
  const uint32_t padded = (mtu_ + 3) / 4 * 4;
  const auto verdict = parse_frame(of_data.data(), headers, headers + padded + kIcrc, parsed);
  ASSERT(verdict == ParseVerdict::ok);
  return parsed.order_hash;
}

// Behind the whole payload when the frame carries it, else right behind the headers.
bool Framer::icrc_ok(const Packet& packet, const Extent& extent) {
  const ConstOctets octets = ConstOctets(packet.data(), packet.data_len()).subspan(extent.ip);
  if (octets.size() >= extent.length) return eddy::icrc_ok(octets.first(extent.length));
  if (octets.size() < extent.headers + kIcrc) return false;
  const uint32_t sent = __builtin_bswap32(load_be32(octets.data() + extent.headers));
  const uint32_t payload = extent.length - extent.headers - kIcrc;
  return roce_icrc(octets.first(extent.headers), payload) == sent;
}

}  // namespace eddy::host
