#include "tests/sim/random_fabric.h"

#include "lb/members.h"
#include "lb/registry.h"

namespace eddy::test {
namespace {

constexpr uint32_t kEntity = 0, kPurpose = 0x73696d;  // "sim"
constexpr BitRate kSpeeds[] = {1_Gbps, 10_Gbps, 25_Gbps};
constexpr config::WatchdogAction kActions[] = {
    config::WatchdogAction::drop, config::WatchdogAction::forward, config::WatchdogAction::alert};

template <class T, size_t kCount>
T one_of(RandomStream& random, const T (&values)[kCount]) {
  return values[random.below(kCount)];
}

// Idle paths are not probed, so that the fabric comes to rest.
void add_rlb(config::SwitchConfig& config) {
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  config.rlb.failure_detector.mode = config::DetectorMode::off;
  config.path_service.probe = 0_us;
}

}  // namespace

RandomFabric::RandomFabric(uint64_t seed, bool sites, uint64_t rebase_every)
    : seed_(seed),
      random_(seed, kEntity, kPurpose),
      sites_(seed, sites ? FaultSites::draw(seed) : FaultSites::Odds{}) {
  if (sites) fabric_.sites = &sites_;
  fabric_.rebase_every = rebase_every;
  const auto schemes = lb::schemes();
  spec_ = leaf_spine(
      {.leaves = 2,
       .spines = 1 + random_.below(2),
       .hosts = kHosts,
       .host_speed = one_of(random_, kSpeeds),
       .fabric_speed = one_of(random_, kSpeeds),
       .scheme = std::string(schemes[random_.below(static_cast<uint32_t>(schemes.size()))].name)});
  for (auto* group : {&spec_.leaves, &spec_.spines}) {
    for (config::SwitchConfig& config : *group) {
      choose_scheme(config, config.load_balancer.scheme);
      config = random_switch(config);
      if (sites && seed % 4 < 2) add_rlb(config);
      configs_.push_back(&config);
      nodes_.push_back(fabric_.add_switch(config, static_cast<size_t>(config.workers)));
    }
  }
  connect_all();
}

config::SwitchConfig RandomFabric::random_switch(config::SwitchConfig config) {
  config.seed = seed_;
  config.dre.period = 16'384_ns;
  config.control.lldp = random_.below(2) == 0;
  config.buffer.cell_bytes = random_.below(2) == 0 ? 1 : 256;
  config.buffer.size = 64_MiB;
  config::BufferProfile& lossless = config.buffer.profiles["lossless"];
  lossless.mode = random_.below(2) == 0 ? config::BufferMode::fixed : config::BufferMode::dynamic;
  lossless.xoff = Bytes::kib(10 + random_.below(60));
  lossless.dynamic_th = -static_cast<int>(random_.below(9)) - 2;
  lossless.reserved = Bytes(random_.below(4096));
  config.buffer.wred["default"] = {true, Bytes(random_.below(20'000)),
                                   Bytes(20'000 + random_.below(50'000)), 0.3};
  for (config::PortConfig& port : config.ports) {
    port.mtu = 4200;
    // To forward against a pause is to overrun the peer's headroom.
    const auto action = harsh() ? one_of(random_, kActions) : config::WatchdogAction::drop;
    port.watchdog = {true, 2_ms, 3_ms, 1_ms, config::WatchdogDetect::stalled, action};
    for (config::QueueConfig& queue : port.queues)
      queue.weight = 1 + static_cast<int>(random_.below(20));
    if (random_.below(4) == 0) port.queues[0].max_rate = 500_Mbps;
  }
  spread_over_workers(config, 1 + random_.below(4));
  return config;
}

void RandomFabric::connect_all() {
  const size_t leaves = spec_.leaves.size();
  for (size_t l = 0; l < leaves; ++l)
    for (size_t s = 0; s < spec_.spines.size(); ++s)
      fabric_.connect(nodes_[l], PortId(kHosts + s), nodes_[leaves + s], PortId(l), 1_us);
  for (size_t l = 0; l < leaves; ++l)
    for (size_t h = 0; h < kHosts; ++h) {
      hosts_.push_back(&fabric_.attach_host(nodes_[l], PortId(h), 1_us));
      start_traffic(hosts_.size() - 1);
    }
}

// Each host has a flow for each class to some other host; most go to the first, to crowd it.
void RandomFabric::start_traffic(size_t host) {
  constexpr uint8_t kDscps[] = {kLosslessDscp, kOtherLosslessDscp, kLossyDscp, 0};
  constexpr size_t kLengths[] = {64, 200, 1000, 1500, 4096};
  const size_t leaf = host / kHosts, number = host % kHosts;
  std::vector<Transmission> flows;
  for (const uint8_t dscp : kDscps) {
    const size_t to = random_.below(2) == 0 ? 0 : random_.below(2 * kHosts);
    if (to == host) continue;
    const size_t length = one_of(random_, kLengths);
    UdpSpec flow{.destination_mac = port_mac(spec_.leaves[leaf], number),
                 .source_mac = host_mac(leaf + 1, number + 1),
                 .source = host_ip(leaf + 1, number + 1),
                 .destination = host_ip(to / kHosts + 1, to % kHosts + 1),
                 .source_port = static_cast<uint16_t>(1000 + random_.below(1000)),
                 .dscp = dscp,
                 .ecn = static_cast<uint8_t>(random_.below(4)),
                 .frame_len = length,
                 .readable_len = 96};
    if (random_.below(20) == 0) flow.ttl = 1;
    const bool lossless = dscp == kLosslessDscp || dscp == kOtherLosslessDscp;
    flows.push_back({udp_frame(flow), length, Priority(lossless ? dscp : 0)});
  }
  hosts_[host]->keep_frames = false;
  if (flows.empty()) return;
  hosts_[host]->source = [flows, left = 100 + random_.below(100),
                          random = RandomStream(seed_, static_cast<uint32_t>(host), kPurpose)](
                             Transmission& next) mutable {
    if (left == 0) return false;
    --left;
    next = flows[random.below(static_cast<uint32_t>(flows.size()))];
    return true;
  };
  fabric_.kick(*hosts_[host]);
}

SimResult RandomFabric::run() {
  for (int step = 0; step < kSteps; ++step) {
    fabric_.run_until(fabric_.now() + 1_ns * (1 + random_.below(20'000)));
    disturb();
    fold_everything();
    if (step == kSteps / 2 && periods_) age();
  }
  run_down();
  fold_everything();
  result_.trouble = check_empty();
  for (const FabricHost* host : hosts_) result_.delivered += host->received_count;
  for (const size_t node : nodes_) {
    result_.dropped += fabric_.at(node).balance().dropped;
    const Switch& object = fabric_.at(node);
    const uint64_t meant = drops(object, DropReason::ttl_expired);  // some frames have no more
    result_.lossless_lost += lossless_lost(object) - std::min(meant, lossless_lost(object));
  }
  return result_;
}

void RandomFabric::age() {
  constexpr int kNaps = 8;  // so that what wraps has the same value after each, too
  constexpr Duration kNap = 57'600_s;
  fabric_.age(kNap + Rebase::kPeriod / kNaps * *periods_, kNaps);
  fold_everything(/*with_times=*/false);
}

void RandomFabric::choose_scheme(config::SwitchConfig& config, std::string_view name) {
  config.load_balancer = {.scheme = std::string(name)};
  if (name == "letflow" || name == "conga") config.load_balancer.parameters["gap"] = "65536ns";
}

void RandomFabric::disturb() {
  const size_t node = random_.below(static_cast<uint32_t>(nodes_.size()));
  switch (random_.below(8)) {
    case 0:
      return harsh() ? flap(node) : storm(node);
    case 1:
      return storm(node);
    case 2:
      return harsh() ? refuse(node) : reload(node);
    case 3:
    case 4:
      return reload(node);
    default:
      return;
  }
}

void RandomFabric::flap(size_t node) {
  const PortId port(random_.below(static_cast<uint32_t>(configs_[node]->ports.size())));
  fabric_.set_link(nodes_[node], port, false);
  if (random_.below(2) == 0) fabric_.run_until(fabric_.now() + 1_us);
  fabric_.set_link(nodes_[node], port, true);
}

// PFC from nowhere, now and then in numbers, of any priorities and times. A switch that is really
// paused would believe it and go on too early: gently, it comes from hosts, which never pause.
void RandomFabric::storm(size_t node) {
  if (!harsh()) node = random_.below(static_cast<uint32_t>(spec_.leaves.size()));
  const size_t ports = harsh() ? configs_[node]->ports.size() : kHosts;
  const PortId port(random_.below(static_cast<uint32_t>(ports)));
  for (uint32_t i = random_.below(4); i-- > 0;)
    fabric_.inject(nodes_[node], port,
                   pause_frame(static_cast<uint8_t>(random_.next()),
                               static_cast<uint16_t>(random_.below(200))));
}

void RandomFabric::refuse(size_t node) {
  const PortId port(random_.below(static_cast<uint32_t>(configs_[node]->ports.size())));
  fabric_.limit_transmit(nodes_[node], port, static_cast<uint16_t>(random_.below(3)));
  fabric_.run_until(fabric_.now() + 3_us);
  fabric_.limit_transmit(nodes_[node], port, 65535);
}

void RandomFabric::reload(size_t node) {
  config::SwitchConfig& config = *configs_[node];
  const auto schemes = lb::schemes();
  choose_scheme(config, schemes[random_.below(static_cast<uint32_t>(schemes.size()))].name);
  config.buffer.profiles["lossless"].xoff = Bytes::kib(10 + random_.below(60));
  config.buffer.profiles["lossless"].dynamic_th = -static_cast<int>(random_.below(9)) - 2;
  for (config::PortConfig& port : config.ports)
    port.queues[3].weight = 1 + static_cast<int>(random_.below(20));
  const auto done = fabric_.at(nodes_[node]).reconfigure(config);
  if (!done.ok()) result_.trouble += "reload refused: " + done.problems()[0] + "; ";
  if (random_.below(2) == 0) fabric_.poll(nodes_[node]);
  fabric_.at(nodes_[node]).reclaim();
}

// Until all is sent: pauses have run out, lines are free.
void RandomFabric::run_down() {
  for (const size_t node : nodes_) fabric_.poll(node);
  fabric_.run_until(fabric_.now() + 100_ms);
  for (const size_t node : nodes_)
    if (fabric_.at(node).reclaim() != 0) result_.trouble += "a snapshot is still held; ";
}

void RandomFabric::fold(uint64_t value) {
  result_.digest = lb::mix64(result_.digest ^ value) + value;
}

void RandomFabric::fold_everything(bool with_times) {
  for (const size_t node : nodes_) {
    Switch& object = fabric_.at(node);
    for (const Event& event : take_events(object)) {
      if (with_times) fold(static_cast<uint64_t>(event.at.ps() % Rebase::kPeriod.ps()));
      fold(event.value << 32 | event.port.index() << 16 | event.priority.index() << 8 |
           static_cast<uint64_t>(event.kind));
    }
    const Balance balance = object.balance();
    for (const uint64_t n : {balance.rx, balance.originated, balance.tx, balance.consumed,
                             balance.dropped, balance.held})
      fold(n);
  }
  for (const FabricHost* host : hosts_) {
    fold(host->received_count);
    fold(host->received_bytes);
  }
}

std::string RandomFabric::check_empty() {
  std::string text = result_.trouble;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (const std::string left = leftovers(fabric_.at(nodes_[i])); !left.empty())
      text += configs_[i]->name + ": " + left;
  return text;
}

}  // namespace eddy::test
