// One NIC whose frames a test writes and reads by hand, with net/'s own RoCE codec.
//
// The NIC is 10.0.0.1; its peer is 10.0.0.2. Owner: one test; time is a number it chooses.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/nic.h"
#include "net/ethernet.h"
#include "net/pause_frame.h"
#include "net/roce.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

using namespace eddy::literals;

inline constexpr MacAddress kHostMac = {{0x02, 0, 0, 0, 0, 0x01}};
inline constexpr MacAddress kGatewayMac = {{0x02, 0, 0, 0, 0, 0xfe}};
inline constexpr Ipv4Address kHostAddress{0x0a000001};
inline constexpr Ipv4Address kPeerAddress{0x0a000002};
inline constexpr uint32_t kPeerQpn = 0x000777;
inline constexpr uint16_t kDataPort = 50'000;
inline constexpr uint16_t kReplyPort = 50'001;

inline Instant at(Duration since_zero) {
  return Instant::at(since_zero);
}

// No congestion control, no window, payload of 1,024 octets.
inline config::HostConfig plain_config() {
  config::HostConfig config;
  config.congestion_control = "none";
  config.window = false;
  return config;
}

inline host::NicOptions host_options(const config::HostConfig& config, BitRate speed = 100_Gbps) {
  return {.config = config,
          .mac = kHostMac,
          .gateway = kGatewayMac,
          .address = kHostAddress,
          .speed = speed,
          .senders = 8,
          .receivers = 8};
}

struct SentFrame {
  RocePacket roce;
  std::vector<uint8_t> octets;  // all that is there: headers
  uint32_t wire_len = 0;
};

class OneNic {
 public:
  explicit OneNic(const config::HostConfig& config, BitRate speed = 100_Gbps)
      : OneNic(host_options(config, speed)) {}
  explicit OneNic(const host::NicOptions& options) : nic(options), peer_(kPeerAddress) {}

