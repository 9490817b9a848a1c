#include "switch/dataplane/pipeline/recirculation.h"

#include <algorithm>
#include <span>
#include <utility>

#include "net/assert.h"
#include "switch/dataplane/pipeline/forwarder.h"

namespace eddy {
namespace {

constexpr Duration kLeastInterval = Duration::microseconds(1);  // in which a limit holds
constexpr BitRate kFastest = BitRate::gbps(100);

PortCounter rounds_counter(uint32_t rounds) {
  constexpr auto kFirst = static_cast<uint32_t>(PortCounter::rlb_rounds_1);
  constexpr auto kLast = static_cast<uint32_t>(PortCounter::rlb_rounds_8);
  return static_cast<PortCounter>(std::min(kFirst + std::max(rounds, 1u) - 1, kLast));
}

BitRate line_rate(const config::SwitchConfig& config) {
  BitRate fastest = BitRate::mbps(1);
  for (const config::PortConfig& port : config.ports)
    if (port.role == config::PortRole::fabric) fastest = std::max(fastest, port.speed);
  return std::min(fastest, kFastest);
}

}  // namespace

RecirculationPlan RecirculationPlan::of(const Snapshot& snapshot) {
  const config::RlbConfig& rlb = snapshot.config.rlb;
  const BitRate rate = rlb.recirculation.rate.value_or(line_rate(snapshot.config));
  const int64_t in_flight = bytes_in(rlb.recirculation.latency * 4, rate).count();
  const int64_t most =
      std::min(snapshot.shared_size.count() / 4, std::max(in_flight, Recirculation::kLeastCap));
  return {.config = rlb.recirculation,
          .enabled = rlb.enabled() && rlb.recirculation.enabled,
          .follows = rlb.guard.mode != config::GuardMode::off,
          .loops = rlb.guard.mode != config::GuardMode::off &&
                   rlb.recirculation.follow_release == config::FollowRelease::loop,
          .rate = LineRate(rate),
          .most_octets = rlb.recirculation.cap ? rlb.recirculation.cap->count() : most,
          .most_port_octets = rlb.recirculation.port_cap.count(),
          .most_drained = snapshot.shared_size.count() / 4,
          .most_port_drained = rlb.guard.patience_room.count()};
}

Recirculation::Recirculation(ShardContext& context, const Services& services, size_t ports)
    : context_(context),
      buffer_(services.buffer),
      predictor_(services.predictor),
      failures_(services.failures),
      loop_(ports),
      drain_(ports),
      limits_(ports * kPriorities),
      places_(kTrips),
      buckets_(kBuckets, kNone) {}

// inside: packets of its flow are.
bool Recirculation::takes(const Packet& packet, bool inside, const Room& room) const {
  if (packet.has(kPacketOriginated) || ring_.count() + 1 >= kRing) return false;
  return inside || (free_place() != kNone && room.fits(packet));
}

// With loops each packet of the flow would have to go round by itself.
bool Recirculation::lets_drain(const Packet& packet) const {
  if (!plan_.enabled || !plan_.follows || plan_.loops) return false;
  return takes(packet, find(packet) != kNone, drain_);
}

uint32_t Recirculation::rounds_left(const Packet& packet, Instant now) {
  const bool inside = find(packet) != kNone;
  if (!takes(packet, inside, loop_)) return 0;
  if (!inside && context_.fires(FaultSite::loop_full)) return 0;
  const auto most = static_cast<uint32_t>(plan_.config.most_rounds);
  if (plan_.config.limit == config::RoundLimit::most) return most;
  Limit& limit = limits_[packet.ingress_port.index() * kPriorities + packet.pg.index()];
  if (now >= limit.until) {
    limit.rounds = std::min(measured_limit(packet, now), most);
    limit.until = now + std::max(round(now), kLeastInterval);
  }
  return limit.rounds;
}

uint32_t Recirculation::rounds_foreseen(const Packet& packet, Instant now) const {
  if (!takes(packet, find(packet) != kNone, loop_)) return 0;
  const auto most = static_cast<uint32_t>(plan_.config.most_rounds);
  if (plan_.config.limit == config::RoundLimit::most) return most;
  const Limit& limit = limits_[packet.ingress_port.index() * kPriorities + packet.pg.index()];
  return now >= limit.until ? std::min(measured_limit(packet, now), most) : limit.rounds;
}

uint32_t Recirculation::measured_limit(const Packet& packet, Instant now) const {
  const auto most = static_cast<uint32_t>(plan_.config.most_rounds);
  const PortId port = packet.ingress_port;
  if (!context_.owns(port)) return most;
  const pfc::PgLevel level = buffer_.level(port, packet.pg);
  const lb::Crowding crowding{level.queue, level.xoff, predictor_.slope(port, packet.pg)};
  if (plan_.config.limit == config::RoundLimit::rounds)
    return lb::rounds_that_fit(crowding, round(now), most);
  const uint32_t fit = lb::packets_that_fit(crowding, round(now), packet.wire_len);
  const int64_t held = loop_.of_port[port.index()] / packet.wire_len;
  return fit > held ? most : 0;
}

void Recirculation::enter(Packet* packet, const lb::Trip& trip) {
  const TripIndex place = free_place();
  ASSERT(place != kNone);
  Occupant& occupant = places_[place];
  if (place == free_) {
    free_ = occupant.next;
  } else {
    occupant = Occupant{};
    ++used_;
  }
  occupant.packet = packet;
  occupant.trip = trip;
  occupant.order = ++entered_;
  occupant.behind = false;
  occupant.pinned = lb::kWait;
  if (plan_.follows) {
    TripIndex& bucket = buckets_[bucket_of(packet->order_hash)];
    occupant.next = bucket;
    bucket = place;
  }
  count_in(*packet);
  room_of(trip).add(*packet);
  begin_round(place);
}

LoopUse Recirculation::use() const {
  return {.octets = loop_.octets,
          .most_octets = plan_.most_octets,
          .port_octets = std::ranges::max(loop_.of_port),
          .rounds = rounds_made_};
}

void Recirculation::begin_round(TripIndex place) {
  Occupant& occupant = places_[place];
  rounds_made_ = std::max<uint32_t>(rounds_made_, occupant.trip.rounds);
  busy_until_ = std::max(busy_until_, context_.now);
  occupant.entered = context_.now;
  ++occupant.number;
  if (!occupant.trip.drains) {
    busy_until_ = busy_until_ + plan_.rate.time_of(Bytes(occupant.packet->wire_len));
    count_round(occupant);
  }
  const Instant due = busy_until_ + plan_.config.latency;
  if (!front_) {  // and so nothing is in the ring
    front_.emplace(Round{due, place, occupant.number});
    return follow_timer();
  }
  const bool fits = ring_.send({due, place, occupant.number});
  ASSERT(fits);
}

// The ring's head, outside of it, where it can be looked at.
void Recirculation::next_round() {
  Round round;
  front_.reset();
  if (ring_.receive({&round, 1}) == 1) front_ = round;
  follow_timer();
}

void Recirculation::follow_timer() {
  context_.due_of(Timers::recirculation).set(front_ ? front_->due : Instant::never());
}

void Recirculation::rebase(const Rebase& rebase) {
  rebase.shift(busy_until_);
  for (Limit& limit : limits_) rebase.shift_if_any(limit.until);
  for (Occupant& occupant : std::span(places_.data(), used_)) rebase.shift(occupant.entered);
  ring_.for_each([&rebase](Round& round) { rebase.shift(round.due); });
  if (front_) rebase.shift(front_->due);
  follow_timer();
}

Recirculation::TripIndex Recirculation::find(const Packet& packet) const {
  if (!plan_.follows) return kNone;
  TripIndex place = buckets_[bucket_of(packet.order_hash)];
  while (place != kNone && places_[place].packet->order_hash != packet.order_hash)
    place = places_[place].next;
  return place;
}

lb::WaitingRoom::Company Recirculation::join(Packet* packet) {
  const TripIndex place = find(*packet);
  if (place == kNone) return {};
  if (plan_.loops) return join_loop(packet);
  Occupant& occupant = places_[place];
  const bool drains = occupant.trip.drains;
  const bool crowded =
      !drains && occupant.followers.count() >= static_cast<uint32_t>(plan_.config.followers);
  if (crowded || !room_of(occupant.trip).fits(*packet)) {
    if (!drains) context_.count(packet->ingress_port, PortCounter::rlb_forced_packets);
    return {.member = let_out(place)};
  }
  occupant.followers.push(packet);
  count_in(*packet);
  room_of(occupant.trip).add(*packet);
  context_.count(packet->ingress_port, PortCounter::rlb_followed_packets);
  return {.waits = true};
}

void Recirculation::on_timers() {
  while (front_ && front_->due <= context_.now) {
    const Round round = *front_;
    next_round();
    if (places_[round.place].packet != nullptr && places_[round.place].number == round.number)
      come_back(static_cast<TripIndex>(round.place));
  }
  flush();
}

void Recirculation::come_back(TripIndex place) {
  Occupant& occupant = places_[place];
  note_wait(occupant);
  if (context_.live[occupant.trip.set] == 0) return drop_all(place, DropReason::no_live_path);
  const bool pinned = occupant.pinned != lb::kWait;
  if (pinned && first_of_flow(occupant.packet->order_hash) == place) return leave_behind(place);
  if (occupant.behind) {
    ++occupant.trip.rounds;
    return begin_round(place);
  }
  const lb::PathView view = context_.view();
  Room& room = room_of(occupant.trip);
  const lb::MemberIndex member =
      context_.selector->again(view, *occupant.packet, occupant.trip.set, occupant.trip);
  change_rooms(occupant, room);
  forwarder_->count_choices(view, occupant.packet->ingress_port);
  if (member == lb::kWait) return begin_round(place);
  leave(place, member);
}

// What the occupant's wait that ends was, to its trip.
void Recirculation::note_wait(Occupant& occupant) const {
  const Duration waited = context_.now - occupant.entered;
  (occupant.trip.drains ? occupant.trip.drained : occupant.trip.spent) += waited;
}

// A flow that has drained may have to go round, as its new path is warned by now.
void Recirculation::change_rooms(const Occupant& occupant, Room& from) {
  Room& to = room_of(occupant.trip);
  if (&from == &to) return;
  const auto change = [&](const Packet& packet) {
    from.remove(packet);
    to.add(packet);
  };
  change(*occupant.packet);
  for (const Packet* packet = occupant.followers.head(); packet != nullptr; packet = packet->next)
    change(*packet);
}

// At once, with all of its flow; returns the member that they took. With follow_release: loop each
// packet of a flow has a place of its own, and the first one leads.
lb::MemberIndex Recirculation::let_out(TripIndex place) {
  if (plan_.loops) place = first_of_flow(places_[place].packet->order_hash);
  Occupant& occupant = places_[place];
  const uint64_t flow = occupant.packet->order_hash;
  if (context_.live[occupant.trip.set] == 0) {
    drop_all(place, DropReason::no_live_path);
    return lb::kWait;
  }
  lb::MemberIndex member = occupant.pinned;
  if (member == lb::kWait || !lb::contains(context_.live[occupant.trip.set], member))
    member = choose_now(place);
  else
    leave_behind(place);
  if (plan_.loops)
    for (place = first_of_flow(flow); place != kNone; place = first_of_flow(flow)) {
      places_[place].pinned = member;
      leave_behind(place);
    }
  flush();
  return member;
}

// The selector chooses, but not the loop.
lb::MemberIndex Recirculation::choose_now(TripIndex place) {
  Occupant& occupant = places_[place];
  note_wait(occupant);
  const lb::PathView view = context_.view_without_loop();
  Room& room = room_of(occupant.trip);
  const lb::MemberIndex member =
      context_.selector->again(view, *occupant.packet, occupant.trip.set, occupant.trip);
  change_rooms(occupant, room);
  forwarder_->count_choices(view, occupant.packet->ingress_port);
  leave(place, member);
  return member;
}

Recirculation::TripIndex Recirculation::first_of_flow(uint64_t flow) const {
  TripIndex first = kNone;
  for (TripIndex place = buckets_[bucket_of(flow)]; place != kNone; place = places_[place].next)
    if (places_[place].packet->order_hash == flow &&
        (first == kNone || places_[place].order < places_[first].order))
      first = place;
  return first;
}

lb::WaitingRoom::Company Recirculation::join_loop(Packet* packet) {
  const TripIndex first = first_of_flow(packet->order_hash);
  int64_t others = 0;
  for (TripIndex at = buckets_[bucket_of(packet->order_hash)]; at != kNone; at = places_[at].next)
    others += places_[at].packet->order_hash == packet->order_hash ? 1 : 0;
  if (others > plan_.config.followers || free_place() == kNone || !loop_.fits(*packet) ||
      ring_.count() + 1 >= kRing) {
    context_.count(packet->ingress_port, PortCounter::rlb_forced_packets);
    return {.member = let_out(first)};
  }
  const Occupant& leader = places_[first];
  lb::Trip trip = leader.trip;
  trip.spent = Duration{};
  trip.rounds = 1;
  if (leader.pinned != lb::kWait) trip.member = leader.pinned;
  const TripIndex place = free_place();
  const lb::MemberIndex pinned = leader.pinned;
  enter(packet, trip);
  places_[place].behind = true;
  places_[place].pinned = pinned;
  context_.count(packet->ingress_port, PortCounter::rlb_followed_packets);
  return {.waits = true};
}

// What is left of the packet's flow goes where those before it went.
void Recirculation::pin_flow(const Packet& packet, lb::MemberIndex member) {
  for (TripIndex at = buckets_[bucket_of(packet.order_hash)]; at != kNone; at = places_[at].next)
    if (places_[at].packet->order_hash == packet.order_hash) {
      places_[at].pinned = member;
      places_[at].trip.member = member;
    }
}

void Recirculation::leave_behind(TripIndex place) {
  const Occupant& occupant = places_[place];
  const PortId port = occupant.packet->ingress_port;
  const lb::PathView view = context_.view_without_loop();
  context_.selector->follow(view, *occupant.packet, occupant.trip.set, occupant.pinned);
  forwarder_->count_choices(view, port);
  leave(place, occupant.pinned);
}

// A round that nothing is warned for is what following in a loop costs.
void Recirculation::count_round(const Occupant& occupant) {
  const Packet& packet = *occupant.packet;
  const PortId port = packet.ingress_port;
  context_.count(port, PortCounter::rlb_round_bytes, packet.wire_len);
  if (context_.warnings == nullptr ||
      !lb::contains(context_.warnings->warned(occupant.trip.set, packet.queue),
                    occupant.trip.member))
    context_.count(port, PortCounter::rlb_idle_round_bytes, packet.wire_len);
}

void Recirculation::leave(TripIndex place, lb::MemberIndex member) {
  const lb::Trip& trip = places_[place].trip;
  const uint16_t set = trip.set;
  const uint8_t rounds = trip.rounds;
  if (rounds != 0) {
    delays_.add(trip.spent);
    failures_.left_loop(set, trip.member, rounds);
  }
  PacketFifo flow = vacate(place);
  const PortId port = flow.head()->ingress_port;
  if (plan_.loops) pin_flow(*flow.head(), member);
  if (rounds != 0) context_.count(port, rounds_counter(rounds));
  send(flow.pop());  // chosen for already
  if (flow.empty()) return;
  const lb::PathView view = context_.view_without_loop();
  while (!flow.empty()) {
    Packet* packet = flow.pop();
    context_.selector->follow(view, *packet, set, member);
    send(packet);
  }
  forwarder_->count_choices(view, port);
}

// All packets of the place, in order; it is free then.
PacketFifo Recirculation::vacate(TripIndex place) {
  Occupant& occupant = places_[place];
  Room& room = room_of(occupant.trip);
  if (plan_.follows) {
    TripIndex* link = &buckets_[bucket_of(occupant.packet->order_hash)];
    while (*link != place) link = &places_[*link].next;
    *link = occupant.next;
  }
  PacketFifo flow = std::exchange(occupant.followers, {});
  flow.push_front(std::exchange(occupant.packet, nullptr));
  occupant.next = std::exchange(free_, place);
  for (const Packet* packet = flow.head(); packet != nullptr; packet = packet->next)
    room.remove(*packet);
  occupants_ -= flow.count();
  return flow;
}

void Recirculation::drop_all(TripIndex place, DropReason reason) {
  PacketFifo flow = vacate(place);
  while (!flow.empty()) buffer_.drop(flow.pop(), reason);
}

void Recirculation::send(Packet* packet) {
  leaving_[leaving_count_++] = packet;
  if (leaving_count_ == leaving_.size()) flush();
}

void Recirculation::flush() {
  if (leaving_count_ == 0) return;
  forwarder_->send_on({leaving_.data(), std::exchange(leaving_count_, 0)});
}

void Recirculation::release_all() {
  for (size_t place = 0; place < kTrips && occupants_ != 0; ++place)
    if (places_[place].packet != nullptr) (void)let_out(static_cast<TripIndex>(place));
}

// Targets are numbered anew by each snapshot.
void Recirculation::adopt(const Snapshot& now) {
  for (size_t place = 0; place < kTrips && occupants_ != 0; ++place) {
    Occupant& occupant = places_[place];
    if (occupant.packet == nullptr) continue;
    occupant.pinned = lb::kWait;  // a member of what was
    const auto set = forwarder_->set_of(occupant.packet);
    if (set)
      occupant.trip.set = *set;
    else
      drop_all(static_cast<TripIndex>(place), DropReason::no_route);
  }
  release_all();
  if (plan_.enabled) std::ranges::fill(limits_, Limit{});
  plan_ = RecirculationPlan::of(now);
  loop_.most = plan_.most_octets;
  loop_.most_of_port = plan_.most_port_octets;
  drain_.most = plan_.most_drained;
  drain_.most_of_port = plan_.most_port_drained;
  shortest_round_ = plan_.config.latency;
  rounds_made_ = 0;
}

}  // namespace eddy
