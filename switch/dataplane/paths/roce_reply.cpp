#include "switch/dataplane/paths/roce_reply.h"

#include <bit>

#include "net/byte_order.h"
#include "net/hash.h"
#include "net/parse.h"
#include "net/protocols.h"
#include "net/roce.h"

namespace eddy {
namespace {

constexpr uint32_t kFlagsAt = 4;  // of the BTH: FECN and BECN
constexpr uint8_t kBecn = 0x40;
constexpr uint32_t kPsnAt = 9;
constexpr uint8_t kSyndromeKind = 0x60;  // its two bits above the value: 00 ACK, 01 RNR, 11 NAK

// As the parser makes it of the data's packet.
uint64_t turned_address_key(const Packet& packet, const uint8_t* ip) {
  if (!packet.has(kPacketIpv6)) return std::rotl(load_raw<uint64_t>(ip + 12), 32);
  return detail::ipv6_address_key(ip + 24, ip + 8);
}

}  // namespace

std::optional<RoceReply> read_reply(const Packet& packet) {
  const uint32_t udp = packet.l2_len + packet.l3_len;
  const uint32_t aeth = udp + kUdpHeader + kBthHeader;
  if (packet.data_len() < aeth + 1) return std::nullopt;
  const uint8_t* bth = packet.data() + udp + kUdpHeader;
  if (bth[0] != kBthAcknowledge && bth[0] != kBthCnp) return std::nullopt;
  const uint64_t addresses = turned_address_key(packet, packet.data() + packet.l2_len);
  const uint64_t key = detail::tuple_key(kProtocolUdp, load_raw<uint32_t>(packet.data() + udp));
  RoceReply reply{.balance_hash = static_cast<uint32_t>(hash_pair(addresses, key) >> 32),
                  .ecn_echo = (bth[kFlagsAt] & kBecn) != 0};
  if (bth[0] == kBthCnp) {
    reply.kind = RoceReply::Kind::cnp;
    return reply;
  }
  reply.psn = load_be24(bth + kPsnAt);
  const bool refuses = (packet.data()[aeth] & kSyndromeKind) != 0;
  reply.kind = refuses ? RoceReply::Kind::nak : RoceReply::Kind::ack;
  return reply;
}

}  // namespace eddy
