#include "tests/unit/config/random_config.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "lb/registry.h"
#include "net/random.h"

namespace eddy::config {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed, 0, 0) {}
  SwitchConfig make();

 private:
  int64_t between(int64_t low, int64_t high) {
    const auto span = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int64_t>(random_.next64() % span);
  }
  int small(int low, int high) { return static_cast<int>(between(low, high)); }
  bool coin() { return random_.below(2) == 1; }
  Duration time(Duration low, Duration high) {
    return Duration::picoseconds(between(low.ps(), high.ps()));
  }
  Bytes size(int64_t low, int64_t high) { return Bytes(between(low, high)); }
  BitRate rate(int64_t low, int64_t high) { return BitRate::bits_per_second(between(low, high)); }
  template <class E>
  E one_of(int count) {
    return static_cast<E>(random_.below(static_cast<uint32_t>(count)));
  }
  template <class To, size_t kCount>
  void fill(std::array<To, kCount>& map) {
    for (To& to : map) to = To(random_.below(8));
  }
  MacAddress mac();
  std::string text(std::string_view alphabet, int longest);
  BufferProfile profile();
  WredProfile wred();
  void fill_port(PortConfig& port, size_t index);
  QueueConfig queue(const PortConfig& port);
  PfcPortConfig pfc();
  WatchdogConfig watchdog();
  void fill_fabric(SwitchConfig& config);
  void fill_scheme(LoadBalancerConfig& chosen);
  void fill_path_service(PathServiceConfig& service);
  void fill_groups(SwitchConfig& config);

  RandomStream random_;
  int64_t slowest_ = 1'000'000;  // bits per second, that time_dilation leaves 1 Mb/s of
};

constexpr std::string_view kNameLetters = "abcXYZ019_/-";
constexpr std::string_view kAnyLetters = "abc:,#'\"\\{}[]&*!|>%@` \t~?-0";

MacAddress Generator::mac() {
  MacAddress mac;
  for (uint8_t& octet : mac.octets) octet = static_cast<uint8_t>(random_.below(256));
  mac.octets[0] = static_cast<uint8_t>((mac.octets[0] & 0xfe) | 2);
  return mac;
}

std::string Generator::text(std::string_view alphabet, int longest) {
  std::string made;
  const int length = small(1, longest);
  for (int i = 0; i < length; ++i)
    made += alphabet[random_.below(static_cast<uint32_t>(alphabet.size()))];
  return made;
}

