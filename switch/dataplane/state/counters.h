// Every counter of the switch: one list with its help text, and where the numbers live.
//
// Each shard counts into its own Counters (one writer, relaxed), indexed by port; a reader sums
// over shards and keeps its own baselines, so nothing is ever reset. Names are the exported ones:
// eddyctl, telemetry, Prometheus and the lab's JSON use them. Cost: an add is one load and one
// store. Source: architecture, sections 4 and 8.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/parse.h"

namespace eddy {

// name, help
#define EDDY_PORT_COUNTERS(X)                                                                  \
  X(rx_packets, "frames received, without PFC and PAUSE frames")                               \
  X(rx_bytes, "their octets, without FCS")                                                     \
  X(tx_packets, "frames given to the line, our own included")                                  \
  X(tx_bytes, "octets given to the line, without FCS")                                         \
  X(originated_packets, "frames made by the switch itself: PFC, ARP, ND, ICMP, LLDP, CNM")     \
  X(consumed_packets, "received frames used up by the switch itself")                          \
  X(pfc_rx_packets, "PFC frames received")                                                     \
  X(pause_rx_packets, "PAUSE frames of 802.3 received: ports that speak PFC ignore them")      \
  X(tx_refused_packets, "frames that the device refused and that were kept for another try")   \
  X(pfc_budget_exceeded, "pauses beyond the port's pause budget; rx: clamp cuts them short")   \
  X(icmp_policed_packets, "ICMP errors that were due but over the rate limit")                 \
  X(no_control_buffer, "frames of our own not made for lack of a packet buffer")               \
  X(selector_ties_total, "packets from the port whose best paths were equally good")           \
  X(selector_fallback_packets, "packets from the port sent by ecmp: a plugin's scheme failed") \
  X(selector_placeless_packets, "packets from the port by hash: the scheme's table is full")   \
  X(pfc_predicted, "times a priority group of the port was seen to near XOFF")                 \
  X(pfc_predictions_right, "of those, that PFC was sent before the warning ended")             \
  X(pfc_predictions_wrong, "of those, that it was not, as where the warning averts it")        \
  X(pfc_prediction_lead_ps, "picoseconds from a right prediction to PFC, summed")              \
  X(pfc_foreseen, "pauses begun while a warning of the priority group was out")                \
  X(pfc_unforeseen, "pauses begun while none was, of watched priority groups")                 \
  X(cnm_tx_packets, "CNMs sent to warn the peer of the port")                                  \
  X(cnm_rx_packets, "CNMs received")                                                           \
  X(cnm_relayed_packets, "CNMs of other switches passed on by the port")                       \
  X(cnm_foreign_packets, "CNMs without our warning in them, as other vendors send them")       \
  X(cnm_forged_packets, "CNMs in the name of the switch that received them")                   \
  X(cnm_stale_packets, "CNMs no newer than one heard before: late, doubled or replayed")       \
  X(cnm_storm_packets, "CNMs dropped unread: more than one poll hears from a port")            \
  X(cnm_ignored_packets, "CNMs that changed nothing: of no path, or a worse one is known")     \
  X(cnm_unheeded_packets, "CNMs of pauses that `rlb.heed` leaves out")                         \
  X(cnm_culprits_named, "destinations named in the CNMs sent")                                 \
  X(cnm_culprits_refused, "CNMs heard without their culprits: too many, or cut off")           \
  X(cnm_over_budget, "CNMs not passed on by the port, which had passed on enough")             \
  X(path_warnings_begun, "times paths behind the port became warned")                          \
  X(path_warnings_cleared, "times their warning was taken back, or ended with its pause")      \
  X(path_warnings_expired, "times their warning was not refreshed")                            \
  X(rlb_rerouted_packets, "packets that RLB took off a warned path")                           \
  X(rlb_placed_flows, "of these, first packets of flows, that went where delays say")          \
  X(rlb_culprit_packets, "packets left on a warned path: they are what it is warned for")      \
  X(rlb_all_warned_packets, "packets for which RLB found warned paths only: the least bad")    \
  X(rlb_suspended_packets, "packets left on a warned path: the receiver is the bottleneck")    \
  X(rlb_waiting_packets, "packets that RLB sent round to wait for their path")                 \
  X(rlb_followed_packets, "packets that waited behind one of their flow")                      \
  X(rlb_round_bytes, "octets that went round, each round of theirs")                           \
  X(rlb_idle_round_bytes, "of these, while the path that they waited for was not warned")      \
  X(rlb_forced_packets, "packets that would have waited, but a limit forbade it")              \
  X(rlb_rounds_1, "packets that left RLB's loop after one round")                              \
  X(rlb_rounds_2, "after two rounds")                                                          \
  X(rlb_rounds_3, "after three rounds")                                                        \
  X(rlb_rounds_4, "after four rounds")                                                         \
  X(rlb_rounds_5, "after five rounds")                                                         \
  X(rlb_rounds_6, "after six rounds")                                                          \
  X(rlb_rounds_7, "after seven rounds")                                                        \
  X(rlb_rounds_8, "after eight rounds or more")                                                \
  X(guard_moved_flows, "times a flow took another path, as the order guard allowed")           \
  X(guard_stayed_packets, "packets that the order guard kept on their flow's path")            \
  X(guard_forced_moves, "times a flow was moved, order or not, because its path is gone")      \
  X(guard_placeless_packets, "packets of flows for which the guard's table has no place")      \
  X(guard_replaced_flows, "flows forgotten for another's sake, nothing being on the way")      \
  X(guard_drained_flows, "times a flow waited for its packets on a slower path to arrive")     \
  X(guard_overdue_flows, "of these, times that they had not in time, and it kept the path")    \
  X(resequence_held_packets, "packets held for an earlier one of their flow")                  \
  X(resequence_missed_flows, "times what was missing did not come, and the rest went on")      \
  X(resequence_forced_flows, "times there was no room to wait, and the rest went on")          \
  X(resequence_placeless_packets, "packets of flows for which the table has no place")         \
  X(stage_held_packets, "packets held by a flow stage other than the resequencer")             \
  X(stage_missed_flows, "times what such a stage waited for did not come")                     \
  X(stage_forced_flows, "times such a stage had no room, and let a flow go on")                \
  X(stage_placeless_packets, "packets of flows for which such a stage has no place")           \
  X(stage_marked_packets, "packets that a stage marked congestion experienced")                \
  X(stage_unplaced_packets, "packets held without room in the stages' buffer")                 \
  X(stage_emptied_packets, "packets taken from a stage that held too much or too long")        \
  X(isolation_hot_hosts, "times others were told of a host of the port, or a flow to it")      \
  X(isolation_crowded_hosts, "times one was not told of: most of the leaf's ports are hot")    \
  X(isolation_long_flows, "times a flow through the port became a long one, in a crowd")       \
  X(isolation_hello_packets, "CIMs sent by the port to say that this switch isolates")         \
  X(isolation_tx_packets, "CIMs sent by the port of congested hosts here, or flows")           \
  X(isolation_rx_packets, "CIMs received")                                                     \
  X(isolation_relayed_packets, "CIMs of other leaves passed on by the port")                   \
  X(isolation_over_budget, "CIMs not passed on by the port, which had passed on enough")       \
  X(isolation_storm_packets, "CIMs dropped unread: more than one poll hears from a port")      \
  X(isolation_forged_packets, "CIMs in the name of the switch that received them")             \
  X(isolation_stale_packets, "CIMs no newer than one heard before: by another way, or late")   \
  X(isolation_ignored_packets, "CIMs of another class, or to a switch that does not isolate")  \
  X(isolation_placeless_hosts, "hosts or flows for which the table has no place")              \
  X(isolation_begun_packets, "packets from the port put into the isolated class")              \
  X(isolation_kept_packets, "packets that came isolated and went on so")                       \
  X(isolation_ended_packets, "packets that came isolated and went on in their own class")      \
  X(isolation_placeless_packets, "of these, for lack of a place or of a peer that isolates")   \
  X(isolation_untrusted_packets, "packets from the port's hosts that claimed to be isolated")  \
  X(shim_tx_packets, "packets given a shim on their way to another leaf")                      \
  X(path_requests, "stamps sent to measure a path of the port")                                \
  X(path_probes, "of these, in frames of our own on idle paths")                               \
  X(path_sweeps, "probes sent behind isolated packets, to learn when those have arrived")      \
  X(path_swept, "of these, answered")                                                          \
  X(path_feedback_frames, "echoes to other leaves that no packet was there to carry")          \
  X(path_samples, "echoes heard that measured a path of the port")                             \
  X(path_unanswered, "stamps sent while earlier ones had long been without an echo")           \
  X(path_silences_excused, "times stamps were missing that PFC may have held up")              \
  X(path_suspicious_windows, "times a path of the port was found suspicious")                  \
  X(paths_failed, "times a path of the port was taken out of use")                             \
  X(paths_returned, "times one was used again")                                                \
  X(path_deviated_packets, "packets whose pinned path was down: they went another way")        \
  X(path_reports_unknown, "shims and echoes of a leaf or path that is none of ours")           \
  X(path_reports_stale, "echoes of stamps that were answered already or never sent")           \
  X(path_reports_impossible, "echoes whose times cannot be")                                   \
  X(path_reports_evicted, "times a leaf had more paths to us than we have to it")              \
  X(agent_frames, "frames of path agents sent by the port, other than probes")                 \
  X(agent_frames_heard, "frames of other switches' path agents that ours heard")               \
  X(agent_frames_unheard, "of these, that they did not: too many came at once")                \
  X(agent_frames_unspoken, "frames of a scheme that this switch does not speak")               \
  X(agent_frames_forged, "frames in our own name, or of a leaf that is none of ours")          \
  X(agent_frames_stale, "frames that an agent knew to be old, repeated or of no flow")         \
  X(agent_over_budget, "frames beyond an agent's share of the port's line: not sent")          \
  X(agent_undeclared, "frames and fields of shims that an agent had not declared: not sent")   \
  X(rx_missed_packets, "frames that the device lost before we could read them (imissed)")      \
  X(rx_nombuf_packets, "frames that the device lost for lack of a buffer (rx_nombuf)")         \
  X(rx_oversize_packets, "frames that came in pieces too long for one packet buffer, dropped")

// by port and priority
#define EDDY_PFC_COUNTERS(X)                                        \
  X(pfc_rx_xoff, "PFC frames received that pause the priority")     \
  X(pfc_rx_xon, "PFC frames received that resume the priority")     \
  X(pfc_tx_xoff, "PFC frames sent that pause the priority")         \
  X(pfc_tx_xon, "PFC frames sent that resume the priority")         \
  X(pfc_rx_paused_ps, "picoseconds for which the queue was paused") \
  X(pfcwd_storms, "storms that the PFC watchdog detected")          \
  X(pfcwd_restored, "storms that the PFC watchdog saw end")         \
  X(pfcwd_dropped_packets, "packets the PFC watchdog discarded")    \
  X(pfcwd_forwarded_packets, "packets sent against a pause during a storm")

// by port and queue
#define EDDY_QUEUE_COUNTERS(X)                                                          \
  X(queue_tx_packets, "packets sent from the queue")                                    \
  X(queue_tx_bytes, "octets sent from the queue")                                       \
  X(queue_dropped_packets, "packets the queue refused")                                 \
  X(ecn_marked_packets, "packets marked congestion experienced")                        \
  X(pfcwd_deadlock_detected, "storms of the queue that the PFC watchdog detected")      \
  X(pfcwd_deadlock_restored, "storms of the queue that it saw end")                     \
  X(pfcwd_tx_packets, "packets sent from the queue in its storms, up to the last look") \
  X(pfcwd_tx_dropped_packets, "packets that the queue lost or refused in its storms")   \
  X(pfcwd_rx_packets, "packets that the queue's groups on the port admitted meanwhile") \
  X(pfcwd_rx_dropped_packets, "packets that these groups lost or refused meanwhile")

// by port and priority group
#define EDDY_PG_COUNTERS(X)                                   \
  X(pg_rx_packets, "packets admitted to the priority group")  \
  X(pg_rx_bytes, "octets admitted to the priority group")     \
  X(pg_dropped_packets, "packets the priority group refused") \
  X(lossless_dropped_packets, "packets of a lossless group dropped, whatever the reason")

// Why a packet ended here. The first block mirrors ParseVerdict, in its order.
#define EDDY_DROP_REASONS(X)                                                                      \
  X(runt, "shorter than an Ethernet header")                                                      \
  X(vlan_truncated, "VLAN tag cut off")                                                           \
  X(vlan_too_many, "more than two VLAN tags")                                                     \
  X(source_mac_multicast, "group bit set in the source MAC")                                      \
  X(ipv4_truncated, "IPv4 header cut off")                                                        \
  X(ipv4_bad_version, "IPv4 EtherType, other version")                                            \
  X(ipv4_bad_ihl, "IPv4 header length below 5 words or beyond the frame")                         \
  X(ipv4_bad_length, "IPv4 total length does not fit header or frame")                            \
  X(ipv4_bad_checksum, "IPv4 header checksum")                                                    \
  X(ipv6_truncated, "IPv6 header cut off")                                                        \
  X(ipv6_bad_version, "IPv6 EtherType, other version")                                            \
  X(ipv6_bad_length, "IPv6 payload length does not fit the frame")                                \
  X(ipv6_bad_extension, "IPv6 extension headers leave the frame or are too many")                 \
  X(ip_bad_source, "martian address: loopback, multicast or broadcast source")                    \
  X(udp_truncated, "UDP header cut off")                                                          \
  X(udp_bad_length, "UDP length does not fit the packet")                                         \
  X(tcp_truncated, "TCP header cut off")                                                          \
  X(tcp_bad_offset, "TCP data offset does not fit the packet")                                    \
  X(bth_truncated, "RoCEv2 base transport header cut off")                                        \
  X(shim_truncated, "leaf-to-leaf shim cut off")                                                  \
  X(shim_bad_version, "leaf-to-leaf shim of another version or kind")                             \
  X(control_malformed, "PFC, PAUSE, CNM, ARP, ND, ICMP or LLDP frame that does not decode")       \
  X(mac_control_unknown, "MAC control frame of an unknown opcode")                                \
  X(control_policed, "ARP, ND, LLDP or a packet to the switch itself, over its rate")             \
  X(control_on_host_port, "CNM, shim or feedback frame on a host port")                           \
  X(link_local, "link-local destination 01:80:c2:00:00:0x, never forwarded")                      \
  X(vlan_not_served, "of a VLAN that the port is not in, or untagged where its VLAN wants a tag") \
  X(not_for_us, "destination MAC is neither ours nor one we serve")                               \
  X(unknown_ethertype, "neither IP nor a protocol of ours")                                       \
  X(port_disabled, "received on a port that is down or not configured")                           \
  X(mtu_exceeded, "longer than the egress port's MTU")                                            \
  X(ttl_expired, "TTL or hop limit used up")                                                      \
  X(no_route, "no prefix covers the destination")                                                 \
  X(no_live_path, "every path to the destination leaf is down")                                   \
  X(no_channel, "it would wait in a circle: its class has no further virtual channel")            \
  X(neighbor_unresolved, "the next hop did not answer ARP or ND")                                 \
  X(neighbor_queue_full, "too many packets wait for ARP or ND")                                   \
  X(neighbor_table_full, "no room for a new neighbor of the port, or too many in a second")       \
  X(same_port, "would leave by the port it came from towards another switch")                     \
  X(pg_shared_full, "priority group is over its share of the buffer")                             \
  X(headroom_full, "headroom of a lossless priority group is used up")                            \
  X(queue_full, "lossy egress queue is over its limit")                                           \
  X(egress_down, "the egress port went down with the packet queued")                              \
  X(watchdog, "discarded by the PFC watchdog during a storm")                                     \
  X(local_unserved, "addressed to the switch, no such service")

#define EDDY_ENUM_ENTRY(name, help) name,
#define EDDY_COUNT_ENTRY(name, help) +1
enum class PortCounter : uint8_t { EDDY_PORT_COUNTERS(EDDY_ENUM_ENTRY) };
enum class PfcCounter : uint8_t { EDDY_PFC_COUNTERS(EDDY_ENUM_ENTRY) };
enum class QueueCounter : uint8_t { EDDY_QUEUE_COUNTERS(EDDY_ENUM_ENTRY) };
enum class PgCounter : uint8_t { EDDY_PG_COUNTERS(EDDY_ENUM_ENTRY) };
enum class DropReason : uint8_t { EDDY_DROP_REASONS(EDDY_ENUM_ENTRY) };
inline constexpr size_t kPortCounters = EDDY_PORT_COUNTERS(EDDY_COUNT_ENTRY);
inline constexpr size_t kPfcCounters = EDDY_PFC_COUNTERS(EDDY_COUNT_ENTRY);
inline constexpr size_t kQueueCounters = EDDY_QUEUE_COUNTERS(EDDY_COUNT_ENTRY);
inline constexpr size_t kPgCounters = EDDY_PG_COUNTERS(EDDY_COUNT_ENTRY);
inline constexpr size_t kDropReasons = EDDY_DROP_REASONS(EDDY_COUNT_ENTRY);
#undef EDDY_ENUM_ENTRY
#undef EDDY_COUNT_ENTRY

struct CounterInfo {
  std::string_view name;
  std::string_view help;
};
// The reason for a frame that the parser refused (verdict is not ok).
constexpr DropReason drop_reason_of(ParseVerdict verdict) {
  return static_cast<DropReason>(static_cast<int>(verdict) - 1);
}

std::span<const CounterInfo> port_counter_infos();
std::span<const CounterInfo> pfc_counter_infos();
std::span<const CounterInfo> queue_counter_infos();
std::span<const CounterInfo> pg_counter_infos();
std::span<const CounterInfo> drop_reason_infos();

class Counter {
 public:
  void add(uint64_t n) { value_.store(read() + n, std::memory_order_relaxed); }
  uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// How many of each list come first in it and are counted for every packet, or nearly.
inline constexpr size_t kBusyPortCounters = 8;
inline constexpr size_t kBusyQueueCounters = 2;
inline constexpr size_t kBusyPgCounters = 2;
inline constexpr size_t kBusyOfPriority = kBusyQueueCounters + kBusyPgCounters;

// The counters of a list for one port, or for one of its priorities: the first kBusy, which packets
// count on their usual way, lie together with the port's others of that kind, the rest apart.
// C is Counter, or const Counter for who only reads.
template <class C, class Enum, size_t kCount, size_t kBusy>
class CounterRow {
 public:
  // `rare`: where the rest of all rows of this kind begins; `row`: which of these this is.
  CounterRow(C* busy, Counter* const& rare, size_t row) : busy_(busy), rare_(&rare), row_(row) {}

