#include "switch/dataplane/pipeline/forwarder.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "net/assert.h"
#include "net/byte_order.h"
#include "switch/dataplane/neighbors/adjacency.h"
#include "switch/dataplane/neighbors/departures.h"
#include "switch/dataplane/paths/shim_dresser.h"
#include "switch/dataplane/pipeline/isolation.h"
#include "switch/dataplane/pipeline/route_lookup.h"
#include "switch/dataplane/queues/packet_lanes.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

constexpr size_t kFewest = 3;  // packets that are a burst: rows for fewer cost more than they spare

// Set and kind in one load.
static_assert(std::endian::native == std::endian::little && offsetof(NextHop, set) == 0);
constexpr uint32_t kKindOfWord = uint32_t{0xff} << 8 * offsetof(NextHop, kind);
uint32_t word_of(const NextHop& next_hop) {
  return load_raw<uint32_t>(reinterpret_cast<const uint8_t*>(&next_hop));
}

}  // namespace

Forwarder::Forwarder(ShardContext& context, IngressBuffer& buffer, const Services& services)
    : context_(context),
      buffer_(buffer),
      adjacency_(services.adjacency),
      icmp_(services.icmp),
      shims_(services.shims),
      stages_(services.stages),
      departures_(services.departures),
      lanes_(services.lanes),
      isolation_(services.isolation) {}

void Forwarder::forward(std::span<Packet* const> packets, int64_t backlog) {
  if (stages_.at(lb::StagePlace::from_hosts) && goes_through_stages(packets)) [[unlikely]]
    return forward_by_stages(packets, backlog);
  look_up(*context_.routes, packets);
  if (context_.isolating != 0) [[unlikely]]
    isolate(packets);
  forward_routed(packets, backlog);
}

// Those of the two classes.
[[gnu::noinline]] void Forwarder::isolate(std::span<Packet* const> packets) {
  isolation_.look_at(packets);
}

void Forwarder::forward_plain(std::span<Packet* const> packets, const PlainBurst& burst) {
  if ((burst.pgs & context_.isolating) != 0) [[unlikely]]
    isolate(packets);
  if (stages_.at(lb::StagePlace::from_hosts) && goes_through_stages(packets)) [[unlikely]]
    return forward_by_stages(packets, burst.backlog);
  if (packets.size() < kFewest || context_.fires(FaultSite::burst_apart)) [[unlikely]]
    return forward_routed(packets, burst.backlog);
  std::array<uint16_t, kBurst> sets;
  switch (admit_plain(packets, burst, sets.data())) {
    case Lead::to_sets:
      return forward_to_sets(packets, {sets.data(), packets.size()}, burst);
    case Lead::by_port:
      return leave(packets, burst);
    case Lead::on:
      return forward_admitted(packets, burst);
    case Lead::apart:
      for (Packet* packet : packets) packet->charged_bytes = 0;
      return forward_routed(packets, burst.backlog);
  }
}

// As forward_routed(), without a burst's arrays.
void Forwarder::forward_alone(Packet* packet, int64_t backlog) {
  if ((context_.isolating >> packet->pg.index() & 1) != 0) [[unlikely]]
    isolate({&packet, 1});
  if (stages_.at(lb::StagePlace::from_hosts)) [[unlikely]]
    return forward_one(packet, backlog);
  const NextHop next_hop = context_.next_hops[packet->next_hop];
  if (!leads_on(*packet, next_hop)) [[unlikely]]
    return turn_away(packet, next_hop);
  const bool to_set = next_hop.kind == NextHop::Kind::path_set;
  if (!buffer_.admit_alone(packet, backlog, to_set ? context_.shim_reserve : 0)) [[unlikely]]
    return;
  if (!to_set)
    packet->egress_port = next_hop.port;
  else if (!choose_alone(packet, next_hop.set)) [[unlikely]]
    return;
  const bool attended = shims_.looks() || context_.feeds != nullptr || adjacency_.by_stages();
  if (attended || !departures_.put_alone(*packet)) [[unlikely]]
    leave_alone(packet);
}

[[gnu::noinline]] void Forwarder::forward_one(Packet* packet, int64_t backlog) {
  if (goes_through_stages({&packet, 1})) return forward_by_stages({&packet, 1}, backlog);
  forward_routed({&packet, 1}, backlog);
}

