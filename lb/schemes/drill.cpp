// DRILL(d, m): each packet takes the shortest local queue among d random members and the m
// remembered from the packet before. Paths of unlike weight are kept apart: a flow hashes to a
// component of like ones in proportion to its capacity, and DRILL runs inside it. Every selector
// remembers for itself, as every engine of the paper: for each component, that is for each
// destination leaf, or for each destination host, in a table with a place for so many. A burst adds
// to no queue before all of it is placed, so each port's queues are summed up once a burst. Cost:
// three looks a packet; by host a line of that table more. Octets: 8 a port. Source: reference A.6.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "lb/burst_memo.h"
#include "lb/draws.h"
#include "lb/schemes/scheme.h"
#include "net/byte_order.h"
#include "net/hash.h"
#include "net/protocols.h"

namespace eddy::lb {
namespace {

constexpr size_t kMostSamples = 8;
constexpr size_t kMostMemory = 8;

enum class MemoryBy : uint8_t { destination_leaf, destination_host };
constexpr std::array<std::string_view, 2> kMemoryNames = {"destination_leaf", "destination_host"};
enum class QueueLength : uint8_t { waiting, with_line };
constexpr std::array<std::string_view, 2> kQueueNames = {"waiting", "with_line"};

// Those that the last decision found best.
struct Remembered {
  std::array<MemberIndex, kMostMemory> best{};  // shortest queue first
  uint8_t count = 0;
};

// The members of a set that have one weight.
struct Component {
  MemberMask members = 0;
  Remembered memory;  // by destination leaf
};

// A destination host's memory in one component. Of two that fall into one place the later one has
// it, and begins with nothing.
struct HostMemory {
  uint32_t tag = 0;
  Remembered memory;
};
static_assert(sizeof(HostMemory) == 16);

struct Candidate {
  MemberIndex member;
  uint64_t backlog;
};

// The members looked at, each once; among equals the first met comes first.
class Candidates {
 public:
  void add(MemberIndex member, uint64_t backlog) {
    if (!contains(seen_, member)) items_[count_++] = {member, backlog};
    seen_ |= bit_of(member);
  }
  std::span<const Candidate> ranked() {
    for (size_t i = 1; i < count_; ++i)
      for (size_t j = i; j > 0 && shorter(items_[j], items_[j - 1]); --j)
        std::swap(items_[j], items_[j - 1]);
    return {items_.data(), count_};
  }

 private:
  static bool shorter(const Candidate& a, const Candidate& b) { return a.backlog < b.backlog; }

  std::array<Candidate, kMostSamples + kMostMemory> items_;
  size_t count_ = 0;
  MemberMask seen_ = 0;
};

class Drill {
 public:
  static constexpr std::string_view kSummary =
      "each packet takes the shortest of d random and m remembered local queues";
  static constexpr bool kPromisesOrder = false;
  using Token = NoToken;

  struct Parameters {
    int64_t d = 2;
    int64_t m = 1;
    bool pfc_aware = false;
    MemoryBy memory = MemoryBy::destination_leaf;
    QueueLength queue = QueueLength::with_line;
    int64_t hosts = 4'096;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::d>("d", 1, kMostSamples, {"random members a packet", "reference A.6"}),
        ranged<&Parameters::m>("m", 0, kMostMemory, {"members remembered", "reference A.6"}),
        flag<&Parameters::pfc_aware>(
            "pfc_aware", {"skip locally paused queues unless all are", "reference A.6"}),
        choice<&Parameters::memory>(
            "memory", kMemoryNames,
            {"what the best members are remembered for; destination_host: for each address that "
             "packets go to",
             "reference A.6"}),
        choice<&Parameters::queue>(
            "queue", kQueueNames,
            {"the length that is compared; with_line: with the frame that is on the line now, "
             "waiting: without",
             "reference A.6"}),
        ranged<&Parameters::hosts>("hosts", 64, 1'048'576,
                                   {"places of 16 octets for memory: destination_host; who takes "
                                    "another's begins anew",
                                    "reference A.6"})};
  }

  Drill(const SelectorInit& init, const Parameters& parameters);

  void prepare(const PathView&, std::span<Packet* const>) { backlogs_.begin(); }