  C& operator[](Enum which) const { return at(static_cast<size_t>(which)); }
  uint64_t read(size_t which) const { return at(which).read(); }
  uint64_t read(Enum which) const { return read(static_cast<size_t>(which)); }

 private:
  C& at(size_t which) const {
    if (which < kBusy) return busy_[which];
    return (*rare_)[row_ * (kCount - kBusy) + which - kBusy];
  }

  C* busy_;
  Counter* const* rare_;
  size_t row_;
};

// Those of a port by priority. The busy ones of a priority, of whatever kind, lie side by side.
template <class C, class Enum, size_t kCount, size_t kBusy>
class CounterRows {
 public:
  CounterRows(C* busy, Counter* const& rare, size_t port)
      : busy_(busy), rare_(&rare), port_(port) {}

  CounterRow<C, Enum, kCount, kBusy> operator[](size_t priority) const {
    return {busy_ + priority * kBusyOfPriority, *rare_, port_ * kPriorities + priority};
  }

 private:
  C* busy_;
  Counter* const* rare_;
  size_t port_;
};

static_assert(static_cast<size_t>(PortCounter::tx_bytes) < kBusyPortCounters &&
              static_cast<size_t>(PortCounter::consumed_packets) < kBusyPortCounters &&
              static_cast<size_t>(QueueCounter::queue_tx_bytes) < kBusyQueueCounters &&
              static_cast<size_t>(PgCounter::pg_rx_bytes) < kBusyPgCounters);

// What a port has counted. A few pointers, to be copied; good as long as the Counters are.
template <class C>
struct CountersOfPort {
  CounterRow<C, PortCounter, kPortCounters, kBusyPortCounters> port;
  CounterRows<C, QueueCounter, kQueueCounters, kBusyQueueCounters> queue;
  CounterRows<C, PgCounter, kPgCounters, kBusyPgCounters> pg;
  CounterRows<C, PfcCounter, kPfcCounters, 0> pfc;
  CounterRow<C, DropReason, kDropReasons, 0> drops;
};
using PortCounters = CountersOfPort<const Counter>;  // to read
using PortTally = CountersOfPort<Counter>;           // to count

// What one shard has counted. Both worlds may count too (rx_missed_packets), from the shard's
// thread. What nearly every packet counts takes 320 octets a port, side by side: a line for the
// port, and one for each two priorities, whatever comes in or leaves by them. The rest, seven times
// as much and mostly zero for good, is reserved by kind (docs/adr/0033).
class Counters {
 public:
  explicit Counters(size_t ports)
      : busy_(ports),
        rare_(ports * kRare),
        rare_ports_(rare_.data()),
        rare_queues_(rare_ports_ + ports * (kPortCounters - kBusyPortCounters)),
        rare_pgs_(rare_queues_ + ports * kPriorities * (kQueueCounters - kBusyQueueCounters)),
        pfc_(rare_pgs_ + ports * kPriorities * (kPgCounters - kBusyPgCounters)),
        drops_(pfc_ + ports * kPriorities * kPfcCounters) {}
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  PortTally operator[](PortId port) {
    return of<Counter>(busy_[port.index()], *this, port.index());
  }
  PortCounters operator[](PortId port) const {
    return of<const Counter>(busy_[port.index()], *this, port.index());
  }
  size_t port_count() const { return busy_.size(); }

 private:
  struct alignas(64) Busy {
    std::array<Counter, kBusyPortCounters> port;
    std::array<Counter, kPriorities * kBusyOfPriority> priorities;  // each one's queue, then its PG
  };
  static constexpr size_t kRare = kPortCounters - kBusyPortCounters + kDropReasons +
                                  kPriorities * (kQueueCounters - kBusyQueueCounters + kPgCounters -
                                                 kBusyPgCounters + kPfcCounters);

  template <class C, class Ports>
  static CountersOfPort<C> of(Ports& busy, const Counters& all, size_t port) {
    return {.port = {busy.port.data(), all.rare_ports_, port},
            .queue = {busy.priorities.data(), all.rare_queues_, port},
            .pg = {busy.priorities.data() + kBusyQueueCounters, all.rare_pgs_, port},
            .pfc = {nullptr, all.pfc_, port},
            .drops = {nullptr, all.drops_, port}};
  }

  std::vector<Busy> busy_;
  Reserved<Counter> rare_;
  // Of rare_: what follows is by port, or by port and priority.
  Counter* rare_ports_;
  Counter* rare_queues_;
  Counter* rare_pgs_;
  Counter* pfc_;
  Counter* drops_;
};

}  // namespace eddy