[[gnu::noinline]] void Forwarder::leave_alone(Packet* packet) {
  Room room;
  for (Packet* dressed : dress({&packet, 1}, room)) hand_over_one(dressed);
  adjacency_.end_burst();
  lanes_.send();
}

// False: it goes round.
inline bool Forwarder::choose_alone(Packet* packet, uint16_t set) {
  const lb::PathView view = context_.view();
  Packet* const alone = packet;  // so that the caller's is in no memory
  return select(view, {&alone, 1}, {&set, 1}) || (view.away() & 1) == 0;
}

// Nearly always all of a burst goes up, or all of it to hosts here: asked first, in one pass.
inline Forwarder::Lead Forwarder::admit_plain(std::span<Packet* const> packets,
                                              const PlainBurst& burst, uint16_t* sets) {
  const NextHop* const next_hops = context_.next_hops;
  const NextHop::Kind kind = next_hops[packets[0]->next_hop].kind;
  const bool to_sets = kind == NextHop::Kind::path_set && all_live_;
  const bool asked = lines_to_ask_for().any();  // where the packets were received
  led_to_sets_ = to_sets;
  if (to_sets && !asked) context_.selector->expect(packets);
  if (to_sets) return admit_all<Lead::to_sets>(packets, burst, sets);
  if (kind == NextHop::Kind::port) return admit_all<Lead::by_port>(packets, burst, sets);
  return admit_mixed(packets, burst);
}

// To where the first of them leads, with the path sets or the egress ports found on the way.
template <Forwarder::Lead kLead>
inline Forwarder::Lead Forwarder::admit_all(std::span<Packet* const> packets,
                                            const PlainBurst& burst, uint16_t* sets) {
  const NextHop* const next_hops = context_.next_hops;
  const uint32_t reserve = kLead == Lead::to_sets ? context_.shim_reserve : 0;
  const pfc::CellSize cell = buffer_.cell();
  uint32_t any = 0;
  uint32_t all = ~any;
  int64_t charge = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    Packet* const packet = packets[i];
    const NextHop& target = next_hops[packet->next_hop];
    const uint32_t next_hop = word_of(target);
    any |= next_hop;
    all &= next_hop;
    if (kLead == Lead::to_sets)
      sets[i] = static_cast<uint16_t>(next_hop);
    else
      packet->egress_port = target.port;
    const int64_t each = cell.charge_of(packet->wire_len + reserve);
    packet->charged_bytes = static_cast<uint32_t>(each);
    charge += each;
  }
  if (((any ^ all) & kKindOfWord) != 0) [[unlikely]]
    return admit_mixed(packets, burst);
  if (!buffer_.admit_burst(packets, burst.pgs, charge, burst.octets, burst.backlog)) [[unlikely]]
    return Lead::apart;
  return kLead;
}

// Some go up, some stay here; or some are turned away.
[[gnu::noinline]] Forwarder::Lead Forwarder::admit_mixed(std::span<Packet* const> packets,
                                                         const PlainBurst& burst) {
  if (context_.next_hops[packets[0]->next_hop].kind != NextHop::Kind::path_set)
    context_.selector->expect(packets);  // not yet
  int64_t charge = 0;
  for (Packet* packet : packets) {
    const NextHop& next_hop = context_.next_hops[packet->next_hop];
    if (!leads_on(*packet, next_hop)) return Lead::apart;
    const bool to_set = next_hop.kind == NextHop::Kind::path_set;
    const int64_t each =
        buffer_.cell().charge_of(packet->wire_len + (to_set ? context_.shim_reserve : 0));
    packet->charged_bytes = static_cast<uint32_t>(each);
    charge += each;
  }
  const bool taken = buffer_.admit_burst(packets, burst.pgs, charge, burst.octets, burst.backlog);
  return taken ? Lead::on : Lead::apart;
}

