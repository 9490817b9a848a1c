// Selector: picks a member of a path set for each packet of a burst. One instance a shard; it owns
// its state.
//
// The data plane makes one virtual call a burst. Behind it stands a scheme: a class that satisfies
// PathScheme, asked in three steps so that a wrapper can stand between:
//   propose      what the scheme would choose; no lasting effect
//   alternative  its next best member outside `tried`
//   commit       what was really used: flowlet entry, flowcell bytes, memory
// All state is allocated at construction. No clock, no hidden randomness: the stream is handed in.
// Contract: Packet::next_hop is resolved to a set index by the caller and lies in Choice::set; only
// live members are chosen; the live mask is never empty. Source: architecture, section 5.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "lb/path_set.h"
#include "lb/path_view.h"
#include "net/packet.h"
#include "net/rebase.h"

namespace eddy::lb {

// A scheme's own table of flows or flowlets; 0: it keeps none.
struct FlowTableUse {
  size_t places = 0;
  size_t used = 0;  // of those that were asked about
};

class Selector {
 public:
  virtual ~Selector() = default;
  // For each packet: reads set_of[i] (index of its path set) and writes Packet::member, egress_port
  // and path. A packet that goes round PathView::loop() is in there then: PathView::away().
  virtual void select(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of) = 0;
  // For a packet back from the loop: as select(), and what it returns; kWait: round again.
  virtual MemberIndex again(const PathView& view, Packet& packet, uint16_t set, Trip& trip) = 0;
  // The packet takes the member, right behind one of its flow.
  virtual void follow(const PathView& view, Packet& packet, uint16_t set, MemberIndex member) = 0;
  // Asks about the places [from, from + count), both multiples of 4. For reports.
  virtual FlowTableUse flow_table(Instant now, size_t from, size_t count) = 0;
  // Between two polls.
  virtual void rebase(const Rebase& rebase) = 0;
};

// clang-format off
template <class S>
concept PathScheme = requires(S scheme, const PathView& view, const Packet& packet, uint16_t set,
                              MemberMask tried, MemberIndex member) {
  { scheme.propose(view, packet, set) } -> std::same_as<MemberIndex>;
  { scheme.alternative(view, packet, set, tried) } -> std::same_as<MemberIndex>;  // tried != live
  { scheme.commit(view, packet, set, member) } -> std::same_as<void>;
};
template <class S>
concept PreparesBurst = requires(S scheme, const PathView& view, std::span<Packet* const> burst) {
  scheme.prepare(view, burst);
};
template <class S>
concept KeepsFlows = requires(S scheme, Instant now, size_t from, size_t count) {
  { scheme.flow_table(now, from, count) } -> std::same_as<FlowTableUse>;
};
template <class S>
concept KeepsTime = requires(S scheme, const Rebase& rebase) {
  scheme.rebase(rebase);
};
// clang-format on

// A scheme, wrapped, whose propose() may answer kWait.
template <class S>
concept MayWait = requires(S scheme, const PathView& view, const Packet& packet, uint16_t set,
                           MemberIndex member, Trip trip) {
  { scheme.rests() } -> std::same_as<bool>;
  scheme.inner();
  { scheme.trip() } -> std::same_as<const Trip&>;
  { scheme.again(view, packet, set, trip) } -> std::same_as<MemberIndex>;
  { scheme.follow(view, packet, set, member) } -> std::same_as<void>;
};

}  // namespace eddy::lb
