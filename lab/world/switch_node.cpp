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
      left_(setup.burst == 0 ? 0 : usual_arrivals(setup.ports)),
      completed_(setup.ports * 2),
      links_(setup.ports * 2),
      backlog_(setup.ports) {
  news_.packets = false;
}

// By a seeded order of the ports, each port's frames as they came. What a burst limit leaves for
// the next poll is set aside and is that port's backlog.
void SwitchIo::sort(Instant now) {
  const uint64_t salt = hash_pair(setup_.seed, static_cast<uint64_t>(now.ps()));
  constexpr uint64_t kPlace = 0xffff;  // low bits keep the order of arrival
  for (size_t i = 0; i < arrived_.size(); ++i)
    arrived_[i].order =
        (hash_pair(salt, arrived_[i].port.index()) & ~kPlace) | std::min(i, size_t{kPlace});
  const std::span<Arrival> all = arrived_.all();
  std::sort(all.begin(), all.end(),
            [](const Arrival& a, const Arrival& b) { return a.order < b.order; });
  if (setup_.burst == 0) {
    ties_ += arrived_.size() - 1;
    return;
  }
  size_t kept = 0;
  for (size_t i = 0; i < arrived_.size();) {
    const size_t run = run_length(i);
    for (size_t k = 0; k < run; ++k) {
      const Arrival& arrival = arrived_[i + k];
      if (k < setup_.burst) {
        arrived_[kept++] = arrival;
      } else {
        left_.append(arrival);
        Backlog& backlog = backlog_[arrival.port.index()];
        backlog.octets += Bytes(arrival.packet->wire_len);
        ++backlog.packets;
      }
    }
    i += run;
  }
  arrived_.shrink(kept);
}

void SwitchIo::keep_left() {
  for (const Arrival& arrival : left_.all()) backlog_[arrival.port.index()] = {};
  arrived_.swap(left_);
  news_.packets = true;
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
  const Backlog& backlog = backlog_[arrival.port.index()];
  return {arrival.port, 1, backlog.octets, backlog.packets, true};
}

Received SwitchIo::receive_run(std::span<Packet*> out) {
  Received received;
  if (read_ == arrived_.size()) return received;
  received.port = arrived_[read_].port;
  const size_t count = std::min(run_length(read_), out.size());
  for (size_t i = 0; i < count; ++i) out[i] = arrived_[read_ + i].packet;
  received.count = static_cast<uint16_t>(count);
  received.backlog = backlog_[received.port.index()].octets;
  received.backlog_packets = backlog_[received.port.index()].packets;
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
