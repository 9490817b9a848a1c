// Headroom: the octets that a lossless priority group needs beyond XOFF so that nothing is lost.
//
// It is what may still arrive after the packet that crosses XOFF: cable round trip, the peer's
// response, our own frame that delays the pause frame, the pause frame, the peer's frame in
// transmission, and what a software peer sends until its next poll (poll_gap). That poll reads the
// pause frame if a burst holds all that the line brings. A lookahead counts twice in poll_gap: our
// device sends what it has been given before the pause frame, the peer's before it stops. Octets on
// the line turn into octets of the buffer at the worst rate, that of the frames which fill their
// cells worst. Units in the types. Owner: control, at start and reconfiguration; not for the hot
// path. Source: reference C.2, C.4; 802.1Q annex N; 802.3 annex 31B; SONiC's buffer calculator.
#pragma once

#include "config/config.h"
#include "net/units.h"

namespace eddy::pfc {

inline constexpr Bytes kPauseFrameOnLine{84};  // 64 octets, preamble and gap

struct HeadroomInput {
  BitRate rate;
  Duration cable_delay;  // one way
  Bytes own_frame;       // the longest frame of ours that may delay the pause frame, on the line
  Bytes peer_frame;      // the longest frame of the peer
  Duration poll_gap;     // a software peer's, with lookaheads; 0 for hardware
  Duration internal_latency;  // of this switch, between the packet and the pause frame
  int cell_bytes = 1;
  int line_overhead = 24;  // octets that a frame costs on the line only
};

// Octets of the buffer, not yet rounded up.
[[nodiscard]] Bytes headroom_for(const HeadroomInput& input);
// What a peer sends until a received pause takes effect: 802.3's response times, between them and
// below 10 Gb/s in proportion to the rate.
[[nodiscard]] Bytes peer_response(BitRate rate);
// Buffer octets that `line` octets of back-to-back frames take in the worst case.
[[nodiscard]] Bytes worst_charge(Bytes line, int cell_bytes, int line_overhead);

// The longest frame that a port of this MTU may carry: Ethernet header, one tag, shim; no FCS.
[[nodiscard]] Bytes longest_frame(int mtu);
// The headroom of an `auto` profile on this port: the formula, the packet that crosses XOFF when
// the shared pool is full, rounded up to 1 KiB.
[[nodiscard]] Bytes auto_headroom(const config::PortConfig& port, Duration poll_gap,
                                  int cell_bytes);

}  // namespace eddy::pfc