// All of a burst that is admitted, to path sets.
inline void Forwarder::forward_to_sets(std::span<Packet* const> packets,
                                       std::span<const uint16_t> sets, const PlainBurst& burst) {
  if ((burst.flags & kPacketShim) != 0) [[unlikely]]
    return forward_admitted(packets, burst);  // their paths may have chosen
  const lb::PathView view = context_.view();
  if (select(view, packets, sets)) [[likely]]
    return shims_.looks_at_bursts() ? leave_with_shims(packets, sets, burst)
                                    : leave(packets, burst);
  std::array<Packet*, kBurst> left;
  leave({left.data(), leave_out_away(view, packets, left.data())}, burst);
}

[[gnu::noinline]] void Forwarder::forward_admitted(std::span<Packet* const> packets,
                                                   const PlainBurst& burst) {
  Choice choice;
  leave(find_ports(packets, choice), burst);
}

// Packets that lead on get their ports; those that do not wait stand in `room` then.
inline std::span<Packet* const> Forwarder::find_ports(std::span<Packet* const> packets,
                                                      Choice& room) {
  Direct direct;
  part(packets, room, direct);
  if (room.count != 0) choose(room);
  std::copy_n(direct.packets.begin(), direct.count, room.packets.begin() + room.count);
  return {room.packets.data(), room.count + direct.count};
}

inline void Forwarder::leave(std::span<Packet* const> packets, const PlainBurst& burst) {
  hand_over_plain(packets, burst);
  if (!context_.sole) [[unlikely]]
    send_rows();
}

[[gnu::noinline]] void Forwarder::send_rows() {
  departures_.hand_rows_over();
  lanes_.send();
}

// As leave(), where the packets get their shims on the way if they can.
[[gnu::noinline]] void Forwarder::leave_with_shims(std::span<Packet* const> packets,
                                                   std::span<const uint16_t> sets,
                                                   const PlainBurst& burst) {
  if (!Departures::is_bare(burst.flags) || !shims_.begin_passing(packets, sets))
    return leave(packets, burst);
  departures_.put_passing(packets, sets, {burst.octets, burst.flags, packets[0]->ingress_port},
                          [this](Packet* packet) { hand_over_one(packet); });
  adjacency_.end_burst();
  lanes_.send();
}

// All of them lead on.
inline void Forwarder::part(std::span<Packet* const> packets, Choice& choice, Direct& direct) {
  for (Packet* packet : packets) {
    const NextHop& next_hop = context_.next_hops[packet->next_hop];
    const bool to_set = next_hop.kind == NextHop::Kind::path_set;
    if (to_set && !(packet->has(kPacketShim) && shims_.steer(*packet, next_hop.set))) [[likely]] {
      choice.packets[choice.count] = packet;
      choice.sets[choice.count++] = next_hop.set;
      continue;
    }
    if (!to_set) packet->egress_port = next_hop.port;
    direct.packets[direct.count++] = packet;
  }
}

inline void Forwarder::forward_routed(std::span<Packet* const> packets, int64_t backlog) {
  const NextHop* next_hops = context_.next_hops;
  const lb::MemberMask* live = context_.live;
  if (packets.size() > 1) context_.selector->expect(packets);
  Choice choice;
  std::array<Packet*, kBurst> direct;
  size_t direct_count = 0;
  for (Packet* packet : packets) {
    const NextHop& next_hop = next_hops[packet->next_hop];
    const bool to_set = next_hop.kind == NextHop::Kind::path_set && live[next_hop.set] != 0;
    const bool leads_on = to_set || next_hop.kind == NextHop::Kind::port;
    if (!leads_on || packet->has(kPacketLastHop)) [[unlikely]] {
      turn_away(packet, next_hop);
      continue;
    }
    if (!packet->has(kPacketOriginated) &&
        !buffer_.admit(packet, backlog, to_set ? context_.shim_reserve : 0)) [[unlikely]]
      continue;
    if (to_set && packet->has(kPacketShim) && shims_.steer(*packet, next_hop.set)) [[unlikely]] {
      direct[direct_count++] = packet;
    } else if (to_set) {
      choice.packets[choice.count] = packet;
      choice.sets[choice.count++] = next_hop.set;
    } else {
      packet->egress_port = next_hop.port;
      direct[direct_count++] = packet;
    }
  }
  if (choice.count != 0) choose(choice);
  std::copy_n(direct.begin(), direct_count, choice.packets.begin() + choice.count);
  hand_over({choice.packets.data(), choice.count + direct_count});
  lanes_.send();
}

