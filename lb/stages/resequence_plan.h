// ResequencePlan: what the resequencer obeys, compiled from the configuration.
//
// `wait` is 64 base round trips unless the configuration says another, the octets of a shard half
// of the buffer that no priority group has to itself. Source: docs/adr/0012.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>

#include "config/config.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::lb {

struct ResequencePlan {
  bool enabled = false;
  bool proves_loss = false;  // each fabric port brings a flow in order
  Duration wait;
  int64_t most_packets = 0;       // of a flow
  int64_t most_octets = 0;        // of the shard
  std::bitset<kMaxPorts> fabric;  // ports, by which what it watches comes

  // A flow that was silent for so long makes room for another.
  Duration age() const {
    constexpr Duration kLeast = Duration::milliseconds(10);
    return std::max(wait, kLeast);
  }

  // `common`: what no group has to itself.
  static ResequencePlan of(const config::ResequenceConfig& config, Duration base_rtt,
                           Bytes common) {
    constexpr int64_t kPatience = 64;  // base round trips
    return {.enabled = config.enabled,
            .proves_loss = config.loss_proof == config::LossProof::ports,
            .wait = config.wait.value_or(base_rtt * kPatience),
            .most_packets = config.packets,
            .most_octets = config.cap.value_or(common / 2).count()};
  }
  // For which a packet is ever held: it waits for one that is missing, then for the next.
  Duration longest() const { return wait * kLongest; }
  static constexpr int64_t kLongest = 64;
  bool operator==(const ResequencePlan&) const = default;
};

}  // namespace eddy::lb
