// Sample: every number of a switch at one moment, as plain values. Reports are functions of
// samples.
//
// A rate is the difference of two samples; "clear counters" keeps a sample as the baseline to
// subtract. Nothing is ever reset in the data plane. Units: octets, picoseconds and packets as the
// counters' names say; at_ns is control's monotonic clock. Owner: control. Bounds: about 2 KiB a
// port. Cost of take_sample: one pass over all counters of all shards, some microseconds a port.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "switch/control/report/backend.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/counters.h"

namespace eddy::control {

template <size_t kCount>
using Values = std::array<uint64_t, kCount>;

struct PortNumbers {  // counters only: these are subtracted
  Values<kPortCounters> port{};
  Values<kDropReasons> drops{};
  std::array<Values<kQueueCounters>, kPriorities> queue{};
  std::array<Values<kPgCounters>, kPriorities> pg{};
  std::array<Values<kPfcCounters>, kPriorities> pfc{};

  uint64_t operator[](PortCounter which) const { return port[static_cast<size_t>(which)]; }
  uint64_t total_drops() const;
  PortNumbers& operator+=(const PortNumbers& other);
  // Never below zero: a baseline of another life of the switch counts as zero.
  PortNumbers operator-(const PortNumbers& other) const;
};

struct PortState {
  bool up = false;
  bool tx_on = true;  // as last set by `set port P tx`
  std::array<uint32_t, kPriorities> queued_bytes{};
  uint64_t dre_bytes = 0;
  std::array<PgStatus, kPriorities> pgs{};
  std::array<QueueStatus, kPriorities> queues{};
  MacAddress peer_mac;  // of the switch behind a fabric port; zero: not known
  DeviceInfo device;
};

struct Sample {
  int64_t at_ns = 0;
  std::vector<PortNumbers> numbers;  // by PortId
  std::vector<PortState> ports;      // by PortId
  BufferStatus buffer;
  std::vector<WorkerStats> workers;
  Values<DelayHistogram::kSteps> waits{};  // in RLB's loop
};

PortNumbers read_numbers(const Counters& counters, PortId port);
// Everything but PortState::tx_on, which control knows.
Sample take_sample(const Switch& object, Backend& backend, int64_t now_ns);

}  // namespace eddy::control
