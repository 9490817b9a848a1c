// DRILL(d, m): each packet takes the shortest local queue among d random members and the m
// remembered from the packet before. Paths of unlike weight are kept apart: a flow hashes to a
// component of like ones in proportion to its capacity, and DRILL runs inside it. Every selector
// remembers for itself, as every engine of the paper: for each component, that is for each
// destination leaf, or for each destination host, in a table with a place for so many. Cost: three
// looks a packet; by host a line of that table more. Source: reference A.6.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

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

  uint32_t samples_;
  uint32_t memory_;
  bool pfc_aware_;
  bool without_line_;
  bool usual_;  // the memory is the component's, and the line counts
  BucketTable by_capacity_;
  Draws draws_;
  std::vector<size_t> first_component_;  // of each set, and one past the last
  std::vector<Component> components_;
  std::vector<HostMemory> hosts_;  // memory: destination_host
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
      draws_(stream_of(init)) {
  for (const PathSet& set : init.sets) {
    first_component_.push_back(components_.size());
    std::map<uint16_t, MemberMask> by_weight;
    for (MemberIndex i = 0; i < set.count; ++i) by_weight[set.members[i].weight] |= bit_of(i);
    for (const auto& [weight, members] : by_weight) components_.push_back({.members = members});
  }
  first_component_.push_back(components_.size());
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
  const auto look_at = [&](MemberIndex member) {
    const PortSignals& port = view.port(paths.members[member].port);
    const bool without_line = !kUsual && without_line_;
    visit(member, without_line ? port.waiting_from(packet.queue) : port.backlog_from(packet.queue));
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

}  // namespace

EDDY_SCHEME(drill, Drill)

}  // namespace eddy::lb
