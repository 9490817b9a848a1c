#include "lab/world/switch_node.h"

#include "net/hash.h"

namespace eddy::lab {

namespace {

size_t usual_arrivals(size_t ports) {
  constexpr size_t kUsual = 64;
  return std::max(ports, kUsual) * 2;
}

}  // namespace

SwitchIo::SwitchIo(const Setup& setup)
    : setup_(setup),
      arrived_(usual_arrivals(setup.ports)),
      completed_(setup.ports * 2),
      links_(setup.ports * 2),
      unread_of_(setup.ports),
      turns_(setup.burst == 0 ? 0 : setup.ports) {
  news_.packets = false;
}

void SwitchIo::order(Instant now) {
  const uint64_t salt = hash_pair(setup_.seed, static_cast<uint64_t>(now.ps()));
  if (setup_.burst == 0)
    sort(salt);
  else
    deal(salt);
}

// By a seeded order of the ports, each port's frames as they came.
void SwitchIo::sort(uint64_t salt) {
  constexpr uint64_t kPlace = 0xffff;  // low bits keep the order of arrival
  for (size_t i = 0; i < arrived_.size(); ++i)
    arrived_[i].order =
        (hash_pair(salt, arrived_[i].port.index()) & ~kPlace) | std::min(i, size_t{kPlace});
  const std::span<Arrival> all = arrived_.all();
  const auto is_before = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
  if (all.size() <= kPlace)
    std::sort(all.begin(), all.end(), is_before);
  else
    std::stable_sort(all.begin(), all.end(), is_before);
  ties_ += arrived_.size() - 1;
}

// The same, of each port as much as a burst takes. What has come goes behind what the port has
// unread.
void SwitchIo::deal(uint64_t salt) {
  for (const Arrival& arrival : arrived_.all()) {
    Unread& unread = unread_of_[arrival.port.index()];
    if (unread.packets.empty()) turns_.append({0, arrival.port});
    unread.packets.push(arrival.packet);
    unread.octets += Bytes(arrival.packet->wire_len);
  }
  unread_ += arrived_.size();
  arrived_.clear();
  for (Turn& turn : turns_.all()) turn.order = hash_pair(salt, turn.port.index());
  std::ranges::sort(turns_.all(), {}, &Turn::order);
  turns_.keep_if([this](const Turn& turn) {
    Unread& unread = unread_of_[turn.port.index()];
    for (size_t i = 0; i < setup_.burst && !unread.packets.empty(); ++i) {
      Packet* const packet = unread.packets.pop();
      unread.octets -= Bytes(packet->wire_len);
      arrived_.append({0, turn.port, packet});
    }
    return !unread.packets.empty();
  });
  unread_ -= arrived_.size();
}

size_t SwitchIo::run_length(size_t from) const {
  size_t to = from + 1;
  while (to < arrived_.size() && arrived_[to].port == arrived_[from].port) ++to;
  return to - from;
}

// Most polls have one arrival.
Received SwitchIo::receive(std::span<Packet*> out) {
  if (arrived_.size() != 1 || read_ != 0) [[unlikely]]
    return receive_run(out);
  read_ = 1;
  const Arrival& arrival = arrived_[0];
  out[0] = arrival.packet;
  const Unread& unread = unread_of_[arrival.port.index()];
  return {arrival.port, 1, unread.octets, unread.packets.count(), true};
}

Received SwitchIo::receive_run(std::span<Packet*> out) {
  Received received;
  if (read_ == arrived_.size()) return received;
  received.port = arrived_[read_].port;
  const size_t count = std::min(run_length(read_), out.size());
  for (size_t i = 0; i < count; ++i) out[i] = arrived_[read_ + i].packet;
  received.count = static_cast<uint16_t>(count);
  const Unread& unread = unread_of_[received.port.index()];
  received.backlog = unread.octets;
  received.backlog_packets = unread.packets.count();
  read_ += count;
  received.last = read_ == arrived_.size();
  return received;
}

uint16_t SwitchIo::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  const bool reported = done != Instant::never();
  if (packets.size() != 1) [[unlikely]]
    return transmit_row(port, packets, reported);
  return setup_.wires->send(line_of(port), packets[0], reported);
}

[[gnu::noinline]] uint16_t SwitchIo::transmit_row(PortId port, std::span<Packet* const> packets,
                                                  bool reported) {
  for (size_t i = 0; i < packets.size(); ++i)
    setup_.wires->send(line_of(port), packets[i], reported && i + 1 == packets.size());
  return static_cast<uint16_t>(packets.size());
}

Packet* SwitchIo::allocate() {
  if (starved_) return nullptr;
  Packet* packet = setup_.pool->get();
  pool_was_empty_ |= packet == nullptr;
  return packet;
}

}  // namespace eddy::lab
