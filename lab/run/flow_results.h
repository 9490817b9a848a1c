// What a run's flows and NICs amount to, for RunResult: FCTs, slowdowns, order, pauses.
//
// The same sums for a world in virtual time and for a real one. Times handed in are scaled, those
// in results are the experiment's own. Pure functions. Cost: linear in flows and hosts. Source:
// reference D.5, D.6.
#pragma once

#include "lab/fabric/topology.h"
#include "lab/run/flow_account.h"
#include "lab/run/run_result.h"

namespace eddy::lab {

// Flows that had started, their percentiles and the goodput. RunResult::simulated is known.
void add_flow_results(const FlowAccount& account, RunResult& result);

struct PauseScope {
  size_t switch_ports = 0;
  uint64_t pausing = 0;   // priority groups that pause their senders at the end
  uint64_t of_hosts = 0;  // times that a priority group began to pause a host
  Duration in_force;      // of received pauses that last: what pfc_rx_paused_ps does not say yet
};
// Counters of NICs, order of arrival and, of counters that are there already, the sums of pauses
// and losses. After add_flow_results().
void add_nic_results(const FlowAccount& account, const PauseScope& scope, RunResult& result);

// What a packet costs on the line beside its payload.
Bytes header_octets(const config::Experiment& experiment, const Topology& topology);

// Each switch's own seed, from the run's.
void seed_switches(Topology& topology, uint64_t seed);

}  // namespace eddy::lab