  Reason reason(const PathView&, const Packet&, uint16_t, MemberIndex) const {
    return Reason::packet;
  }
  Proposal<Token> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Shortest shortest = choose(view, packet, set, view.live(set));
    if (shortest.tied) view.report_tie();
    return {shortest.member};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return choose(view, packet, set, view.live(set) & ~tried).member;
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
              const Token&);
  void select_burst(const PathView& view, std::span<Packet* const> burst,
                    std::span<const uint16_t> set_of, const ByEcmp& control);

 private:
  struct Shortest {
    MemberIndex member;
    bool tied;  // another member looked at has as short a queue
  };
  Shortest choose(const PathView& view, const Packet& packet, uint16_t set, MemberMask mask) const;
  template <bool kUsual>
  Shortest shortest(const PathView& view, const Packet& packet, uint16_t set, MemberMask mask,
                    const Component& component) const;
  const Component& component_for(const Packet& packet, uint16_t set, MemberMask mask) const;
  size_t component_with(uint16_t set, MemberIndex member) const;
  MemberMask unpaused(const PathView& view, const Packet& packet, uint16_t set,
                      MemberMask mask) const;
  struct Place {
    size_t index;
    uint32_t tag;
  };
  // Of the host that the packet goes to; without an IP header it goes to none.
  Place place_of(const Packet& packet, const Component& component) const;
  bool is_by_host(const Packet& packet) const { return !hosts_.empty() && packet.has(kPacketIp); }
  const Remembered& memory_of(const Packet& packet, const Component& component) const;
  void remember(const Packet& packet, const Component& component, const Remembered& memory);
  // visit(member, backlog) for the remembered members and then the drawn ones; some may come twice.
  // kUsual: with what is known of the parameters then, which no look needs to ask for.
  template <bool kUsual, class Visit>
  void visit_candidates(const PathView& view, const Packet& packet, uint16_t set, MemberMask mask,
                        const Component& component, Visit visit) const;

  static constexpr uint32_t kNotThey = ~0u;
  // Backlogs are in 1/kOne octets: what is put below that tells those apart that are equal.
  static constexpr uint64_t kOne = 1 << 8;
  uint64_t backlog_of(const PathView& view, PortId port, QueueId queue, uint64_t stamp) const {
    const uint64_t backlog = backlogs_.look_up(port, stamp);
    return backlog < BurstMemo::kUnknown ? backlog : add_up(view, port, queue, stamp);
  }
  [[gnu::noinline]] uint64_t add_up(const PathView& view, PortId port, QueueId queue,
                                    uint64_t stamp) const {
    return backlogs_.note(port, stamp, view.port(port).backlog_from(queue) * kOne);
  }
  // Of select_burst()'s looks: at another member with as short a queue.
  static bool is_another(uint64_t look, uint64_t best) {
    const uint64_t differs = (look ^ best) & ~(kOne - kMaxPaths);
    return differs - 1 < kMaxPaths - 1;
  }
  static bool remembers(const Component& component, MemberMask live) {
    return component.memory.count != 0 && contains(live, component.memory.best[0]);
  }

  uint32_t samples_;
  uint32_t memory_;
  bool pfc_aware_;
  bool without_line_;
  bool usual_;  // the memory is the component's, and the line counts
  BucketTable by_capacity_;
  Draws draws_;
  std::vector<uint32_t> first_component_;  // of each set, and one past the last
  std::vector<uint32_t> three_looks_;      // by set: its only component, if they do; or kNotThey
  std::vector<Component> components_;
  std::vector<HostMemory> hosts_;  // memory: destination_host
  mutable BurstMemo backlogs_;     // in 1/kOne octets
};

