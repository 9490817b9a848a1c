#include "lb/agents/ack_stage.h"

#include <algorithm>
#include <utility>

namespace eddy::lb {

AckStage::AckStage(FlowcutAcks& acks, std::span<const PathSet> sets,
                   std::span<const PortLine> lines)
    : acks_(acks), queues_(lines.size() * kPriorities), looks_(queues_.size()), waiting_(kMost) {
  for (const PortLine& line : lines) lines_.emplace_back(line.rate);
  for (size_t set = sets.size(); set-- != 0;) {
    const size_t leaf = sets[set].leaf.index();
    if (leaf >= set_of_leaf_.size()) set_of_leaf_.resize(leaf + 1, kNoSet);
    set_of_leaf_[leaf] = static_cast<uint16_t>(set);
  }
}

// As its queue will count them: without the shim.
int64_t AckStage::octets_of(const Packet& packet) {
  const bool charged = packet.has(kPacketShim) && !packet.has(kPacketFreeShim);
  return int64_t{packet.wire_len} - (charged ? static_cast<int64_t>(kShimHeader) : 0);
}

uint64_t AckStage::held_in(const StageView& view, uint32_t queue) const {
  const PortSignals& port = view.port(PortId(queue / kPriorities));
  return port.queued_bytes[queue % kPriorities].load(std::memory_order_relaxed);
}

// That leads back to where it came from; none: it is not to be acknowledged.
uint16_t AckStage::set_of(const Packet& packet, Shim& shim) const {
  constexpr uint16_t kKind = kPacketShim | kPacketOriginated | kPacketShimControl;
  if ((packet.flags & kKind) != kPacketShim) return kNoSet;
  const ConstOctets octets{packet.data() + packet.l2_len - kShimHeader, kShimHeader};
  if (decode(octets, shim) != CodecVerdict::ok || shim.kind != ShimKind::data ||
      shim.sequence() == kShimUnnumbered)
    return kNoSet;
  const size_t leaf = shim.source_leaf.index();
  return leaf < set_of_leaf_.size() ? set_of_leaf_[leaf] : kNoSet;
}

void AckStage::take(StageView& view, std::span<Packet* const> burst) {
  for (Packet* packet : burst) {
    Shim shim;
    const uint32_t at = queue_of(packet->egress_port, packet->queue);
    Queue& queue = queues_[at];
    const uint16_t set = set_of(*packet, shim);
    if (set != kNoSet && queue.first == kNobody) queue = {.passed = held_in(view, at)};
    queue.passed += static_cast<uint64_t>(octets_of(*packet));
    if (set != kNoSet) put(view, at, FlowcutAcks::numbered(*packet, shim, set));
    view.pass(packet);
  }
}

void AckStage::put(StageView& view, uint32_t at, const FlowcutAcks::Numbered& packet) {
  Queue& queue = queues_[at];
  const uint32_t mine = place();
  if (mine == kNobody) return acks_.left(packet, view.now());
  waiting_[mine - 1] = {.packet = packet, .end = queue.passed, .next = kNobody};
  if (queue.first == kNobody) {
    queue.first = mine;
    const Bytes ahead(static_cast<int64_t>(queue.passed - queue.gone));
    looks_.set(at, view.now() + lines_[at / kPriorities].time_of(ahead));
  } else {
    waiting_[queue.last - 1].next = mine;
  }
  queue.last = mine;
}

// One that is free, plus one.
uint32_t AckStage::place() {
  if (free_ != kNobody) return std::exchange(free_, waiting_[free_ - 1].next);
  return ever_used_ == kMost ? kNobody : ++ever_used_;
}

void AckStage::on_timers(StageView& view) {
  while (const auto due = looks_.pop_due(view.now())) look(view, *due);
}

void AckStage::look(const StageView& view, uint32_t at) {
  Queue& queue = queues_[at];
  const uint64_t held = held_in(view, at);
  queue.gone = std::max(queue.gone, queue.passed - std::min(held, queue.passed));
  while (queue.first != kNobody && waiting_[queue.first - 1].end <= queue.gone) {
    Waiting& first = waiting_[queue.first - 1];
    acks_.left(first.packet, view.now());
    free_ = std::exchange(queue.first, std::exchange(first.next, free_));
  }
  if (queue.first == kNobody) return;
  const Bytes ahead(static_cast<int64_t>(waiting_[queue.first - 1].end - queue.gone));
  looks_.set(at, view.now() + std::max(lines_[at / kPriorities].time_of(ahead), kLook));
}

}  // namespace eddy::lb