bool Forwarder::goes_through_stages(std::span<Packet* const> packets) const {
  return !packets[0]->has(kPacketOriginated) &&
         context_.settings(packets[0]->ingress_port).role == config::PortRole::host;
}

bool Forwarder::leads_on(const Packet& packet, const NextHop& next_hop) const {
  const bool to_set = next_hop.kind == NextHop::Kind::path_set && context_.live[next_hop.set] != 0;
  return (to_set || next_hop.kind == NextHop::Kind::port) && !packet.has(kPacketLastHop);
}

// As forward(), but between admission and the choice of a path stand the stages.
void Forwarder::forward_by_stages(std::span<Packet* const> packets, int64_t backlog) {
  look_up(*context_.routes, packets);
  if (context_.isolating != 0) [[unlikely]]
    isolate(packets);
  std::array<Packet*, kBurst> admitted;
  size_t count = 0;
  for (Packet* packet : packets) {
    const NextHop& next_hop = context_.next_hops[packet->next_hop];
    const bool to_set = next_hop.kind == NextHop::Kind::path_set;
    if (!leads_on(*packet, next_hop))
      turn_away(packet, next_hop);
    else if (buffer_.admit(packet, backlog, to_set ? context_.shim_reserve : 0))
      admitted[count++] = packet;
  }
  if (count == 0) return;
  stages_.take(lb::StagePlace::from_hosts, {admitted.data(), count});
  forward_passed();
}

void Forwarder::forward_all_passed() {
  PacketFifo& passed = stages_.passed(lb::StagePlace::from_hosts);
  while (!passed.empty()) {
    const PortId port = passed.head()->ingress_port;  // a burst comes in by one
    std::array<Packet*, kBurst> burst;
    size_t count = 0;
    while (count < kBurst && !passed.empty() && passed.head()->ingress_port == port)
      burst[count++] = passed.pop();
    look_up(*context_.routes, {burst.data(), count});
    context_.selector->expect({burst.data(), count});
    size_t leading = 0;
    for (size_t i = 0; i < count; ++i) {
      const NextHop& next_hop = context_.next_hops[burst[i]->next_hop];
      if (leads_on(*burst[i], next_hop))
        burst[leading++] = burst[i];
      else
        turn_away(burst[i], next_hop);
    }
    Choice choice;
    hand_over(find_ports({burst.data(), leading}, choice));
    lanes_.send();
  }
}

void Forwarder::relay(Packet* packet, uint16_t set) {
  if (context_.live[set] == 0) return buffer_.drop(packet, DropReason::no_live_path);
  if (!buffer_.admit(packet, 0)) return;
  if (context_.isolating != 0) [[unlikely]]
    isolation_.doubt_stamp(*packet, set);
  Choice alone{.packets = {packet}, .sets = {set}, .count = 1};
  if (!shims_.steer(*packet, set)) choose(alone);
  hand_over({&packet, 1});
  lanes_.send();
}

[[gnu::noinline]] void Forwarder::forward_all_originated() {
  while (!originated_.empty()) {
    std::array<Packet*, kBurst> burst;
    size_t count = 0;
    while (count < kBurst && !originated_.empty()) burst[count++] = originated_.pop();
    forward({burst.data(), count}, 0);
  }
}

// For a service of ours; or not to be sent on: answered where that is due, dropped and counted.
void Forwarder::turn_away(Packet* packet, const NextHop& next_hop) {
  if (next_hop.kind == NextHop::Kind::local) return icmp_.local(packet);
  if (next_hop.kind == NextHop::Kind::none) {
    icmp_.error(*packet, IcmpErrorReason::no_route);
    return buffer_.drop(packet, DropReason::no_route);
  }
  if (packet->has(kPacketLastHop)) {
    icmp_.error(*packet, IcmpErrorReason::time_exceeded);
    return buffer_.drop(packet, DropReason::ttl_expired);
  }
  icmp_.error(*packet, IcmpErrorReason::no_route);
  buffer_.drop(packet, DropReason::no_live_path);
}