  // A started flow of `packets` full packets (and `extra` octets), with a base RTT of 8 us.
  uint32_t send(int64_t packets, uint32_t first_psn = 0, int64_t extra = 0,
                Duration base_rtt = 8_us, Instant now = Instant()) {
    const uint32_t qpn = nic.open({.flow = 7,
                                   .size = Bytes(packets * 1'024 + extra),
                                   .destination = kPeerAddress,
                                   .destination_qpn = kPeerQpn,
                                   .source_port = kDataPort,
                                   .first_psn = first_psn,
                                   .base_rtt = base_rtt});
    nic.start(qpn, now);
    return qpn;
  }
  uint32_t expect(int64_t packets, uint32_t first_psn = 0) {
    expected_packets_ = packets;
    return nic.expect({.flow = 9,
                       .size = Bytes(packets * 1'024),
                       .source = kPeerAddress,
                       .source_qpn = kPeerQpn,
                       .source_port = kReplyPort,
                       .first_psn = first_psn});
  }

  // What the NIC sends at `now`, if anything.
  std::optional<SentFrame> transmit(Instant now) {
    Packet* blank = pool_.get();
    std::memset(blank->data(), 0xa5, 128);  // what the last frame has left there
    std::optional<SentFrame> sent;
    if (nic.transmit(*blank, now)) {
      sent.emplace();
      sent->octets.assign(blank->data(), blank->data() + blank->data_len());
      sent->wire_len = blank->wire_len;
      const CodecVerdict verdict =
          decode(ConstOctets(sent->octets).subspan(kEthernetHeader), sent->roce);
      ASSERT(verdict == CodecVerdict::ok);
    }
    pool_.put(blank);
    return sent;
  }
  // The PSNs of all data packets that leave back to back at `now`, at most `limit`.
  std::vector<uint32_t> transmit_data(Instant now, size_t limit = 1'000) {
    std::vector<uint32_t> psns;
    while (psns.size() < limit) {
      const auto sent = transmit(now);
      if (!sent) break;
      psns.push_back(sent->roce.bth.psn);
    }
    return psns;
  }

  void receive_octets(ConstOctets frame, size_t wire_len, Instant now) {
    Packet* packet = pool_.get(frame, wire_len);
    nic.receive(*packet, now);
    pool_.put(packet);
  }
  void receive(const RocePacket& roce, Instant now) {
    std::vector<uint8_t> frame = headers_of(roce);
    receive_octets(frame, kEthernetHeader + wire_of_, now);
  }
  // The frame's headers, from the peer to the NIC.
  std::vector<uint8_t> headers_of(RocePacket roce) {
    roce.addresses = {peer_, kHostAddress};
    std::vector<uint8_t> frame(128);
    rewrite_macs(frame.data(), kHostMac, kGatewayMac);
    store_be16(&frame[12], kEtherTypeIpv4);
    frame.resize(kEthernetHeader + encode_headers(roce, Octets(frame).subspan(kEthernetHeader)));
    wire_of_ = roce_packet_length(roce);
    return frame;
  }

  void ack(uint32_t qpn, uint32_t psn, Instant now, bool becn = false) {
    RocePacket packet = make_ack({}, qpn, psn, {kAethAckUnlimited, 0});
    packet.bth.becn = becn;
    receive(packet, now);
  }
  void nak(uint32_t qpn, uint32_t psn, Instant now, uint32_t msn = 0) {
    receive(make_ack({}, qpn, psn, {kAethNakSequence, msn}), now);
  }
  // To packet `answered`: all up to `psn` have arrived, and the packets of the bits.
  void selective_ack(uint32_t qpn, uint32_t psn, uint32_t answered, const ArrivedBits& arrived,
                     Instant now) {
    RocePacket packet = make_ack({}, qpn, psn, {kAethAckUnlimited, answered});
    packet.bth.opcode = RoceOpcode::selective_acknowledge;
    packet.arrived = arrived;
    receive(packet, now);
  }
  void cnp(uint32_t qpn, Instant now) { receive(make_cnp({}, qpn), now); }
  // Packet `index` of the flow that expect() opened.
  RocePacket data_packet(uint32_t qpn, int64_t index, uint32_t first_psn = 0) const {
    const bool first = index == 0;
    const bool last = index + 1 == expected_packets_;
    RocePacket packet;
    packet.source_port = kDataPort;
    packet.bth.opcode = first ? (last ? RoceOpcode::write_only : RoceOpcode::write_first)
                              : (last ? RoceOpcode::write_last : RoceOpcode::write_middle);
    packet.bth.destination_qpn = qpn;
    packet.bth.psn = static_cast<uint32_t>(first_psn + index) & kPsnMask;
    packet.payload_len = 1'024;
    packet.reth.dma_length = static_cast<uint32_t>(expected_packets_ * 1'024);
    return packet;
  }
  void data(uint32_t qpn, int64_t index, Instant now, uint8_t ecn = kEcnCapable0,
            uint32_t first_psn = 0) {
    RocePacket packet = data_packet(qpn, index, first_psn);
    packet.ecn = ecn;
    receive(packet, now);
  }
  void pause(Priority priority, uint16_t quanta, Instant now) {
    PauseFrame frame;
    frame.source = kGatewayMac;
    frame.set(priority, quanta);
    std::vector<uint8_t> octets(kMinimumFrame);
    encode(frame, octets);
    receive_octets(octets, octets.size(), now);
  }
  // What replies leave at `now`: "A5" is the ACK of PSN 5, "N5" the NAK for it, "N5+8" one of IRN
  // for 5 after 8 has come, "C" a CNP. "A5 to 9: 7 8" is a selective ACK to 9 that says that 7 and
  // 8 have arrived. An "e" at the end: the ACK echoes a mark.
  std::vector<std::string> replies(Instant now) {
    std::vector<std::string> out;
    while (const auto sent = transmit(now)) {
      const Bth& bth = sent->roce.bth;
      ASSERT(bth.destination_qpn == kPeerQpn);
      if (bth.opcode == RoceOpcode::cnp) {
        out.emplace_back("C");
        continue;
      }
      ASSERT(is_reply(bth.opcode));
      const Aeth& aeth = sent->roce.aeth;
      const bool nak = aeth.syndrome == kAethNakSequence;
      std::string text = (nak ? "N" : "A") + std::to_string(bth.psn);
      if (bth.opcode == RoceOpcode::selective_acknowledge)
        text += " to " + std::to_string(aeth.msn) + ":" + arrived_text(sent->roce.arrived);
      else if (nak && aeth.msn != 0)
        text += "+" + std::to_string(aeth.msn);
      out.push_back(text + (bth.becn ? "e" : ""));
    }
    return out;
  }
  uint64_t count(host::NicCounter which) const { return nic.counter(which); }

  host::Nic nic;

 private:
  static std::string arrived_text(const ArrivedBits& arrived) {
    std::string text;
    for (uint32_t bit = 0; bit < 64; ++bit)
      if ((arrived.bits >> bit & 1) != 0)
        text += " " + std::to_string((arrived.psn + bit) & kPsnMask);
    return text;
  }

  IpAddress peer_;
  PacketPool pool_{4};
  int64_t expected_packets_ = 0;
  size_t wire_of_ = 0;
};

}  // namespace eddy::test
