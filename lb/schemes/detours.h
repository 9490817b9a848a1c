// Detours: what schemes share that choose between the shortest paths and longer ones, where a
// packet enters the fabric.
//
// A flowlet, or a packet, gets a member by Rule::choose(); a flow keeps it until it has been silent
// for longer than `gap`. A packet that has a shim has entered the fabric elsewhere: it goes on by
// one of the shortest paths, by its hash. So does each packet of a set that has no detours that
// live. Owner: the selector's shard. Octets: 8 a set, 256 buckets a set; 16 a flow, by flowlet
// only. Cost: a bucket on the way; at the source a line of the flow table, and Rule::choose() for a
// flowlet's first packet. Source: reference A.16.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lb/buckets.h"
#include "lb/draws.h"
#include "lb/flow_table.h"
#include "lb/flowlets.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {

// What lives of a set, in two.
struct Ways {
  MemberMask shortest = 0;
  MemberMask detours = 0;
};

enum class DetourGranularity : uint8_t { packet, flowlet };
inline constexpr std::array<std::string_view, 2> kDetourGranularityNames = {"packet", "flowlet"};

inline constexpr Duration kDetourGap = Duration::microseconds(50);
inline constexpr int64_t kDetourFlows = 65'536;

// The parameters that every rule has, of its struct P.
template <class P>
constexpr auto detour_parameters() {
  using namespace literals;
  return std::array{
      choice<&P::granularity>(
          "granularity", kDetourGranularityNames,
          {"what is sent by one path: each packet, or each flowlet", "reference A.16"}),
      ranged<&P::gap>("gap", 1_us, 10_s,
                      {"granularity: flowlet: a flow that was silent for longer is sent anew",
                       "reference A.5: for RoCE"}),
      ranged<&P::flows>("flows", 64, 16'777'216,
                        {"granularity: flowlet: flows remembered, 16 octets each; the least recent "
                         "is forgotten first",
                         "our choice"})};
}

// Rule: Parameters, and
//   Rule(const SelectorInit&, const Parameters&)
//   choose(view, packet, set, ways, word): a member of ways, neither of which is empty; `word` is
//   64 random bits.
template <class Rule>
class DetourScheme {
 public:
  static constexpr bool kPromisesOrder = false;
  static constexpr Grouped kGrouped = {.channels = 3, .detours = true};
  using Parameters = typename Rule::Parameters;
  using Flows = FlowTable<Flowlet>;
  struct Token {
    Flows::Place place = Flows::kNowhere;  // of the packet's flow
  };

  DetourScheme(const SelectorInit& init, const Parameters& parameters)
      : rule_(init, parameters),
        by_packet_(parameters.granularity == DetourGranularity::packet),
        gap_(static_cast<uint64_t>(parameters.gap.ps())),
        draws_(stream_of(init)),
        hashed_(init.sets, {.buckets = kEcmpBuckets,
                            .share = BucketShare::equal,
                            .seed = seed_of(init.seed, init.switch_id)}),
        flows_(by_packet_ ? 0 : static_cast<size_t>(parameters.flows)) {
    for (const PathSet& set : init.sets) detours_.push_back(detours_of(set));
  }

  void prepare(const PathView&, std::span<Packet* const> burst) const {
    if (by_packet_) return;
    for (const Packet* packet : burst)
      if (!is_on_its_way(*packet)) flows_.prefetch(packet->order_hash);
  }

  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const MemberMask live = view.live(set);
    if (is_on_its_way(packet)) return {by_hash(packet, set, live)};
    const Token token{by_packet_ ? Flows::kNowhere : flows_.place_of(packet.order_hash)};
    const Flowlet* last = by_packet_ ? nullptr : flows_.at(packet.order_hash, token.place);
    if (last != nullptr && last->drawn_by(set) && contains(live, last->member()) &&
        last->age(stamp_of(view)) <= gap_)
      return {last->member(), token};
    const uint64_t word = mix64(draws_.peek());
    const Ways ways = ways_of(set, live);
    if (ways.shortest == 0 || ways.detours == 0)
      return {random_of(live, static_cast<uint32_t>(word >> 32)), token};
    return {rule_.choose(view, packet, set, ways, word), token};
  }

  Reason reason(const PathView& view, const Packet& packet, uint16_t set,
                MemberIndex member) const {
    if (is_on_its_way(packet)) return Reason::hash;
    if (by_packet_) return Reason::packet;
    const Flowlet* last = flows_.at(packet.order_hash, flows_.place_of(packet.order_hash));
    const bool young = last != nullptr && last->drawn_by(set) &&
                       last->age(stamp_of(view)) <= gap_ && last->member() == member;
    return young ? Reason::keeps : Reason::begins;
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return by_hash(packet, set, view.live(set) & ~tried);
  }

  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token& token) {
    if (is_on_its_way(packet)) return;
    draws_.take(true);
    if (by_packet_) return;
    flows_.touch(packet.order_hash, token.place) = Flowlet(member, set, stamp_of(view));
  }

  FlowTableUse flow_table(Instant, size_t from, size_t count) const {
    return {flows_.capacity(), flows_.used(from, count)};
  }
  const BucketTable* ecmp_table() const { return &hashed_; }

 private:
  static bool is_on_its_way(const Packet& packet) { return packet.has(kPacketShim); }
  static uint64_t stamp_of(const PathView& view) { return static_cast<uint64_t>(view.now().ps()); }
  Ways ways_of(uint16_t set, MemberMask live) const {
    return {live & ~detours_[set], live & detours_[set]};
  }
  MemberIndex by_hash(const Packet& packet, uint16_t set, MemberMask among) const {
    const MemberMask shortest = ways_of(set, among).shortest;
    return hashed_.pick(set, packet.balance_hash, shortest != 0 ? shortest : among);
  }

  Rule rule_;
  bool by_packet_;
  uint64_t gap_;  // in picoseconds
  Draws draws_;
  BucketTable hashed_;
  std::vector<MemberMask> detours_;  // by set
  Flows flows_;
};

}  // namespace eddy::lb
