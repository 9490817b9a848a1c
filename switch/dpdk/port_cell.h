// PortCell: what the control thread and a worker tell each other about one port.
//
// Control writes what the device says (usable or not, frames lost in it) and rings the worker's
// bell; the worker adopts it at its next poll and answers in `in_use`. A device is stopped, started
// or unplugged only while the worker has answered false. The worker says that it goes in before it
// looks whether it may, and control takes the permission back before it looks whether somebody is
// in, all in one order for everybody: so they cannot miss each other. Every worker has the cells of
// all ports, as a place that no port has may become another worker's. Threads: each field and each
// function names its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace eddy {

struct alignas(64) PortCell {
  std::atomic<bool> usable{false};     // control: started, link up, admin up
  std::atomic<uint16_t> device{0};     // control: DPDK's port number, meaningful while usable
  std::atomic<uint64_t> missed{0};     // control: total frames lost by the device (imissed)
  std::atomic<uint64_t> no_buffer{0};  // control: total frames lost for lack of an mbuf
  std::atomic<uint16_t> worker{0};     // control: whose port it is; changes while nobody is in
  std::atomic<bool> lossless{false};   // control: a lost frame is an event
  alignas(64) std::atomic<bool> in_use{false};  // worker: may be inside the driver for this port

  // Worker: whether the port may be used from now on.
  bool adopt() {
    announce();
    return settle();
  }
  // The two steps of adopt().
  void announce() { in_use.store(true, std::memory_order_seq_cst); }
  bool settle() {
    const bool may = usable.load(std::memory_order_seq_cst);
    if (!may) in_use.store(false, std::memory_order_release);
    return may;
  }
  // Control, before it asks released().
  void take_back() { usable.store(false, std::memory_order_seq_cst); }
  // Control: after take_back(), that the worker is out of the driver and stays out.
  bool released() const { return !in_use.load(std::memory_order_seq_cst); }
};

// One a worker: control adds 1 (release) after it changed any of the worker's cells.
struct alignas(64) Bell {
  std::atomic<uint64_t> rung{0};
  void ring() { rung.fetch_add(1, std::memory_order_release); }
};

}  // namespace eddy