// Members that do not apply keep their defaults: nobody can set them.
BufferProfile Generator::profile() {
  BufferProfile profile;
  profile.lossless = coin();
  profile.mode = one_of<BufferMode>(2);
  profile.reserved = size(0, 1'000);
  if (profile.mode == BufferMode::fixed) profile.xoff = size(70'000, 1'000'000);
  if (profile.mode == BufferMode::dynamic) profile.dynamic_th = small(-5, 8);
  if (!profile.lossless) return profile;
  profile.xon_offset = size(0, 65'536);
  if (coin()) profile.headroom = size(0, 1'000'000);
  return profile;
}

WredProfile Generator::wred() {
  WredProfile wred;
  wred.ecn = coin();
  wred.kmin = size(0, 100'000);
  wred.kmax = wred.kmin + size(0, 1'000'000);
  wred.mark = coin() ? WredMark::enqueue : WredMark::dequeue;
  wred.pmax = static_cast<double>(random_.next64() >> 11) / static_cast<double>(1ULL << 53);
  return wred;
}

QueueConfig Generator::queue(const PortConfig& port) {
  QueueConfig queue;
  queue.scheduler = one_of<SchedulerType>(2);
  queue.weight = small(1, 255);
  if (coin()) queue.wred = coin() ? "default" : "early";
  if (coin()) queue.max_rate = rate(slowest_, port.speed.bps());
  queue.dynamic_th = small(-8, 8);
  if (coin()) queue.reserved = size(0, 100'000);
  return queue;
}

PfcPortConfig Generator::pfc() {
  PfcPortConfig pfc;
  pfc.tx = coin();
  if (coin()) pfc.enable = coin() ? "none" : "0,3,7";
  pfc.rx = one_of<PfcRx>(3);
  pfc.asymmetric = coin();
  pfc.quanta = static_cast<uint16_t>(between(1, 65'535));
  pfc.refresh_limit = time(1_us, 1_s);
  pfc.budget_window = time(1_us, 10_s);
  pfc.pause_budget = time(1_us, std::min(pfc.budget_window, 1_s));
  return pfc;
}

WatchdogConfig Generator::watchdog() {
  WatchdogConfig watchdog;
  watchdog.enabled = coin();
  watchdog.detection_time = time(1_ms, 5_s);
  watchdog.restoration_time = time(1_ms, 60_s);
  watchdog.poll_interval = time(1_ms, std::min(watchdog.detection_time, watchdog.restoration_time));
  watchdog.detect = one_of<WatchdogDetect>(2);
  watchdog.action = one_of<WatchdogAction>(3);
  return watchdog;
}

void Generator::fill_port(PortConfig& port, size_t index) {
  port.name = "p" + std::to_string(index) + text(kNameLetters, 20);
  port.device = text(kAnyLetters, 60) + std::to_string(index);
  // What stands before the first comma is the device's name.
  port.device = "net_memif" + std::to_string(index) + "," + port.device;
  port.role = index % 2 == 0 ? PortRole::host : PortRole::fabric;
  port.admin_up = coin();
  port.speed = rate(1'000'000'000, 100'000'000'000);
  port.mtu = small(576, 9'216);
  if (coin()) port.mac = mac();
  if (coin()) port.peer_mac = mac();
  const auto subnet = static_cast<uint32_t>(10u << 24 | index << 16);
  if (coin()) port.addresses.push_back({Ipv4Address{subnet | 1}, 24});
  if (coin()) port.addresses.push_back({Ipv4Address{subnet | 0x101}, 25});
  port.worker = small(0, 3);
  port.cable_delay = time(0_us, 100_us);
  if (coin()) port.shaper = rate(slowest_, port.speed.bps());
  port.line_overhead = small(0, 64);
  port.pfc = pfc();
  port.watchdog = watchdog();
  for (std::string& name : port.pg_profiles) name = coin() ? "lossy" : coin() ? "mine" : "lossless";
  for (QueueConfig& each : port.queues) each = queue(port);
  if (coin()) fill(port.maps.dscp_to_tc);
  if (coin()) fill(port.maps.pcp_to_tc);
  fill(port.maps.tc_to_pg);
  fill(port.maps.tc_to_queue);
  fill(port.maps.pfc_to_queue);
  fill(port.maps.pg_to_pfc);
  port.maps.trust_pcp = coin();
  if (coin()) port.vlan = small(1, 4'094);
  if (port.vlan) port.tagging_mode = one_of<TaggingMode>(2);
}

void Generator::fill_fabric(SwitchConfig& config) {
  for (size_t leaf = 0; leaf < 3; ++leaf) {
    LeafConfig& added = config.leaves.emplace_back();
    added.id = LeafId(100 + leaf * 1'000);
    for (size_t port = 1; port < config.ports.size(); port += 2) {
      PathConfig& path = added.paths.emplace_back();
      path.port = config.ports[port].name;
      path.weight = small(1, 64);
      if (coin()) path.path_id = PathId(random_.below(65'536));
    }
    const auto network = static_cast<uint32_t>(20u << 24 | leaf << 16);
    RouteConfig& route = config.routes.emplace_back();
    route.prefix = {Ipv4Address{network}, 16};
    if (coin())
      route.leaf = added.id;
    else
      route.port = config.ports.front().name;
    config.neighbors.push_back({Ipv4Address{network | 7}, mac(), config.ports.back().name});
  }
}

void Generator::fill_scheme(LoadBalancerConfig& chosen) {
  const auto all = lb::schemes();
  const lb::SchemeInfo& scheme = all[random_.below(static_cast<uint32_t>(all.size()))];
  chosen.scheme = scheme.name;
  chosen.control = one_of<ControlBy>(2);
  for (const lb::ParameterInfo& info : scheme.parameters)
    chosen.parameters[std::string(info.name)] = lb::value_text(info, between(info.min, info.max));
}

void Generator::fill_path_service(PathServiceConfig& service) {
  service.shim = one_of<ShimUse>(5);
  service.delay = one_of<DelayMetric>(2);
  service.common_clock = coin();
  if (coin()) service.base_rtt = time(1_us, 1_ms);
  if (coin()) service.sample = time(1_us, 1_ms);
  if (coin()) service.echo = time(1_us, 1_ms);
  if (coin()) service.probe = time(1_us, 1_ms);
  service.smoothing = small(1, 64);
  if (coin()) service.traffic_class = small(0, 7);
}

// Last, so that the rest is as it was without. Channels stand in shims.
void Generator::fill_groups(SwitchConfig& config) {
  const lb::Grouped grouped = lb::find_scheme(config.load_balancer.scheme)->grouped;
  bool channels = grouped.channels != 0;
  for (PortConfig& port : config.ports) {
    port.reach = one_of<LinkReach>(2);
    QosMaps& maps = port.maps;
    if (maps.tc_to_pg[3] == maps.tc_to_pg[5] || maps.tc_to_queue[3] == maps.tc_to_queue[5])
      continue;
    maps.tc_to_next[3] = TrafficClass(5);
    channels = true;
  }
  for (LeafConfig& leaf : config.leaves)
    for (PathConfig& path : leaf.paths) {
      path.hops = small(0, 15);
      path.detour = grouped.detours && coin();
    }
  ShimUse& use = config.path_service.shim;
  if (channels && (use == ShimUse::off || use == ShimUse::sampled)) use = ShimUse::every;
}

SwitchConfig Generator::make() {
  SwitchConfig config = default_switch("s" + text("abcXYZ019_-", 31));
  config.id = SwitchId(random_.below(65'535));
  if (coin()) config.leaf = LeafId(50);
  config.seed = random_.next64() >> 1;
  config.mac = mac();
  config.time_dilation = between(1, 1'000);
  slowest_ *= config.time_dilation;
  config.workers = small(4, 16);
  fill_path_service(config.path_service);
  config.idle = one_of<IdlePolicy>(2);
  config.poll_gap = time(1_us, 100_us);
  config.buffer.size = size(int64_t{2} << 30, int64_t{4} << 30);
  config.buffer.cell_bytes = small(64, 512);
  config.buffer.profiles["mine"] = profile();
  config.buffer.wred["default"] = wred();
  config.buffer.wred["early"] = wred();
  const size_t ports = 2 + random_.below(4);
  for (size_t i = 0; i < ports; ++i) fill_port(config.ports.emplace_back(default_port("")), i);
  fill_fabric(config);
  fill_scheme(config.load_balancer);
  config.dre.period = time(1_us, 10_ms);
  config.dre.alpha = static_cast<double>(between(1, 1'000)) / 1'000;
  config.dre.q = small(1, 8);
  if (coin()) config.control.socket = "/run/" + text(kAnyLetters, 60);
  config.control.icmp_errors_per_second = small(0, 1'000'000);
  config.control.neighbor_age = time(1_s, 7'200_s);
  config.control.lldp = coin();
  if (coin()) config.telemetry.prometheus = "127.0.0.1:" + std::to_string(between(1, 65'535));
  config.telemetry.remote = coin();
  for (const PortKind kind : {PortKind::tap, PortKind::af_packet, PortKind::other})
    if (coin()) config.privileges.ports.push_back(kind);
  if (coin()) config.privileges.user = "eddy-2";
  fill_groups(config);
  return config;
}

}  // namespace

SwitchConfig random_config(uint64_t seed) {
  return Generator(seed).make();
}

}  // namespace eddy::config
