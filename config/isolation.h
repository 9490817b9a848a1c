// Congestion isolation as plain values: which class a destination's packets go into while its host
// is congested, and when it is.
//
// Times are not scaled yet. Owner: whoever loaded it. Source: 802.1Qcz-2023, for the
// idea and the words; docs/adr/0039.
#pragma once

#include <cstdint>
#include <optional>

#include "net/ids.h"
#include "net/units.h"

namespace eddy::config {

using namespace eddy::literals;

struct IsolationConfig {
  bool enabled = false;
  TrafficClass normal{3};    // whose packets are isolated; YAML: class
  TrafficClass isolated{4};  // lossless as well, with a group, queue and priority of its own
  std::optional<int> dscp;   // that hosts send; nullopt: the lowest of the class
  std::optional<int> isolated_dscp;  // between switches; nullopt: the lowest of the isolated class
  std::optional<Bytes> threshold;    // of a host port's queue; nullopt: kThreshold at its rate
  std::optional<Bytes> cold;         // nullopt: half of the threshold
  Duration refresh = 10_us;          // while the host is hot
  Duration life = 40_us;             // of the news, without a refresh
  Duration stay = 1_ms;              // of what is known of a host that has long been cold
  int64_t hosts = 256;               // known, of a shard, or flows to them; 92 octets each
  int relays = 1;                    // 1 in two tiers, 3 in three
  bool long_flows = true;            // of fabric ports are isolated, too, each switch for itself
  std::optional<Bytes> crowded;      // in a fabric port's queues; nullopt: kThreshold at its rate
  std::optional<Bytes> long_flow;    // through a crowded port; nullopt: kLongFlow at its rate
  int most_hot = 50;                 // percent of a leaf's host ports; beyond, kRaised thresholds

  static constexpr Duration kThreshold = 12_us;
  static constexpr int64_t kRaised = 4;
  static constexpr Duration kLongFlow = 60_us;
  static constexpr int64_t kHostsFirst = 5;  // lives
  bool operator==(const IsolationConfig&) const = default;
};

}  // namespace eddy::config
