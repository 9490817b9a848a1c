#include "switch/dataplane/queues/resequencer.h"

#include <algorithm>
#include <bitset>

#include "net/byte_order.h"
#include "net/protocols.h"
#include "net/roce.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {
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

bool Resequencer::take(Packet* packet) {
  const uint8_t opcode = bth_of(*packet)[0];
  const bool crossed = context_.settings(packet->ingress_port).role == config::PortRole::fabric;
  if (!crossed || !is_request(opcode)) return true;
  const Instant now = context_.now;
  FlowOrder* flow = flows_->find_or_place(packet->order_hash, now, plan_.age());
  if (flow == nullptr) {
    context_.count(packet->egress_port, PortCounter::resequence_placeless_packets);
    return true;
  }
  const uint32_t psn = psn_of(*packet);
  const bool silent = now - flow->last > plan_.wait;
  flow->last = now;
  if (!flow->known && !is_first(opcode)) {
    hold(*flow, packet, psn);
    return false;
  }
  const int32_t ahead = flow->known ? psn_distance(psn, flow->expected) : 0;
  if (ahead > 0 && !flow->skips) {
    hold(*flow, packet, psn);
    return false;
  }
  if (ahead < 0 && psn != flow->missed && !silent) return true;
  flow->known = true;
  flow->expected = psn_after(psn);
  flow->missed = FlowOrder::kNone;
  flow->skips = static_cast<RoceOpcode>(opcode) == RoceOpcode::read_request;
  if (flow->head != nullptr) [[unlikely]]
    release_due(*flow);
  return true;
}

void Resequencer::hold(FlowOrder& flow, Packet* packet, uint32_t psn) {
  const bool fits =
      flow.held < plan_.most_packets && octets_ + packet->wire_len <= plan_.most_octets;
  insert(flow, packet, psn);
  ++held_;
  octets_ += packet->wire_len;
  context_.count(packet->egress_port, PortCounter::resequence_held_packets);
  if (flow.held == 1) begin_wait(flow);
  if (fits) return give_up_what_is_lost(flow);
  context_.count(packet->egress_port, PortCounter::resequence_forced_flows);
  release_whole(flow);
}

// Paths keep their order: what has not come when later packets have come by all of them is lost.
void Resequencer::give_up_what_is_lost(FlowOrder& flow) {
  if (!plan_.proves_loss || flow.held % kLossCheck != 0) [[likely]]
    return;
  std::bitset<kMaxPorts> missing;
  for (size_t port = 0; port < context_.snapshot->ports.size(); ++port) {
    const bool up = context_.signals(PortId(port)).up.load(std::memory_order_relaxed) != 0;
    if (up && context_.settings(PortId(port)).role == config::PortRole::fabric) missing.set(port);
  }
  for (const Packet* packet = flow.head; packet != nullptr; packet = packet->next)
    missing.reset(packet->ingress_port.index());
  if (missing.any()) return;
  context_.count(flow.head->egress_port, PortCounter::resequence_missed_flows);
  if (flow.known) flow.missed = flow.expected;
  flow.known = true;
  flow.expected = psn_of(*flow.head);
  release_due(flow);
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
  --held_;
  octets_ -= packet->wire_len;
  return packet;
}

void Resequencer::release_due(FlowOrder& flow) {
  end_wait(flow);
  while (flow.head != nullptr) {
    const uint32_t psn = psn_of(*flow.head);
    const int32_t ahead = psn_distance(psn, flow.expected);
    if (ahead > 0 && !flow.skips) return begin_wait(flow);
    const bool reads = static_cast<RoceOpcode>(bth_of(*flow.head)[0]) == RoceOpcode::read_request;
    if (ahead >= 0) {
      flow.expected = psn_after(psn);
      flow.skips = reads;
    }
    due_.push(pop(flow));
  }
}

void Resequencer::release_whole(FlowOrder& flow) {
  end_wait(flow);
  if (flow.known) flow.missed = flow.expected;
  flow.known = true;
  flow.skips = false;
  while (flow.head != nullptr) {
    flow.expected = psn_after(psn_of(*flow.head));
    due_.push(pop(flow));
  }
}

void Resequencer::begin_wait(FlowOrder& flow) {
  const uint32_t place = flows_->place_of(flow);
  flow.since = context_.now;
  flow.next = FlowOrder::kNone;
  flow.previous = last_;
  (last_ == FlowOrder::kNone ? first_ : flows_->at(last_).next) = place;
  last_ = place;
  follow_timer();
}

void Resequencer::end_wait(FlowOrder& flow) {
  (flow.previous == FlowOrder::kNone ? first_ : flows_->at(flow.previous).next) = flow.next;
  (flow.next == FlowOrder::kNone ? last_ : flows_->at(flow.next).previous) = flow.previous;
  follow_timer();
}

void Resequencer::follow_timer() {
  *context_.due_of(Timers::resequencer) =
      first_ == FlowOrder::kNone ? Instant::never() : flows_->at(first_).since + plan_.wait;
}

void Resequencer::rebase(const Rebase& rebase) {
  if (flows_ != nullptr) flows_->rebase(rebase);
  follow_timer();
}

void Resequencer::on_timers() {
  while (first_ != FlowOrder::kNone && flows_->at(first_).since + plan_.wait <= context_.now) {
    FlowOrder& flow = flows_->at(first_);
    context_.count(flow.head->egress_port, PortCounter::resequence_missed_flows);
    release_whole(flow);
  }
}

void Resequencer::release_all() {
  while (first_ != FlowOrder::kNone) release_whole(flows_->at(first_));
}

// Flows are remembered by what remembers them; a new table knows none.
void Resequencer::adopt(const Snapshot& now) {
  const ResequencePlan& plan = now.resequence;
  const std::shared_ptr<FlowOrders>& flows = now.schemes[context_.id.index()].orders;
  if (flows_ != flows || plan != plan_) release_all();
  plan_ = plan;
  flows_ = flows;
}

}  // namespace eddy
