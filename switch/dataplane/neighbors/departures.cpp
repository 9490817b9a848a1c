#include "switch/dataplane/neighbors/departures.h"

#include <algorithm>
#include <utility>

namespace eddy {

namespace {

std::array<QueueRow*, kPriorities> rows_by_queue(QueueRow* rows, size_t ports) {
  std::array<QueueRow*, kPriorities> first;
  for (size_t queue = 0; queue < first.size(); ++queue) first[queue] = rows + queue * ports;
  return first;
}

}  // namespace

Departures::Departures(ShardContext& context, const Services& services, size_t ports)
    : context_(context),
      services_(services),
      rows_of_(rows_by_queue(services.egress.rows(), ports)) {}

// A fabric link gets nothing back that it brought.
[[gnu::noinline]] void Departures::keep_open(const Burst& burst) {
  const bool same = context_.way_changes == ways_ && burst.from.is_none() == from_.is_none();
  if (!same || need_ > room_ || row_count_ > kMostRows - kBurst) return close_all();
  ect_over_ |= (burst.flags & kPacketEct) != 0;
  const bool from_fabric =
      !burst.from.is_none() && context_.settings(burst.from).role == config::PortRole::fabric;
  if (from_fabric) [[unlikely]]
    close_rows_to(burst.from);
}

// For as long as the burst that came from there is in hand.
[[gnu::noinline]] void Departures::close_rows_to(PortId port) {
  for (size_t i = 0; i < row_count_; ++i) {
    if (asked_for_[i]->port != port) continue;
    close(*asked_for_[i]);
    unsettled_ = true;
  }
}

// Rows of a burst, before its packets go there.
[[gnu::noinline]] void Departures::open_rows(std::span<Packet* const> packets, const Burst& burst) {
  std::array<Packet*, kBurst> first;  // to its queue
  size_t count = 0;
  for (Packet* packet : packets) {
    QueueRow& row = row_of(*packet);
    first[count] = packet;
    count += row.asked ? 0 : 1;
    row.asked = true;
  }
  for (size_t i = 0; i < count; ++i) ask_for(row_of(*first[i]), *first[i], burst);
}

// Those that the last poll has kept, as far as nothing of them has changed.
[[gnu::noinline]] void Departures::open_kept(const Burst& burst) {
  size_t count = 0;
  for (size_t i = 0; i < kept_; ++i) {
    QueueRow& row = *asked_for_[i];  // none behind it is overwritten yet
    const bool turns_back = row.fabric && row.port == burst.from;
    if (row.known_at != context_.way_changes || turns_back) [[unlikely]]
      continue;
    row.stub = &stubs_[count];
    asked_for_[count++] = &row;
    row.asked = true;
    open(row, burst);
  }
  row_count_ = count;
}

void Departures::open_for(QueueRow& row, const Packet& packet, const Burst& burst) {
  if (row.asked) return;
  row.asked = true;
  ask_for(row, packet, burst);
}

inline void Departures::ask_for(QueueRow& row, const Packet& packet, const Burst& burst) {
  ++opened_;
  if (row.stub == nullptr) {
    row.stub = &stubs_[row_count_];
    asked_for_[row_count_++] = &row;
  }
  if (row.known_at != context_.way_changes) [[unlikely]]
    learn(row, packet.egress_port, packet.queue);
  const bool turns_back = row.fabric && row.port == burst.from;
  if (turns_back) [[unlikely]]
    unsettled_ = true;
  else
    open(row, burst);
}

// The row is known, and the burst may go there.
[[gnu::always_inline]] inline void Departures::open(QueueRow& row, const Burst& burst) {
  if (burst.from.is_none()) [[unlikely]]
    return open_for_others(row, burst);
  if (!has_room(row, burst)) [[unlikely]] {
    unsettled_ = true;
    return;
  }
  row.longest = row.max_len;
  row.simply = row.simply_len;
}

// Packets that another shard has chosen for the port, and has asked how long they may be.
[[gnu::noinline]] void Departures::open_for_others(QueueRow& row, const Burst& burst) {
  if (row.to == QueueRow::To::shard || !has_room(row, burst)) return;
  row.longest = UINT32_MAX;
  row.simply = row.simply_len != 0 ? UINT32_MAX : 0;
}

// Of another shard's port that shard asks itself.
inline bool Departures::has_room(QueueRow& row, const Burst& burst) {
  if (row.to >= QueueRow::To::shard) [[unlikely]]
    return open_over(row, burst);
  const int64_t room = services_.egress.open(row, need_, (burst.flags & kPacketEct) != 0);
  if (room < 0) return false;
  room_ = std::min(room_, room);
  return true;
}

[[gnu::noinline]] bool Departures::open_over(QueueRow& row, const Burst& burst) {
  if (row.to != QueueRow::To::shard) return false;
  ect_over_ |= (burst.flags & kPacketEct) != 0;
  row.packets.begin(PacketFifo{}, *row.stub);
  over_ |= row.simply_len != 0;
  return true;
}

[[gnu::noinline]] void Departures::hand_over() {
  for (size_t i = 0; i < row_count_; ++i) {
    QueueRow& row = *asked_for_[i];
    if (row.to != QueueRow::To::shard || row.packets.empty()) continue;
    if (context_.feeds != nullptr) context_.feeds->note(row.port, from_, context_.now);
    services_.lanes.put_ready(row, ect_over_);
    row.handed = true;
  }
}

// What the queue has to ask of each, or has to put into each, it does.
void Departures::put_ready(const LaneRow& lane_row, std::span<Packet* const> packets) {
  close();
  QueueRow& row = rows_of_[lane_row.queue.index()][lane_row.port.index()];
  if (row.known_at != context_.way_changes) [[unlikely]]
    learn(row, lane_row.port, lane_row.queue);
  const bool whole = row.to == QueueRow::To::peer && row.simply_len != 0;
  if (whole && services_.egress.put_row(row, packets, lane_row)) return;
  for (Packet* packet : packets) services_.egress.enqueue(packet);
}

[[gnu::noinline]] void Departures::learn(QueueRow& row, PortId port, QueueId queue) {
  const PortSettings& settings = context_.settings(port);
  row.known_at = context_.way_changes;
  row.port = port;
  row.queue = queue;
  row.owner = settings.owner;
  row.max_len = settings.max_l3_len + kEthernetHeader;
  row.fabric = settings.role == config::PortRole::fabric;
  row.simply_len = 0;
  row.alone_len = 0;
  row.host = 0;
  row.to = QueueRow::To::shard;
  if (!context_.owns(port)) return learn_over(row, settings);
  row.to = QueueRow::To::nobody;
  if (!row.fabric && services_.adjacency.by_stages()) return;  // they may hold it back
  if ((row.fabric && !services_.peers.known(port)) || !services_.egress.learn(row)) return;
  row.to = row.fabric ? QueueRow::To::peer : QueueRow::To::host;
  if (!row.tagged) row.alone_len = row.max_len;
  if (row.fabric && !row.tagged) row.simply_len = row.max_len;
  if (!row.tagged) store_be16(row.head.data() + kMacs, kEtherTypeShim);
  rewrite_macs(row.head.data(), services_.peers.mac(port), settings.mac);
}

// Its shard says who is at the other end of a fabric link, and gives shims itself.
void Departures::learn_over(QueueRow& row, const PortSettings& settings) const {
  row.tagged = false;
  const MacAddress peer = context_.common.peer_macs[row.port.index()].read();
  if (!row.fabric || context_.dressing || services_.shims.looks() || peer.is_zero()) return;
  rewrite_macs(row.head.data(), peer, settings.mac);
  row.simply_len = row.max_len;
}

void Departures::forget_hosts() {
  for (size_t i = 0; i < row_count_; ++i) asked_for_[i]->host = 0;
}

[[gnu::noinline]] void Departures::settle_rows() {
  unsettled_ = false;
  PortFeeds* const feeds = from_.is_none() ? nullptr : context_.feeds;
  for (size_t i = 0; i < row_count_; ++i) {
    QueueRow& row = *asked_for_[i];
    row.asked = row.longest != 0;
    count_shims(row);
    if (row.octets == 0) continue;
    if (feeds != nullptr) feeds->note(row.port, from_, context_.now);
    if (row.to != QueueRow::To::shard) services_.egress.count(row);
    row.octets = 0;
  }
}

inline void Departures::close(QueueRow& row) {
  if (row.longest == 0) return;
  if (row.to != QueueRow::To::shard) services_.egress.close(row);
  row.octets = 0;
  row.longest = 0;
  row.simply = 0;
}

// Who feeds whom is told as in settle_rows().
void Departures::close_all() {
  PortFeeds* const feeds = from_.is_none() ? nullptr : context_.feeds;
  used_ = 0;
  kept_ = 0;
  for (size_t i = 0; i < row_count_; ++i) {
    QueueRow& row = *asked_for_[i];
    if (feeds != nullptr && row.octets != 0) feeds->note(row.port, from_, context_.now);
    const bool open = row.longest != 0;
    const bool handed = std::exchange(row.handed, false);
    const bool used = (open && !row.packets.empty()) || handed;  // of one not open they are older
    const bool keep = used || (open && !row.passed_over);
    row.passed_over = !used;
    asked_for_[kept_] = &row;
    kept_ += keep ? 1 : 0;
    used_ += used ? 1 : 0;
    close(row);
    count_shims(row);
    row.asked = false;
    row.stub = nullptr;
  }
  row_count_ = 0;
  unsettled_ = false;
  over_ = false;
  ect_over_ = false;
}

}  // namespace eddy
