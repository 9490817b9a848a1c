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
#include "host/nic.h"
#include "net/byte_order.h"
#include "net/packet.h"
#include "net/parse.h"
#include "net/pause_frame.h"
#include "net/protocols.h"
#include "net/roce.h"

namespace eddy::host {

inline constexpr uint32_t kReth = 16;
inline constexpr uint32_t kAeth = 4;
inline constexpr uint32_t kCnpReserved = 16;
// The longest header there is: Ethernet, IPv6, UDP, BTH, RETH; rounded up to whole vectors.
inline constexpr size_t kTemplateOctets = 96;
using HeaderTemplate = std::array<uint8_t, kTemplateOctets>;

// The signed distance of a PSN from a sequence number, in -2^23 .. 2^23 - 1.
inline int64_t psn_distance(uint32_t psn, uint64_t from) {
  return static_cast<int32_t>((psn - static_cast<uint32_t>(from)) << 8) >> 8;
}

// What a received frame says. `source` points at the source address in the frame.
struct Received {
  RoceOpcode opcode{};
  uint8_t ecn = 0;
  bool becn = false;
  bool ack_request = false;
  uint8_t syndrome = 0;  // of an ACK or NAK
  uint32_t msn = 0;
  uint32_t qpn = 0;
  uint32_t psn = 0;
  uint32_t payload_len = 0;
  uint32_t dma_length = 0;  // of a first or only packet
  const uint8_t* source = nullptr;
};

enum class Reading : uint8_t { roce, pause, not_for_us, malformed };

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

  void write_data(const HeaderTemplate& from, const DataFields& fields, Packet& out) const;
  void write_ack(const HeaderTemplate& from, uint32_t psn, Aeth aeth, bool becn, Packet& out) const;
  void write_cnp(const HeaderTemplate& from, Packet& out) const;

  // `pause` is only filled for Reading::pause, `out` only for Reading::roce.
  Reading read(const Packet& packet, Received& out, PauseFrame& pause) const {
    Extent extent;
    if (!read_plain(packet, out, extent)) {
      const Reading reading = read_slowly(packet, out, extent, pause);
      if (reading != Reading::roce) return reading;
    }
    return icrc_check_ && !icrc_ok(packet, extent) ? Reading::malformed : Reading::roce;
  }

  // Whether a frame read came from the peer of the template's QP.
  bool from_peer(const HeaderTemplate& own, const Received& received) const {
    const uint8_t* peer = own.data() + kEthernetHeader + (v4_ ? 16 : 24);
    if (v4_) return load_raw<uint32_t>(peer) == load_raw<uint32_t>(received.source);
    return std::memcmp(peer, received.source, 16) == 0;
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
  void finish(Packet& out, uint32_t headers, uint32_t payload) const;
  uint8_t* copy(const HeaderTemplate& from, Packet& out) const;

  uint64_t mac_raw_ = 0;      // as the first 8 octets of a frame load, masked
  uint32_t address_raw_ = 0;  // IPv4, as it lies
  uint32_t bth_ = 0;          // offset in our frames
  bool v4_ = true;
  bool icrc_check_ = false;
  uint32_t mtu_ = 0;
  MacAddress mac_;
  MacAddress gateway_;
  IpAddress address_;
  uint8_t dscp_ = 0;
  uint8_t control_dscp_ = 0;
};

namespace detail {

inline constexpr uint64_t kMacMask = 0x0000ffffffffffff;
inline constexpr uint32_t kPlainBth = kEthernetHeader + kIpv4Header + kUdpHeader;
inline constexpr uint8_t kTransportVersionMask = 0x0f;
inline constexpr uint8_t kBecnBit = 0x40;
inline constexpr uint8_t kAckRequestBit = 0x80;
inline constexpr uint32_t kNotOurs = UINT32_MAX;

// Octets of the extension headers of the opcodes that a NIC speaks.
constexpr uint32_t extension_length(uint8_t opcode) {
  constexpr auto kFirst = static_cast<uint8_t>(RoceOpcode::write_first);
  constexpr auto kMiddle = static_cast<uint8_t>(RoceOpcode::write_middle);
  constexpr auto kLast = static_cast<uint8_t>(RoceOpcode::write_last);
  constexpr auto kOnly = static_cast<uint8_t>(RoceOpcode::write_only);
  if (opcode == kMiddle || opcode == kLast) return 0;
  if (opcode == kBthAcknowledge) return kAeth;
  if (opcode == kFirst || opcode == kOnly) return kReth;
  return opcode == kBthCnp ? kCnpReserved : kNotOurs;
}

}  // namespace detail

// An untagged IPv4 frame without options that is for us and of our kind; false for any other, whose
// verdict the slow way finds.
inline bool Framer::read_plain(const Packet& packet, Received& out, Extent& extent) const {
  using namespace detail;
  const uint8_t* frame = packet.data();
  const uint32_t data_len = packet.data_len();
  if (!v4_ || data_len < kPlainBth + kBthHeader) return false;
  const uint8_t* ip = frame + kEthernetHeader;
  const uint8_t* bth = frame + kPlainBth;
  const uint32_t total = load_be16(ip + 2);
  const uint32_t udp_length = load_be16(ip + kIpv4Header + 4);
  const uint32_t extension = extension_length(bth[0]);
  const uint32_t padding = bth[1] >> 4 & 3;
  const uint32_t headers = kUdpHeader + kBthHeader + extension;
  const bool ours = (load_raw<uint64_t>(frame) & kMacMask) == mac_raw_ &&
                    load_raw<uint32_t>(ip + 16) == address_raw_;
  const bool plain = eddy::detail::is_plain_udp(frame, data_len) &&
                     load_be16(ip + kIpv4Header + 2) == kRocePort &&
                     (bth[1] & kTransportVersionMask) == 0 && extension != kNotOurs;
  if (!ours || !plain || data_len < kEthernetHeader + kIpv4Header + headers) return false;
  const bool fits = kEthernetHeader + total <= packet.wire_len &&
                    udp_length + kIpv4Header == total && udp_length >= headers + padding + kIcrc;
  if (!fits || !eddy::detail::ipv4_checksum_ok(ip, kIpv4Header)) return false;
  const uint32_t payload = udp_length - headers - padding - kIcrc;
  if (((payload + padding) & 3) != 0) return false;

  out.opcode = static_cast<RoceOpcode>(bth[0]);
  out.ecn = ip[1] & 3;
  out.becn = (bth[4] & kBecnBit) != 0;
  out.ack_request = (bth[8] & kAckRequestBit) != 0;
  out.qpn = load_be32(bth + 4) & kPsnMask;
  out.psn = load_be32(bth + 8) & kPsnMask;
  out.payload_len = payload;
  out.source = ip + 12;
  if (extension == kAeth) {
    out.syndrome = bth[kBthHeader];
    out.msn = load_be32(bth + kBthHeader) & kPsnMask;
  } else if (extension == kReth) {
    out.dma_length = load_be32(bth + kBthHeader + 12);
  }
  extent = {kEthernetHeader, kIpv4Header + headers, total};
  return true;
}

}  // namespace eddy::host
