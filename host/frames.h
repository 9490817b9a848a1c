// Frames of the NIC: header templates that are copied and patched, and the reader of what arrives.
//
// A QP's template is made once: a full-sized WRITE middle packet for a sending QP (with the RETH
// behind it, for first and only), an ACK for a receiving one. A frame is a copy of it with opcode,
// PSN and, where they differ, lengths and IPv4 checksum put in. Lengths are octets. Input is
// hostile; data_len bounds every read. All addresses of a NIC are of one family. Owner: one Nic.
// Cost: writing about 40 instructions, reading an untagged IPv4 frame about 50; anything else that
// arrives goes through net/'s parsers. Source: reference D.1.
#pragma once

#include <array>
#include <cstdint>

#include "host/flow.h"
#include "host/nic_options.h"
#include "net/assert.h"
#include "net/byte_order.h"
#include "net/packet.h"
#include "net/parse.h"
#include "net/pause_frame.h"
#include "net/protocols.h"
#include "net/roce.h"
#include "net/shim.h"

namespace eddy::host {

inline constexpr uint32_t kReth = 16;
inline constexpr uint32_t kAeth = 4;
inline constexpr uint32_t kCnpReserved = 16;
inline constexpr uint32_t kArrivedBits = 12;
// The longest header there is: Ethernet, IPv6, UDP, BTH, RETH; rounded up to whole vectors.
inline constexpr size_t kTemplateOctets = 96;
using HeaderTemplate = std::array<uint8_t, kTemplateOctets>;

// A received frame that has been found to be whole and of our kind: a view of its octets. A field
// may be asked for only when the frame's opcode has it.
struct Received {
  const uint8_t* ip;
  const uint8_t* bth;
  uint32_t payload_len;

  RoceOpcode opcode() const { return static_cast<RoceOpcode>(bth[0]); }
  bool becn() const { return (bth[4] & kBecnBit) != 0; }
  uint32_t qpn() const { return load_be32(bth + 4) & kPsnMask; }
  bool ack_request() const { return (bth[8] & kAckRequestBit) != 0; }
  uint32_t psn() const { return load_be32(bth + 8) & kPsnMask; }
  uint32_t dma_length() const { return load_be32(bth + kBthHeader + 12); }  // of first and only
  uint8_t syndrome() const { return bth[kBthHeader]; }                      // of ACK and NAK
  uint32_t msn() const { return load_be32(bth + kBthHeader) & kPsnMask; }
  // That it was forwarded, when it left with our TTL; 0 when it cannot have.
  uint8_t hops() const {
    const uint8_t ttl = ip[(ip[0] >> 4) == 4 ? 8 : 7];
    return ttl < kRoceTtl ? static_cast<uint8_t>(kRoceTtl - ttl) : uint8_t{0};
  }
  // Of a selective ACK: the PSN of bit 0, and the bits.
  uint32_t arrived_psn() const { return load_be32(bth + kBthHeader + kAeth) & kPsnMask; }
  uint64_t arrived_bits() const { return load_be64(bth + kBthHeader + kAeth + 4); }
  uint16_t source_port() const { return load_be16(bth - kUdpHeader); }

  static constexpr uint8_t kBecnBit = 0x40;
  static constexpr uint8_t kAckRequestBit = 0x80;
};

// flow_stop: the switch stops or resumes one flow.
enum class Reading : uint8_t { roce, pause, flow_stop, not_for_us, malformed };

struct DataFields {
  RoceOpcode opcode{};
  uint32_t psn = 0;
  uint32_t payload_len = 0;
  bool ack_request = false;
};

class Framer {
 public:
  explicit Framer(const NicOptions& options);

  HeaderTemplate data_template(const SendSpec& spec) const;
  HeaderTemplate reply_template(const ReceiveSpec& spec) const;

  // Of what is written from the template from now on.
  void set_source_port(HeaderTemplate& of, uint16_t port) const {
    store_be16(of.data() + bth_ - kUdpHeader, port);
  }

  // `out` begins a buffer that has room for a whole template.
  void write_data(const HeaderTemplate& from, const DataFields& fields, Packet& out) const;
  void write_ack(const HeaderTemplate& from, uint32_t psn, Aeth aeth, bool becn, Packet& out) const;
  void write_selective_ack(const HeaderTemplate& from, uint32_t psn, Aeth aeth, bool becn,
                           const ArrivedBits& arrived, Packet& out) const;
  void write_cnp(const HeaderTemplate& from, Packet& out) const;

