// WireCost: what RoCEv2 data costs on the line, in octets: headers of every packet, FCS, preamble,
// gap.
//
// One place for what traffic's loads, ideal completion times and lines count. Source: reference
// D.1, D.5.
#pragma once

#include <cstdint>

#include "net/protocols.h"
#include "net/units.h"

namespace eddy::lab {

struct WireCost {
  static constexpr int64_t kRethHeader = 16;  // of the first packet
  static constexpr int kLineOverhead = 24;    // FCS, preamble, gap
  int mtu = 0;                                // payload octets a packet
  int64_t a_packet = 0;

  // `ipv6`: of the hosts.
  WireCost(int payload, bool ipv6)
      : mtu(payload),
        a_packet(int64_t{kEthernetHeader} + (ipv6 ? kIpv6Header : kIpv4Header) + kUdpHeader +
                 kBthHeader + kIcrc + kLineOverhead) {}
  // Of one message.
  int64_t of(Bytes size) const {
    const int64_t packets = (size.count() + mtu - 1) / mtu;
    return size.rounded_up(4).count() + packets * a_packet + kRethHeader;
  }
};

}  // namespace eddy::lab
