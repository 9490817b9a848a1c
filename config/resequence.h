// Resequencing at the leaf of the receiver, as plain values.
//
// Times are not scaled yet. Owner: whoever loaded it. Source: docs/adr/0012; reference A.13 for the
// idea.
#pragma once

#include <cstdint>
#include <optional>

#include "net/units.h"

namespace eddy::config {

// When what is missing is taken for lost before `wait` is over. ports: later packets of the flow
// have come by every fabric port, where a flow has one path to each. YAML: auto, none, ports.
enum class LossProof : uint8_t { automatic, none, ports };

struct ResequenceConfig {
  bool enabled = false;
  std::optional<Duration> wait;  // for what is missing; nullopt: 64 base round trips
  LossProof loss_proof = LossProof::automatic;
  // Remembered, of a shard; 64 octets each. nullopt: kFlows; in virtual time what the run's flows
  // need (lab/run/order_tables.h).
  std::optional<int64_t> flows;
  int64_t packets = 4'096;   // of a flow that are held
  std::optional<Bytes> cap;  // held, of a shard; nullopt: half of the shared buffer and the stages'

  static constexpr int64_t kFlows = 16'384;
  int64_t places() const { return flows.value_or(kFlows); }
  bool operator==(const ResequenceConfig&) const = default;
};

}  // namespace eddy::config
