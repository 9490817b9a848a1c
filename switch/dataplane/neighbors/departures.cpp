#include "switch/dataplane/neighbors/departures.h"

namespace eddy {

Departures::Departures(ShardContext& context, const Services& services, size_t ports)
    : context_(context), services_(services), row_at_(ports * kPriorities, kNoRow) {}

QueueRow& Departures::open_for(const Packet& packet, const Burst& burst) {
  uint8_t& at = row_at_[packet.egress_port.index() * kPriorities + packet.queue.index()];
  if (at == kNoRow) {
    at = static_cast<uint8_t>(row_count_++);
    QueueRow& row = rows_[at];
    row.octets = 0;
    row.port = packet.egress_port;
    row.queue = packet.queue;
    row.longest = open(row, stubs_[at], burst);
    from_ = burst.from;
  }
  return rows_[at];
}

uint32_t Departures::open(QueueRow& row, Packet& stub, const Burst& burst) {
  const PortSettings& settings = context_.settings(row.port);
  const bool chosen_here = !burst.from.is_none();
  const bool to_fabric = settings.role == config::PortRole::fabric;
  if (chosen_here && to_fabric && row.port == burst.from) return 0;  // it never goes back
  const uint32_t longest = chosen_here ? settings.max_l3_len : UINT32_MAX;
  row.owner = settings.owner;
  row.simple = false;
  if (!context_.owns(row.port)) {
    row.to = QueueRow::To::shard;
    return chosen_here ? longest : 0;
  }
  if (to_fabric && !services_.peers.known(row.port)) return 0;
  row.to = to_fabric ? QueueRow::To::peer : QueueRow::To::host;
  rewrite_macs(row.head.data(), services_.peers.mac(row.port), settings.mac);
  const auto most = static_cast<uint32_t>(kBurst * (context_.shim_reserve + kVlanTag));
  const bool ect = (burst.flags & kPacketEct) != 0;
  if (!services_.egress.open(row, stub, burst.octets + most, ect)) return 0;
  row.simple = to_fabric && !row.tagged;
  return longest;
}

void Departures::close() {
  for (size_t i = 1; i < row_count_; ++i) {
    const QueueRow& row = rows_[i];
    row_at_[row.port.index() * kPriorities + row.queue.index()] = kNoRow;
    if (row.octets == 0) continue;
    if (context_.feeds != nullptr && !from_.is_none())
      context_.feeds->note(row.port, from_, context_.now);
    if (row.to != QueueRow::To::shard) services_.egress.close(row, stubs_[i]);
  }
  row_count_ = 1;
}

}  // namespace eddy
