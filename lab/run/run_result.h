// RunResult: what one run has measured; every flow, and what they amount to.
//
// Values, made by run_experiment() and by the world of real processes. Times are the experiment's
// own: time_dilation is divided out again. FCT is the sender's, slowdown against the ideal FCT of
// the flow's path. Owner: the caller. Source: reference D.5, D.6, E.0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/flow.h"
#include "lab/faults/faults.h"
#include "lab/run/statistics.h"
#include "lab/traffic/flow.h"
#include "lab/world/ranks.h"
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

// All answers to one request of an incast, or one collective.
struct RequestResult {
  uint16_t traffic = 0;  // index of Experiment::traffic
  uint32_t number = 0;   // within the item, from 0
  Instant start;         // of its first flow
  Duration time{};       // to the last octet of the last flow; unfinished: its age at the end
  Duration ideal{};      // by the NICs' lines alone
  double slowdown = 0;   // max(1, time / ideal)
  size_t flows = 0;
  bool measured = false;  // its first flow is
  bool finished = false;  // every flow has arrived
};

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

// What a process of a run that several share took.
struct RankUse {
  RankTraffic traffic;
  double cpu_seconds = 0;
  uint64_t peak_rss_bytes = 0;
};

struct RunResult {
  bool real = false;  // on real processes and links, not in virtual time
  int64_t time_dilation = 1;
  std::string scheme;
  uint64_t seed = 0;
  uint64_t trace_digest = 0;
  std::vector<TrafficSummary> traffic;
  Duration file_origin{};  // the time in the first trace's file that is the run's beginning
  std::vector<std::string> warnings;

  std::vector<FlowResult> flows;
  std::vector<RequestResult> requests;  // of incasts and collectives, by item and number
  size_t unfinished = 0;                // of the measured
  bool censored = false;                // hit its limit, or was interrupted, with flows unfinished
  bool interrupted = false;
  Statistics fct_us;  // measured and finished
  Statistics slowdown;
  double ooo_ratio = 0;  // of measured flows: out-of-order arrivals / data packets received
  double ood_p99 = 0;    // packets, over out-of-order arrivals of all flows
  uint64_t ood_max = 0;
  std::vector<uint64_t> ood_histogram;  // bucket i: OOD = i packets
  uint64_t pfc_events = 0;              // times that a priority group began to pause its sender
  uint64_t pfc_host_events = 0;         // of these, at ports to hosts
  uint64_t pfc_frames = 0;              // XOFF frames sent, refreshes included
  double pfc_paused_us = 0;             // summed over all paused ports, of switches and hosts
  double pfc_pause_rate = 0;            // events a second and switch port
  double pfc_paused_fraction = 0;       // of the time of all ports
  Duration prediction_lead{};           // RLB: from right predictions to PFC, summed
  std::optional<Duration> wait_p50;     // RLB: of the packets that went round, within a quarter
  std::optional<Duration> wait_p99;     // none: no packet did
  struct Notice {  // isolation: from a host port's threshold on, within a quarter
    std::optional<Duration> p50;
    std::optional<Duration> p99;
  };
  Notice heard;     // to a switch that hears of it
  Notice isolated;  // to the first packet that a host there sends and that is isolated
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
  double cpu_seconds = 0;       // of the event loop
  uint64_t peak_rss_bytes = 0;  // ranks: of the largest
  uint64_t digest = 0;
  std::vector<RankUse> ranks;  // by rank; empty: one process had all of it

  std::vector<FaultReport> faults;  // by Experiment::faults
  // With RunOptions::check: what does not hold and ended the run, or is empty; and what was not
  // promised to begin with. A reconfiguration that a switch refused is a violation, too.
  Problems violations;
  std::vector<std::string> exempt;
};

}  // namespace eddy::lab
