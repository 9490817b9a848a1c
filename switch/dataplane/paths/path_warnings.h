// PathWarnings: tells the switches upstream that a port is about to send PFC, hears what the
// switches downstream tell, and passes it on to those that can choose another path.
//
// It tells what the predictor owes, as an 802.1Qau CNM to the peer of a fabric port. It hears two
// kinds of CNM. One that comes straight from its congestion point concerns the port by which it
// came, for whatever leaf lies behind that port. One that was relayed concerns the same port, but
// only for the congestion point's leaf. It passes a message on to the fabric ports that lately fed
// the port by which it came, and to those that it told of the same danger before: once for each
// (congestion point, sequence), while hops are left and the budget of the port allows. A real pause
// counts as the severest warning, beside others, and outlasts the pause by two cable delays. What a
// message may claim is limited: life, hops, severity. Which of what it hears counts here, own
// pauses, real ones of others or foreseen ones, `rlb.heed` says; it passes on all. With
// `rlb.culprits` what it tells names the destinations that cause the danger, and what it hears of
// them is kept beside the mark. A list is as old as its message and ends with it.
// A storm of messages costs little, because a poll reads at most kMostHeard of each port; a peer
// that keeps to its own budget sends no more. Owner: the shard; every shard has a table of its own
// and learns of marks by mail. Bounds: one CNM goes out for each watched PG and refresh, and one is
// passed on by each port in 2 us. Cost: nothing for a packet, but a store that says which port
// feeds which. Source: reference B.3 to B.5, B.12.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "lb/warning_table.h"
#include "net/cnm.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "pfc/predictor.h"
#include "switch/dataplane/paths/culprit_finder.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/peer_messages.h"
#include "switch/dataplane/paths/told_ports.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// CnmWarning::flags
inline constexpr uint8_t kCnmRelayed = 1 << 0;

class PathWarnings {
 public:
  // A message is believed for so long, or for kTrust times what this switch's own live, if longer.
  static constexpr Duration kLongestLife = Duration::milliseconds(1);
  static constexpr int64_t kTrust = 4;
  static constexpr uint8_t kMostHops = 3;
  static constexpr Duration kRelayGap = Duration::microseconds(2);  // a port, on average
  static constexpr int kRelayBurst = 8;
  static constexpr uint32_t kMostHeard = 2;  // of a port, by a poll: what a storm may cost

  struct Services {
    IngressBuffer& buffer;
    FabricPeers& peers;
    PeerMessages& messages;
    pfc::Predictor& predictor;
  };
  PathWarnings(ShardContext& context, const Services& services, size_t ports);

  // A CNM from a fabric port. Takes it.
  void cnm(Packet* packet);
  // The queues of the port that its peer pauses now.
  void paused(PortId port, uint8_t queues);
  // PFC for the priorities (masks) has been sent to the port's peer.
  void pfc_sent(PortId port, uint8_t xoff, uint8_t xon);
  // Gives the ports the CNMs that they owe.
  void send_frames() {
    if (services_.predictor.owes()) [[unlikely]]
      send_owed();
  }
  // What another shard heard.
  void take(const lb::WarningMark& mark) { (void)apply(mark); }
  void adopt(const Snapshot& now);
  void rebase(const Rebase& rebase);
  void on_timers();

 private:
  struct Heard {  // of a congestion point, to pass each message on once
    uint32_t source = 0;
    uint32_t sequence = 0;
    Instant at;
  };
  static constexpr size_t kHeard = 256;

  void send_owed();
  void count(PortId port, const pfc::PauseForesight& pause);
  Cnm message_of(const pfc::PfcWarning& warning) const;
  Duration longest_life() const { return std::max(kLongestLife, config_.life * kTrust); }
  bool may_hear(PortId port);
  void hear(PortId port, const Cnm& message);
  bool heeds(const lb::WarningMark& mark);
  bool counts(uint8_t severity) const;
  lb::MarkEffect apply(const lb::WarningMark& mark);
  void tell_other_shards(const lb::WarningMark& mark);
  void relay(const lb::WarningMark& mark, const Cnm& message);
  void pass_on(PortId from, const Cnm& message, ToldPorts::Ports& told);
  static lb::WarningMark pause_mark(PortId port, QueueId queue, Instant expiry);
  void mark_pauses_in_force();
  bool is_repeated(uint32_t source, uint32_t sequence);
  bool fed(PortId egress, PortId ingress) const;
  bool take_budget(PortId port);
  void follow_table();

  ShardContext& context_;
  Services services_;
  CulpritFinder finder_;
  config::WarningConfig config_;
  config::Heed heed_{};
  bool names_culprits_ = false;
  bool enabled_ = false;
  const lb::WarningTable* table_ = nullptr;  // that knows of the pauses in force
  uint32_t pause_sequence_ = 0;
  std::vector<pfc::PredictorPlan> plans_;  // in force, by port
  std::vector<uint8_t> paused_;            // queues, by port
  std::vector<Instant> budget_used_to_;    // by port
  std::array<Heard, kHeard> heard_{};
  ToldPorts told_;
  struct {
    Instant at;
    PortId port = PortId::none();
    uint32_t count = 0;
  } reading_;  // in this poll, from this port
};

}  // namespace eddy
