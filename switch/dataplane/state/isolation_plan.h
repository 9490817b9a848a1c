// IsolationPlan: congestion isolation as the data plane has it, of a snapshot.
//
// A switch isolates, or it only keeps what it has begun: when isolation is switched off under
// traffic, packets in the isolated class are still on their way, here and at other switches, and
// none may be overtaken by what comes behind it. Source: docs/adr/0039.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/config.h"
#include "config/isolation.h"
#include "net/units.h"
#include "pfc/class_pair.h"

namespace eddy {

struct IsolationPlan {
  bool known = false;    // it isolates, or did; else all that follows is meaningless
  bool enabled = false;  // else nothing more is begun
  pfc::ClassPair classes;
  const config::IsolationConfig* config = nullptr;  // of the snapshot
  size_t host_ports = 0;                            // of the leaf; 0: a transit switch
  // What went on longer ago than this is in its queue, or has left it: lanes, RLB's loop and flow
  // stages hold packets between classification and queue.
  Duration settles;

  int64_t threshold_of(const config::PortConfig& port) const {
    return octets_of(config->threshold, config::IsolationConfig::kThreshold, port);
  }
  // Of a fabric port, in both queues: docs/adr/0050.
  bool finds_long_flows() const { return enabled && config->long_flows; }
  int64_t crowded_of(const config::PortConfig& port) const {
    return octets_of(config->crowded, config::IsolationConfig::kThreshold, port);
  }
  int64_t long_flow_of(const config::PortConfig& port) const {
    return octets_of(config->long_flow, config::IsolationConfig::kLongFlow, port);
  }
  // No long flows are looked for until so long after a packet to a congested host.
  Duration hosts_first() const { return config->life * config::IsolationConfig::kHostsFirst; }
  int64_t cold_of(const config::PortConfig& port) const {
    const int64_t threshold = threshold_of(port);
    return std::min(config->cold ? config->cold->count() : threshold / 2, threshold);
  }
  // As set, or what the port sends in `time`.
  static int64_t octets_of(const std::optional<Bytes>& set, Duration time,
                           const config::PortConfig& port) {
    constexpr int64_t kFrames = 8;
    if (set) return set->count();
    const BitRate rate = port.shaper.bps() > 0 ? std::min(port.shaper, port.speed) : port.speed;
    return std::max(bytes_in(time, rate).count(), kFrames * port.mtu);
  }
  // Packets of these priority groups are to be looked at: `active` while hosts are known.
  uint8_t groups(bool active) const {
    if (!known) return 0;
    const unsigned isolated = 1u << classes.isolated.pg.index();
    return static_cast<uint8_t>(active ? isolated | 1u << classes.normal.pg.index() : isolated);
  }
};

}  // namespace eddy
