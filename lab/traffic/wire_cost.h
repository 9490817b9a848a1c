// WireCost: what RoCEv2 data costs on the line, in octets: headers of every packet, padding,
// and what a frame takes of the line besides its own octets.
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
  int mtu = 0;                                // payload octets a packet
  int64_t a_packet = 0;                       // but for its payload; a full one's padding included

  // `line_overhead`: octets of the line that a frame takes besides its own: FCS, preamble, gap.
  // `ipv6`: of the hosts.
  WireCost(int payload, int line_overhead, bool ipv6)
      : mtu(payload),
        a_packet(int64_t{kEthernetHeader} + (ipv6 ? kIpv6Header : kIpv4Header) + kUdpHeader +
                 kBthHeader + kIcrc + padding(payload) + line_overhead) {}
  // Of one message.
  int64_t of(Bytes size) const {
    const int64_t full = size.count() / mtu;
    const int64_t rest = size.count() % mtu;
    const int64_t last = rest > 0 ? rest + padding(rest) + a_packet - padding(mtu) : 0;
    return full * (mtu + a_packet) + last + kRethHeader;
  }

 private:
  static constexpr int64_t padding(int64_t payload) { return (4 - payload % 4) % 4; }
};

}  // namespace eddy::lab
