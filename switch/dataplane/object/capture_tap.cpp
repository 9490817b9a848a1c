#include "switch/dataplane/object/capture_tap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "net/assert.h"
#include "net/byte_order.h"
#include "net/protocols.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

constexpr size_t kEtherTypeAt = 12;
constexpr size_t kAhead = 1024;  // octets
constexpr ClassOf kNoClass{TrafficClass::none(), PriorityGroupId::none(), QueueId::none()};
static_assert(kNoClass.pg.index() == kCaptureNone && kNoClass.queue.index() == kCaptureNone);

// Past tags and a shim.
[[gnu::noinline]] ClassOf class_behind(const uint8_t* frame, size_t length,
                                       const PortSettings& settings) {
  const PortClasses& classes = *settings.classes;
  size_t at = kEtherTypeAt;
  const uint8_t* shim = nullptr;
  const ClassOf* by_pcp = nullptr;
  for (int headers = 0; headers < 4 && at + 4 <= length; ++headers) {
    const uint16_t type = load_be16(frame + at);
    if (type == kEtherTypeIpv4 || type == kEtherTypeIpv6) {
      const auto tos = type == kEtherTypeIpv4
                           ? frame[at + 3]
                           : static_cast<uint8_t>(load_be16(frame + at + 2) >> 4);
      const ClassOf* own = by_pcp != nullptr ? by_pcp : &classes.by_tos[tos].class_of;
      if (shim != nullptr) own = classes.in_channel(own->traffic_class, shim_at::channel_of(shim));
      return own == nullptr ? kNoClass : *own;
    }
    if (type == kEtherTypeVlan || type == kEtherTypeServiceVlan) {
      if (settings.pcp_trusted && by_pcp == nullptr) by_pcp = &classes.by_pcp[frame[at + 2] >> 5];
      at += kVlanTag;
    } else if (type == kEtherTypeShim && shim == nullptr && at + 2 + kShimHeader <= length) {
      shim = frame + at + 2;
      at += kShimHeader;  // whose last two octets are the type of what follows
    } else {
      return kNoClass;
    }
  }
  return kNoClass;
}

// Class, group and queue as a Packet has them, which are the last octets of a ClassOfTos.
uint32_t class_word(const ClassOfTos& of) {
  static_assert(std::endian::native == std::endian::little);
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(of) >> 8 * offsetof(ClassOfTos, class_of));
}
uint32_t class_word(const ClassOf& of) {
  return class_word(ClassOfTos{.class_of = of});
}

// The class that a frame of the port will be in, as far as its first octets tell: tags and shim,
// then DSCP. None: it is no IP packet, or cut off.
inline uint32_t class_by_sight(const Packet& packet, const PortSettings& settings) {
  const uint8_t* const frame = packet.data();
  if (packet.data_len() >= kEthernetHeader + 2 && load_be16(frame + kEtherTypeAt) == kEtherTypeIpv4)
      [[likely]]
    return class_word(settings.classes->by_tos[frame[kEthernetHeader + 1]]);
  return class_word(class_behind(frame, packet.data_len(), settings));
}

}  // namespace

// What a record says beside its frame, as the words that it is in memory: a store each.
struct CaptureTap::Words {
  uint64_t stamp_ns = 0;
  uint64_t port_word = 0;   // from `captured` on
  uint64_t class_word = 0;  // from `pg` on

  static constexpr uint64_t at(uint64_t value, size_t offset, size_t word) {
    return value << 8 * (offset - word);
  }
  static constexpr size_t kPortWord = offsetof(CaptureRecord, captured);
  static constexpr size_t kClassWord = offsetof(CaptureRecord, pg);
  static_assert(offsetof(CaptureRecord, wire_len) == 4 && offsetof(CaptureRecord, stamp_ns) == 8);
  static_assert(kPortWord == 16 && kClassWord == 24 && std::endian::native == std::endian::little);

  static constexpr Words of(PortId port, CaptureDirection direction) {
    return {.port_word =
                at(port.index(), offsetof(CaptureRecord, port), kPortWord) |
                at(kCaptureNoPort, offsetof(CaptureRecord, from), kPortWord) |
                at(static_cast<uint64_t>(direction), offsetof(CaptureRecord, direction), kPortWord),
            .class_word = at(kCaptureNone, offsetof(CaptureRecord, reason), kClassWord)};
  }
  // `of`: as class_word().
  constexpr void put_class(uint32_t of) {
    port_word |= at(of >> 16 & 0xff, offsetof(CaptureRecord, queue), kPortWord);
    class_word |= at(of >> 8 & 0xff, offsetof(CaptureRecord, pg), kClassWord);
  }
};