  // An untagged IPv4 frame without options that is for us and of our kind, and says so in `out`;
  // false, with nothing said, for any other: read() finds out what that is.
  bool read_plain(const Packet& packet, Received& out) const;
  // Any frame. `pause` is filled for Reading::pause, `out` for Reading::roce.
  Reading read(const Packet& packet, Received& out, PauseFrame& pause) const;

  // Of a frame that read() has found to be one.
  static ShimControl flow_stop_of(const Packet& packet);
  // As switches know the flow of the frames that are written from the template.
  uint64_t order_hash(const HeaderTemplate& of_data) const;

  // Whether a frame read came from the peer of the template's QP.
  bool from_peer(const HeaderTemplate& own, const Received& received) const {
    const uint8_t* own_ip = own.data() + kEthernetHeader;
    if (v4_) return load_raw<uint32_t>(own_ip + 16) == load_raw<uint32_t>(received.ip + 12);
    return std::memcmp(own_ip + 24, received.ip + 8, 16) == 0;
  }
  bool marked(const Received& received) const {
    const uint32_t traffic_class = v4_ ? received.ip[1] : received.ip[1] >> 4;
    return (traffic_class & kEcnCongestion) == kEcnCongestion;
  }

 private:
  // Where a packet's parts are: IP from `ip`, `headers` octets of it and what follows up to the
  // payload, `length` octets of all with the ICRC.
  struct Extent {
    uint32_t ip = 0;
    uint32_t headers = 0;
    uint32_t length = 0;
  };

  bool read_plain(const Packet& packet, Received& out, Extent& extent) const;
  Reading read_slowly(const Packet& packet, Received& out, Extent& extent, PauseFrame& pause) const;
  static bool icrc_ok(const Packet& packet, const Extent& extent);
  HeaderTemplate encoded(RocePacket packet, const IpAddress& peer) const;
  void set_lengths(uint8_t* frame, uint32_t udp_length) const;
  // Behind the headers; the length with it.
  static uint32_t append_icrc(uint8_t* frame, uint32_t headers, uint32_t payload);
  void finish(Packet& out, uint32_t headers, uint32_t payload) const;
  uint8_t* copy(const HeaderTemplate& from, uint32_t headers, Packet& out) const;

