// DpdkPort: one Ethernet device of DPDK, from its device string to frames: probe, configure, start,
// stop, link, losses.
//
// One receive and one transmit queue, promiscuous. Everything here is for the control thread; the
// worker only calls rte_eth_rx_burst and rte_eth_tx_burst on device(), and never while the port is
// stopped (port_cell.h). Problems name the port, the device and what to do. Source:
// docs/dpdk_notes.md, "Virtual ports" and "NICs and PFC".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/capabilities.h"
#include "config/config.h"
#include "net/ids.h"
#include "net/result.h"
#include "switch/dpdk/devargs.h"

struct rte_mempool;

namespace eddy {

struct PortLosses {  // since the device was opened
  uint64_t missed = 0;
  uint64_t no_buffer = 0;
};

class DpdkPort {
 public:
  // What can be seen to be wrong before the device is touched: no such interface, a missing
  // capability, a socket that another process serves. Empty = nothing.
  static Problems check(const config::PortConfig& config);

  // Those that the port needs and this process does not hold.
  static config::CapabilitySet missing_capabilities(const config::PortConfig& config);

  // Probes and configures the device; it is not started. `lsc` is called on a link interrupt.
  static Result<std::unique_ptr<DpdkPort>> open(const config::PortConfig& config, rte_mempool* pool,
                                                std::function<void()> lsc);
  ~DpdkPort();
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  // Applies a changed configuration of the same device. The port must be stopped.
  Problems configure(const config::PortConfig& config, rte_mempool* pool);
  Problems start();
  void stop();
  bool started() const { return started_; }
  // Lets the neighbour see the port down, as far as the driver can, or up again: an interface of
  // the kernel goes down, a memif disconnects (the client of a server may connect again, but hears
  // nothing), a NIC's transmitter is turned off; a tap and other virtual devices stay as they are.
  // The port is not used meanwhile. Empty, or why the neighbour sees nothing.
  Problems show_link(bool up);
  bool link_up() const;             // as the device or its interface says, without waiting
  uint64_t link_speed_bps() const;  // 0 = unknown
  PortLosses losses();

  uint16_t device() const { return device_; }
  const DeviceArgs& arguments() const { return arguments_; }
  // The device gives up when its peer goes away, and has to be stopped and started to try again.
  bool must_reconnect() const;
  // Another interface has the name of the device's own, which is gone: the device has to be opened
  // anew. A socket of packets stays with the interface that it was bound to.
  bool interface_replaced() const;
  // net_memif keeps a server's listening socket when the device is closed, and would answer on it,
  // and on the channel of a client that has come back to it, with memory that it has freed. So the
  // device of a server that was started once stays open until the process ends; the end of its
  // DpdkPort only takes the socket's path away, that nobody else comes.
  bool can_be_closed() const;
  // Drivers on an interface of the kernel open their sockets once: they are opened anew instead.
  bool can_be_reconfigured() const { return !is_on_interface(); }
  // The peer that a reconnecting device waits for, for people.
  std::string peer() const;
  // What the device can do for PFC: "software: ...", "hardware: ..." or "none: ...".
  const std::string& pfc() const { return pfc_; }

 private:
  DpdkPort(std::string name, DeviceArgs arguments, uint16_t device);
  int in_drivers_turn(int (*call)(uint16_t)) const;
  Problems start_anew();
  bool is_on_interface() const { return arguments_.is_af_packet() || arguments_.is_af_xdp(); }
  std::string interface() const { return std::string(arguments_.find("iface").value_or("")); }
  bool out_of_sight() const;

  std::string name_;
  DeviceArgs arguments_;
  uint16_t device_;
  unsigned interface_number_ = 0;  // of the interface that it was opened on
  bool started_ = false;
  bool was_started_ = false;  // since it was opened
  bool watches_link_ = false;
  bool hidden_ = false;  // by show_link(false)
  std::string pfc_;
  uint64_t kernel_drops_ = 0;  // net_af_packet: of its ring
  std::function<void()> lsc_;
};

}  // namespace eddy
