// PathAgent: the part of a path selection scheme that speaks to other switches. It has timers and
// frames of its own, writes fields of the shim, and hears what is told of paths and flows.
//
// One agent a shard, beside the shard's selector or as a part of it. It is asked in bursts: one
// virtual call a burst, and none for what its Speech does not declare. What it may do it gets as a
// Voice, during a call only. Frames may be lost, doubled, reordered, late or forged by whoever
// reaches a fabric port; an agent believes nothing that changes where packets go without a limit in
// time, and counts what it knows to be old (Voice::disbelieve).
// Who hears on which shard: arrivals at the shard of the port by which they came; feedback at the
// shard of the path's port, which alone writes the path's record; replies at the shard of the
// host's port, which chooses for the flow; frames at every shard, first where they came in; waits
// at the shard of the port that is stopped. Units: Instants are the switch's; times on the wire are
// nanoseconds modulo 2^32. Pure: no clock, no allocation after construction. Source: docs/adr/0025;
// reference 1.6 to 1.8.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>

#include "lb/path_set.h"
#include "lb/path_table.h"
#include "lb/path_view.h"
#include "lb/selector_init.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "net/units.h"

namespace eddy::lb {

constexpr uint16_t kind_bit(ShimKind kind) {
  return static_cast<uint16_t>(1u << static_cast<unsigned>(kind));
}

// Fields of a data packet's shim that a source leaf's agent may write, as bits.
enum ShimField : uint8_t {
  kFieldReport = 1 << 0,    // feedback path and its load
  kFieldEpoch = 1 << 1,     // 2 bits
  kFieldTail = 1 << 2,      // the flags TAIL and REROUTED, and when the tail was sent
  kFieldDelay = 1 << 3,     // tolerable delay
  kFieldChannel = 1 << 4,   // virtual channel, 2 bits
  kFieldSequence = 1 << 5,  // the packet's number in its flow; not beside kFieldDelay
};

// What is told of a path of ours, as bits.
enum FeedbackKind : uint8_t {
  kFeedbackLoad = 1 << 0,   // value: the most utilised link, 0..255
  kFeedbackMarks = 1 << 1,  // value: packets << 8 | marked ones among them
  kFeedbackDelay = 1 << 2,  // value: a sample in ns, in the metric of PathTable
};

// What a scheme or agent says and wants to hear. What is not declared here costs nothing and is
// not allowed.
struct Speech {
  ShimNeed shim = ShimNeed::none;  // packets to other leaves get one
  bool probes_idle = false;        // paths that nobody uses are measured by probes
  bool timers = false;             // next_deadline(), on_timers()
  uint8_t fields = 0;              // ShimField, written by dress()
  bool arrivals = false;           // arrived()
  uint8_t feedback = 0;            // FeedbackKind, on_feedback()
  uint16_t makes = 0;              // frames, as kind_bit()s
  uint16_t hears = 0;              // frames for this switch: on_frames()
  uint16_t overhears = 0;          // the same frames on their way to another leaf
  bool replies = false;            // on_replies()
  bool waits = false;              // tolerable delays count down, sojourns are timed; on_waits()
  bool pauses = false;             // hosts are paused: Voice::pause_host()
  uint8_t line_percent = 10;       // of its line that a port gives to frames of the agent, at most

