// Recirculation: the loop in which packets wait for a warned path, by rounds of fixed latency at a
// limited rate.
//
// A packet that goes round is in an rte_ring until its round is over. Then the selector looks at it
// again, before any fresh packet. Later packets of its flow wait beside the ring and leave right
// after it, by the same path; so a round holds one packet of each flow, however many follow it.
// Their octets stay charged to their ingress PG. With follow_release: loop the later packets go
// round themselves, as in a hardware switch: each leaves by that path when it is back and no
// earlier one is inside, and each packet that comes meanwhile joins them, so that a flow may stay
// in the loop although no path is warned any more. When the loop, the share of an ingress port, or
// the followers of a flow are at their limit, the flow leaves at once, in order. All flows leave
// when a path of their set appears or goes, or when a new snapshot comes. A flow that drains
// (waiting.h) waits beside the line, in a room of its own, and is looked at once a round. Owner:
// the shard. Bounds: kTrips rounds and the plan's octets; memory is taken at construction. Cost:
// nothing while it is empty; about two look-ups a round for a packet that goes round. Source:
// reference B.7, B.9, B.10; docs/adr/0010.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/rlb.h"
#include "lb/packet_fifo.h"
#include "lb/waiting.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "pfc/predictor.h"
#include "switch/dataplane/paths/failure_detector.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/delay_histogram.h"
#include "switch/dataplane/state/shard_context.h"
#include "switch/dataplane/state/spsc_ring.h"
#include "switch/dataplane/state/status.h"

namespace eddy {

class Forwarder;

// Of a snapshot.
struct RecirculationPlan {
  config::RecirculationConfig config;
  bool enabled = false;
  bool follows = true;  // a flow's packets wait behind each other
  bool loops = false;   // each by rounds of its own
  LineRate rate;
  int64_t most_octets = 0;       // in the loop
  int64_t most_port_octets = 0;  // of them, of one ingress port
  int64_t most_drained = 0;      // octets of flows that drain
  int64_t most_port_drained = 0;

  static RecirculationPlan of(const Snapshot& snapshot);
};

class Recirculation final : public lb::WaitingRoom {
 public:
  static constexpr size_t kTrips = 256;
  static constexpr int64_t kLeastCap = 128 * 1'024;

  struct Services {
    IngressBuffer& buffer;
    pfc::Predictor& predictor;
    FailureDetector& failures;
  };
  Recirculation(ShardContext& context, const Services& services, size_t ports);
  void connect(Forwarder& forwarder) { forwarder_ = &forwarder; }

  Duration round(Instant now) const override {
    return plan_.config.latency + std::max(busy_until_ - now, Duration{});
  }
  uint32_t rounds_left(const Packet& packet, Instant now) override;
  // The same as it would be found out now, without keeping it; and whether packets of the flow are
  // inside. For reports.
  uint32_t rounds_foreseen(const Packet& packet, Instant now) const;
  bool holds_flow_of(const Packet& packet) const { return find(packet) != kNone; }
  bool lets_drain(const Packet& packet) const override;
  void enter(Packet* packet, const lb::Trip& trip) override;
  Company join(Packet* packet) override;

  void on_timers();
  void rebase(const Rebase& rebase);
  // Everything leaves, in order.
  void release_all();
  // So it does, by the routes of the new snapshot, which is in force.
  void adopt(const Snapshot& now);
  uint64_t held() const { return occupants_; }
  const DelayHistogram& delays() const { return delays_; }
  LoopUse use() const;

 private:
  static constexpr unsigned kRing = 4 * kTrips;
  using TripIndex = uint16_t;
  static constexpr TripIndex kNone = UINT16_MAX;
  static constexpr size_t kBuckets = 256;

  struct Occupant {
    Packet* packet = nullptr;  // null: the place is free
    lb::Trip trip;
    Instant entered;                     // this round
    PacketFifo followers;                // of its flow
    uint32_t number = 0;                 // of its rounds
    uint64_t order = 0;                  // of entering
    bool behind = false;                 // loops: others of its flow came first
    lb::MemberIndex pinned = lb::kWait;  // loops: by which they left
    TripIndex next = kNone;              // free places, or places in a bucket
  };
  struct Round {  // in the ring
    Instant due;
    uint32_t place;
    uint32_t number;  // of the round; another: the place has a new occupant
  };
  // What waits, and may.
  struct Room {
    explicit Room(size_t ports) : of_port(ports) {}
    bool fits(const Packet& packet) const {
      return octets + packet.wire_len <= most &&
             of_port[packet.ingress_port.index()] + packet.wire_len <= most_of_port;
    }
    void add(const Packet& packet) {
      octets += packet.wire_len;
      of_port[packet.ingress_port.index()] += packet.wire_len;
    }
    void remove(const Packet& packet) {
      octets -= packet.wire_len;
      of_port[packet.ingress_port.index()] -= packet.wire_len;
    }
    int64_t octets = 0;
    int64_t most = 0;
    int64_t most_of_port = 0;
    std::vector<int64_t> of_port;
  };
  struct Limit {  // of an ingress (port, PG)
    Instant until;
    uint32_t rounds = 0;
  };

  // The next occupant's; kNone: all are taken.
  TripIndex free_place() const {
    if (free_ != kNone) return free_;
    return used_ < kTrips ? static_cast<TripIndex>(used_) : kNone;
  }
  static size_t bucket_of(uint64_t flow) { return flow >> 20 & (kBuckets - 1); }
  TripIndex find(const Packet& packet) const;
  void begin_round(TripIndex place);
  void next_round();
  void follow_timer();
  void come_back(TripIndex place);
  lb::MemberIndex let_out(TripIndex place);
  lb::MemberIndex choose_now(TripIndex place);
  // Loops: the occupant of the packet's flow that entered first; kNone: there is none.
  TripIndex first_of_flow(uint64_t flow) const;
  Company join_loop(Packet* packet);
  void pin_flow(const Packet& packet, lb::MemberIndex member);
  void leave_behind(TripIndex place);
  void count_round(const Occupant& occupant);
  // The occupant and its followers leave by `member`.
  void leave(TripIndex place, lb::MemberIndex member);
  PacketFifo vacate(TripIndex place);
  void drop_all(TripIndex place, DropReason reason);
  void send(Packet* packet);
  void flush();
  Room& room_of(const lb::Trip& trip) { return trip.drains ? drain_ : loop_; }
  bool takes(const Packet& packet, bool inside, const Room& room) const;
  void note_wait(Occupant& occupant) const;
  void change_rooms(const Occupant& occupant, Room& from);
  uint32_t measured_limit(const Packet& packet, Instant now) const;

  ShardContext& context_;
  IngressBuffer& buffer_;
  pfc::Predictor& predictor_;
  FailureDetector& failures_;
  Forwarder* forwarder_ = nullptr;
  RecirculationPlan plan_;
  Instant busy_until_;  // the loop's line
  Room loop_;
  Room drain_;
  Reserved<Limit> limits_;  // by (port, PG)
  Reserved<Occupant> places_;
  size_t used_ = 0;                 // of places_; those behind have never been written
  std::vector<TripIndex> buckets_;  // occupants by flow
  TripIndex free_ = kNone;          // of those in front
  uint64_t entered_ = 0;            // packets so far
  SpscRing<Round, kRing> ring_;
  std::optional<Round> front_;  // taken out, not due yet
  std::array<Packet*, kBurst> leaving_;
  size_t leaving_count_ = 0;
  DelayHistogram delays_;
  uint32_t rounds_made_ = 0;  // by a packet, the most since the snapshot came
};

}  // namespace eddy
