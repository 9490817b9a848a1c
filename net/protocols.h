// The numbers of the protocols we speak: EtherTypes, IP protocols, ports, header sizes in octets.
//
// Source: IEEE and IANA registries; the shim's local-experimental EtherType is reference 1.6.
#pragma once

#include <cstdint>

namespace eddy {

inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kEtherTypeArp = 0x0806;
inline constexpr uint16_t kEtherTypeVlan = 0x8100;         // 802.1Q customer tag
inline constexpr uint16_t kEtherTypeServiceVlan = 0x88a8;  // 802.1ad service tag
inline constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
inline constexpr uint16_t kEtherTypeMacControl = 0x8808;
inline constexpr uint16_t kEtherTypeShim = 0x88b5;
inline constexpr uint16_t kEtherTypeLldp = 0x88cc;
inline constexpr uint16_t kEtherTypeCnm = 0x22e7;
inline constexpr uint16_t kEtherTypeCim = 0x88b6;  // local-experimental as well

inline constexpr uint8_t kProtocolHopByHop = 0;
inline constexpr uint8_t kProtocolIcmp = 1;
inline constexpr uint8_t kProtocolTcp = 6;
inline constexpr uint8_t kProtocolUdp = 17;
inline constexpr uint8_t kProtocolRouting = 43;
inline constexpr uint8_t kProtocolFragment = 44;
inline constexpr uint8_t kProtocolAuthentication = 51;
inline constexpr uint8_t kProtocolIcmpv6 = 58;
inline constexpr uint8_t kProtocolDestinationOptions = 60;
inline constexpr uint8_t kProtocolMobility = 135;

inline constexpr uint16_t kRocePort = 4791;

inline constexpr uint32_t kEthernetHeader = 14;
inline constexpr uint32_t kVlanTag = 4;
inline constexpr uint32_t kShimHeader = 32;
inline constexpr uint32_t kIpv4Header = 20;
inline constexpr uint32_t kIpv6Header = 40;
inline constexpr uint32_t kUdpHeader = 8;
inline constexpr uint32_t kTcpHeader = 20;
inline constexpr uint32_t kBthHeader = 12;
inline constexpr uint32_t kIcrc = 4;
inline constexpr uint32_t kFcs = 4;
inline constexpr uint32_t kMinimumFrame = 60;  // without FCS

inline constexpr uint8_t kShimVersion = 1;

inline constexpr uint8_t kBthAcknowledge = 0x11;  // ACK and NAK
inline constexpr uint8_t kBthCnp = 0x81;
// ACK or NAK with a bitmap: an opcode of the range left to manufacturers, one bit from CNP's.
inline constexpr uint8_t kBthSelectiveAcknowledge = 0xc1;

}  // namespace eddy
