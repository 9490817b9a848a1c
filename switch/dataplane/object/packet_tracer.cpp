#include "switch/dataplane/object/packet_tracer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "net/assert.h"
#include "switch/dataplane/queues/egress.h"

namespace eddy {
namespace {

static_assert(std::is_trivially_copyable_v<Explanation>, "it lies in a ring");
static_assert(explanation_size(kMaxPaths) == sizeof(Explanation));
static_assert(sizeof(Explanation) <= UINT16_MAX);

// What is known of a packet behind its reception.
CaptureRecord record_of(const Packet& packet, CaptureDirection direction, PortId port) {
  const CaptureNote note = capture_note_of(packet);
  CaptureRecord record{.wire_len = packet.wire_len,
                       .port = static_cast<uint16_t>(port.index()),
                       .from = static_cast<uint16_t>(packet.ingress_port.index()),
                       .direction = direction,
                       .decisions = note.decisions,
                       .rounds = note.rounds,
                       .trace = note.trace};
  if (packet.pg.is_none()) return record;
  record.queue = static_cast<uint8_t>(packet.queue.index());
  record.pg = static_cast<uint8_t>(packet.pg.index());
  return record;
}

}  // namespace

void PacketTracer::start(const CaptureOrder& order, CaptureWriter& ring) {
  ASSERT(next_ == burst_.count);
  order_ = &order;
  ring_ = &ring;
  traced_ = 0;
  left_in_poll_ = kMostAPoll;
}

bool PacketTracer::wants(const Packet& packet) const {
  return traced_ < order_->trace->most &&
         order_->trace->filter.matches({packet.data(), packet.data_len()}, packet.wire_len);
}

// Once there is no room for the explanation the rest of the packet's way says nothing.
void PacketTracer::explain(Packet& packet, PortId port, PacketExplainer& explainer) {
  if (left_in_poll_ == 0) return ring_->count_lost(port.index());
  --left_in_poll_;
  Explanation explanation{.port = port, .packet = &packet};
  explainer.explain_received(explanation);
  explanation.packet = nullptr;
  const auto id = static_cast<uint16_t>(context_.id.index() * kMostTraced + traced_ + 1);
  const CaptureRecord record{.wire_len = packet.wire_len,
                             .stamp_ns = stamp_of(context_.now),
                             .port = static_cast<uint16_t>(port.index()),
                             .direction = CaptureDirection::trace,
                             .trace = id};
  if (!put(record, &explanation)) return ring_->count_lost(port.index());
  ++traced_;
  put_capture_note(packet, {.trace = id});
}

bool PacketTracer::put(const CaptureRecord& head, const Explanation* explanation) {
  const size_t behind = explanation == nullptr ? 0 : explanation_size(explanation->options);
  CaptureRecord record = head;
  record.captured = static_cast<uint16_t>(behind);
  record.size = capture_record_size(record.captured);
  uint8_t* const place = ring_->room(record.size);
  if (place == nullptr) return false;
  std::memcpy(place, &record, sizeof record);
  if (explanation != nullptr) std::memcpy(place + sizeof record, explanation, behind);
  ring_->wrote(record.size);
  ring_->publish(ring_->written());
  return true;
}

// A burst goes on in pieces: what nobody wants together, each wanted packet alone.
Received PacketTracer::receive(Io& world, std::span<Packet*> out, PacketExplainer& explainer) {
  if (next_ == burst_.count) {
    burst_ = world.receive(packets_);
    next_ = 0;
    for (size_t i = 0; i < burst_.count; ++i) put_capture_note(*packets_[i], {});
    if (burst_.count == 0) return burst_;
  }
  const size_t first = next_;
  size_t count = 0;
  while (first + count < burst_.count && !wants(*packets_[first + count])) ++count;
  if (count == 0) {
    explain(*packets_[first], burst_.port, explainer);
    count = 1;
  }
  std::copy_n(packets_.begin() + first, count, out.begin());
  next_ += count;
  Received piece = burst_;
  piece.count = static_cast<decltype(piece.count)>(count);
  piece.last = burst_.last && next_ == burst_.count;
  return piece;
}

void PacketTracer::look_at_leaving(PortId port, std::span<Packet* const> packets,
                                   Leaving& leaving) const {
  ASSERT(packets.size() <= leaving.records.size());
  for (size_t i = 0; i < packets.size(); ++i) {
    const Packet& packet = *packets[i];
    if (packet.has(kPacketOriginated) || capture_note_of(packet).trace == 0) continue;
    CaptureRecord& record = leaving.records[leaving.count];
    record = record_of(packet, CaptureDirection::out, port);
    record.stamp_ns = stamp_of(packet.sent_at);
    leaving.places[leaving.count++] = static_cast<uint8_t>(i);
  }
}

void PacketTracer::say_left(const Leaving& leaving, size_t taken) {
  for (size_t i = 0; i < leaving.count && leaving.places[i] < taken; ++i)
    if (!put(leaving.records[i], nullptr)) ring_->count_lost(leaving.records[i].port);
}

void PacketTracer::say_dropped(const Packet& packet, DropReason reason) {
  if (packet.has(kPacketOriginated) || capture_note_of(packet).trace == 0) return;
  CaptureRecord record = record_of(packet, CaptureDirection::drop, packet.ingress_port);
  record.stamp_ns = stamp_of(context_.now);
  record.reason = static_cast<uint8_t>(reason);
  if (!put(record, nullptr)) ring_->count_lost(record.port);
}

}  // namespace eddy
