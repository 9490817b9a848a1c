#include "switch/dpdk/pools.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <bit>

#include "net/packet.h"

namespace eddy {
namespace {

constexpr unsigned kCache = 256;  // mbufs a worker keeps to itself
constexpr unsigned kControlCache = 32;
constexpr int kControlBuffer = 1'600;  // a frame of our own: 1,500 octets and its headers
// rte_mempool's own: a header, a cookie, and what it fills up to the next line. DPDK's line is 128
// octets on AArch64, whatever the processor's is.
constexpr int kObjectHeader = 2 * RTE_CACHE_LINE_SIZE + 8;

uint16_t data_room_of(int buffer_size) {
  return static_cast<uint16_t>(
      RTE_ALIGN_CEIL(RTE_PKTMBUF_HEADROOM + buffer_size, RTE_CACHE_LINE_SIZE));
}

Bytes memory_of(unsigned packets, int buffer_size) {
  const int64_t object = static_cast<int64_t>(sizeof(rte_mbuf) + sizeof(Packet)) +
                         data_room_of(buffer_size) + kObjectHeader;
  return Bytes(packets * object + std::bit_ceil(packets + 1) * static_cast<int64_t>(sizeof(void*)));
}

Result<PoolPtr> make_pool(const std::string& name, unsigned packets, int buffer_size,
                          unsigned cache) {
  const uint16_t room = data_room_of(buffer_size);
  const unsigned flags = rte_eal_iova_mode() == RTE_IOVA_VA ? RTE_MEMPOOL_F_NO_IOVA_CONTIG : 0;
  PoolPtr pool(rte_mempool_create_empty(
      name.c_str(), packets, static_cast<unsigned>(sizeof(rte_mbuf) + sizeof(Packet) + room), cache,
      sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, flags));
  rte_pktmbuf_pool_private shape{};
  shape.mbuf_data_room_size = room;
  shape.mbuf_priv_size = sizeof(Packet);
  if (pool) {
    rte_mempool_set_ops_byname(pool.get(), "ring_mp_mc", nullptr);
    rte_pktmbuf_pool_init(pool.get(), &shape);
  }
  if (!pool || rte_mempool_populate_default(pool.get()) < 0)
    return Result<PoolPtr>::failure("no memory for " + std::to_string(packets) + " packets of " +
                                    std::to_string(room) + " octets: " + rte_strerror(rte_errno));
  rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace

Bytes PoolSizes::memory() const {
  return memory_of(data_packets, buffer_size) + memory_of(control_packets, kControlBuffer);
}

Result<PacketPools> PacketPools::create(const std::string& name, const PoolSizes& sizes) {
  auto data = make_pool(name + "_data", sizes.data_packets, sizes.buffer_size, kCache);
  if (!data) return data.problems();
  auto control = make_pool(name + "_ctrl", sizes.control_packets, kControlBuffer, kControlCache);
  if (!control) return control.problems();
  return PacketPools(std::move(*data), std::move(*control));
}

}  // namespace eddy