namespace {

void store_raw(uint8_t* to, uint64_t value) {
  std::memcpy(to, &value, sizeof value);
}

// Most frames are short, and a call costs more than they do.
void copy_frame(uint8_t* to, const uint8_t* from, size_t octets) {
  constexpr size_t kStep = 32;
  constexpr size_t kShort = 160;
  if (octets < kStep || octets > kShort) {
    std::memcpy(to, from, octets);
    return;
  }
  for (size_t at = 0; at + kStep < octets; at += kStep) std::memcpy(to + at, from + at, kStep);
  std::memcpy(to + octets - kStep, from + octets - kStep, kStep);
}

}  // namespace

void CaptureTap::rebase(const Rebase& rebase) {
  Instant zero;
  rebase.shift(zero);
  order_.zero_ns -= zero.ps() / 1'000;
}

Received CaptureTap::receive(std::span<Packet*> out) {
  if (order_.trace != nullptr) return tracer_.receive(*world_, out, explainer_);
  const Received received = world_->receive(out);
  const std::span<Packet* const> packets = out.first(received.count);
  for (Packet* packet : packets) put_capture_note(*packet, {});
  if (order_.wants(CaptureDirection::in) && order_.ports[received.port.index()])
    capture_received(received.port, packets);
  return received;
}

// A record and its frame; returns where the next one goes.
inline uint8_t* CaptureTap::write(uint8_t* place, const Packet& packet, const Words& words,
                                  uint32_t snap) {
  const uint32_t captured = std::min(packet.data_len(), snap);
  const uint32_t size = capture_record_size(captured);
  // Some records ahead: whoever read the ring's lines the last time round has them.
  __builtin_prefetch(place + kAhead, 1);
  __builtin_prefetch(place + kAhead + 64, 1);
  store_raw(place, size | uint64_t{packet.wire_len} << 32);
  store_raw(place + offsetof(CaptureRecord, stamp_ns), words.stamp_ns);
  store_raw(place + Words::kPortWord, words.port_word | captured);
  store_raw(place + Words::kClassWord, words.class_word);
  copy_frame(place + sizeof(CaptureRecord), packet.data(), captured);
  return place + size;
}

// All packets at once, where there is room in one piece however long they are; `say`: Words of a
// packet. Returns where they stand, or null.
template <class Say>
[[gnu::always_inline]] inline uint8_t* CaptureTap::put_all(std::span<Packet* const> packets,
                                                           const Say& say) {
  const uint32_t snap = order_.snap;
  uint8_t* const first = order_.ring.room(packets.size() * capture_record_size(snap));
  if (first == nullptr) [[unlikely]]
    return nullptr;
  uint8_t* place = first;
  for (const Packet* packet : packets) place = write(place, *packet, say(*packet), snap);
  order_.ring.wrote(static_cast<uint64_t>(place - first));
  return first;
}

// False: there is no room.
bool CaptureTap::put_one(const Packet& packet, const Words& words) {
  CaptureWriter& ring = order_.ring;
  const uint32_t size = capture_record_size(std::min(packet.data_len(), order_.snap));
  uint8_t* const place = ring.room(size);
  if (place == nullptr) return false;
  write(place, packet, words, order_.snap);
  ring.wrote(size);
  return true;
}

// As many as there is room for. Returns those for which there is none, as a mask.
template <class Say>
[[gnu::noinline]] uint64_t CaptureTap::put_some(std::span<Packet* const> packets, const Say& say) {
  uint64_t lost = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    if (!put_one(*packets[i], say(*packets[i]))) lost |= uint64_t{1} << i;
  }
  return lost;
}

void CaptureTap::capture_received(PortId port, std::span<Packet* const> packets) {
  const PortSettings& settings = context_.settings(port);
  Words of_port = Words::of(port, CaptureDirection::in);
  of_port.stamp_ns = stamp_of(context_.now);
  const auto say = [of_port, &settings](const Packet& packet) {
    Words words = of_port;
    words.put_class(class_by_sight(packet, settings));
    return words;
  };
  if (put_all(packets, say) == nullptr) [[unlikely]]
    order_.ring.count_lost(port.index(),
                           static_cast<uint64_t>(std::popcount(put_some(packets, say))));
  order_.ring.publish(order_.ring.written());
}

