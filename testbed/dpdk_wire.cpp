#include "testbed/dpdk_wire.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "switch/dpdk/own_buffer.h"

namespace eddy::testbed {

void DpdkWire::adopt() {
  usable_ = cell_.adopt();
  device_ = cell_.device.load(std::memory_order_relaxed);
}

size_t DpdkWire::receive(std::span<Packet*> out) {
  if (!usable_) return 0;
  std::array<rte_mbuf*, kBurst> mbufs;
  const auto room = static_cast<uint16_t>(std::min(out.size(), mbufs.size()));
  const uint16_t got = rte_eth_rx_burst(device_, 0, mbufs.data(), room);
  size_t kept = 0;
  for (uint16_t i = 0; i < got; ++i) {
    rte_mbuf* mbuf = mbufs[i];
    if (!bring_into_own_buffer(mbuf)) [[unlikely]] {
      ++oversize_;
      rte_pktmbuf_free(mbuf);
      continue;
    }
    out[kept++] = Packet::from_device(mbuf);
  }
  return kept;
}

size_t DpdkWire::transmit(std::span<Packet* const> frames) {
  if (!usable_) return 0;
  std::array<rte_mbuf*, kBurst> mbufs;
  const size_t count = std::min(frames.size(), mbufs.size());
  for (size_t i = 0; i < count; ++i) mbufs[i] = frames[i]->for_device();
  return rte_eth_tx_burst(device_, 0, mbufs.data(), static_cast<uint16_t>(count));
}

size_t DpdkWire::blanks(std::span<Packet*> out) {
  std::array<rte_mbuf*, kBurst> mbufs;
  auto count = static_cast<unsigned>(std::min(out.size(), mbufs.size()));
  if (rte_pktmbuf_alloc_bulk(blanks_, mbufs.data(), count) != 0) {
    mbufs[0] = rte_pktmbuf_alloc(blanks_);  // the last ones, one by one
    count = mbufs[0] != nullptr ? 1 : 0;
  }
  for (unsigned i = 0; i < count; ++i) out[i] = Packet::from_device(mbufs[i]);
  return count;
}

void DpdkWire::free(std::span<Packet* const> packets) {
  std::array<void*, kBurst> run;
  for (size_t i = 0; i < packets.size();) {
    rte_mempool* pool = packets[i]->mbuf()->pool;
    unsigned length = 0;
    while (i < packets.size() && length < run.size() && packets[i]->mbuf()->pool == pool)
      run[length++] = packets[i++]->mbuf();
    rte_mempool_put_bulk(pool, run.data(), length);
  }
}

void zero_buffers(rte_mempool* pool) {
  const auto zero = [](rte_mempool*, void*, void* object, unsigned) {
    const auto* mbuf = static_cast<const rte_mbuf*>(object);
    std::memset(mbuf->buf_addr, 0, mbuf->buf_len);
  };
  rte_mempool_obj_iter(pool, zero, nullptr);
}

}  // namespace eddy::testbed
