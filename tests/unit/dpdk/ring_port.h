// A net_ring port whose two ends the test holds: what is put into `wire_in` is received, what is
// transmitted comes out of `wire_out`.
#pragma once

#include <rte_dev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <span>
#include <string>
#include <vector>

#include "net/assert.h"
#include "switch/dpdk/port_cell.h"
#include "tests/unit/dpdk/eal_environment.h"

namespace eddy::testing_support {

class RingPort {
 public:
  explicit RingPort(const std::string& name)
      : wire_in_(rte_ring_create((name + "_in").c_str(), 64, SOCKET_ID_ANY, 0)),
        wire_out_(rte_ring_create((name + "_out").c_str(), 64, SOCKET_ID_ANY, 0)) {
    const int made = rte_eth_from_rings(name.c_str(), &wire_in_, 1, &wire_out_, 1, 0);
    ASSERT(made >= 0);
    device_ = static_cast<uint16_t>(made);
    rte_eth_conf conf{};
    ASSERT(rte_eth_dev_configure(device_, 1, 1, &conf) == 0);
    ASSERT(rte_eth_rx_queue_setup(device_, 0, 64, SOCKET_ID_ANY, nullptr, pools().data()) == 0);
    ASSERT(rte_eth_tx_queue_setup(device_, 0, 64, SOCKET_ID_ANY, nullptr) == 0);
    ASSERT(rte_eth_dev_start(device_) == 0);
    cell.device = device_;
  }
  ~RingPort() {
    rte_eth_dev_info info{};
    rte_eth_dev_info_get(device_, &info);
    rte_eth_dev_stop(device_);
    rte_eth_dev_close(device_);
    rte_dev_remove(info.device);
    while (rte_mbuf* mbuf = take()) rte_pktmbuf_free(mbuf);
    rte_ring_free(wire_in_);
    rte_ring_free(wire_out_);
  }
  RingPort(const RingPort&) = delete;
  RingPort& operator=(const RingPort&) = delete;

  // A frame of `length` octets, or of several segments of that length; `flags`:
  // RTE_MBUF_F_RX_*.
  void put(uint16_t length, int segments = 1, uint64_t flags = 0) {
    rte_mbuf* head = rte_pktmbuf_alloc(pools().data());
    head->ol_flags = flags;
    rte_pktmbuf_append(head, length);
    for (int i = 1; i < segments; ++i) {
      rte_mbuf* next = rte_pktmbuf_alloc(pools().data());
      rte_pktmbuf_append(next, length);
      ASSERT(rte_pktmbuf_chain(head, next) == 0);
    }
    ASSERT(rte_ring_enqueue(wire_in_, head) == 0);
  }
  // The same in memory that is not the packet's own, as some drivers have it. `memory` ends with
  // what DPDK keeps of it; is `freed` when nobody has it any more.
  void put_attached(std::span<uint8_t> memory, uint16_t length, bool& freed) {
    rte_mbuf* head = rte_pktmbuf_alloc(pools().data());
    auto size = static_cast<uint16_t>(memory.size());
    const auto free = [](void*, void* told) { *static_cast<bool*>(told) = true; };
    rte_mbuf_ext_shared_info* info =
        rte_pktmbuf_ext_shinfo_init_helper(memory.data(), &size, free, &freed);
    ASSERT(info != nullptr && length <= size);
    rte_pktmbuf_attach_extbuf(head, memory.data(), RTE_BAD_IOVA, size, info);
    head->data_len = length;
    head->pkt_len = length;
    ASSERT(rte_ring_enqueue(wire_in_, head) == 0);
  }
  rte_mbuf* take() {
    void* mbuf = nullptr;
    return rte_ring_dequeue(wire_out_, &mbuf) == 0 ? static_cast<rte_mbuf*>(mbuf) : nullptr;
  }
  unsigned waiting_out() const { return rte_ring_count(wire_out_); }

  PortCell cell;

 private:
  rte_ring* wire_in_;
  rte_ring* wire_out_;
  uint16_t device_ = 0;
};

}  // namespace eddy::testing_support
