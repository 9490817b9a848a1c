// Selector: picks a member of a path set for each packet of a burst. One instance a shard; it owns
// its state.
//
// The data plane makes one virtual call a burst. Behind it stands a scheme: a class that satisfies
// PathScheme, asked in three steps so that a wrapper can stand between:
//   propose      what the scheme would choose, and a token; no lasting effect
//   alternative  its next best member outside `tried`; no lasting effect
//   commit       what was really used, and the token: flowlet entry, flowcell bytes, memory
// What commit wants to know of the proposal is in the token, which whoever asks carries from one to
// the other; a scheme keeps nothing of a proposal. So several may ask the same scheme, and a
// wrapper may stand around a wrapper. A token is good for the packet that it was made for, at the
// view's instant, until the next commit; it may hold pointers into the scheme. A choice between
// equals that propose tells of (PathView::report_tie) is told to the view that it was asked with.
// All state is allocated at construction. No clock, no hidden randomness: the stream is handed in.
// Contract: Packet::next_hop is resolved to a set index by the caller and lies in Choice::set; only
// live members are chosen; the live mask is never empty. Source: architecture, section 5.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "lb/buckets.h"
#include "lb/flow_lines.h"
#include "lb/flow_slots.h"
#include "lb/flow_stage.h"
#include "lb/path_set.h"
#include "lb/path_view.h"
#include "lb/preview.h"
#include "net/packet.h"
#include "net/rebase.h"

namespace eddy::lb {

// A scheme's own table of flows or flowlets; 0: it keeps none.
struct FlowTableUse {
  size_t places = 0;
  size_t used = 0;  // of those that were asked about
  // Of these, where the scheme tells them apart (`phased`): flows that wait for an answer of their
  // path, and flows whose old path has not been proven empty since they left it.
  bool phased = false;
  size_t asking = 0;
  size_t moved = 0;
};

// What a scheme itself knows of a path, beside what is measured for all. What it does not know is
// absent. For reports.
struct PathKnowledge {
  std::optional<bool> best;            // the next hop of what begins now
  std::optional<uint8_t> utilisation;  // of its fullest link, as others told; 255: full
  std::optional<Duration> age;         // since they did
  std::optional<Duration> busy;        // for so long nothing moves there; 0: it may
};

class PathAgent;

class Selector {
 public:
  virtual ~Selector() = default;
  // For each packet: reads set_of[i] (index of its path set) and writes Packet::member, egress_port
  // and path. A packet that goes round PathView::loop() is in there then: PathView::away().
  virtual void select(const PathView& view, std::span<Packet* const> burst,
                      std::span<const uint16_t> set_of) = 0;
  // Most of a burst will come to select() soon: what it reads of their flows is fetched meanwhile.
  // Who has asked for flow_lines() of each packet has done so already.
  virtual void expect(std::span<Packet* const>) {}
  const FlowLines& flow_lines() const { return flow_lines_; }
  // For a packet back from the loop: as select(), and what it returns; kWait: round again.
  virtual MemberIndex again(const PathView& view, Packet& packet, uint16_t set, Trip& trip) = 0;
  // The packet takes the member, right behind one of its flow.
  virtual void follow(const PathView& view, Packet& packet, uint16_t set, MemberIndex member) = 0;
  // Asks about the places [from, from + count), both multiples of 4. For reports.
  virtual FlowTableUse flow_table(Instant now, size_t from, size_t count) = 0;
  // What select() would do with the packet, if it came now and alone: no draw is taken, no flow
  // touched, and the view tells nobody. Its loop is asked for room, and nothing enters it. For
  // reports.
  virtual Preview preview(const PathView&, Packet& /*packet*/, uint16_t /*set*/) { return {}; }
  // For reports.
  virtual PathKnowledge knowledge(Instant, uint16_t /*set*/, MemberIndex) { return {}; }
  // Where the scheme keeps its flowlets; null: it keeps none there.
  virtual std::shared_ptr<FlowSlots> flow_slots() { return nullptr; }
  // What of it speaks to other switches, and lives as long; null: nothing does.
  virtual PathAgent* agent() { return nullptr; }
  // A stage of the scheme's own for the place (lb/flow_stage.h); null: it has none there.
  virtual FlowStage* stage(StagePlace place) = 0;
  // Between two polls; of its agent, too.
  virtual void rebase(const Rebase& rebase) = 0;

