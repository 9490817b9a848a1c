#include "bench/replay_io.h"

#include <algorithm>
#include <cstring>

#include "net/assert.h"

namespace eddy::bench {
namespace {

constexpr size_t kDataRoom = 128;
constexpr uint32_t kSpread = 2'654'435'769;  // 2^32 / golden ratio
constexpr uint32_t kSources = 16;  // source addresses; with 2^16 source ports: a million flows

IpAddress plus(const IpAddress& address, uint32_t n) {
  if (address.is_v4()) return Ipv4Address{address.v4().value + n};
  Ipv6Address next = address.v6();
  next.octets.back() = static_cast<uint8_t>(next.octets.back() + n);
  return next;
}

}  // namespace

std::shared_ptr<test::PacketPool> ReplayIo::make_pool(size_t packets) {
  return std::make_shared<test::PacketPool>(packets, kDataRoom);
}

ReplayIo::ReplayIo(const ReplaySpec& spec, std::shared_ptr<test::PacketPool> pool)
    : spec_(spec),
      pool_(std::move(pool)),
      port_offset_(kEthernetHeader + (spec.source.is_v4() ? kIpv4Header : kIpv6Header)) {
  for (uint32_t source = 0; source < kSources; ++source) {
    for (const IpAddress& destination : spec_.destinations) {
      const test::Frame frame = test::udp_frame({.source = plus(spec_.source, source),
                                                 .destination = destination,
                                                 .dscp = spec_.dscp,
                                                 .ecn = spec_.ecn,
                                                 .frame_len = kFrame});
      std::memcpy(variants_.emplace_back().octets, frame.data(), kFrame);
    }
  }
}

void ReplayIo::write(Packet* packet, uint32_t flow, size_t ingress) {
  const size_t source = flow >> 16 & (kSources - 1);
  // Neighbouring flows go to unrelated destinations.
  const size_t destination = size_t{flow * kSpread >> 16} % spec_.destinations.size();
  const Variant& variant = variants_[source * spec_.destinations.size() + destination];
  std::memcpy(packet->data(), variant.octets, kFrame);
  std::memcpy(packet->data(), &spec_.macs[ingress], sizeof(MacAddress));
  const auto port = static_cast<uint16_t>(flow);
  std::memcpy(packet->data() + port_offset_, &port, sizeof port);
  packet->set_length(kFrame, kFrame);
}

// Uniform draws (Knuth's MMIX generator): no order that a branch predictor could learn.
uint32_t ReplayIo::next_flow() {
  draw_ = draw_ * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
  return static_cast<uint32_t>((draw_ >> 32) * spec_.flows >> 32);
}

Received ReplayIo::receive(std::span<Packet*> out) {
  if (ready_ == 0) return {};
  --ready_;
  const size_t ingress = next_ingress_;
  next_ingress_ = next_ingress_ + 1 == spec_.ingress.size() ? 0 : next_ingress_ + 1;
  for (size_t i = 0; i < kBurst; ++i) {
    out[i] = pool_->get();
    write(out[i], next_flow(), ingress);
  }
  return {.port = spec_.ingress[ingress], .count = kBurst, .sums_good = spec_.sums_good};
}

const News& ReplayIo::news() {
  done_now_.swap(done_);
  done_.clear();
  links_now_.swap(links_);
  links_.clear();
  news_ = {.completions = done_now_, .link_changes = links_now_, .ports_apart = true};
  return news_;
}

uint16_t ReplayIo::transmit(PortId port, std::span<Packet* const> packets, Instant) {
  done_.push_back(port);
  transmitted_ += packets.size();
  for (Packet* packet : packets) pool_->put(packet);
  return static_cast<uint16_t>(packets.size());
}

void ReplayIo::free(std::span<Packet* const> packets) {
  for (Packet* packet : packets) pool_->put(packet);
}

uint16_t CountingIo::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  const uint16_t taken = world_.transmit(port, packets, done);
  counts_.push_back(taken);
  sent_ += taken;
  return taken;
}

void CountingIo::end_poll(size_t packets) {
  if (sent_ != packets) counts_.resize(before_);
  before_ = counts_.size();
  sent_ = 0;
}

inline uint16_t EmptyShard::next_count(size_t left) {
  if (counts_.empty()) return static_cast<uint16_t>(std::min(left, kBurst));
  const uint16_t count = counts_[next_];
  next_ = next_ + 1 == counts_.size() ? 0 : next_ + 1;
  return count;
}

// As a switch does, it has all packets of a poll in flight before the first one leaves, and gives
// them to the world a few at a time.
PollStats EmptyShard::poll(Io& io, Instant) {
  PollStats stats;
  PortId port;
  for (;;) {
    ASSERT(stats.received <= kMostPackets);
    const Received got = io.receive({held_.data() + stats.received, kBurst});
    if (got.count == 0) break;
    port = got.port;
    stats.received += got.count;
  }
  for (size_t sent = 0; sent < stats.received;) {
    const uint16_t count = next_count(stats.received - sent);
    ASSERT(count <= stats.received - sent);
    io.transmit(port, {held_.data() + sent, count}, Instant());
    sent += count;
  }
  io.news();
  return stats;
}

}  // namespace eddy::bench
