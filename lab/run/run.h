// One run: an experiment with one seed, from its configuration to what was measured.
//
// Flows are measured if they start in [warmup, warmup + duration) and their item says so. The run
// ends when all flows have ended, or `drain` after the last may start; what has not ended by then
// is unfinished, counted with its age, and makes the run censored. FCT is the sender's, slowdown
// against the ideal FCT of the flow's path (reference D.5). Times are the experiment's own:
// time_dilation is divided out again. Owner: the caller. Cost: the world's; the results hold every
// flow. Source: reference D.5, D.6, E.0.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/faults/faults.h"
#include "lab/traffic/traffic.h"
#include "lab/world/world.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct FlowResult {
  Flow flow;
  bool measured = false;    // started inside the measurement window
  bool finished = false;    // at the sender and at the receiver
  Duration fct{};           // sender: last ACK; unfinished: its age at the end
  Duration receiver_fct{};  // receiver: last octet; unfinished: its age at the end
  Duration ideal{};
  double slowdown = 0;  // max(1, fct / ideal)
  host::SendOutcome sent;
  host::ReceiveOutcome received;
};

struct Statistics {
  size_t count = 0;
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};
// Percentiles by nearest rank. `values` are sorted in place.
Statistics statistics(std::vector<double>& values);

// The fabric at an instant, over all switch ports.
struct QueueSample {
  Instant at;
  int64_t max_queue = 0;   // octets of the longest egress queue
  int64_t max_buffer = 0;  // octets in the fullest shared buffer
  uint32_t paused_queues = 0;
};

// What one end of a link between switches sent.
struct LinkSent {
  size_t link = 0;          // of Topology::links
  size_t switch_index = 0;  // who sent
  uint64_t packets = 0;
  uint64_t bytes = 0;
  Duration paused{};  // its lossless queue, summed over priorities
};

struct RunResult {
  bool real = false;  // on real processes and links, not in virtual time
  int64_t time_dilation = 1;
  std::string scheme;
  uint64_t seed = 0;
  uint64_t trace_digest = 0;
  std::vector<TrafficSummary> traffic;
  std::vector<std::string> warnings;

  std::vector<FlowResult> flows;
  size_t unfinished = 0;  // of the measured
  bool censored = false;  // hit its limit, or was interrupted, with flows unfinished
  bool interrupted = false;
  Statistics fct_us;  // measured and finished
  Statistics slowdown;
  double ooo_ratio = 0;  // of measured flows: out-of-order arrivals / data packets received
  double ood_p99 = 0;    // packets, over out-of-order arrivals of all flows
  uint64_t ood_max = 0;
  std::vector<uint64_t> ood_histogram;  // bucket i: OOD = i packets
  uint64_t pfc_events = 0;              // times that a priority group began to pause its sender
  uint64_t pfc_frames = 0;              // XOFF frames sent, refreshes included
  double pfc_paused_us = 0;             // summed over all paused ports, of switches and hosts
  double pfc_pause_rate = 0;            // events a second and switch port
  double pfc_paused_fraction = 0;       // of the time of all ports
  Duration prediction_lead{};           // RLB: from right predictions to PFC, summed
  std::optional<Duration> wait_p50;     // RLB: of the packets that went round, within a quarter
  std::optional<Duration> wait_p99;     // none: no packet did
  uint64_t lossless_drops = 0;
  double goodput_gbps = 0;  // delivered payload of all flows over the simulated time
  std::map<std::string, uint64_t>
      counters;  // by the daemon's names, over all switches; hosts: nic_*
  std::vector<QueueSample> samples;
  std::vector<LinkSent> links;  // both ends of each link, `a` first

  uint64_t packet_hops = 0;
  uint64_t events = 0;
  uint64_t ties = 0;
  uint64_t polls = 0;
  Duration simulated{};
  double cpu_seconds = 0;  // of the event loop
  uint64_t peak_rss_bytes = 0;
  uint64_t digest = 0;

  std::vector<FaultReport> faults;  // by Experiment::faults
  // With RunOptions::check: what does not hold and ended the run, or is empty; and what was not
  // promised to begin with. A reconfiguration that a switch refused is a violation, too.
  Problems violations;
  std::vector<std::string> exempt;
};

struct Progress {
  Instant now;
  Instant end;  // the latest possible
  size_t flows_ended = 0;
  size_t flows = 0;
  uint64_t packet_hops = 0;
};

struct RunOptions {
  uint64_t seed = 1;
  bool check = false;                             // invariants after every instant: slow
  std::string replay;                             // for violations: the line that runs this again
  SetKey set_key;                                 // for faults that reconfigure switches
  std::function<void(const Progress&)> progress;  // about every 0.2 s of CPU time
  const std::atomic<bool>* interrupt = nullptr;   // ends the run early with what it has
  ReadTrafficFile read;
  // Before the first event; what it returns, if anything, watches the world, beside the checker.
  std::function<Watcher*(World&, const Topology&)> built;
  uint64_t memory_limit = 0;  // octets; 0 = what the machine has free
};

// Problems are named by the experiment's keys ("topology.leaves: ...").
Result<RunResult> run_experiment(const config::Experiment& experiment, const RunOptions& options);

}  // namespace eddy::lab