 protected:
  FlowLines flow_lines_;
};

// What a scheme proposes, and what its commit() takes back.
template <class Token>
struct Proposal {
  MemberIndex member;
  [[no_unique_address]] Token token{};
};

// Of a scheme whose commit() has nothing to ask of its propose().
struct NoToken {};

// clang-format off
template <class S>
concept PathScheme = requires(S scheme, const PathView& view, const Packet& packet, uint16_t set,
                              MemberIndex member, const typename S::Token& token) {
  { scheme.propose(view, packet, set) } -> std::same_as<Proposal<typename S::Token>>;
  // A mask of members that were tried, not of all that live.
  { scheme.alternative(view, packet, set, MemberMask{}) } -> std::same_as<MemberIndex>;
  { scheme.commit(view, packet, set, member, token) } -> std::same_as<void>;
};
template <class S>
concept ExpectsBurst = requires(S scheme, std::span<Packet* const> burst) {
  scheme.expect(burst);
};
template <class S>
concept HasFlowLines = requires(const S scheme) {
  { scheme.flow_lines() } -> std::same_as<FlowLines>;
};
template <class S>
concept PreparesBurst = requires(S scheme, const PathView& view, std::span<Packet* const> burst) {
  scheme.prepare(view, burst);
};
template <class S>
concept SelectsBurst = requires(S scheme, const PathView& view, std::span<Packet* const> burst,
                                std::span<const uint16_t> set_of, const ByEcmp& control) {
  { scheme.select_burst(view, burst, set_of, control) } -> std::same_as<void>;
};
template <class S>
concept KeepsFlows = requires(S scheme, Instant now, size_t from, size_t count) {
  { scheme.flow_table(now, from, count) } -> std::same_as<FlowTableUse>;
};
template <class S>
concept KnowsPaths = requires(const S scheme, Instant now, uint16_t set, MemberIndex member) {
  { scheme.knowledge(now, set, member) } -> std::same_as<PathKnowledge>;
};
// prepare() or propose() keeps what it looked at for later packets, other than for the burst: what
// would be written for the set and can be put back.
template <class S>
concept Remembers = requires(S scheme, const PathView& view, uint16_t set) {
  scheme.put_back(view, set, scheme.memory(view, set));
};
// Says why it proposes a member.
template <class S>
concept GivesReasons = requires(const S scheme, const PathView& view, const Packet& packet,
                                uint16_t set, MemberIndex member) {
  { scheme.reason(view, packet, set, member) } -> std::same_as<Reason>;
};
template <class S>
concept KeepsTime = requires(S scheme, const Rebase& rebase) {
  scheme.rebase(rebase);
};
template <class S>
concept HasStages = requires(S scheme, StagePlace place) {
  { scheme.stage(place) } -> std::convertible_to<FlowStage*>;
};
// A wrapper that has nothing to say of any packet since prepare(): inner() decides alone.
template <class S>
concept MayRest = requires(S scheme) {
  { scheme.rests() } -> std::same_as<bool>;
  scheme.inner();
};
// A scheme, wrapped, that may propose kWait. Of such a packet there is no commit(), but wait() says
// what it takes along; again() is propose() for one that is back; follow() makes the token for one
// that goes right behind another of its flow. A wrapper that does not wait may have follow(), too,
// so that a scheme without tokens is not asked.
template <class S>
concept MayWait = PathScheme<S> && requires(S scheme, const PathView& view, const Packet& packet,
                                            uint16_t set, MemberIndex member,
                                            const typename S::Token& token) {
  { scheme.wait(view, set, token) } -> std::same_as<Trip>;
  { scheme.again(view, packet, set, Trip{}) } -> std::same_as<Proposal<typename S::Token>>;
  { scheme.follow(view, packet, set, member) } -> std::same_as<typename S::Token>;
};
// clang-format on

// The packet takes the member of its set.
inline void assign(Packet& packet, const PathSet& set, MemberIndex member) {
  const PathMember& chosen = set.members[member];
  packet.member = member;
  static_assert(offsetof(Packet, path) == offsetof(Packet, egress_port) + sizeof(PortId) &&
                offsetof(PathMember, path) == offsetof(PathMember, port) + sizeof(PortId));
  std::memcpy(&packet.egress_port, &chosen.port, sizeof(PortId) + sizeof(PathId));
}

// The token for a packet whose member is not up to the scheme. A tie that it tells of is unheard:
// nothing was chosen.
template <PathScheme Scheme>
typename Scheme::Token token_for(Scheme& scheme, const PathView& view, const Packet& packet,
                                 uint16_t set, [[maybe_unused]] MemberIndex member) {
  if constexpr (requires { scheme.follow(view, packet, set, member); }) {
    return scheme.follow(view, packet, set, member);
  } else if constexpr (std::is_empty_v<typename Scheme::Token>) {
    return {};
  } else {
    const PathView unheard = view;
    return scheme.propose(unheard, packet, set).token;
  }
}

}  // namespace eddy::lb
