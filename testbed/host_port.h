// HostPort: a host's NIC on a real port: the line at the host's speed, the link's delay, and ARP.
//
// The NIC is the same object as in virtual time. At each poll it catches up: what it would have
// done since the last poll it does in order, timer by timer and frame by frame, each at its own
// time. So a late poll costs no throughput, as long as it is late by no more than `catch_up`.
// Frames that arrive cannot catch up: they are read when the poll comes. A frame is handed to the
// wire when its last bit would have arrived at the other end, serialisation and delay included. A
// frame that was received waits for the link's delay, too. Frames on real wires are complete:
// data_len is wire_len, the payload is zero and comes with the buffer (HostWire::blanks), so that
// only headers are written. ARP requests for the host's IPv4 address are answered, and a host
// announces itself (RFC 5227), so that its switch knows it before there is traffic. Units in the
// types; time is an argument and never goes back. Owner and thread: one. Bounds: in_flight
// frames in each direction; when they are used up, the wire is not read, or the line waits. Cost:
// that of the NIC, and two ring steps for each frame. Source: architecture, sections 2 to 4.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/nic.h"
#include "net/arp.h"
#include "net/units.h"
#include "testbed/delay_line.h"
#include "testbed/host_wire.h"

namespace eddy::testbed {

struct HostPortOptions {
  host::NicOptions nic;
  Duration delay{};                                // of the link, one way
  Duration catch_up = Duration::microseconds(20);  // lateness that the line makes up for
  size_t in_flight = 1'024;                        // frames in each direction
  bool announce = false;                           // the host's IPv4 address, by ARP
};

// name, help
#define EDDY_HOST_PORT_COUNTERS(X)                                                   \
  X(host_arp_requests, "ARP requests for the host's address")                        \
  X(host_arp_replies, "ARP replies sent")                                            \
  X(host_arp_announcements, "ARP announcements of the host's address")               \
  X(host_tx_refused, "times that the wire did not take a frame that had to leave")   \
  X(host_blank_missing, "times that there was no buffer for a frame that may leave") \
  X(host_tx_full, "times that as many frames as fit were on their way out")          \
  X(host_rx_full, "times that as many frames as fit were on their way in")

#define EDDY_HOST_PORT_ENTRY(name, help) name,
enum class HostPortCounter : uint8_t { EDDY_HOST_PORT_COUNTERS(EDDY_HOST_PORT_ENTRY) kCount };
#undef EDDY_HOST_PORT_ENTRY
struct HostPortCounterInfo {
  std::string_view name;
  std::string_view help;
};
std::span<const HostPortCounterInfo> host_port_counter_infos();

class HostPort {
 public:
  // The wire outlives the port.
  HostPort(const HostPortOptions& options, HostWire& wire);
  ~HostPort();
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;

  struct Turn {
    size_t received = 0;
    size_t transmitted = 0;
  };
  Turn poll(Instant now);
  // Begins a flow at `at`, which is not before the last poll and not after the next.
  void start(uint32_t qpn, Instant at);
  // When poll() has something to do that is known now; never() when only the wire can bring it.
  Instant next_deadline() const;

  // All announcements that were to be sent have had their time to be heard.
  bool announced() const { return announcements_left_ < 0; }

  host::Nic& nic() { return nic_; }
  const host::Nic& nic() const { return nic_; }
  uint64_t counter(HostPortCounter which) const { return counters_[static_cast<size_t>(which)]; }

 private:
  // Before any time that a poll may have.
  static constexpr Instant kLongAgo = Instant::at(Duration::picoseconds(INT64_MIN / 2));
  static constexpr Duration kRetry = Duration::microseconds(20);
  static constexpr Duration kAnnouncementGap = Duration::milliseconds(100);
  static constexpr int kAnnouncements = 3;

  void run_until(Instant now);
  bool send_one(Instant at);
  void emit(Packet* frame, Instant at);
  Packet* blank();
  void make_whole(Packet& frame) const;
  void take(Packet* frame, Instant now);
  bool take_arp(const Packet& frame, Instant now);
  void answer(const ArpMessage& question, Instant now);
  void announce(Instant now);
  bool send_arp(const MacAddress& to, const ArpMessage& message, Instant now);
  size_t receive(Instant now);
  size_t hand_over(Instant now);
  void count(HostPortCounter which) { ++counters_[static_cast<size_t>(which)]; }

  const HostPortOptions options_;
  HostWire& wire_;
  host::Nic nic_;
  const LineRate rate_;
  Instant clock_ = kLongAgo;      // as far as the NIC has come
  Instant line_free_ = kLongAgo;  // when the last frame's last bit leaves
  bool may_send_ = true;          // the NIC may have a frame, as far as we know
  Instant retry_at_ = kLongAgo;   // the wire, or for a buffer
  int announcements_left_ = -1;   // -1: and the gap after the last is over
  Instant announce_at_ = kLongAgo;
  DelayLine leaving_;
  DelayLine arriving_;
  std::array<Packet*, HostWire::kBurst> stock_{};  // blanks
  size_t stocked_ = 0;
  std::array<uint64_t, static_cast<size_t>(HostPortCounter::kCount)> counters_{};
};

}  // namespace eddy::testbed