  // There is something to be called for.
  constexpr bool has_calls() const {
    return timers || fields != 0 || arrivals || feedback != 0 || (hears | overhears) != 0 ||
           replies || waits;
  }
};

// Fields for the shim of one packet; `written` says which.
struct ShimFields {
  uint8_t written = 0;  // ShimField
  uint8_t report_place = 0;
  uint8_t report_load = 0;
  uint8_t epoch = 0;
  PathId report_path;
  uint16_t tolerable_delay = kShimUnlimitedDelay;  // in units of 64 ns
  uint16_t sequence = kShimUnnumbered;
  uint8_t virtual_channel = 0;
  bool tail = false;
  bool rerouted = false;
  uint32_t tail_sent_ns = 0;
};

// What an agent says in nearly every shim, as one number: octets 12 to 15 of the shim, of which it
// has the epoch and one of the tolerable delay and the sequence number.
inline constexpr uint32_t kNothingBrief = kShimUnlimitedDelay;
constexpr uint32_t brief_epoch(unsigned epoch) {
  return (epoch & 3) << 24 | kNothingBrief;
}
constexpr uint32_t brief_delay(uint16_t units) {
  return units;
}
constexpr uint32_t brief_sequence(uint16_t number) {
  return number;
}
// The bits of these that an agent with such fields may write.
constexpr uint32_t brief_bits(unsigned fields) {
  return ((fields & kFieldEpoch) != 0 ? uint32_t{3} << 24 : 0) |
         ((fields & (kFieldDelay | kFieldSequence)) != 0 ? uint32_t{0xffff} : 0);
}

// A host's packet that leaves by one of our paths (Packet::member of `set`) with a shim.
struct Dressing {
  Packet* packet = nullptr;  // to look at; its note is what the selector of its shard left there
  uint16_t set = 0;
  bool may_report = false;  // no echo takes the place of a report
  ShimFields fields;        // the agent's answer
};

// A shim that came in for this leaf, by a data packet or a probe.
struct Arrival {
  const Packet* packet = nullptr;
  uint16_t set = 0;    // that leads back to where it came from
  uint8_t place = 0;   // its path's, among those from that leaf: below places_of() of the set
  bool fresh = false;  // which another path had before, or none
  Shim shim;
};

// How many paths from a set's leaf are told apart.
constexpr uint32_t places_of(const PathSet& set) {
  return std::bit_ceil(static_cast<uint32_t>(set.count));
}

struct PathKey {
  uint16_t set = 0;
  MemberIndex member = 0;
};

// What another leaf tells of a path of ours.
struct Feedback {
  FeedbackKind kind{};
  PathKey key;
  uint32_t value = 0;
  Instant heard_at;  // on whichever shard
};

// A frame of another switch's agent.
struct HeardFrame {
  ShimControl message;
  PortId port;         // by which it came
  bool here = true;    // this shard's; the others hear it, too, and leave answers to this one
  bool for_us = true;  // else it is on its way to another leaf
  bool stops = false;  // the answer: it does not go on. Only where `here` and not `for_us`
};

// RoCE's answer to a host of ours, on its last hop.
struct Reply {
  enum class Kind : uint8_t { ack, nak, cnp };
  const Packet* packet = nullptr;
  uint64_t flow = 0;  // order hash of the data that it answers; 0: it is not known
  uint32_t psn = 0;   // 24 bits; of a CNP 0
  Kind kind{};
  bool ecn_echo = false;
};

// A data packet between two other leaves, with a tolerable delay, has come to a queue that PFC
// stops.
struct Waiting {
  PortId port;
  QueueId queue;
  LeafId source;
  LeafId destination;
  PathId path;                   // as its source leaf names it
  uint16_t tolerable_delay = 0;  // what is left of it, in units of 64 ns
  uint64_t ahead = 0;            // octets that are sent before it
};

// A frame to be sent. The host fills in who sends it, its time, and for a path where it leads.
struct Utterance {
  ShimControl message;
  bool by_path = true;
  PathKey path;  // by_path: it goes to the set's leaf by this member
  PortId port;   // else: as it is, out of this port
};

class Voice {
 public:
  virtual ~Voice() = default;
  // As selectors see the switch now.
  virtual PathView view() = 0;
  virtual LeafId leaf() const = 0;  // none: the switch is no leaf
  virtual PathTable* paths() = 0;   // null: no path is measured
  // The set to the leaf, which other leaves' reports are about; nothing else leads there.
  virtual bool is_own_set(uint16_t set) const = 0;
  // The path's port is this shard's, which alone writes its record.
  virtual bool owns(PathKey path) const = 0;
  // A detector would let the path back in if it answered.
  virtual bool wants_answer(PathKey path) const = 0;
  // What is stamped now proves arrivals. With several shards that takes the others' word: once they
  // are woken it does, after proof_lag() at most.
  virtual bool stamps_prove() const = 0;
  virtual void wake_others() = 0;
  virtual Duration proof_lag() const = 0;
  // False: not sent, and counted, unless the port is down or its peer unknown. The path's record is
  // stamped by a probe, and only by this shard where it owns the path.
  virtual bool send(const Utterance& utterance) = 0;
  // PFC stops what the host sends of the priority group, until it is taken back or the agent goes:
  // whoever says so sees to it that it ends. False: the port has no PFC of ours, or no host.
  virtual bool pause_host(PortId, PriorityGroupId, bool /*on*/) { return false; }
  // Of a frame that was heard: it is old, repeated or of no flow that is known.
  virtual void disbelieve(PortId port) = 0;
};

class LoadReports;

class PathAgent {
 public:
  explicit PathAgent(const Speech& speech) : speech_(speech) {}
  virtual ~PathAgent() = default;
  const Speech& speech() const { return speech_; }

  // When on_timers() wants to be called; read at the end of each poll.
  virtual Instant next_deadline() const { return Instant::never(); }
  virtual void on_timers(Voice&) {}
  virtual void dress(Voice&, std::span<Dressing>) {}
  // The same at less expense, of a burst that is on its way by `sets`. True: `briefs`, which come
  // as kNothingBrief, say what dress() would, a tolerable delay of every packet if it is a declared
  // field; but for reports, which reports() adds packet by packet. False: nothing has changed, and
  // dress() will be asked.
  virtual bool dress_briefly(Voice&, std::span<Packet* const>, std::span<const uint16_t> /*sets*/,
                             std::span<uint32_t> /*briefs*/) {
    return false;
  }
  virtual LoadReports* reports() { return nullptr; }
  virtual void arrived(Voice&, std::span<const Arrival>) {}
  virtual void on_feedback(Voice&, std::span<const Feedback>) {}
  virtual void on_frames(Voice&, std::span<HeardFrame>) {}
  virtual void on_replies(Voice&, std::span<const Reply>) {}
  virtual void on_waits(Voice&, std::span<const Waiting>) {}
  // Between two polls, where the agent is not part of a selector: that is told by itself.
  virtual void rebase(const Rebase&) {}

