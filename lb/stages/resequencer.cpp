#include "lb/stages/resequencer.h"

#include <algorithm>
#include <bitset>

#include "net/byte_order.h"
#include "net/protocols.h"
#include "net/roce.h"

namespace eddy::lb {
namespace {

constexpr uint16_t kLossCheck = 16;       // packets held between looks for it
constexpr uint8_t kRequests = 0x15;       // opcodes below are RC requests,
constexpr uint8_t kFirstResponse = 0x0d;  // but for these
constexpr uint8_t kLastResponse = 0x12;

const uint8_t* bth_of(const Packet& packet) {
  return packet.data() + packet.l2_len + packet.l3_len + kUdpHeader;
}
uint32_t psn_of(const Packet& packet) {
  return load_be32(bth_of(packet) + 8) & kPsnMask;
}

bool is_request(uint8_t opcode) {
  return opcode < kRequests && (opcode < kFirstResponse || opcode > kLastResponse);
}

// Of a message.
bool is_first(uint8_t opcode) {
  using enum RoceOpcode;
  const auto is = static_cast<RoceOpcode>(opcode);
  return is != send_middle && is != send_last && is != send_last_immediate && is != write_middle &&
         is != write_last && is != write_last_immediate;
}

}  // namespace

void Resequencer::take(StageView& view, std::span<Packet* const> burst) {
  for (Packet* packet : burst)
    if (watches(*packet))
      put_in_order(view, packet);
    else
      view.pass(packet);
}

bool Resequencer::watches(const Packet& packet) const {
  constexpr uint16_t kKind = kPacketRoce | kPacketRoceControl | kPacketOriginated;
  return (packet.flags & kKind) == kPacketRoce && plan_.fabric.test(packet.ingress_port.index()) &&
         is_request(bth_of(packet)[0]);
}

void Resequencer::put_in_order(StageView& view, Packet* packet) {
  const uint8_t opcode = bth_of(*packet)[0];
  const Instant now = view.now();
  FlowOrder* flow = flows_->find_or_place(packet->order_hash, now, plan_.age());
  if (flow == nullptr) {
    view.report(StageEvent::placeless_packet, *packet);
    return view.pass(packet);
  }
  const uint32_t psn = psn_of(*packet);
  const bool silent = now - flow->last > plan_.wait;
  flow->last = now;
  if (!flow->known && !is_first(opcode)) return hold(view, *flow, packet, psn);
  const int32_t ahead = flow->known ? psn_distance(psn, flow->expected) : 0;
  if (ahead > 0 && !flow->skips) return hold(view, *flow, packet, psn);
  view.pass(packet);
  if (ahead < 0 && psn != flow->missed && !silent) return;
  flow->known = true;
  flow->expected = psn_after(psn);
  flow->missed = FlowOrder::kNone;
  flow->skips = static_cast<RoceOpcode>(opcode) == RoceOpcode::read_request;
  if (flow->head != nullptr) [[unlikely]]
    release_due(view, *flow);
}

void Resequencer::hold(StageView& view, FlowOrder& flow, Packet* packet, uint32_t psn) {
  const bool fits = flow.held < plan_.most_packets && view.has_room_for(*packet);
  insert(flow, packet, psn);
  view.hold(packet);
  if (flow.held == 1) begin_wait(flow, view.now());
  if (fits) return give_up_what_is_lost(view, flow);
  view.report(StageEvent::forced_flow, *packet);
  release_whole(view, flow);
}

// Paths keep their order: what has not come when later packets have come by all of them is lost.
void Resequencer::give_up_what_is_lost(StageView& view, FlowOrder& flow) {
  if (!plan_.proves_loss || flow.held % kLossCheck != 0) [[likely]]
    return;
  std::bitset<kMaxPorts> missing = plan_.fabric;
  for (size_t port = 0; port < kMaxPorts; ++port)
    if (missing.test(port) && view.port(PortId(port)).up.load(std::memory_order_relaxed) == 0)
      missing.reset(port);
  for (const Packet* packet = flow.head; packet != nullptr; packet = packet->next)
    missing.reset(packet->ingress_port.index());
  if (missing.any()) return;
  view.report(StageEvent::missed_flow, *flow.head);
  if (flow.known) flow.missed = flow.expected;
  flow.known = true;
  flow.expected = psn_of(*flow.head);
  release_due(view, flow);
}

void Resequencer::insert(FlowOrder& flow, Packet* packet, uint32_t psn) {
  ++flow.held;
  packet->next = nullptr;
  if (flow.head == nullptr) {
    flow.head = flow.tail = packet;
  } else if (psn_distance(psn, psn_of(*flow.tail)) >= 0) {
    flow.tail->next = packet;
    flow.tail = packet;
  } else {
    Packet** link = &flow.head;
    while (psn_distance(psn, psn_of(**link)) >= 0) link = &(*link)->next;
    packet->next = *link;
    *link = packet;
  }
}

Packet* Resequencer::pop(FlowOrder& flow) {
  Packet* packet = flow.head;
  flow.head = packet->next;
  --flow.held;
  return packet;
}

void Resequencer::release_due(StageView& view, FlowOrder& flow) {
  end_wait(flow);
  while (flow.head != nullptr) {
    const uint32_t psn = psn_of(*flow.head);
    const int32_t ahead = psn_distance(psn, flow.expected);
    if (ahead > 0 && !flow.skips) return begin_wait(flow, view.now());
    const bool reads = static_cast<RoceOpcode>(bth_of(*flow.head)[0]) == RoceOpcode::read_request;
    if (ahead >= 0) {
      flow.expected = psn_after(psn);
      flow.skips = reads;
    }
    view.release(pop(flow));
  }
}

void Resequencer::release_whole(StageView& view, FlowOrder& flow) {
  end_wait(flow);
  if (flow.known) flow.missed = flow.expected;
  flow.known = true;
  flow.skips = false;
  while (flow.head != nullptr) {
    flow.expected = psn_after(psn_of(*flow.head));
    view.release(pop(flow));
  }
}

void Resequencer::begin_wait(FlowOrder& flow, Instant now) {
  const uint32_t place = flows_->place_of(flow);
  flow.since = now;
  flow.next = FlowOrder::kNone;
  flow.previous = last_;
  (last_ == FlowOrder::kNone ? first_ : flows_->at(last_).next) = place;
  last_ = place;
}

void Resequencer::end_wait(FlowOrder& flow) {
  (flow.previous == FlowOrder::kNone ? first_ : flows_->at(flow.previous).next) = flow.next;
  (flow.next == FlowOrder::kNone ? last_ : flows_->at(flow.next).previous) = flow.previous;
}

Instant Resequencer::next_deadline() const {
  return first_ == FlowOrder::kNone ? Instant::never() : flows_->at(first_).since + plan_.wait;
}

void Resequencer::on_timers(StageView& view) {
  while (next_deadline() <= view.now()) {
    FlowOrder& flow = flows_->at(first_);
    view.report(StageEvent::missed_flow, *flow.head);
    release_whole(view, flow);
  }
}

void Resequencer::release_all(StageView& view) {
  while (first_ != FlowOrder::kNone) release_whole(view, flows_->at(first_));
}

}  // namespace eddy::lb
