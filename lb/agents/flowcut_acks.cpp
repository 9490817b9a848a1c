#include "lb/agents/flowcut_acks.h"

#include <algorithm>

#include "lb/flowcuts.h"
#include "lb/members.h"

namespace eddy::lb {

void FlowcutAcks::arrived(Voice& voice, std::span<const Arrival> burst) {
  const Duration lag = voice.proof_lag();
  now_ = voice.view().now();
  Voice* const at_once = lag == Duration{} ? &voice : nullptr;
  for (const Arrival& arrival : burst) {
    if (arrival.shim.kind != ShimKind::data || arrival.shim.sequence() == kShimUnnumbered) continue;
    Group* group = take(numbered(*arrival.packet, arrival.shim, arrival.set), lag, at_once);
    if (group != nullptr && group->packets >= plan_.packets && at_once != nullptr)
      send(voice, *group);
  }
}

void FlowcutAcks::left(const Numbered& packet, Instant now) {
  now_ = now;
  const Group* group = take(packet, Duration{}, nullptr);
  if (group != nullptr && group->packets >= plan_.packets)
    complete_since_ = std::min(complete_since_, now);
}

FlowcutAcks::Numbered FlowcutAcks::numbered(const Packet& packet, const Shim& shim, uint16_t set) {
  return {.flow = packet.order_hash,
          .stamp_ns = shim.sent_ns,
          .number = shim.sequence(),
          .set = set,
          .octets = static_cast<uint16_t>(std::min<uint32_t>(packet.wire_len, UINT16_MAX)),
          .port = packet.ingress_port,
          .hops = static_cast<uint8_t>(shim.hop_count + 1)};
}

FlowcutAcks::Group* FlowcutAcks::take(const Numbered& packet, Duration lag, Voice* at_once) {
  Group* known = open_group(packet.flow);
  const bool begins = known == nullptr;
  Group& group = begins ? begin_group(packet.flow, lag, at_once) : *known;
  // What is late does not take back what was said.
  if (!begins && numbers_between(group.number, packet.number) > kShimUnnumbered / 2) return nullptr;
  group.number = packet.number;
  group.stamp_ns = packet.stamp_ns;
  group.came_ns = PathRecord::wire_time(now_);
  group.set = packet.set;
  group.port = packet.port;
  group.octets = packet.octets;
  group.hops = packet.hops;
  if (++group.packets >= plan_.packets) group.closes = now_;
  return &group;
}

FlowcutAcks::Group* FlowcutAcks::open_group(uint64_t flow) {
  const uint32_t serial = open_[flow % kMost] - 1;
  if (serial - first_ >= end_ - first_) return nullptr;
  Group& group = of(serial);
  return group.flow == flow && !group.sent && now_ < group.closes ? &group : nullptr;
}

FlowcutAcks::Group& FlowcutAcks::begin_group(uint64_t flow, Duration lag, Voice* at_once) {
  if (end_ - first_ == kMost) forget_sent();
  if (end_ - first_ == kMost) {
    if (at_once != nullptr) send(*at_once, of(first_));
    ++first_;
  }
  Group& group = of(end_);
  group = {};
  group.flow = flow;
  group.closes = now_ + plan_.wait;
  group.due = group.closes + lag;
  open_[flow % kMost] = ++end_;
  return group;
}

void FlowcutAcks::forget_sent() {
  while (first_ != end_ && of(first_).sent) ++first_;
}

void FlowcutAcks::on_timers(Voice& voice) {
  now_ = voice.view().now();
  if (complete_since_ <= now_) send_complete(voice);
  forget_sent();
  while (first_ != end_ && of(first_).due <= now_) {
    if (!plan_.after_line && !voice.stamps_prove()) {  // what came in may still be between shards
      voice.wake_others();
      of(first_).due = now_ + voice.proof_lag() / 2;
      return;
    }
    send(voice, of(first_));
    forget_sent();
  }
}

void FlowcutAcks::send_complete(Voice& voice) {
  complete_since_ = Instant::never();
  for (uint32_t serial = first_; serial != end_; ++serial)
    if (of(serial).packets >= plan_.packets) send(voice, of(serial));
}

// One that cannot be sent is lost; the host has counted it.
void FlowcutAcks::send(Voice& voice, Group& group) {
  if (group.sent) return;
  group.sent = true;
  const PathView view = voice.view();
  const MemberMask live = view.live(group.set);
  if (live == 0) return;
  Utterance ack{.by_path = !plan_.back_by_port, .port = group.port};
  const auto drawn = static_cast<uint32_t>(mix64(group.flow) >> 32);
  ack.path = {group.set, random_of(live, drawn)};
  const PathSet& set = view.set(group.set);
  ack.message.order_hash = group.flow;
  ack.message.value = group.octets;
  Shim& shim = ack.message.shim;
  shim.kind = ShimKind::flowcut_ack;
  shim.destination_leaf = set.leaf;
  shim.path = set.members[ack.path.member].path;
  shim.feedback_congestion = group.hops;
  shim.tolerable_delay = group.number;
  shim.echoed_ns = group.stamp_ns;
  shim.hold_ns = PathRecord::wire_time(view.now()) - group.came_ns;
  (void)voice.send(ack);
}

void FlowcutAcks::rebase(const Rebase& rebase) {
  rebase.shift(complete_since_);
  for (uint32_t serial = first_; serial != end_; ++serial) {
    rebase.shift(of(serial).closes);
    rebase.shift(of(serial).due);
  }
}

}  // namespace eddy::lb