// False: some are not to go on now, as the view says.
inline bool Forwarder::select(const lb::PathView& view, std::span<Packet* const> packets,
                              std::span<const uint16_t> sets) {
  const PortId port = packets[0]->ingress_port;  // a burst comes in by one
  context_.selector->select(view, packets, sets);
  if (view.ties() != 0) context_.count(port, PortCounter::selector_ties_total, view.ties());
  if (context_.warnings != nullptr) count_decisions(view, port);
  if (view.away() == 0) [[likely]]
    return true;
  count_fallback(view, port);
  return false;
}

inline void Forwarder::choose(Choice& choice) {
  const lb::PathView view = context_.view();
  if (select(view, {choice.packets.data(), choice.count}, {choice.sets.data(), choice.count}))
      [[likely]]
    return;
  Packet** const packets = choice.packets.data();
  choice.count = leave_out_away(view, {packets, choice.count}, packets);
}

// Writes those that go on now to `to`, which may be where they stand; how many they are.
size_t Forwarder::leave_out_away(const lb::PathView& view, std::span<Packet* const> packets,
                                 Packet** to) {
  const uint64_t away = view.away();
  size_t left = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    to[left] = packets[i];
    left += (~away >> i & 1);
  }
  return left;
}

void Forwarder::count_choices(const lb::PathView& view, PortId port) {
  count_decisions(view, port);
  if (view.away() != 0) count_fallback(view, port);
}

void Forwarder::count_fallback(const lb::PathView& view, PortId port) {
  if (view.failed()) context_.event(EventKind::scheme_failed, PortId::none());
  if (view.fallback() != 0)
    context_.count(port, PortCounter::selector_fallback_packets, view.fallback());
  if (view.placeless() != 0)
    context_.count(port, PortCounter::selector_placeless_packets, view.placeless());
}

void Forwarder::count_decisions(const lb::PathView& view, PortId port) {
  if (view.decided() != 0) [[unlikely]]
    count_ways(view, port);
  if (view.guarded() != 0) count_guarded(view, port);
}

void Forwarder::count_ways(const lb::PathView& view, PortId port) {
  constexpr std::array<PortCounter, lb::kDecisions> kCounters = {
      PortCounter::rlb_rerouted_packets,  // direct is the rest
      PortCounter::rlb_rerouted_packets,  PortCounter::rlb_all_warned_packets,
      PortCounter::rlb_suspended_packets, PortCounter::rlb_waiting_packets,
      PortCounter::rlb_forced_packets,    PortCounter::rlb_placed_flows,
      PortCounter::rlb_culprit_packets};
  constexpr uint32_t kDirect = 1;
  for (uint32_t left = view.decided() & ~kDirect; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    context_.count(port, kCounters[i], view.decisions(static_cast<lb::Decision>(i)));
  }
}

void Forwarder::count_guarded(const lb::PathView& view, PortId port) {
  constexpr std::array<PortCounter, lb::kGuardEvents> kCounters = {
      PortCounter::guard_moved_flows,    PortCounter::guard_stayed_packets,
      PortCounter::guard_forced_moves,   PortCounter::guard_placeless_packets,
      PortCounter::guard_replaced_flows, PortCounter::guard_drained_flows,
      PortCounter::guard_overdue_flows};
  for (uint32_t left = view.guarded(); left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    context_.count(port, kCounters[i], view.guarded(static_cast<lb::GuardEvent>(i)));
  }
}

void Forwarder::send_on(std::span<Packet* const> packets) {
  hand_over(packets);
  lanes_.send();
}

std::optional<uint16_t> Forwarder::set_of(Packet* packet) {
  look_up(*context_.routes, {&packet, 1});
  const NextHop& next_hop = context_.next_hops[packet->next_hop];
  if (next_hop.kind != NextHop::Kind::path_set) return std::nullopt;
  return next_hop.set;
}

inline std::span<Packet* const> Forwarder::dress(std::span<Packet* const> packets, Room& room) {
  if (!shims_.looks_at_bursts()) [[likely]]
    return packets;
  return dress_looking(packets, room);
}

[[gnu::noinline]] std::span<Packet* const> Forwarder::dress_looking(
    std::span<Packet* const> packets, Room& room) {
  if (context_.snapshot->has_channels) {
    size_t count = 0;
    for (Packet* packet : packets)
      if (keep_channel(packet)) room[count++] = packet;
    packets = {room.data(), count};
  }
  shims_.dress(packets, ShimDresser::From::choice);
  return packets;
}

