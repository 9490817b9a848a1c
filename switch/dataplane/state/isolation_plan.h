// IsolationPlan: congestion isolation as the data plane has it, of a snapshot.
//
// A switch isolates, or it only keeps what it has begun: when isolation is switched off under
// traffic, packets in the isolated class are still on their way, here and at other switches, and
// none may be overtaken by what comes behind it. Source: docs/adr/0039.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
    constexpr int64_t kFrames = 8;
    if (config->threshold) return config->threshold->count();
    const BitRate rate = port.shaper.bps() > 0 ? std::min(port.shaper, port.speed) : port.speed;
    const int64_t of_line = bytes_in(config::IsolationConfig::kThreshold, rate).count();
    return std::max(of_line, kFrames * port.mtu);
  }
  int64_t cold_of(const config::PortConfig& port) const {
    const int64_t threshold = threshold_of(port);
    return std::min(config->cold ? config->cold->count() : threshold / 2, threshold);
  }
  // Packets of these priority groups are to be looked at: `active` while hosts are known.
  uint8_t groups(bool active) const {
    if (!known) return 0;
    const unsigned isolated = 1u << classes.isolated.pg.index();
    return static_cast<uint8_t>(active ? isolated | 1u << classes.normal.pg.index() : isolated);
  }
};

}  // namespace eddy
