#include "lab/conformance/run.h"

#include <vector>

#include "lab/conformance/allocations.h"

namespace eddy::conformance {
namespace {

using namespace literals;
using lb::kWait;
using lb::MemberIndex;

class Run;

// Where packets wait a round at a time, with those of their flow behind them. It keeps copies.
class Loop final : public lb::WaitingRoom {
 public:
  explicit Loop(Run& run) : run_(run) {}

  Duration round(Instant) const override { return 1_us; }
  uint32_t rounds_left(const Packet&, Instant) override {
    return occupants_ < kPlaces ? kRounds : 0;
  }
  void enter(Packet* packet, const lb::Trip& trip) override;
  Company join(Packet* packet) override;
  void turn();  // a round later
  void empty();

 private:
  static constexpr size_t kPlaces = 12;
  static constexpr size_t kFollowers = 2;
  static constexpr uint32_t kRounds = 4;

  struct Place {
    bool taken = false;
    lb::Trip trip;
    Framed leader;
    uint32_t rounds = 0;
    size_t behind = 0;
    std::array<Framed, kFollowers> followers;
  };

  Place* of_flow(uint64_t flow);
  void come_back(Place& place, bool must_leave);
  void leave(Place& place, MemberIndex member);

  Run& run_;
  std::array<Place, kPlaces> places_;
};

class Run {
 public:
  Run(lb::Selector& selector, const RunPlan& plan)
      : selector_(selector),
        plan_(plan),
        world_({.warned = plan.warned, .watched = plan.watched, .settled = plan.loop},
               selector.flow_slots()),
        loop_(*this) {
    result_.octets.reserve(size_t{1} << 20);
  }

  RunResult operator()();

  // The selector's calls, with what they allocate.
  MemberIndex again(const lb::PathView& view, Packet& packet, lb::Trip& trip);
  void follow(const lb::PathView& view, Packet& packet, const lb::Trip& trip, MemberIndex member);
  lb::PathView view(bool with_loop) {
    return world_.view(with_loop && plan_.loop ? &loop_ : nullptr);
  }
  void wait(Duration time) { world_.wait(time); }
  void note_round() { ++result_.went_round; }
  void note_too_long() { ++result_.too_long; }
  void note_stuck() { ++result_.not_live; }  // it would wait where there is no loop

 private:
  void select();
  void note_sent(const Packet& packet, uint16_t set);
  void note_told(const lb::PathView& view);
  void note_use();

