#include "switch/dataplane/neighbors/departures.h"

namespace eddy {

Departures::Departures(ShardContext& context, const Services& services, size_t ports)
    : context_(context), services_(services), ports_(ports), rows_(ports * kPriorities) {}

void Departures::open_for(QueueRow& row, const Packet& packet, const Burst& burst) {
  if (row.asked) return;
  row.asked = true;
  row.octets = 0;
  Packet& stub = stubs_[asked_count_];
  asked_[asked_count_++] = &row;
  if (row.known_at != context_.way_changes) [[unlikely]]
    learn(row, packet.egress_port, packet.queue);
  const bool chosen_here = !burst.from.is_none();
  const bool turns_back = row.fabric && row.port == burst.from;
  if (row.to == QueueRow::To::nobody || turns_back) return;
  if (row.to == QueueRow::To::shard) {
    row.longest = chosen_here ? row.max_l3_len : 0;
    return;
  }
  const auto most = static_cast<uint32_t>(kBurst * (context_.shim_reserve + kVlanTag));
  const bool ect = (burst.flags & kPacketEct) != 0;
  if (services_.egress.open(row, stub, burst.octets + most, ect))
    row.longest = chosen_here ? row.max_l3_len : UINT32_MAX;
  if (row.fabric && !row.tagged) row.simply = row.longest;
}

[[gnu::noinline]] void Departures::learn(QueueRow& row, PortId port, QueueId queue) {
  const PortSettings& settings = context_.settings(port);
  row.known_at = context_.way_changes;
  row.port = port;
  row.queue = queue;
  row.owner = settings.owner;
  row.max_l3_len = settings.max_l3_len;
  row.fabric = settings.role == config::PortRole::fabric;
  row.host = 0;
  row.to = QueueRow::To::shard;
  if (!context_.owns(port)) return;
  row.to = QueueRow::To::nobody;
  if ((row.fabric && !services_.peers.known(port)) || !services_.egress.learn(row)) return;
  row.to = row.fabric ? QueueRow::To::peer : QueueRow::To::host;
  rewrite_macs(row.head.data(), services_.peers.mac(port), settings.mac);
}

void Departures::forget_hosts() {
  for (size_t i = 0; i < asked_count_; ++i) asked_[i]->host = 0;
}

void Departures::close(PortId from) {
  for (size_t i = 0; i < asked_count_; ++i) {
    QueueRow& row = *asked_[i];
    row.longest = 0;
    row.simply = 0;
    row.asked = false;
    if (row.octets == 0) continue;
    if (context_.feeds != nullptr && !from.is_none())
      context_.feeds->note(row.port, from, context_.now);
    if (row.to != QueueRow::To::shard) services_.egress.close(row, stubs_[i]);
  }
  asked_count_ = 0;
}

}  // namespace eddy
