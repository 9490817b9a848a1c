// World: a fabric of Switch objects, RoCEv2 hosts and links in virtual time.
//
// Every hop is two events: a frame's last bit leaves a line (the sender's completion), and it
// arrives a propagation delay later. All events of an instant are taken together, then every node
// they touched is polled once: a node sees an instant as one moment, and the order of frames that
// tie there is seeded and counted (SwitchIo). Timers are one deadline a node. Poll models: `exact`
// polls a switch at the instants that concern it; `busy_poll` at the next point of its own grid.
// Deterministic: the same topology, flows, options and seed give the same digest.
//
// Large fabrics run in windows (windows.h): each rack goes through some time by itself, and the
// digest is the same. Whatever looks at all nodes at one instant or changes them ends that for as
// long as it takes: watchers, filters, intakes, a withheld pool, actions, all that is called from
// outside. Windows may have several threads, which are idle between two calls. Several ranks may
// share one world (ranks.h, exchange.h): each makes the same one, but has the switches and NICs of
// its own partitions alone, and all take the same calls in the same order. Owner: one run; one
// thread calls. Bounds: packets and events are fixed at construction, but
// for what windows post. Cost: about two polls a hop. Source: architecture, sections 3 and 4;
// reference 0.3.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/nic.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/traffic.h"
#include "lab/world/agenda.h"
#include "lab/world/flow_book.h"
#include "lab/world/hooks.h"
#include "lab/world/node_facts.h"
#include "lab/world/nodes.h"
#include "lab/world/packet_pool.h"
#include "lab/world/partition.h"
#include "lab/world/ranks.h"
#include "lab/world/switch_node.h"
#include "lab/world/windows.h"
#include "lab/world/world_options.h"
#include "net/fnv.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

class World {
 public:
  // `rtt_of` tells the base RTT between two hosts. All that memory must hold is taken here.
  using RttOf = FlowBook::RttOf;
  static Result<std::unique_ptr<World>> create(const Topology& topology,
                                               std::span<const Flow> flows, const RttOf& rtt_of,
                                               const WorldOptions& options);
  ~World();
  // Packets that can be in the fabric at once: on lines, in buffers, with headers only.
  static size_t packets_needed(const Topology& topology);
  // Resident octets that such a world will take, roughly; to refuse a run before it is built.
  static size_t memory_needed(const Topology& topology, size_t queue_pairs);

  // Runs to `end` (all events at or before it). May be called again with a later one.
  void run_until(Instant end);
  // Until every flow has ended, nothing happens any more, or `limit`; true if all flows ended.
  bool run_to_completion(Instant limit);
  // An action at an instant not before now; used for faults, sampling, measurement windows.
  void at(Instant when, std::function<void(World&)> action);
  // The same, of one host alone: other ranks do not plan it.
  void at_host(Instant when, std::function<void(World&)> action);
  void set_watcher(Watcher* watcher) { nodes_.watcher = watcher; }  // null: none
  // Ends run_until() and run_to_completion() after this instant, for good.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  // Nothing will happen any more.
  bool idle() const { return next() == Instant::never(); }
  // Partitions that run in windows where nothing forbids it; 1: none do.
  size_t partitions() const { return windows_ == nullptr ? 1 : windows_->partitions(); }
  size_t threads() const { return windows_ == nullptr ? 1 : windows_->threads(); }
  // Seconds of CPU that each thread but the caller's has used.
  std::vector<double> helper_seconds() const {
    return windows_ == nullptr ? std::vector<double>() : windows_->helper_seconds();
  }
  // Of a run that several ranks share; null: they do not.
  const Ranks* ranks() const { return ranks_.get(); }
  bool is_here(uint32_t node) const { return nodes_.is_here(node); }
  // True where it is true of any rank. All of them ask.
  bool any_rank(bool mine);
  // After the run: rank 0 hears what the others have counted; they only tell. counts(), digest()
  // and what follows here are then of the whole world on rank 0, and of a part of it elsewhere.
  void gather_facts();
  uint64_t windows() const { return windows_ == nullptr ? 0 : windows_->count(); }
  // Of partitions, from one thread to another.
  uint64_t moves() const { return windows_ == nullptr ? 0 : windows_->moves(); }

  Instant now() const { return whole_->now(); }
  const FlowBook& book() const { return book_; }
  size_t flows_ended() const { return book_.ended(); }  // sender and receiver
  std::span<const FlowRecord> records() const { return book_.records(); }
  std::span<const Flow> flows() const { return book_.flows(); }
  host::SendOutcome send_outcome(size_t flow) const { return book_.send_outcome(flow); }
  host::ReceiveOutcome receive_outcome(size_t flow) const { return book_.receive_outcome(flow); }

