// DRILL(d, m): each packet takes the shortest local queue among d random members and the m
// remembered from the packet before. Paths of unlike weight are kept apart: a flow hashes to a
// component of like ones in proportion to its capacity, and DRILL runs inside it. Every selector
// remembers for itself, as every engine of the paper. Source: reference A.6.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "lb/draws.h"
#include "lb/schemes/scheme.h"

namespace eddy::lb {
namespace {

constexpr size_t kMostSamples = 8;
constexpr size_t kMostMemory = 8;

// The members of a set that have one weight, and those that the last decision found best.
struct Component {
  MemberMask members = 0;
  std::array<MemberIndex, kMostMemory> best{};  // shortest queue first
  uint8_t remembered = 0;
};

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

  struct Parameters {
    int64_t d = 2;
    int64_t m = 1;
    bool pfc_aware = false;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::d>("d", 1, kMostSamples, {"random members a packet", "reference A.6"}),
        ranged<&Parameters::m>("m", 0, kMostMemory, {"members remembered", "reference A.6"}),
        flag<&Parameters::pfc_aware>(
            "pfc_aware", {"skip locally paused queues unless all are", "reference A.6"})};
  }

  Drill(const SelectorInit& init, const Parameters& parameters);

  MemberIndex propose(const PathView& view, const Packet& packet, uint16_t set) const {
    const Shortest shortest = choose(view, packet, set, view.live(set));
    if (shortest.tied) view.report_tie();
    return shortest.member;
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return choose(view, packet, set, view.live(set) & ~tried).member;
  }
  void commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member);

 private:
  struct Shortest {
    MemberIndex member;
    bool tied;  // another member looked at has as short a queue
  };
  Shortest choose(const PathView& view, const Packet& packet, uint16_t set, MemberMask mask) const;
  const Component& component_for(const Packet& packet, uint16_t set, MemberMask mask) const;
  size_t component_with(uint16_t set, MemberIndex member) const;
  MemberMask unpaused(const PathView& view, const Packet& packet, uint16_t set,
                      MemberMask mask) const;
  // visit(member, backlog) for the remembered members and then the drawn ones; some may come twice.
  template <class Visit>
  void visit_candidates(const PathView& view, const Packet& packet, uint16_t set, MemberMask mask,
                        const Component& component, Visit visit) const;

  uint32_t samples_;
  uint32_t memory_;
  bool pfc_aware_;
  BucketTable by_capacity_;
  Draws draws_;
  std::vector<size_t> first_component_;  // of each set, and one past the last
  std::vector<Component> components_;
};

Drill::Drill(const SelectorInit& init, const Parameters& parameters)
    : samples_(static_cast<uint32_t>(parameters.d)),
      memory_(static_cast<uint32_t>(parameters.m)),
      pfc_aware_(parameters.pfc_aware),
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
}

Drill::Shortest Drill::choose(const PathView& view, const Packet& packet, uint16_t set,
                              MemberMask mask) const {
  const Component& component = component_for(packet, set, mask);
  Candidate best{0, ~uint64_t{0}};
  bool tied = false;
  visit_candidates(view, packet, set, mask, component, [&](MemberIndex member, uint64_t backlog) {
    tied = backlog == best.backlog ? tied || member != best.member : tied && backlog > best.backlog;
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

template <class Visit>
void Drill::visit_candidates(const PathView& view, const Packet& packet, uint16_t set,
                             MemberMask mask, const Component& component, Visit visit) const {
  mask &= component.members;
  if (pfc_aware_) mask = unpaused(view, packet, set, mask);
  const PathSet& paths = view.set(set);
  const auto look_at = [&](MemberIndex member) {
    visit(member, view.port(paths.members[member].port).backlog_from(packet.queue));
  };
  for (size_t i = 0; i < component.remembered; ++i)
    if (contains(mask, component.best[i])) look_at(component.best[i]);
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
void Drill::commit(const PathView& view, const Packet& packet, uint16_t set, MemberIndex member) {
  Component& component = components_[component_with(set, member)];
  uint8_t remembered = 0;
  std::array<MemberIndex, kMostMemory> best{};
  if (memory_ > 0) best[remembered++] = member;
  if (memory_ > 1) {
    Candidates seen;
    visit_candidates(view, packet, set, view.live(set), component,
                     [&](MemberIndex other, uint64_t backlog) { seen.add(other, backlog); });
    for (const Candidate& candidate : seen.ranked())
      if (candidate.member != member && remembered < memory_) best[remembered++] = candidate.member;
  }
  component.best = best;
  component.remembered = remembered;
  draws_.take(true);
}

}  // namespace

EDDY_SCHEME(drill, Drill)

}  // namespace eddy::lb
