// PortManager: the control thread's side of all ports of a daemon: opens them, watches links and
// losses, brings memif clients back to a restarted peer and ports of the kernel's to an interface
// that was made anew, restarts one port on request, and gives places to ports that come and takes
// them from those that go (docs/adr/0049).
//
// tick() is called every kTick or so. A device is stopped or started only after its worker has
// answered that it is out of the driver (port_cell.h), so nothing here waits for a worker, except
// restart(). Threads: any but workers; one mutex. Cost: a link query a port and tick, a statistics
// query a port and kLossInterval. Source: architecture, sections 3 and 6.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/dpdk/pools.h"
#include "switch/dpdk/port.h"
#include "switch/dpdk/port_cell.h"

namespace eddy {

// What people are told of a port's device.
struct DeviceView {
  std::string name;    // in EAL: "net_memif0"
  std::string driver;  // "net_memif"
  std::string pfc;     // of DpdkPort
  std::string peer;    // the one that a reconnecting device waits for
  uint64_t link_speed_bps = 0;
  bool link_up = false;
  int openings = 0;  // so far
};

class PortManager {
 public:
  static constexpr Duration kTick = Duration::milliseconds(10);
  static constexpr Duration kLossInterval = Duration::milliseconds(100);
  // After a refusal, and after a connection that did not come up. A connection that is given up
  // early still waits in the peer's backlog.
  static constexpr Duration kReconnectInterval = Duration::milliseconds(100);
  static constexpr Duration kHandshakeTime = Duration::seconds(1);

  // Opens and starts every port of `config`, whose ports are by place; all that cannot be used are
  // named. `wake` is called
  // from any thread when a tick should come early (link interrupts).
  static Result<std::unique_ptr<PortManager>> open(const config::SwitchConfig& config,
                                                   const PacketPools& pools,
                                                   std::function<void()> wake);
  ~PortManager();

  // Workers are told through these; they live as long as the manager.
  PortCell& cell(PortId port) { return entries_[port.index()]->cell; }
  Bell& bell(int worker) { return *bells_[static_cast<size_t>(worker)]; }

  void tick(Instant now);
  // Stops every port; its worker is out of the driver by then.
  void stop_all();

  // Of the device that the port is on now.
  DeviceView device(PortId port) const;
  size_t port_count() const { return entries_.size(); }
  // Of every port, for whoever asks whether all that should be up is.
  struct State {
    std::string name;
    bool wanted = true;  // its configuration has it up
    bool up = false;
  };
  std::vector<State> states() const;
  // Would `config` run on this port? Nothing is touched.
  Problems check(PortId port, const config::PortConfig& config) const;
  // Stops the device and starts it with `config`; another device takes its place if `config` says
  // so. If that fails the old one is brought back.
  Problems restart(PortId port, const config::PortConfig& config);
  // Would the port that `next` has there, where none is now, run? Nothing is touched.
  Problems check_new(PortId place, const config::SwitchConfig& next) const;
  // Can the port be closed while the switch runs?
  Problems check_removal(PortId port) const;
  // Opens and starts the port that `next` has there, where none is now. It is left unused until
  // use().
  Problems plug(PortId place, const config::SwitchConfig& next);
  void use(PortId port);
  // Closes the port; the place is empty then. What waits in the device is lost.
  Problems unplug(PortId port);
  // The next tick follows.
  void set_admin_up(PortId port, bool up);
  void rebase(const Rebase& rebase);
  // What people should know, since the last call: peers waited for, NICs without PFC.
  std::vector<std::string> take_notes();

 private:
  struct Entry {
    config::PortConfig config;       // absent(): the place is empty
    std::unique_ptr<DpdkPort> port;  // null inside restart(), and when it could not be opened anew
    PortCell cell;
    PortLosses before;  // of devices that the place had
    bool held = false;  // plugged, and not to be used yet
    int openings = 0;
    Instant next_attempt;  // to reconnect
    bool waiting_noted = false;
  };

  PortManager(const config::SwitchConfig& config, const PacketPools& pools,
              std::function<void()> wake);
  Problems open_entry(Entry& entry, const config::PortConfig& config);
  void follow_links();
  void follow_admin(Entry& entry);
  void reconnect(Entry& entry, Instant now);
  void open_anew(Entry& entry, Instant now);
  void read_losses(Entry& entry);
  void close(Entry& entry);
  int room_in_buffers() const;
  Problems problems_of_xdp(const config::PortConfig& config, const DeviceArgs& device) const;
  Problems problems_of_packets(const config::PortConfig& config,
                               const config::SwitchConfig& next) const;
  Problems problems_of_room(const config::PortConfig& config, const DeviceArgs& device) const;
  bool take_from_worker(Entry& entry);
  Problems reconfigure(Entry& entry, const config::PortConfig& config);
  Problems replace(Entry& entry, const config::PortConfig& config);

  const PacketPools& pools_;
  std::function<void()> wake_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Bell>> bells_;
  std::vector<std::string> notes_;
  std::set<unsigned> xdp_interfaces_;  // on which an AF_XDP device has been open
  Instant next_losses_;
  Instant last_tick_;
  mutable std::mutex mutex_;
};

}  // namespace eddy