Drill::Drill(const SelectorInit& init, const Parameters& parameters)
    : samples_(static_cast<uint32_t>(parameters.d)),
      memory_(static_cast<uint32_t>(parameters.m)),
      pfc_aware_(parameters.pfc_aware),
      without_line_(parameters.queue == QueueLength::waiting),
      usual_(!without_line_ && parameters.memory == MemoryBy::destination_leaf),
      by_capacity_(init.sets, {.buckets = kEcmpBuckets,
                               .share = BucketShare::weighted,
                               .seed = seed_of(init.seed, init.switch_id)}),
      draws_(stream_of(init)),
      backlogs_(init.lines.size()) {
  for (const PathSet& set : init.sets) {
    first_component_.push_back(static_cast<uint32_t>(components_.size()));
    std::map<uint16_t, MemberMask> by_weight;
    for (MemberIndex i = 0; i < set.count; ++i) by_weight[set.members[i].weight] |= bit_of(i);
    for (const auto& [weight, members] : by_weight) components_.push_back({.members = members});
  }
  first_component_.push_back(static_cast<uint32_t>(components_.size()));
  const bool three_looks_do = usual_ && samples_ == 2 && memory_ == 1 && !pfc_aware_;
  for (size_t set = 0; set < init.sets.size(); ++set) {
    const bool alone = first_component_[set + 1] - first_component_[set] == 1;
    three_looks_.push_back(three_looks_do && alone ? first_component_[set] : kNotThey);
  }
  if (parameters.memory == MemoryBy::destination_host)
    hosts_.resize(static_cast<size_t>(parameters.hosts));
}

Drill::Shortest Drill::choose(const PathView& view, const Packet& packet, uint16_t set,
                              MemberMask mask) const {
  const Component& component = component_for(packet, set, mask);
  if (usual_) [[likely]]
    return shortest<true>(view, packet, set, mask, component);
  return shortest<false>(view, packet, set, mask, component);
}

template <bool kUsual>
inline Drill::Shortest Drill::shortest(const PathView& view, const Packet& packet, uint16_t set,
                                       MemberMask mask, const Component& component) const {
  Candidate best{0, ~uint64_t{0}};
  bool tied = false;
  visit_candidates<kUsual>(view, packet, set, mask, component,
                           [&](MemberIndex member, uint64_t backlog) {
                             tied = backlog == best.backlog ? tied || member != best.member
                                                            : tied && backlog > best.backlog;
                             if (backlog < best.backlog) best = {member, backlog};
                           });
  return {best.member, tied};
}

const Component& Drill::component_for(const Packet& packet, uint16_t set, MemberMask mask) const {
  const size_t first = first_component_[set];
  if (first_component_[set + 1u] - first == 1) return components_[first];
  return components_[component_with(set, by_capacity_.pick(set, packet.balance_hash, mask))];
}

size_t Drill::component_with(uint16_t set, MemberIndex member) const {
  size_t component = first_component_[set];
  while (!contains(components_[component].members, member)) ++component;
  return component;
}

Drill::Place Drill::place_of(const Packet& packet, const Component& component) const {
  constexpr size_t kIpv4Destination = 16;
  constexpr size_t kIpv6Destination = 24;
  const uint8_t* ip = packet.data() + packet.l2_len;
  const bool wide = packet.has(kPacketIpv6);
  const uint8_t* address = ip + (wide ? kIpv6Destination : kIpv4Destination);
  const uint64_t host =
      wide ? hash_pair(load_raw<uint64_t>(address), load_raw<uint64_t>(address + 8))
           : load_raw<uint32_t>(address);
  const uint64_t hash = hash_pair(host, static_cast<uint64_t>(&component - components_.data()));
  return {static_cast<size_t>((hash >> 32) * hosts_.size() >> 32), static_cast<uint32_t>(hash)};
}

const Remembered& Drill::memory_of(const Packet& packet, const Component& component) const {
  static constexpr Remembered kNothing;
  if (!is_by_host(packet)) return component.memory;
  const Place place = place_of(packet, component);
  return hosts_[place.index].tag == place.tag ? hosts_[place.index].memory : kNothing;
}

void Drill::remember(const Packet& packet, const Component& component, const Remembered& memory) {
  const Place place = place_of(packet, component);
  hosts_[place.index] = {place.tag, memory};
}