// Between switches a packet stays in its virtual channel, or rises to the next one where staying
// might close a circle of frames that wait for each other. To a host its class leaves by its own
// queue. False: there is no further channel, or no shim to say it, and the packet is dropped.
bool Forwarder::keep_channel(Packet* packet) {
  if (packet->has(kPacketOriginated)) return true;
  const PortSettings& in = context_.settings(packet->ingress_port);
  const PortSettings& out = context_.settings(packet->egress_port);
  const Channels& channels = out.classes->channels[packet->traffic_class.index()];
  if (channels.count == 1 || in.role == config::PortRole::host) return true;
  if (out.role == config::PortRole::host) {
    packet->queue = channels.classes[0].queue;
    return true;
  }
  uint8_t* const shim =
      packet->has(kPacketShim) ? packet->data() + packet->l2_len - kShimHeader : nullptr;
  size_t channel = shim == nullptr ? 0 : shim_at::channel_of(shim);
  if (config::rises(in.reach, out.reach)) {
    if (shim == nullptr || ++channel >= channels.count) {
      buffer_.drop(packet, DropReason::no_channel);
      return false;
    }
    shim_at::put_channel(shim, channel);
  }
  packet->queue = channels.classes[channel].queue;
  return true;
}

inline void Forwarder::hand_over(std::span<Packet* const> packets) {
  Room room;
  packets = dress(packets, room);
  for (Packet* packet : packets) hand_over_one(packet);
  adjacency_.end_burst();
}

inline void Forwarder::hand_over_one(Packet* packet) {
  if (turns_back(packet) || !fits_mtu(packet)) [[unlikely]]
    return;
  if (context_.feeds != nullptr)
    context_.feeds->note(packet->egress_port, packet->ingress_port, context_.now);
  const ShardId owner = context_.settings(packet->egress_port).owner;
  if (owner == context_.id) {
    adjacency_.deliver(packet);
  } else {
    lanes_.put(owner, packet);
  }
}

// As hand_over(), of packets that came in a burst by one port.
inline void Forwarder::hand_over_plain(std::span<Packet* const> packets, const PlainBurst& burst) {
  Room room;
  packets = dress(packets, room);
  if (packets.empty()) return;
  departures_.put(packets, {burst.octets, burst.flags, packets[0]->ingress_port},
                  [this](Packet* packet) { hand_over_one(packet); });
  adjacency_.end_burst();
}

// A fabric link never gets back what it brought: two switches would play ball with it until the TTL
// ends that.
inline bool Forwarder::turns_back(Packet* packet) {
  if (packet->egress_port != packet->ingress_port || packet->has(kPacketOriginated)) return false;
  if (context_.settings(packet->egress_port).role == config::PortRole::host) return false;
  buffer_.drop(packet, DropReason::same_port);
  return true;
}

inline bool Forwarder::fits_mtu(Packet* packet) {
  const PortSettings& egress = context_.settings(packet->egress_port);
  if (packet->network_len() <= egress.max_l3_len) return true;
  icmp_.error(*packet, IcmpErrorReason::packet_too_big, egress.max_l3_len);
  buffer_.drop(packet, DropReason::mtu_exceeded);
  return false;
}

void Forwarder::refresh_live() {
  const Snapshot& snapshot = *context_.snapshot;
  std::vector<lb::MemberMask>& live = *snapshot.schemes[context_.id.index()].live;
  all_live_ = true;
  for (size_t set = 0; set < snapshot.path_sets.size(); ++set) {
    lb::MemberMask mask = 0;
    for (size_t member = 0; member < snapshot.path_sets[set].count; ++member) {
      const PortId port = snapshot.path_sets[set].members[member].port;
      if (context_.common.signals[port.index()].up.load(std::memory_order_acquire) != 0)
        mask |= lb::MemberMask{1} << member;
    }
    const lb::MemberMask failed = snapshot.paths ? snapshot.paths->failed(set) : 0;
    live[set] = (mask & ~failed) != 0 ? mask & ~failed : mask;
    all_live_ &= live[set] != 0;
  }
}

}  // namespace eddy
