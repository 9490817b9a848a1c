#include "bench/replay_io.h"

#include <algorithm>
#include <cstring>

namespace eddy::bench {
namespace {

constexpr uint32_t kSources = 16;  // source addresses; with 2^16 source ports: a million flows

}  // namespace

ReplayIo::ReplayIo(const ReplaySpec& spec) : spec_(spec), pool_(kPackets, 128) {
  for (const MacAddress& mac : spec_.macs) {
    for (uint32_t source = 0; source < kSources; ++source) {
      for (const IpAddress& destination : spec_.destinations) {
        const IpAddress from = Ipv4Address{spec_.source.v4().value + source};
        const test::Frame frame = test::udp_frame({.destination_mac = mac,
                                                   .source = from,
                                                   .destination = destination,
                                                   .dscp = spec_.dscp,
                                                   .ecn = spec_.ecn,
                                                   .frame_len = kFrame});
        std::memcpy(variants_.emplace_back().octets, frame.data(), kFrame);
      }
    }
  }
}

void ReplayIo::raise_links(size_t ports) {
  for (size_t i = 0; i < ports; ++i) links_.push_back({PortId(i), true});
}

void ReplayIo::write(Packet* packet, uint32_t flow, size_t ingress) {
  const size_t source = flow >> 16 & (kSources - 1);
  const size_t destination = flow % spec_.destinations.size();
  const Variant& variant =
      variants_[(ingress * kSources + source) * spec_.destinations.size() + destination];
  std::memcpy(packet->data(), variant.octets, kFrame);
  const auto port = static_cast<uint16_t>(flow);
  std::memcpy(packet->data() + 34, &port, sizeof port);
  packet->mbuf()->data_len = kFrame;
  packet->mbuf()->pkt_len = kFrame;
  packet->wire_len = kFrame;
}

Received ReplayIo::receive(std::span<Packet*> out) {
  if (!ready_) return {};
  ready_ = false;
  const size_t ingress = next_ingress_;
  next_ingress_ = next_ingress_ + 1 == spec_.ingress.size() ? 0 : next_ingress_ + 1;
  for (size_t i = 0; i < spec_.burst; ++i) {
    out[i] = pool_.get();
    next_flow_ += 2'654'435;  // odd and co-prime to the flow counts used: visits all of them
    if (next_flow_ >= spec_.flows) next_flow_ %= spec_.flows;
    write(out[i], next_flow_, ingress);
  }
  return {spec_.ingress[ingress], static_cast<uint16_t>(spec_.burst), Bytes(0)};
}

std::span<const PortId> ReplayIo::completions() {
  done_now_.swap(done_);
  done_.clear();
  return done_now_;
}

std::span<const LinkChange> ReplayIo::link_changes() {
  links_now_.swap(links_);
  links_.clear();
  return links_now_;
}

uint16_t ReplayIo::transmit(PortId port, std::span<Packet* const> packets, Instant) {
  done_.push_back(port);
  transmitted_ += packets.size();
  for (Packet* packet : packets) pool_.put(packet);
  return static_cast<uint16_t>(packets.size());
}

void ReplayIo::free(std::span<Packet* const> packets) {
  for (Packet* packet : packets) pool_.put(packet);
}

PollStats EmptyShard::poll(Io& io, Instant) {
  std::array<Packet*, kBurst> burst;
  PollStats stats;
  for (Received got = io.receive(burst); got.count != 0; got = io.receive(burst)) {
    io.transmit(got.port, {burst.data(), got.count}, Instant());
    stats.received += got.count;
  }
  io.completions();
  io.link_changes();
  return stats;
}

}  // namespace eddy::bench