 private:
  Speech speech_;
};

// clang-format off
template <class S>
concept Declares = requires { requires std::same_as<std::remove_cv_t<decltype(S::kSpeech)>, Speech>; };
template <class S>
concept KeepsDeadlines = requires(S s, const S& c, Voice& voice) {
  { c.next_deadline() } -> std::same_as<Instant>;
  s.on_timers(voice);
};
template <class S>
concept Dresses = requires(S s, Voice& voice, std::span<Dressing> burst) { s.dress(voice, burst); };
template <class S>
concept DressesBriefly = requires(S s, Voice& voice, std::span<Packet* const> burst,
                                  std::span<const uint16_t> sets, std::span<uint32_t> briefs) {
  { s.dress_briefly(voice, burst, sets, briefs) } -> std::same_as<bool>;
};
template <class S>
concept HearsArrivals = requires(S s, Voice& voice, std::span<const Arrival> burst) {
  s.arrived(voice, burst);
};
template <class S>
concept HearsFeedback = requires(S s, Voice& voice, std::span<const Feedback> burst) {
  s.on_feedback(voice, burst);
};
template <class S>
concept HearsFrames = requires(S s, Voice& voice, std::span<HeardFrame> burst) {
  s.on_frames(voice, burst);
};
template <class S>
concept HearsReplies = requires(S s, Voice& voice, std::span<const Reply> burst) {
  s.on_replies(voice, burst);
};
template <class S>
concept HearsWaits = requires(S s, Voice& voice, std::span<const Waiting> burst) {
  s.on_waits(voice, burst);
};
// A scheme that has the calls that it declares.
template <class S>
concept Speaks = Declares<S> && S::kSpeech.has_calls() &&
    (!S::kSpeech.timers || KeepsDeadlines<S>) && (S::kSpeech.fields == 0 || Dresses<S>) &&
    (!S::kSpeech.arrivals || HearsArrivals<S>) && (S::kSpeech.feedback == 0 || HearsFeedback<S>) &&
    ((S::kSpeech.hears | S::kSpeech.overhears) == 0 || HearsFrames<S>) &&
    (!S::kSpeech.replies || HearsReplies<S>) && (!S::kSpeech.waits || HearsWaits<S>);
// clang-format on

// No call that it declares is missing; what declares nothing misses none.
template <class S>
constexpr bool has_what_it_declares() {
  if constexpr (Declares<S>)
    return !S::kSpeech.has_calls() || Speaks<S>;
  else
    return true;
}

// What a scheme says and hears as its parameters have it: no more than it declares.
template <class S>
Speech speech_as_made(const S& scheme) {
  if constexpr (requires {
                  { scheme.speech() } -> std::same_as<Speech>;
                })
    return scheme.speech();
  else
    return S::kSpeech;
}

// The agent of a scheme that speaks: what is called is the scheme's own.
template <Speaks S>
class SchemeAgent final : public PathAgent {
 public:
  explicit SchemeAgent(S& scheme) : PathAgent(speech_as_made(scheme)), scheme_(scheme) {}

  Instant next_deadline() const override {
    if constexpr (S::kSpeech.timers)
      return scheme_.next_deadline();
    else
      return Instant::never();
  }
  void on_timers(Voice& voice) override {
    if constexpr (S::kSpeech.timers) scheme_.on_timers(voice);
  }
  void dress(Voice& voice, std::span<Dressing> burst) override {
    if constexpr (S::kSpeech.fields != 0) scheme_.dress(voice, burst);
  }
  bool dress_briefly(Voice& voice, std::span<Packet* const> burst, std::span<const uint16_t> sets,
                     std::span<uint32_t> briefs) override {
    if constexpr (DressesBriefly<S>)
      return scheme_.dress_briefly(voice, burst, sets, briefs);
    else
      return false;
  }
  LoadReports* reports() override {
    if constexpr (requires(S & scheme) { scheme.reports(); })
      return &scheme_.reports();
    else
      return nullptr;
  }
  void arrived(Voice& voice, std::span<const Arrival> burst) override {
    if constexpr (S::kSpeech.arrivals) scheme_.arrived(voice, burst);
  }
  void on_feedback(Voice& voice, std::span<const Feedback> burst) override {
    if constexpr (S::kSpeech.feedback != 0) scheme_.on_feedback(voice, burst);
  }
  void on_frames(Voice& voice, std::span<HeardFrame> burst) override {
    if constexpr ((S::kSpeech.hears | S::kSpeech.overhears) != 0) scheme_.on_frames(voice, burst);
  }
  void on_replies(Voice& voice, std::span<const Reply> burst) override {
    if constexpr (S::kSpeech.replies) scheme_.on_replies(voice, burst);
  }
  void on_waits(Voice& voice, std::span<const Waiting> burst) override {
    if constexpr (S::kSpeech.waits) scheme_.on_waits(voice, burst);
  }

 private:
  S& scheme_;
};

}  // namespace eddy::lb