// What has been found out about a packet behind its reception. Frames of our own are in no group.
inline CaptureTap::Words CaptureTap::with_fate(const Packet& packet, Words words) {
  constexpr size_t kAt = offsetof(Packet, traffic_class);
  static_assert(offsetof(Packet, pg) == kAt + 1 && offsetof(Packet, queue) == kAt + 2);
  const bool classified = !packet.has(kPacketOriginated) && !packet.pg.is_none();
  words.put_class(classified ? load_raw<uint32_t>(reinterpret_cast<const uint8_t*>(&packet) + kAt)
                             : class_word(kNoClass));
  const CaptureNote note = capture_note_of(packet);
  words.class_word |=
      Words::at(note.decisions, offsetof(CaptureRecord, decisions), Words::kClassWord) |
      Words::at(note.rounds, offsetof(CaptureRecord, rounds), Words::kClassWord);
  return words;
}

// Copied before they are the world's, shown as far as it has taken them.
uint16_t CaptureTap::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  if (order_.trace != nullptr) {
    PacketTracer::Leaving leaving;
    tracer_.look_at_leaving(port, packets, leaving);
    const uint16_t taken = world_->transmit(port, packets, done);
    tracer_.say_left(leaving, taken);
    return taken;
  }
  if (!order_.wants(CaptureDirection::out) || !order_.ports[port.index()])
    return world_->transmit(port, packets, done);
  ASSERT(packets.size() <= Egress::kMostFrames);
  const Words of_port = Words::of(port, CaptureDirection::out);
  const auto say = [of_port, zero_ns = order_.zero_ns](const Packet& packet) {
    Words words = with_fate(packet, of_port);
    words.stamp_ns = static_cast<uint64_t>(zero_ns + packet.sent_at.ps() / 1'000);
    if (!packet.has(kPacketOriginated)) [[likely]]
      words.port_word ^= Words::at(packet.ingress_port.index() ^ kCaptureNoPort,
                                   offsetof(CaptureRecord, from), Words::kPortWord);
    return words;
  };
  const uint64_t before = order_.ring.written();
  const uint8_t* const first = put_all(packets, say);
  if (first == nullptr) [[unlikely]]
    return transmit_some(port, packets, done, say);
  const uint64_t behind = order_.ring.written();
  const uint16_t taken = world_->transmit(port, packets, done);
  if (taken == packets.size()) [[likely]]
    order_.ring.publish(behind);
  else
    order_.ring.publish(taken == 0 ? before : behind - octets_behind(first, packets, taken));
  return taken;
}

// Of the records from `first` on, those of the packets behind the first `taken`.
uint64_t CaptureTap::octets_behind(const uint8_t* first, std::span<Packet* const> packets,
                                   size_t taken) {
  uint64_t octets = 0;
  for (size_t i = 0; i < packets.size(); ++i) {
    const auto size = load_raw<uint32_t>(first);
    first += size;
    if (i >= taken) octets += size;
  }
  return octets;
}

// There may be no room for all of them: a packet at a time, so that what the world refuses is in
// nobody's way.
template <class Say>
[[gnu::noinline]] uint16_t CaptureTap::transmit_some(PortId port, std::span<Packet* const> packets,
                                                     Instant done, const Say& say) {
  std::array<uint64_t, Egress::kMostFrames> ends;  // in the ring, of each
  uint64_t lost = 0;
  const uint64_t before = order_.ring.written();
  for (size_t i = 0; i < packets.size(); ++i) {
    lost |= put_some(packets.subspan(i, 1), say) << i;
    ends[i] = order_.ring.written();
  }
  const uint16_t taken = world_->transmit(port, packets, done);
  if (taken != packets.size()) lost &= (uint64_t{1} << taken) - 1;
  order_.ring.count_lost(port.index(), static_cast<uint64_t>(std::popcount(lost)));
  order_.ring.publish(taken == 0 ? before : ends[taken - 1u]);
  return taken;
}

Packet* CaptureTap::allocate() {
  Packet* packet = world_->allocate();
  if (packet != nullptr) put_capture_note(*packet, {});
  return packet;
}

void CaptureTap::on_drop(const Packet& packet, DropReason reason) {
  if (order_.trace != nullptr) return tracer_.say_dropped(packet, reason);
  const PortId port = packet.ingress_port;
  if (!order_.wants(CaptureDirection::drop) || !order_.ports[port.index()]) return;
  Words words = with_fate(packet, Words::of(port, CaptureDirection::drop));
  words.stamp_ns = stamp_of(context_.now);
  words.class_word ^= Words::at(static_cast<uint64_t>(reason) ^ kCaptureNone,
                                offsetof(CaptureRecord, reason), Words::kClassWord);
  if (put_one(packet, words))
    order_.ring.publish(order_.ring.written());
  else
    order_.ring.count_lost(port.index());
}

}  // namespace eddy
