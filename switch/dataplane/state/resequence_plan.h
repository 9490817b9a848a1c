// ResequencePlan: what the resequencer obeys, compiled from the configuration.
//
// `wait` is 64 base round trips unless the configuration says another, the octets of a shard half
// the shared buffer. Source: docs/adr/0012.
#pragma once

#include <algorithm>
#include <cstdint>

#include "config/config.h"
#include "net/units.h"

namespace eddy {

struct ResequencePlan {
  bool enabled = false;
  bool proves_loss = false;  // each fabric port brings a flow in order
  Duration wait;
  int64_t most_packets = 0;  // of a flow
  int64_t most_octets = 0;   // of the shard

  // A flow that was silent for so long makes room for another.
  Duration age() const {
    constexpr Duration kLeast = Duration::milliseconds(10);
    return std::max(wait, kLeast);
  }

  static ResequencePlan of(const config::ResequenceConfig& config, Duration base_rtt,
                           Bytes shared_buffer) {
    constexpr int64_t kPatience = 64;  // base round trips
    return {.enabled = config.enabled,
            .proves_loss = config.loss_proof == config::LossProof::ports,
            .wait = config.wait.value_or(base_rtt * kPatience),
            .most_packets = config.packets,
            .most_octets = config.cap.value_or(shared_buffer / 2).count()};
  }
  bool operator==(const ResequencePlan&) const = default;
};

}  // namespace eddy
