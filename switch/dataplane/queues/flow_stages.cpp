#include "switch/dataplane/queues/flow_stages.h"

#include <algorithm>

#include "net/assert.h"
#include "net/ip.h"

namespace eddy {

using lb::StagePlace;

FlowStages::FlowStages(ShardContext& context, IngressBuffer& buffer)
    : context_(context), lines_{Line(context, buffer), Line(context, buffer)} {
  static_assert(kMostStages == 3 && lb::kStagePlaces == 2);
}

void FlowStages::take(StagePlace place, std::span<Packet* const> burst) {
  run(lines_[index_of(place)], 0, burst);
  follow_timer();
}

void FlowStages::run(Line& line, size_t first, std::span<Packet* const> burst) {
  if (first == line.count) {
    for (Packet* packet : burst) line.passed.push(packet);
    return;
  }
  Slot& slot = line.slots[first];
  slot.stage->take(slot.desk, burst);
  if (slot.desk.over_bound()) [[unlikely]]
    empty(slot);
  hand_on(line, first);
}

// What the stage has passed, to the next one or out.
void FlowStages::hand_on(Line& line, size_t from) {
  PacketFifo& passed = line.slots[from].desk.passed();
  while (!passed.empty()) {
    std::array<Packet*, kBurst> burst;
    size_t count = 0;
    while (count < kBurst && !passed.empty()) burst[count++] = passed.pop();
    run(line, from + 1, {burst.data(), count});
  }
}

// By force.
void FlowStages::empty(Slot& slot) {
  const PacketFifo before = slot.desk.passed();
  const uint64_t held = slot.desk.held_packets();
  slot.stage->release_all(slot.desk);
  ASSERT(slot.desk.held_packets() == 0);
  PacketFifo all = slot.desk.passed();
  for (uint32_t i = 0; i < before.count(); ++i) (void)all.pop();
  ASSERT(all.count() == held);
  for (const Packet* packet = all.head(); packet != nullptr; packet = packet->next)
    slot.desk.count(PortCounter::stage_emptied_packets, PortCounter::stage_emptied_packets,
                    *packet);
}

void FlowStages::on_timers() {
  for (Line& line : lines_) on_timers(line);
  follow_timer();
}

void FlowStages::on_timers(Line& line) {
  for (size_t i = 0; i < line.count; ++i) {
    Slot& slot = line.slots[i];
    if (slot.stage->next_deadline() <= context_.now) slot.stage->on_timers(slot.desk);
    if (slot.desk.interval_end() <= context_.now && slot.desk.end_interval()) empty(slot);
    hand_on(line, i);
  }
}

void FlowStages::release_all() {
  for (Line& line : lines_) release_all(line);
  follow_timer();
}

// The first stage first: what it lets go may be held by the next.
void FlowStages::release_all(Line& line) {
  for (size_t i = 0; i < line.count; ++i) {
    Slot& slot = line.slots[i];
    slot.stage->release_all(slot.desk);
    ASSERT(slot.desk.held_packets() == 0);
    hand_on(line, i);
  }
}

void FlowStages::follow_timer() {
  Instant due = Instant::never();
  for (Line& line : lines_)
    for (size_t i = 0; i < line.count; ++i) {
      Slot& slot = line.slots[i];
      slot.desk.follow_interval();
      // One that is always due does not keep the switch from everything else.
      const Instant wanted = slot.stage->next_deadline();
      const Instant next = wanted > context_.now ? wanted : context_.now + kLook;
      due = std::min({due, next, slot.desk.interval_end()});
    }
  context_.due_of(Timers::stages).set(due);
}

void FlowStages::rebase(const Rebase& rebase) {
  for (Line& line : lines_)
    for (size_t i = 0; i < line.count; ++i) {
      line.slots[i].stage->rebase(rebase);
      line.slots[i].desk.rebase(rebase);
    }
  follow_timer();
}

// A stage keeps itself alive here, since the snapshot that brought it may be gone.
void FlowStages::adopt(const Snapshot& now) {
  for (size_t place = 0; place < lb::kStagePlaces; ++place) {
    Line& line = lines_[place];
    const StageChain& chain = now.schemes[context_.id.index()].stages[place];
    if (std::ranges::equal(chain, line.slots, {}, {}, &Slot::stage)) continue;
    release_all(line);
    line.count = 0;
    for (size_t i = 0; i < kMostStages; ++i) {
      Slot& slot = line.slots[i];
      slot.stage = chain[i];
      if (slot.stage == nullptr) continue;
      slot.desk.open(static_cast<StagePlace>(place), *slot.stage);
      ++line.count;
    }
    on_[place] = line.count != 0;
  }
  follow_timer();
}

uint64_t FlowStages::held() const {
  uint64_t packets = 0;
  for (const Line& line : lines_) {
    packets += line.passed.count();
    for (const Slot& slot : line.slots) packets += slot.desk.held_packets();
  }
  return packets;
}

void FlowStages::Desk::open(StagePlace place, const lb::FlowStage& stage) {
  place_ = place;
  bounds_ = stage.bounds();
  kind_ = stage.kind();
}

void FlowStages::Desk::taken(Packet& packet) {
  count(PortCounter::resequence_held_packets, PortCounter::stage_held_packets, packet);
  if (!buffer_.set_aside(packet))
    count(PortCounter::stage_unplaced_packets, PortCounter::stage_unplaced_packets, packet);
}

void FlowStages::Desk::count(PortCounter of_resequencer, PortCounter of_others,
                             const Packet& packet) {
  const bool to_hosts = place_ == StagePlace::to_hosts;
  context_.count(to_hosts ? packet.egress_port : packet.ingress_port,
                 kind_ == lb::StageKind::resequencer ? of_resequencer : of_others);
}

void FlowStages::Desk::report(lb::StageEvent event, const Packet& packet) {
  switch (event) {
    case lb::StageEvent::missed_flow:
      return count(PortCounter::resequence_missed_flows, PortCounter::stage_missed_flows, packet);
    case lb::StageEvent::forced_flow:
      return count(PortCounter::resequence_forced_flows, PortCounter::stage_forced_flows, packet);
    case lb::StageEvent::placeless_packet:
      return count(PortCounter::resequence_placeless_packets, PortCounter::stage_placeless_packets,
                   packet);
  }
}

void FlowStages::Desk::mark_ce(Packet& packet) {
  if (!packet.has(kPacketEct) || packet.has(kPacketCe)) return;
  eddy::mark_ce(packet.data() + packet.l2_len);
  packet.set(kPacketCe);
  count(PortCounter::stage_marked_packets, PortCounter::stage_marked_packets, packet);
}

void FlowStages::Desk::set_dscp(Packet& packet, uint8_t dscp) {
  eddy::set_dscp(packet.data() + packet.l2_len, dscp);
  const ClassOf& to = context_.settings(packet.ingress_port).classes->by_dscp[dscp];
  packet.traffic_class = to.traffic_class;
  packet.queue = to.queue;
}

void FlowStages::Desk::follow_interval() {
  if (held_ == 0) {
    interval_end_ = Instant::never();
  } else if (interval_end_ == Instant::never()) {
    interval_end_ = context_.now + interval();
  }
}

bool FlowStages::Desk::end_interval() {
  ++interval_;
  interval_end_ = context_.now + interval();
  return held_in_[(interval_ - kPatience - 1) % kIntervals] != 0;
}

}  // namespace eddy