  size_t switch_count() const { return nodes_.switches.size(); }
  size_t host_count() const { return nodes_.hosts.size(); }
  // Of switches that are another rank's after gather_facts(); else zero.
  const Counters& counters_of(size_t switch_index) const;
  FabricFacts facts() const;
  Switch& switch_at(size_t index) { return *nodes_.switches[index].object; }
  SwitchNode& switch_node(size_t index) { return nodes_.switches[index]; }
  host::Nic& nic(size_t index) { return *nodes_.hosts[index].nic; }
  std::span<Line> lines() { return nodes_.lines; }
  std::span<uint64_t> lost() { return nodes_.lost; }  // frames, by line
  uint32_t line_of(size_t switch_index, PortId port) const;
  uint32_t line_of_host(size_t host) const;
  uint32_t reverse(uint32_t line) const { return nodes_.lines[line].back; }
  uint64_t& entered(uint32_t line) { return nodes_.entered(line); }
  uint64_t& delivered(uint32_t line) { return nodes_.delivered(line); }
  // Both directions; the ports at both ends follow.
  void set_link(uint32_t line, bool up);
  void set_filter(uint32_t line, LineFilter* filter);  // null: none
  void poll(size_t switch_index);                      // now, outside of its turn
  // The switch takes a turn at this instant: it was given something that no frame tells it of.
  void nudge(size_t switch_index);
  // From the beginning to the end one partition: for what the order of turns of all nodes settles,
  // such as who gets the last packets of a pool. Before the world runs.
  void keep_whole();
  // A frame as if it had left the line's sender now.
  void inject(uint32_t line, Packet* packet);
  void set_host_rate(size_t host, BitRate rate);  // from its next frame on
  void set_intake(size_t host, Intake* intake);   // null: frames reach the NIC at once
  void deliver(size_t host, Packet* packet);      // into the NIC

  PacketPool& pool();
  WorldCounts counts() const;
  size_t frames_in_flight() const;
  size_t frames_in_intakes() const;
  // Of everything that has happened: flow ends, counters of all nodes. Same run, same digest.
  uint64_t digest() const;

 private:
  World(const Topology& topology, std::span<const Flow> flows, const WorldOptions& options);
  Problems build(const Topology& topology, const RttOf& rtt_of);
  Problems add_switches(const Topology& topology);
  void add_lines(const Topology& topology);
  void add_hosts(const Topology& topology);
  using Meant = std::function<bool(uint32_t node)>;
  static size_t packets_needed(const Topology& topology, const Meant& is_meant);
  static size_t frames_on_lines(const Topology& topology, const Meant& is_meant);
  void make_pool(const Topology& topology);
  // While it is built; then is_here().
  bool is_mine(uint32_t node) const { return ranks_ == nullptr || ranks_->is_here(node); }
  void make_whole(const Topology& topology);
  void make_windows(const Division& division);
  Problems spread(const Topology& topology);
  std::vector<Bytes> usual_frames(int line_overhead) const;
  void open_flows(const RttOf& rtt_of);
  void join(uint32_t line, uint32_t other);

  void advance(Instant limit, bool to_completion);
  void advance_with_others(Instant limit, bool to_completion);
  Instant run_until_own_ends(Instant stop);
  void run_alone(Instant stop);
  void meet_others(Instant stop, bool noted);
  Told told(bool noted) const;
  void add_host(Fnv64& digest, size_t index) const;
  void tell_facts(Message& message) const;
  void hear_facts(const Message& message);
  Instant next() const {
    return divided_ ? std::min(windows_->next(), agenda_.next()) : whole_->next();
  }
  bool may_divide() const;
  bool run_windows(Instant limit, bool to_completion);
  void run_divided(Instant end, bool to_completion);
  void note_started();
  void settle_items();
  void tell_items(Told& mine);
  Whole& gather();

  Nodes nodes_;
  std::vector<uint32_t> first_line_;  // of each switch

  std::vector<IpAddress> addresses_;  // of hosts
  FlowBook book_;
  Agenda agenda_;
  std::unique_ptr<Whole> whole_;      // has all nodes, unless divided_; and the world's clock
  std::unique_ptr<Windows> windows_;  // null: there is nothing to divide
  std::unique_ptr<Ranks> ranks_;      // null: this process has all of the world
  std::unique_ptr<ToldFacts> told_;   // by other ranks; null: nothing
  Division division_;
  bool divided_ = false;
  uint64_t start_instants_ = 0;  // in windows: at which flows started
  bool stopped_ = false;
};

}  // namespace eddy::lab