template <bool kUsual, class Visit>
void Drill::visit_candidates(const PathView& view, const Packet& packet, uint16_t set,
                             MemberMask mask, const Component& component, Visit visit) const {
  mask &= component.members;
  if (pfc_aware_) mask = unpaused(view, packet, set, mask);
  const PathSet& paths = view.set(set);
  const uint64_t stamp = backlogs_.stamp(packet.queue);
  const auto look_at = [&](MemberIndex member) {
    const PortId port = paths.members[member].port;
    if (!kUsual && without_line_)
      visit(member, view.port(port).waiting_from(packet.queue));
    else
      visit(member, backlog_of(view, port, packet.queue, stamp) / kOne);
  };
  const Remembered& memory = kUsual ? component.memory : memory_of(packet, component);
  for (size_t i = 0; i < memory.count; ++i)
    if (contains(mask, memory.best[i])) look_at(memory.best[i]);
  uint64_t word = mix64(draws_.peek());
  for (uint32_t i = 0; i < samples_; ++i) {
    look_at(random_of(mask, static_cast<uint32_t>(i % 2 == 0 ? word >> 32 : word)));
    if (i % 2 == 1) word = mix64(word);
  }
}

MemberMask Drill::unpaused(const PathView& view, const Packet& packet, uint16_t set,
                           MemberMask mask) const {
  MemberMask open = 0;
  for (MemberMask left = mask; left != 0; left &= left - 1) {
    const MemberIndex member = first_of(left);
    if (!view.port(view.set(set).members[member].port).paused(packet.queue)) open |= bit_of(member);
  }
  return open != 0 ? open : mask;
}

// What was used comes first, then the best of the others that were looked at.
void Drill::commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member,
                   const Token&) {
  Component& component = components_[component_with(set, member)];
  Remembered memory;
  if (memory_ > 0) memory.best[memory.count++] = member;
  if (memory_ > 1) {
    Candidates seen;
    visit_candidates<false>(view, packet, set, view.live(set), component,
                            [&](MemberIndex other, uint64_t backlog) { seen.add(other, backlog); });
    for (const Candidate& candidate : seen.ranked())
      if (candidate.member != member && memory.count < memory_)
        memory.best[memory.count++] = candidate.member;
  }
  if (!usual_ && is_by_host(packet)) [[unlikely]]
    remember(packet, component, memory);
  else
    component.memory = memory;
  draws_.take(true);
}

// propose() and commit() of each. Where three looks are all that a packet takes, at the remembered
// member and at two that are drawn, they are taken here.
void Drill::select_burst(const PathView& view, std::span<Packet* const> burst,
                         std::span<const uint16_t> set_of, const ByEcmp& by_ecmp) {
  constexpr size_t kTurn = kMaxPaths;  // of equals the first that is looked at is the least
  const ByEcmp control = by_ecmp;
  const PathSet* const sets = view.sets().data();
  const MemberMask* const live_of = view.live();
  for (size_t i = 0; i < burst.size(); ++i) {
    Packet& packet = *burst[i];
    const uint16_t set = set_of[i];
    const PathSet& paths = sets[set];
    const uint32_t at = three_looks_[set];
    if (at == kNotThey || control.has(packet) || !remembers(components_[at], live_of[set]))
        [[unlikely]] {
      assign(packet, paths, select_alone(*this, view, packet, set, control));
      continue;
    }
    Component& component = components_[at];
    const MemberMask mask = live_of[set] & component.members;
    const uint64_t word = mix64(draws_.peek());
    const uint64_t stamp = backlogs_.stamp(packet.queue);
    const auto look_at = [&](size_t member, size_t turn) {
      return backlog_of(view, paths.members[member].port, packet.queue, stamp) + turn * kTurn +
             member;
    };
    const uint64_t last = look_at(component.memory.best[0], 0);
    const uint64_t first = look_at(random_of(mask, static_cast<uint32_t>(word >> 32)), 1);
    const uint64_t second = look_at(random_of(mask, static_cast<uint32_t>(word)), 2);
    const uint64_t best = std::min(last, std::min(first, second));
    const auto member = static_cast<MemberIndex>(best % kTurn);
    const bool tied[] = {is_another(last, best), is_another(first, best), is_another(second, best)};
    view.report_tie(tied[0] | tied[1] | tied[2]);
    component.memory.best[0] = member;
    draws_.take(true);
    assign(packet, paths, member);
  }
}

}  // namespace

EDDY_SCHEME(drill, Drill)

}  // namespace eddy::lb