  uint64_t mac_raw_ = 0;      // as the first 8 octets of a frame load, masked
  uint32_t address_raw_ = 0;  // IPv4, as it lies
  uint32_t bth_ = 0;          // offset in our frames
  bool v4_ = true;
  bool plain_ = true;  // read_plain() may answer: IPv4, and no ICRC to check
  bool icrc_check_ = false;
  uint32_t mtu_ = 0;
  MacAddress mac_;
  MacAddress gateway_;
  IpAddress address_;
  uint8_t dscp_ = 0;
  uint8_t control_dscp_ = 0;
};

namespace detail {

// A frame's first octets: the destination, and the group bit of the source.
inline constexpr uint64_t kMacMask = 0x0001ffffffffffff;
inline constexpr uint32_t kPlainBth = kEthernetHeader + kIpv4Header + kUdpHeader;
inline constexpr uint8_t kTransportVersionMask = 0x0f;
inline constexpr uint8_t kNotOurs = UINT8_MAX;

// Octets of the extension headers of each opcode, for those that a NIC speaks.
constexpr std::array<uint8_t, 256> extension_lengths() {
  std::array<uint8_t, 256> lengths{};
  lengths.fill(kNotOurs);
  lengths[static_cast<size_t>(RoceOpcode::write_first)] = kReth;
  lengths[static_cast<size_t>(RoceOpcode::write_middle)] = 0;
  lengths[static_cast<size_t>(RoceOpcode::write_last)] = 0;
  lengths[static_cast<size_t>(RoceOpcode::write_only)] = kReth;
  lengths[static_cast<size_t>(RoceOpcode::acknowledge)] = kAeth;
  lengths[static_cast<size_t>(RoceOpcode::cnp)] = kCnpReserved;
  lengths[static_cast<size_t>(RoceOpcode::selective_acknowledge)] = kAeth + kArrivedBits;
  return lengths;
}
inline constexpr std::array<uint8_t, 256> kExtensionLengths = extension_lengths();
inline uint32_t extension_length(RoceOpcode opcode) {
  return kExtensionLengths[static_cast<uint8_t>(opcode)];
}

}  // namespace detail

// Addresses that no wire may carry need no look of their own: the receiver compares the source with
// its peer's.
inline bool Framer::read_plain(const Packet& packet, Received& out) const {
  using namespace detail;
  const uint8_t* frame = packet.data();
  const uint32_t data_len = packet.data_len();
  if (!plain_ || data_len < kPlainBth + kBthHeader) return false;
  const uint8_t* ip = frame + kEthernetHeader;
  const uint8_t* bth = frame + kPlainBth;
  if ((load_raw<uint64_t>(frame) & kMacMask) != mac_raw_ ||
      load_raw<uint32_t>(ip + 16) != address_raw_)
    return false;
  constexpr auto kPort = static_cast<uint16_t>(kRocePort >> 8 | (kRocePort & 0xff) << 8);
  const uint32_t type = load_raw<uint32_t>(frame + 12) & eddy::detail::kTypeAndVersionMask;
  const uint32_t kind = load_raw<uint32_t>(ip + 6) & eddy::detail::kFragmentAndProtocolMask;
  if (type != eddy::detail::kIpv4WithoutOptions || kind != eddy::detail::kWholeUdp ||
      load_raw<uint16_t>(ip + kIpv4Header + 2) != kPort)
    return false;

  const uint32_t total = load_be16(ip + 2);
  const uint32_t udp_length = load_be16(ip + kIpv4Header + 4);
  const uint32_t extension = kExtensionLengths[bth[0]];
  const uint32_t headers = kUdpHeader + kBthHeader + extension;
  const uint32_t padding = bth[1] >> 4 & 3;
  const auto payload = static_cast<int32_t>(udp_length - headers - padding - kIcrc);
  if (udp_length + kIpv4Header != total || kEthernetHeader + total > packet.wire_len ||
      payload < 0 || data_len < kEthernetHeader + kIpv4Header + headers)
    return false;
  const bool odd = (udp_length & 3) != 0 || (bth[1] & kTransportVersionMask) != 0;
  if (odd || extension == kNotOurs || !eddy::detail::ipv4_checksum_ok(ip, kIpv4Header))
    return false;

  out = {ip, bth, static_cast<uint32_t>(payload)};
  return true;
}

// At least the first `headers` octets. Most headers end in the frame's first line, and the next one
// is left alone.
inline uint8_t* Framer::copy(const HeaderTemplate& from, uint32_t headers, Packet& out) const {
  constexpr size_t kLine = 64;
  uint8_t* frame = out.data();
  std::memcpy(frame, from.data(), kLine);
  if (headers > kLine) std::memcpy(frame + kLine, &from[kLine], kTemplateOctets - kLine);
  return frame;
}

inline void Framer::finish(Packet& out, uint32_t headers, uint32_t payload) const {
  const uint32_t data_len = icrc_check_ ? append_icrc(out.data(), headers, payload) : headers;
  out.set_length(data_len, headers + payload + kIcrc);
}

inline void Framer::write_data(const HeaderTemplate& from, const DataFields& fields,
                               Packet& out) const {
  const uint32_t extension = detail::extension_length(fields.opcode);
  uint8_t* frame = copy(from, bth_ + kBthHeader + extension, out);
  uint8_t* bth = frame + bth_;
  const uint32_t payload = (fields.payload_len + 3) / 4 * 4;
  bth[0] = static_cast<uint8_t>(fields.opcode);
  bth[1] = static_cast<uint8_t>((payload - fields.payload_len) << 4);
  const uint32_t request = fields.ack_request ? uint32_t{Received::kAckRequestBit} << 24 : 0;
  store_be32(bth + 8, request | fields.psn);
  if (extension != 0 || payload != mtu_)
    set_lengths(frame, kUdpHeader + kBthHeader + extension + payload + kIcrc);
  finish(out, bth_ + kBthHeader + extension, payload);
}

inline void Framer::write_ack(const HeaderTemplate& from, uint32_t psn, Aeth aeth, bool becn,
                              Packet& out) const {
  uint8_t* bth = copy(from, bth_ + kBthHeader + kAeth, out) + bth_;
  if (becn) bth[4] = Received::kBecnBit;
  store_be32(bth + 8, psn & kPsnMask);
  store_be32(bth + kBthHeader, uint32_t{aeth.syndrome} << 24 | (aeth.msn & kPsnMask));
  finish(out, bth_ + kBthHeader + kAeth, 0);
}

}  // namespace eddy::host
