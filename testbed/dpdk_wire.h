// DpdkWire: a HostWire on a port of DPDK.
//
// What control says in the port's cell counts from the next adopt(). Thread: the worker's. Cost: a
// driver call a burst. Source: switch/dpdk/port_cell.h.
#pragma once

#include "switch/dpdk/pools.h"
#include "switch/dpdk/port_cell.h"
#include "testbed/host_wire.h"

struct rte_mempool;

namespace eddy::testbed {

class DpdkWire final : public HostWire {
 public:
  // The cell starts unusable; it and the pool outlive this. Nobody else uses the pool to receive.
  DpdkWire(PortCell& cell, rte_mempool* blanks) : cell_(cell), blanks_(blanks) {}

  void adopt();
  bool usable() const { return usable_; }
  uint64_t oversize() const { return oversize_; }  // frames that no buffer holds: dropped

  size_t receive(std::span<Packet*> out) override;
  size_t transmit(std::span<Packet* const> frames) override;
  size_t blanks(std::span<Packet*> out) override;
  void free(std::span<Packet* const> packets) override;

 private:
  PortCell& cell_;
  rte_mempool* blanks_;
  uint16_t device_ = 0;
  bool usable_ = false;
  uint64_t oversize_ = 0;
};

// Makes every octet of the pool's buffers zero. Before anybody uses it.
void zero_buffers(rte_mempool* pool);

}  // namespace eddy::testbed
