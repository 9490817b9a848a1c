#include "switch/dpdk/dpdk_io.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include <algorithm>

#include "net/assert.h"
#include "switch/dataplane/state/events.h"
#include "switch/dpdk/own_buffer.h"

namespace eddy {

DpdkIo::DpdkIo(std::span<const IoPort> ports, rte_mempool* control_pool, const Bell& bell,
               Shard& shard, uint16_t worker)
    : control_pool_(control_pool), bell_(bell), shard_(shard), worker_(worker) {
  ASSERT(ports.size() <= RTE_MAX_ETHPORTS);
  for (const IoPort& port : ports) {
    state_of_[port.id.index()] = static_cast<uint16_t>(ports_.size());
    ports_.push_back(
        {.port = port, .mine = port.cell->worker.load(std::memory_order_relaxed) == worker});
  }
  usable_.reserve(ports.size());
  completed_.resize(ports.size());
  changes_.resize(ports.size());
}

void DpdkIo::begin_poll(Instant now) {
  now_ = now;
  visited_ = 0;
  change_count_ = 0;
  if (!usable_.empty()) first_ = first_ + 1 < usable_.size() ? first_ + 1 : 0;
  const uint64_t rung = bell_.rung.load(std::memory_order_acquire);
  if (rung != bell_heard_) {
    bell_heard_ = rung;
    adopt_news();
  }
  completed_count_ = calendar_.take_due(now, completed_);
}

void DpdkIo::adopt_news() {
  usable_.clear();
  for (size_t i = 0; i < ports_.size(); ++i) {
    PortState& state = ports_[i];
    adopt_owner(state);
    const bool usable = state.mine && state.port.cell->adopt();
    if (usable != state.usable) changes_[change_count_++] = {state.port.id, usable};
    state.usable = usable;
    state.device = state.port.cell->device.load(std::memory_order_relaxed);
    state.knows_backlog = usable && rte_eth_rx_queue_count(state.device, 0) >= 0;
    if (usable) usable_.push_back(static_cast<uint16_t>(i));
    if (state.mine) count_losses(state);
  }
  first_ = 0;
}

// What was lost before a place became this worker's has been counted, or was another port's.
void DpdkIo::adopt_owner(PortState& state) {
  const PortCell& cell = *state.port.cell;
  const bool mine = cell.worker.load(std::memory_order_acquire) == worker_;
  if (mine && !state.mine) {
    state.missed = cell.missed.load(std::memory_order_relaxed);
    state.no_buffer = cell.no_buffer.load(std::memory_order_relaxed);
  }
  state.mine = mine;
}

void DpdkIo::count_losses(PortState& state) {
  const PortTally counters = shard_.counters()[state.port.id];
  const uint64_t missed = state.port.cell->missed.load(std::memory_order_relaxed);
  const uint64_t no_buffer = state.port.cell->no_buffer.load(std::memory_order_relaxed);
  const uint64_t lost = (missed - state.missed) + (no_buffer - state.no_buffer);
  if (lost == 0) return;
  counters.port[PortCounter::rx_missed_packets].add(missed - state.missed);
  counters.port[PortCounter::rx_nombuf_packets].add(no_buffer - state.no_buffer);
  state.missed = missed;
  state.no_buffer = no_buffer;
  if (state.port.cell->lossless.load(std::memory_order_relaxed))
    shard_.push_event(
        {.at = now_, .value = lost, .port = state.port.id, .kind = EventKind::rx_loss});
}

Received DpdkIo::receive(std::span<Packet*> out) {
  std::array<rte_mbuf*, kBurst> mbufs;
  const auto room = static_cast<uint16_t>(std::min(out.size(), mbufs.size()));
  while (visited_ < usable_.size()) {
    const size_t turn = first_ + visited_++;
    const PortState& state = ports_[usable_[turn < usable_.size() ? turn : turn - usable_.size()]];
    const uint16_t got = rte_eth_rx_burst(state.device, 0, mbufs.data(), room);
    if (got == 0) continue;
    Received received = accept(state, {mbufs.data(), got}, out.data());
    if (received.count == 0) continue;
    if (got == room && state.knows_backlog)
      note_backlog(state, {out.data(), received.count}, received);
    return received;
  }
  return {};
}

// The burst as packets. A driver that does not check sums says that it knows nothing.
Received DpdkIo::accept(const PortState& state, std::span<rte_mbuf* const> mbufs, Packet** out) {
  for (rte_mbuf* mbuf : mbufs) {  // the driver has just written the mbuf, not these
    rte_prefetch0(Packet::of(mbuf));
    rte_prefetch0(rte_pktmbuf_mtod(mbuf, void*));
  }
  uint64_t not_good = 0;
  unsigned segments = 0;  // of a frame in one buffer: 1
  uint64_t attached = 0;  // the buffer is not the packet's own
  for (size_t i = 0; i < mbufs.size(); ++i) {
    const rte_mbuf* const mbuf = mbufs[i];
    not_good |= (mbuf->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) ^ RTE_MBUF_F_RX_IP_CKSUM_GOOD;
    segments |= mbuf->nb_segs;
    attached |= mbuf->ol_flags & RTE_MBUF_F_EXTERNAL;
    out[i] = Packet::from_device(mbufs[i]);
  }
  Received received{.port = state.port.id,
                    .count = static_cast<uint16_t>(mbufs.size()),
                    .sums_good = not_good == 0};
  if (segments > 1 || attached != 0) [[unlikely]]
    received.count = make_whole(state.port.id, {out, mbufs.size()});
  return received;
}

// A frame that the driver spread over several buffers, or has in one of its own memory, is brought
// into its packet's buffer, or counted and dropped when that cannot hold it. Returns how many are
// left.
[[gnu::noinline]] uint16_t DpdkIo::make_whole(PortId port, std::span<Packet*> packets) {
  uint16_t count = 0;
  for (Packet* packet : packets) {
    rte_mbuf* const mbuf = packet->mbuf();
    if (!bring_into_own_buffer(mbuf)) {
      shard_.counters()[port].port[PortCounter::rx_oversize_packets].add(1);
      rte_pktmbuf_free(mbuf);
      continue;
    }
    packets[count++] = Packet::from_device(mbuf);
  }
  return count;
}

// Frames are counted by the driver, octets are not: the burst's longest frame stands for the rest.
void DpdkIo::note_backlog(const PortState& state, std::span<Packet* const> burst,
                          Received& received) {
  const int waiting = rte_eth_rx_queue_count(state.device, 0);
  if (waiting <= 0) return;
  uint32_t longest = 0;
  for (const Packet* packet : burst) longest = std::max<uint32_t>(longest, packet->wire_len);
  received.backlog = Bytes(int64_t{waiting} * longest);
  received.backlog_packets = static_cast<uint32_t>(waiting);
}

const News& DpdkIo::news() {
  news_ = {.completions = {completed_.data(), completed_count_},
           .link_changes = {changes_.data(), change_count_},
           .ports_apart = true};
  return news_;
}

uint16_t DpdkIo::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  const PortState& state = ports_[state_of_[port.index()]];
  ASSERT(state.port.id == port);
  if (!state.usable) return 0;
  std::array<rte_mbuf*, kBurst> mbufs;
  uint16_t sent = 0;
  while (sent < packets.size()) {
    const auto wanted =
        static_cast<uint16_t>(std::min<size_t>(packets.size() - sent, mbufs.size()));
    for (uint16_t i = 0; i < wanted; ++i) {
      mbufs[i] = packets[sent + i]->for_device();
      // Another worker may have written the frame, and a driver that copies would wait for it.
      rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void*));
    }
    const uint16_t taken = rte_eth_tx_burst(state.device, 0, mbufs.data(), wanted);
    sent = static_cast<uint16_t>(sent + taken);
    if (taken < wanted) break;
  }
  calendar_.set(port, done);
  return sent;
}

Packet* DpdkIo::allocate() {
  rte_mbuf* mbuf = rte_pktmbuf_alloc(control_pool_);
  if (mbuf == nullptr) return nullptr;
  Packet* packet = Packet::of(mbuf);
  *packet = Packet{};
  packet->data_off = mbuf->data_off;
  return packet;
}

// Every packet here is one whole, unshared mbuf, so runs from one pool go back in bulk.
void DpdkIo::free(std::span<Packet* const> packets) {
  std::array<void*, kBurst> run;
  size_t i = 0;
  while (i < packets.size()) {
    rte_mempool* pool = packets[i]->mbuf()->pool;
    unsigned length = 0;
    while (i < packets.size() && length < run.size() && packets[i]->mbuf()->pool == pool)
      run[length++] = packets[i++]->mbuf();
    rte_mempool_put_bulk(pool, run.data(), length);
  }
}

}  // namespace eddy