  lb::Selector& selector_;
  RunPlan plan_;
  World world_;
  Loop loop_;
  Burst burst_;
  RunResult result_;
};

template <class Value>
void append_value(std::string& to, Value value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

RunResult Run::operator()() {
  for (int round = 0; round < kBursts; ++round) {
    if (plan_.rebases && round % 3 == 0) world_.move_clock(selector_);
    world_.next(burst_);
    select();
    loop_.turn();
  }
  loop_.empty();
  note_use();
  return std::move(result_);
}

void Run::select() {
  const lb::PathView at = view(true);
  const uint64_t before = allocations();
  burst_.select(selector_, at);
  result_.allocations += allocations() - before;
  for (size_t i = 0; i < burst_.size(); ++i)
    if ((at.away() >> i & 1) == 0) note_sent(burst_.packet(i), burst_.set_of(i));
  append_value(result_.octets, at.away());
  note_told(at);
}

MemberIndex Run::again(const lb::PathView& view, Packet& packet, lb::Trip& trip) {
  const uint64_t before = allocations();
  const MemberIndex member = selector_.again(view, packet, trip.set, trip);
  result_.allocations += allocations() - before;
  ++result_.came_back;
  note_told(view);
  if (member != kWait) note_sent(packet, trip.set);
  return member;
}

void Run::follow(const lb::PathView& view, Packet& packet, const lb::Trip& trip,
                 MemberIndex member) {
  const uint64_t before = allocations();
  selector_.follow(view, packet, trip.set, member);
  result_.allocations += allocations() - before;
  ++result_.followed;
  note_told(view);
  note_sent(packet, trip.set);
}

void Run::note_sent(const Packet& packet, uint16_t set) {
  ++result_.packets;
  append_octets(result_.octets, packet);
  if (packet.member >= world_.paths().sets()[set].count ||
      !lb::contains(world_.paths().live(set), packet.member)) {
    ++result_.not_live;
    return;
  }
  const lb::PathMember& member = world_.paths().sets()[set].members[packet.member];
  if (packet.egress_port != member.port || packet.path != member.path) ++result_.not_told;
}

void Run::note_told(const lb::PathView& view) {
  append_value(result_.octets, view.ties());
  for (size_t i = 0; i < lb::kDecisions; ++i) {
    result_.decisions[i] += view.decisions(static_cast<lb::Decision>(i));
    append_value(result_.octets, view.decisions(static_cast<lb::Decision>(i)));
  }
  for (size_t i = 0; i < lb::kGuardEvents; ++i) {
    result_.guarded[i] += view.guarded(static_cast<lb::GuardEvent>(i));
    append_value(result_.octets, view.guarded(static_cast<lb::GuardEvent>(i)));
  }
}

void Run::note_use() {
  for (uint16_t set = 0; set < world_.paths().sets().size(); ++set)
    for (MemberIndex member = 0; member < world_.paths().sets()[set].count; ++member) {
      const lb::PathUse& use = world_.paths().measured().use(set, member);
      append_value(result_.octets, use.weighed.load());
      append_value(result_.octets, use.forced.load());
      append_value(result_.octets, use.moved.load());
    }
}

Loop::Place* Loop::of_flow(uint64_t flow) {
  for (Place& place : places_)
    if (place.taken && place.leader.packet.order_hash == flow) return &place;
  return nullptr;
}

void Loop::enter(Packet* packet, const lb::Trip& trip) {
  run_.note_round();
  for (Place& place : places_) {
    if (place.taken) continue;
    place.taken = true;
    place.trip = trip;
    place.leader = Framed::of(*packet);
    place.rounds = 1;
    place.behind = 0;
    count_in(*packet);
    return;
  }
}

Loop::Company Loop::join(Packet* packet) {
  Place* const place = of_flow(packet->order_hash);
  if (place == nullptr) return {};
  if (place->behind < kFollowers) {
    place->followers[place->behind++] = Framed::of(*packet);
    return {.waits = true};
  }
  come_back(*place, /*must_leave=*/true);
  return {.member = place->leader.packet.member};
}

void Loop::turn() {
  if (occupants_ == 0) return;
  run_.wait(1_us);
  for (Place& place : places_)
    if (place.taken) come_back(place, /*must_leave=*/false);
}

void Loop::empty() {
  for (Place& place : places_)
    if (place.taken) come_back(place, /*must_leave=*/true);
}

void Loop::come_back(Place& place, bool must_leave) {
  place.trip.spent += 1_us;
  const lb::PathView view = run_.view(/*with_loop=*/!must_leave);
  const MemberIndex member = run_.again(view, place.leader.packet, place.trip);
  if (member != kWait) return leave(place, member);
  if (!must_leave && ++place.rounds <= kRounds) return;
  if (must_leave)
    run_.note_stuck();
  else
    run_.note_too_long();
  place.taken = false;
  --occupants_;
}

void Loop::leave(Place& place, MemberIndex member) {
  place.taken = false;
  --occupants_;
  for (size_t i = 0; i < place.behind; ++i)
    run_.follow(run_.view(/*with_loop=*/false), place.followers[i].packet, place.trip, member);
}

}  // namespace

RunResult run(lb::Selector& selector, const RunPlan& plan) {
  return Run(selector, plan)();
}

}  // namespace eddy::conformance
