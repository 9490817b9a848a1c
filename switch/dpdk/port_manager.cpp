#include "switch/dpdk/port_manager.h"

#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <chrono>
#include <thread>

#include "config/capabilities.h"
#include "config/places.h"
#include "switch/dpdk/devargs.h"
#include "switch/dpdk/interface.h"
#include "switch/dpdk/plan.h"

namespace eddy {
namespace {

constexpr int kUnusedTries = 1'000;  // of a millisecond: how long a worker may stay in one poll

// Refused connections are this class's business, not an error for the log.
void quieten_drivers() {
  rte_log_set_level_pattern("pmd.net.memif*", RTE_LOG_CRIT);
}

// What a port to come would need and eddyd has given up, or never had.
Problems check_rights(const config::PortConfig& config) {
  const auto missing = DpdkPort::missing_capabilities(config);
  if (missing.empty()) return {};
  return {"port " + config.name + " (" + config.device + "): needs " + missing.words("CAP_", ", ") +
          ", which eddyd does not keep; name " +
          std::string(to_string(config::port_kind_of(config.device))) +
          " under privileges.ports and restart it"};
}

unsigned interface_number_of(const DeviceArgs& device) {
  return interface_number(std::string(device.find("iface").value_or("")));
}

bool has_lossless_group(const config::SwitchConfig& config, const config::PortConfig& port) {
  for (const std::string& name : port.pg_profiles) {
    const auto profile = config.buffer.profiles.find(name);
    if (profile != config.buffer.profiles.end() && profile->second.lossless) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<PortManager>> PortManager::open(const config::SwitchConfig& config,
                                                       const PacketPools& pools,
                                                       std::function<void()> wake) {
  quieten_drivers();
  std::unique_ptr<PortManager> manager(new PortManager(config, pools, std::move(wake)));
  Problems problems;
  for (const config::PortConfig& port : config.ports) {
    Entry& entry = *manager->entries_.emplace_back(std::make_unique<Entry>());
    entry.config = port;
    entry.cell.worker.store(static_cast<uint16_t>(port.worker), std::memory_order_relaxed);
    if (port.absent()) continue;
    entry.cell.lossless.store(has_lossless_group(config, port), std::memory_order_relaxed);
    const Problems found = manager->open_entry(entry, port);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  if (!problems.empty()) return problems;
  return manager;
}

PortManager::PortManager(const config::SwitchConfig& config, const PacketPools& pools,
                         std::function<void()> wake)
    : pools_(pools), wake_(std::move(wake)) {
  for (int i = 0; i < config.workers; ++i) bells_.push_back(std::make_unique<Bell>());
}

PortManager::~PortManager() {
  stop_all();
}

// A reconnecting device may fail to start because its peer is not there yet; tick() tries again.
Problems PortManager::open_entry(Entry& entry, const config::PortConfig& config) {
  auto port = DpdkPort::open(config, pools_.data(), wake_);
  if (!port) return port.problems();
  Problems problems = (*port)->start();
  if (!problems.empty() && !(*port)->must_reconnect()) return problems;
  entry.config = config;
  entry.port = std::move(*port);
  ++entry.openings;
  if (entry.port->arguments().is_af_xdp())
    xdp_interfaces_.insert(interface_number_of(entry.port->arguments()));
  entry.cell.device.store(entry.port->device(), std::memory_order_relaxed);
  entry.next_attempt = last_tick_ + kHandshakeTime;
  if (entry.port->pfc().starts_with("none"))
    notes_.push_back("port " + config.name + ": PFC is not to be had, " + entry.port->pfc());
  return {};
}

void PortManager::tick(Instant now) {
  const std::lock_guard guard(mutex_);
  last_tick_ = now;
  const bool losses_due = now >= next_losses_;
  if (losses_due) next_losses_ = now + kLossInterval;
  follow_links();
  for (const auto& entry : entries_) {
    if (entry->config.absent()) continue;
    const bool up = entry->cell.usable.load(std::memory_order_relaxed);
    // A port on an interface that was replaced is not up, so one that is up need not be asked.
    if (!entry->port || (!up && entry->port->interface_replaced())) open_anew(*entry, now);
    if (!entry->port) continue;
    if (!entry->held) follow_admin(*entry);
    if (up) {
      entry->waiting_noted = false;
      entry->next_attempt = now;
    }
    if (!up && entry->config.admin_up && entry->port->must_reconnect()) reconnect(*entry, now);
    if (losses_due && entry->port->started()) read_losses(*entry);
  }
}

// Bells ring when all links are known: ports that come up together do so within one poll, so that
// no frame of the first finds the second still down.
void PortManager::follow_links() {
  std::vector<Bell*> news;
  for (const auto& entry : entries_) {
    if (!entry->port) continue;
    const bool up = entry->config.admin_up && !entry->held && entry->port->link_up();
    if (entry->cell.usable.load(std::memory_order_relaxed) == up) continue;
    if (up)
      entry->cell.usable.store(true, std::memory_order_release);
    else
      entry->cell.take_back();
    news.push_back(bells_[static_cast<size_t>(entry->config.worker)].get());
  }
  for (Bell* bell : news) bell->ring();
}

// The neighbour is to see what the configuration says.
void PortManager::follow_admin(Entry& entry) {
  const bool up = entry.config.admin_up;
  if (!up && !entry.cell.released()) return;  // its worker is not out of the driver yet
  const Problems problems = entry.port->show_link(up);
  if (up && entry.port->must_reconnect()) return;  // tick() tries again
  notes_.insert(notes_.end(), problems.begin(), problems.end());
}

void PortManager::rebase(const Rebase& rebase) {
  const std::lock_guard lock(mutex_);
  rebase.shift(next_losses_);
  rebase.shift(last_tick_);
  for (const auto& entry : entries_) rebase.shift(entry->next_attempt);
}

void PortManager::reconnect(Entry& entry, Instant now) {
  if (now < entry.next_attempt || !entry.cell.released()) return;
  entry.port->stop();
  const bool refused = !entry.port->start().empty();
  entry.next_attempt = now + (refused ? kReconnectInterval : kHandshakeTime);
  if (!refused || entry.waiting_noted) return;
  entry.waiting_noted = true;
  notes_.push_back("port " + entry.config.name + ": waiting for its peer on " + entry.port->peer());
}

void PortManager::open_anew(Entry& entry, Instant now) {
  if (now < entry.next_attempt || !entry.cell.released()) return;
  const config::PortConfig config = entry.config;
  close(entry);
  const bool refused = !open_entry(entry, config).empty();
  if (refused)
    entry.next_attempt = now + kReconnectInterval;
  else
    notes_.push_back("port " + config.name + ": its interface was made anew, and is taken up");
}

void PortManager::read_losses(Entry& entry) {
  PortLosses losses = entry.port->losses();
  losses.missed += entry.before.missed;
  losses.no_buffer += entry.before.no_buffer;
  const bool news = losses.missed != entry.cell.missed.load(std::memory_order_relaxed) ||
                    losses.no_buffer != entry.cell.no_buffer.load(std::memory_order_relaxed);
  if (!news) return;
  entry.cell.missed.store(losses.missed, std::memory_order_relaxed);
  entry.cell.no_buffer.store(losses.no_buffer, std::memory_order_relaxed);
  bells_[static_cast<size_t>(entry.config.worker)]->ring();
}

// Its device begins to count anew.
void PortManager::close(Entry& entry) {
  entry.port.reset();
  entry.before = {.missed = entry.cell.missed.load(std::memory_order_relaxed),
                  .no_buffer = entry.cell.no_buffer.load(std::memory_order_relaxed)};
}

DeviceView PortManager::device(PortId port) const {
  const std::lock_guard guard(mutex_);
  const Entry& entry = *entries_[port.index()];
  if (entry.config.absent()) return {};
  const DeviceArgs arguments = DeviceArgs::parse(entry.config.device);
  DeviceView out{.name = arguments.name(),
                 .driver = arguments.driver(),
                 .pfc = {},
                 .peer = {},
                 .openings = entry.openings};
  if (!entry.port) return out;
  out.pfc = entry.port->pfc();
  out.peer = entry.port->peer();
  out.link_speed_bps = entry.port->link_speed_bps();
  out.link_up = entry.port->link_up();
  return out;
}

std::vector<PortManager::State> PortManager::states() const {
  const std::lock_guard guard(mutex_);
  std::vector<State> out;
  for (const auto& entry : entries_)
    if (!entry->config.absent())
      out.push_back({entry->config.name, entry->config.admin_up,
                     entry->cell.usable.load(std::memory_order_relaxed)});
  return out;
}

// The kernel gives no second socket on its queue to a process that has closed one.
Problems PortManager::problems_of_xdp(const config::PortConfig& config,
                                      const DeviceArgs& device) const {
  if (!device.is_af_xdp() || !xdp_interfaces_.contains(interface_number_of(device))) return {};
  return {"port " + config.name + ": an AF_XDP device is not opened a second time; restart eddyd"};
}

// All ports share the pool of packets that was made at the start.
Problems PortManager::problems_of_room(const config::PortConfig& config,
                                       const DeviceArgs& device) const {
  const int room = room_in_buffers();
  const int needed = buffer_size_of(device, config.mtu);
  if (needed <= room) return {};
  return {"port " + config.name + ": mtu " + std::to_string(config.mtu) +
          " needs packet buffers of " + std::to_string(needed) +
          " octets, this switch was started with " + std::to_string(room) + "; restart it"};
}

Problems PortManager::check(PortId port, const config::PortConfig& config) const {
  const std::lock_guard guard(mutex_);
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(config.device), config.mtu);
  Problems problems = problems_of_room(config, device);
  const DpdkPort* running = entries_[port.index()]->port.get();
  if (running != nullptr && device.to_string() == running->arguments().to_string()) {
    const config::PortConfig& now = entries_[port.index()]->config;
    if (config.mtu == now.mtu && config.role == now.role) return problems;
    const Problems found = problems_of_xdp(config, device);
    problems.insert(problems.end(), found.begin(), found.end());
    return problems;
  }
  if (Problems found = problems_of_xdp(config, device); !found.empty()) return found;
  if (running != nullptr && !running->can_be_closed())
    problems.push_back("port " + config.name + ": a memif server cannot be replaced while the " +
                       "switch runs; restart it");
  if (Problems missing = check_rights(config); !missing.empty()) {
    problems.insert(problems.end(), missing.begin(), missing.end());
    return problems;
  }
  const Problems found = DpdkPort::check(config);
  problems.insert(problems.end(), found.begin(), found.end());
  return problems;
}

Problems PortManager::restart(PortId port, const config::PortConfig& config) {
  const std::lock_guard guard(mutex_);
  Entry& entry = *entries_[port.index()];
  if (!take_from_worker(entry))
    return {"port " + config.name + ": its worker does not let go of it"};
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(config.device), config.mtu);
  const bool same_device = entry.port && device.to_string() == entry.port->arguments().to_string();
  if (same_device && config.mtu == entry.config.mtu && config.role == entry.config.role) {
    entry.config = config;  // what the device knows nothing of
    return {};
  }
  if (same_device && entry.port->can_be_reconfigured()) return reconfigure(entry, config);
  return replace(entry, config);
}

Problems PortManager::check_new(PortId place, const config::SwitchConfig& next) const {
  const std::lock_guard guard(mutex_);
  const config::PortConfig& config = next.ports[place.index()];
  const DeviceArgs device = with_driver_defaults(DeviceArgs::parse(config.device), config.mtu);
  if (Problems missing = check_rights(config); !missing.empty()) return missing;
  if (Problems problems = problems_of_xdp(config, device); !problems.empty()) return problems;
  if (Problems problems = problems_of_room(config, device); !problems.empty()) return problems;
  // The pool's buffers are whole lines.
  if (const int longest = longest_buffer_of(device), has = room_in_buffers();
      longest + RTE_CACHE_LINE_SIZE <= has)
    return {"port " + config.name + " (" + config.device + "): takes packet buffers of at most " +
            std::to_string(longest) + " octets, this switch was started with " +
            std::to_string(has)};
  if (Problems problems = problems_of_packets(config, next); !problems.empty()) return problems;
  for (const auto& entry : entries_)
    if (entry->port && entry->port->arguments().name() == device.name())
      return {"port " + config.name + ": device " + device.name() + " is port " +
              entry->config.name + "'s; remove that by a reload of its own, or take another name"};
  return DpdkPort::check(config);
}

Problems PortManager::problems_of_packets(const config::PortConfig& config,
                                          const config::SwitchConfig& next) const {
  auto needed = packets_needed(next);
  if (!needed) return needed.problems();
  const size_t has = pools_.data()->size;
  if (*needed <= has) return {};
  return {"port " + config.name + " (" + config.device + "): with the packets that its device " +
          "keeps, the switch needs " + std::to_string(*needed) + ", it was started with " +
          std::to_string(has) + "; name " +
          std::string(to_string(config::port_kind_of(config.device))) +
          " under privileges.ports and restart it"};
}

int PortManager::room_in_buffers() const {
  return rte_pktmbuf_data_room_size(pools_.data()) - RTE_PKTMBUF_HEADROOM;
}

Problems PortManager::check_removal(PortId port) const {
  const std::lock_guard guard(mutex_);
  const Entry& entry = *entries_[port.index()];
  if (!entry.port || entry.port->can_be_closed()) return {};
  return {"port " + entry.config.name +
          ": a memif server cannot be removed while the switch runs, as its socket would go on "
          "answering; restart eddyd"};
}

Problems PortManager::plug(PortId place, const config::SwitchConfig& next) {
  const std::lock_guard guard(mutex_);
  Entry& entry = *entries_[place.index()];
  const config::PortConfig config = next.ports[place.index()];
  if (entry.port)
    return {"port " + config.name + ": " + entry.config.name + " still has its place"};
  Problems problems = open_entry(entry, config);
  if (!problems.empty()) return problems;
  entry.held = true;
  entry.waiting_noted = false;
  entry.cell.lossless.store(has_lossless_group(next, config), std::memory_order_relaxed);
  entry.cell.worker.store(static_cast<uint16_t>(config.worker), std::memory_order_release);
  return {};
}

void PortManager::use(PortId port) {
  const std::lock_guard guard(mutex_);
  entries_[port.index()]->held = false;
  wake_();
}

Problems PortManager::unplug(PortId port) {
  const std::lock_guard guard(mutex_);
  Entry& entry = *entries_[port.index()];
  if (!take_from_worker(entry))
    return {"port " + entry.config.name + ": its worker does not let go of it"};
  close(entry);
  entry.config = config::empty_place(entry.config.worker);
  entry.held = false;
  entry.openings = 0;
  return {};
}

void PortManager::set_admin_up(PortId port, bool up) {
  const std::lock_guard guard(mutex_);
  entries_[port.index()]->config.admin_up = up;
}

Problems PortManager::reconfigure(Entry& entry, const config::PortConfig& config) {
  const auto apply = [&](const config::PortConfig& wanted) {
    entry.port->stop();
    Problems problems = entry.port->configure(wanted, pools_.data());
    if (problems.empty()) problems = entry.port->start();
    if (entry.port->must_reconnect()) problems.clear();  // tick() tries again
    if (problems.empty()) entry.config = wanted;
    return problems;
  };
  Problems problems = apply(config);
  if (problems.empty()) return problems;
  const Problems lost = apply(config::PortConfig(entry.config));
  problems.insert(problems.end(), lost.begin(), lost.end());
  return problems;
}

Problems PortManager::replace(Entry& entry, const config::PortConfig& config) {
  const config::PortConfig before = entry.config;
  close(entry);
  Problems problems = open_entry(entry, config);
  if (problems.empty()) return problems;
  const Problems lost = open_entry(entry, before);
  problems.insert(problems.end(), lost.begin(), lost.end());
  return problems;
}

bool PortManager::take_from_worker(Entry& entry) {
  entry.cell.take_back();
  bells_[static_cast<size_t>(entry.config.worker)]->ring();
  for (int i = 0; i < kUnusedTries; ++i) {
    if (entry.cell.released()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void PortManager::stop_all() {
  const std::lock_guard guard(mutex_);
  for (const auto& entry : entries_)
    if (entry->port) entry->port->stop();
}

std::vector<std::string> PortManager::take_notes() {
  const std::lock_guard guard(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace eddy
