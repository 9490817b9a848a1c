// PacketPools: the mbufs of a switch: one pool for what ports receive, a small one kept back for
// frames of our own, so that PFC stays possible when the first is empty.
//
// Each mbuf carries a Packet line in its private area and one buffer that holds the longest frame.
// Objects are placed without regard for DMA contiguity where memory is virtual anyway, or they
// would all fall into the same cache sets. Threads: made by control; used by every worker. Cost:
// see rte_mempool. Source: docs/dpdk_notes.md, "Memory"; architecture, section 6.
#pragma once

#include <rte_mempool.h>

#include <memory>
#include <string>

#include "net/result.h"
#include "net/units.h"

namespace eddy {

struct PoolSizes {
  unsigned data_packets = 0;
  unsigned control_packets = 512;
  int buffer_size = 0;  // octets for a frame, headroom not counted
  // Memory that both pools take, rings and headers included.
  Bytes memory() const;
};

struct PoolDeleter {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using PoolPtr = std::unique_ptr<rte_mempool, PoolDeleter>;

class PacketPools {
 public:
  // EAL must be up. `name` at most 16 characters, unique in the process.
  static Result<PacketPools> create(const std::string& name, const PoolSizes& sizes);
  rte_mempool* data() const { return data_.get(); }
  rte_mempool* control() const { return control_.get(); }

 private:
  PacketPools(PoolPtr data, PoolPtr control)
      : data_(std::move(data)), control_(std::move(control)) {}
  PoolPtr data_;
  PoolPtr control_;
};

}  // namespace eddy
