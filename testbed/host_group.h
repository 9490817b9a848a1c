// HostGroup: all hosts of an experiment, each on its port, and the flows between them.
//
// The flows, their queue pairs and their starts are those of the lab with the same seed. Times are
// the run's: zero is when traffic may begin; before that the group is polled with negative times,
// answers ARP and obeys pauses. Owner and thread: one worker; progress() may be read by any.
// Bounds: one port a host. Cost: a poll visits every port.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/fabric_paths.h"
#include "lab/fabric/topology.h"
#include "lab/world/flow_book.h"
#include "testbed/host_port.h"

namespace eddy::testbed {

struct HostGroupOptions {
  const config::Experiment& experiment;  // scaled, as the topology is
  const lab::Topology& topology;
  const lab::FabricPaths& paths;
  std::span<const lab::Flow> flows;
  const lab::Waits* waits = nullptr;  // of these flows; null: none waits; while the group is made
  Duration catch_up;
  bool announce = false;  // hosts to their switches, by ARP
  uint64_t seed = 1;      // of hosts' laws
};

class HostGroup {
 public:
  // A wire a host, in their order; they outlive the group. Only the experiment's host and the
  // topology's addresses are copied.
  HostGroup(const HostGroupOptions& options, std::span<HostWire* const> wires);

  // `now` never goes back.
  HostPort::Turn poll(Instant now);
  Instant next_deadline() const;

  // Written by the worker, read by whoever watches.
  struct Progress {
    std::atomic<size_t> flows_started{0};
    std::atomic<size_t> flows_ended{0};
    std::atomic<size_t> announced{0};  // hosts that have nothing to announce any more
    std::atomic<uint64_t> received{0};
    std::atomic<uint64_t> transmitted{0};
  };
  const Progress& progress() const { return progress_; }
  size_t flow_count() const { return book_.flows().size(); }

  // While nobody polls.
  const lab::FlowBook& book() const { return book_; }
  std::span<const std::unique_ptr<HostPort>> ports() const { return ports_; }
  std::vector<const host::Nic*> nics() const;

 private:
  void finish(size_t host, Instant now);
  void publish(const HostPort::Turn& turn);

  lab::FlowBook book_;
  std::vector<std::unique_ptr<HostPort>> ports_;
  std::vector<uint32_t> ready_;  // flows, while a poll lasts
  lab::ItemNews item_news_;
  size_t started_late_ = 0;  // flows that had waited
  Progress progress_;
};

// The most frames that a host's link holds in one direction.
size_t frames_in_flight(const lab::Topology::Host& host, int line_overhead, Duration catch_up);

}  // namespace eddy::testbed
