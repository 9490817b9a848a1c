// Waiting: a packet whose path is warned may go round a loop and be looked at again, when the path
// that it would take instead is slower by more than a round takes. Beside the loop a flow may
// drain: it waits until what was sent before it has arrived, so that it may take a quicker path in
// order. Here is what RLB and the loop say to each other, and the limits.
//
// The loop belongs to the data plane (switch/dataplane/pipeline/recirculation.h), which hands it to
// the selector through PathView. The selector fills in a Trip and reads it when the packet is back.
// The rest are pure functions. Owner: the shard. Cost: a call for each packet that is worth holding
// back, none for others. Source: reference B.7 to B.10; RLB paper, section 3.4.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lb/path_set.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy::lb {

inline constexpr MemberIndex kWait = 0xFF;  // instead of a member: goes round

// What a packet that goes round takes along.
struct Trip {
  Duration allowance;      // by how much the other path was slower at first
  Duration spent;          // in the loop, all rounds
  uint16_t set = 0;        // its path set
  MemberIndex member = 0;  // that it waits for
  MemberIndex other = 0;   // the other path
  uint8_t rounds = 0;      // begun
  bool drains = false;     // this wait is not a round: the order guard wants the flow's path empty
  Duration drained;        // waited so, all in all
};

class WaitingRoom {
 public:
  // Of a packet's flow.
  struct Company {
    bool waits = false;          // the packet is now behind them
    MemberIndex member = kWait;  // or: they have just left by this member
  };

  virtual ~WaitingRoom() = default;
  bool occupied() const { return occupants_ != 0; }
  // A bit in both of its words for each flow that came in since the room was empty; by its hash.
  struct Guests {
    static constexpr uint64_t kBits = 63;
    static constexpr int kShift = 6;  // of the hash, for the second
    uint64_t one = 0;
    uint64_t other = 0;

    // Either may be another flow's.
    bool may_be(uint64_t hash) const {
      return ((one >> (hash & kBits) & other >> (hash >> kShift & kBits)) & 1) != 0;
    }
    void add(uint64_t hash) {
      one |= uint64_t{1} << (hash & kBits);
      other |= uint64_t{1} << (hash >> kShift & kBits);
    }
    bool operator==(const Guests&) const = default;
  };
  // No packet of its flow is inside, for sure, or it would be there since the room was empty last.
  bool is_strange(const Packet& packet) const { return is_strange(packet, guests()); }
  // The same for a loop over a burst: what guests() said holds until something enters or leaves.
  Guests guests() const { return occupants_ == 0 ? Guests{} : guests_; }
  static bool is_strange(const Packet& packet, const Guests& guests) {
    return !guests.may_be(packet.order_hash);
  }
  // What a round that begins now takes; and what none takes less than.
  virtual Duration round(Instant now) const = 0;
  Duration shortest_round() const { return shortest_round_; }
  // Rounds that a packet of this ingress port and PG may make in all; 0: there is no room for it.
  virtual uint32_t rounds_left(const Packet& packet, Instant now) = 0;
  // The packet, with its flow, may wait until what went before them has arrived.
  virtual bool lets_drain(const Packet&) const { return false; }
  virtual void enter(Packet* packet, const Trip& trip) = 0;
  // Where packets of its flow are inside: behind them, or after they had to leave for its sake.
  virtual Company join(Packet* packet) = 0;

 protected:
  // One more packet inside.
  void count_in(const Packet& packet) {
    if (occupants_++ == 0) guests_ = {};
    guests_.add(packet.order_hash);
  }
  uint32_t occupants_ = 0;   // packets inside
  Duration shortest_round_;  // not below zero

 private:
  Guests guests_;
};

// What limits the rounds of a packet (N_rc): `queue` of its ingress PG grows by `slope` octets a
// millisecond towards `xoff`.
struct Crowding {
  int64_t queue = 0;
  int64_t xoff = 0;
  int64_t slope = 0;
};

// Rounds that fit before the PG pauses its sender. Source: reference B.9.
constexpr uint32_t rounds_that_fit(const Crowding& crowding, Duration round, uint32_t most) {
  const int64_t left = crowding.xoff - crowding.queue;
  if (left <= 0) return 0;
  if (crowding.slope <= 0 || round <= Duration{}) return most;
  constexpr int64_t kMillisecond = 1'000'000'000;  // ps
  const __int128 rounds = static_cast<__int128>(left) * kMillisecond /
                          (static_cast<__int128>(crowding.slope) * round.ps());
  return static_cast<uint32_t>(std::min<__int128>(rounds, most));
}

// Packets that may be held back without the PG pausing its sender within a round.
constexpr uint32_t packets_that_fit(const Crowding& crowding, Duration round, int64_t packet) {
  constexpr int64_t kMillisecond = 1'000'000'000;
  const __int128 growth =
      static_cast<__int128>(std::max<int64_t>(crowding.slope, 0)) * round.ps() / kMillisecond;
  const __int128 left = static_cast<__int128>(crowding.xoff - crowding.queue) - growth;
  return left <= 0 ? 0 : static_cast<uint32_t>(std::min<__int128>(left / packet, UINT32_MAX));
}

// What a round takes behind `queue` octets.
constexpr Duration round_behind(Bytes queue, const LineRate& rate, Duration latency) {
  return latency + rate.time_of(queue);
}

}  // namespace eddy::lb
