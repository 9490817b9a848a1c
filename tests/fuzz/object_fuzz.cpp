// One input, one script for a switch of two shards: frames (any octets, or good ones spoilt), time,
// links, devices that refuse, pools that are empty, reloads. After every poll the conservation law
// must hold; in the end, with all links down, nothing may be held, charged or leaked.
#include <array>
#include <cstdint>
#include <memory>

#include "net/arp.h"
#include "net/lldp.h"
#include "net/nd.h"
#include "net/shim.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr size_t kPorts = 4;  // two hosts, a spine whose MAC is known, a spine that LLDP tells of
constexpr size_t kShards = 2;
constexpr size_t kPackets = 1024;
constexpr size_t kMaxOps = 400;
constexpr MacAddress kSpineMac = {{0x02, 0, 0, 0, 0, 9}};

config::SwitchConfig base_config() {
  config::SwitchConfig config = hosts_switch(1);
  add_host_port(config, 1, 2, 10_Gbps, /*fixed_neighbor=*/false);
  config.ports[1].addresses.push_back(prefix("fd00:2::1/64"));
  config.ports[1].pfc.rx = config::PfcRx::clamp;
  add_fabric_port(config, "spine1", 10_Gbps);
  config.ports.back().peer_mac = kSpineMac;
  add_fabric_port(config, "spine2", 10_Gbps);
  config.leaves = {{LeafId(2), {{"spine1", 1, {}}, {"spine2", 2, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}, {prefix("fd00:9::/32"), LeafId(2), {}}};
  config.loopbacks = {ip("192.0.2.1")};
  config.control.lldp = true;
  config.buffer.cell_bytes = 64;
  config.buffer.size = 1_MiB;
  config.buffer.profiles["lossless"].xoff = 20_KiB;
  config.buffer.wred["default"] = {true, 5_KiB, 20_KiB, 0.5};
  for (config::PortConfig& port : config.ports)
    port.watchdog = {
        true, 1_ms, 1_ms, 1_ms, config::WatchdogDetect::stalled, config::WatchdogAction::drop};
  spread_over_workers(config, kShards);
  return config;
}

// What a reload turns to, by number.
config::SwitchConfig variant(uint8_t n) {
  static const config::SwitchConfig base = base_config();
  config::SwitchConfig config = base;
  constexpr const char* kSchemes[] = {"ecmp", "wcmp", "spray"};
  config.load_balancer.scheme = kSchemes[n % 3];
  config.buffer.profiles["lossless"].xoff = Bytes::kib(10 + n % 16);
  config.buffer.profiles["lossless"].mode =
      (n & 1) != 0 ? config::BufferMode::dynamic : config::BufferMode::fixed;
  config.ports[0].admin_up = (n & 2) == 0;
  config.ports[1].queues[0].max_rate = (n & 4) != 0 ? std::optional(100_Mbps) : std::nullopt;
  config.ports[2].watchdog.action =
      (n & 8) != 0 ? config::WatchdogAction::forward : config::WatchdogAction::drop;
  config.ports[3].peer_mac = (n & 16) != 0 ? std::optional(kSpineMac) : std::nullopt;
  if ((n & 32) != 0) config.neighbors.push_back({ip("10.1.2.2"), host_mac(1, 2), "host2"});
  if ((n & 64) != 0) config.routes.pop_back();
  config.ports[0].pfc.tx = (n & 128) == 0;
  return config;
}

class Script {
 public:
  Script(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool done() const { return left_ == 0; }
  uint8_t next() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::span<const uint8_t> take(size_t n) {
    const std::span<const uint8_t> octets(data_, std::min(n, left_));
    data_ += octets.size();
    left_ -= octets.size();
    return octets;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

template <class Message>
Frame framed(const MacAddress& to, uint16_t ethertype, const Message& message) {
  Frame frame(14 + 120);
  encode(EthernetHeader{to, host_mac(1, 2), ethertype}, frame);
  encode(message, Octets(frame).subspan(14));
  return frame;
}

Frame good_udp(const config::SwitchConfig& config, size_t port, const char* to, uint8_t dscp) {
  const bool v4 = ip(to).is_v4();
  return udp_frame({.destination_mac = port_mac(config, port),
                    .source = v4 ? host_ip(1, port % 2 + 1) : ip("fd00:2::2"),
                    .destination = ip(to),
                    .dscp = dscp,
                    .ecn = 1,
                    .frame_len = 120});
}

// A frame that makes sense on this port, by number.
Frame good_frame(size_t port, uint8_t n) {
  static const config::SwitchConfig config = base_config();
  const MacAddress us = port_mac(config, port);
  switch (n % 12) {
    case 0:
      return good_udp(config, port, "10.1.1.2", kLosslessDscp);
    case 1:
      return good_udp(config, port, "10.1.2.2", kLosslessDscp);
    case 2:
      return good_udp(config, port, "10.2.1.2", kLosslessDscp);
    case 3:
      return good_udp(config, port, "10.2.1.2", kLossyDscp);
    case 4:
      return good_udp(config, port, "fd00:2::2", 0);
    case 5:
      return good_udp(config, port, "192.0.2.1", 0);
    case 6:
      return good_udp(config, port, "99.0.0.1", 0);
    case 7:
      return pause_frame(static_cast<uint8_t>(n | 8), static_cast<uint16_t>(n & 1 ? 0 : n * 100));
    case 8:
      return framed(us, kEtherTypeArp,
                    ArpMessage{n & 16 ? ArpOperation::reply : ArpOperation::request, host_mac(1, 2),
                               ip("10.1.2.2").v4(), us, ip("10.1.2.1").v4()});
    case 9:
      return framed(us, kEtherTypeIpv6,
                    NdMessage{.kind = n & 16 ? NdKind::advertisement : NdKind::solicitation,
                              .source = ip("fd00:2::2").v6(),
                              .destination = ip("fd00:2::1").v6(),
                              .target = ip(n & 16 ? "fd00:2::2" : "fd00:2::1").v6(),
                              .has_link_address = (n & 32) != 0,
                              .link_address = n & 32 ? host_mac(1, 2) : MacAddress{}});
    case 10: {
      Frame frame(kLldpFrameLimit);
      frame.resize(encode(LldpFrame{kSpineMac, kSpineMac, "p", n, "s"}, frame));
      return frame;
    }
    default:
      return framed(us, kEtherTypeShim, Shim{.kind = ShimKind::feedback});
  }
}

class World {
 public:
  World() {
    auto made = Switch::create(variant(0), {.shards = kShards});
    ASSERT(made.ok());
    object_ = std::move(*made);
    for (ManualIo& io : io_) io.keep_sent = false;
    for (size_t port = 0; port < kPorts; ++port) set_link(port, true);
    poll_all();
  }

  void run(Script& script) {
    for (size_t op = 0; op < kMaxOps && !script.done(); ++op) act(script);
  }

  // All links down, all mail read: the switch must be empty and every packet back.
  void finish() {
    for (ManualIo& io : io_) {
      io.transmit_limit = SIZE_MAX;
      io.control_pool_empty = false;
      io.backlog = Bytes(0);
    }
    poll_all();
    for (size_t port = 0; port < kPorts; ++port) set_link(port, false);
    now_ = now_ + 1_ms;
    for (int i = 0; i < 4; ++i) poll_all();
    ASSERT(object_->balance().held == 0);
    for (size_t i = 0; i < kPorts * kPriorities; ++i) {
      const PortId port(i / kPriorities);
      const PgStatus pg = object_->pg_status(port, PriorityGroupId(i % kPriorities));
      ASSERT(pg.used == 0 && pg.headroom == 0);
      ASSERT(object_->queue_status(port, QueueId(i % kPriorities)).used == 0);
    }
    const BufferStatus buffer = object_->buffer_status();
    ASSERT(buffer.shared_used == 0 && buffer.headroom_used == 0);
    ASSERT(pool().available() == kPackets);
    ASSERT(object_->reclaim() == 0);
  }

 private:
  static PacketPool& pool() {
    static PacketPool packets(kPackets, 2048);
    return packets;
  }
  ManualIo& io_of(size_t port) { return io_[port % kShards]; }
  void set_link(size_t port, bool up) { io_of(port).links.push_back({PortId(port), up}); }

  void act(Script& script) {
    const uint8_t op = script.next();
    const size_t port = op >> 4 & 3;
    switch (op & 0xf) {
      case 0:
      case 1:
        return raw_frame(script, port);
      case 2:
      case 3:
      case 4:
      case 5:
        return spoilt_frame(script, port);
      case 6:
        return wait(Duration::nanoseconds(int64_t{script.next()} << (op >> 4)));
      case 7:
        return wait(Duration::milliseconds(script.next()) * (op >> 4));
      case 8:
        return set_link(port, (op & 0x40) != 0);
      case 9:
        io_of(port).transmit_limit = (op & 0x40) != 0 ? SIZE_MAX : script.next() % 4;
        return;
      case 10:
        io_of(port).control_pool_empty = (op & 0x40) != 0;
        return;
      case 11:
        io_of(port).backlog = Bytes(script.next() * 256);
        return;
      case 12:
        return reload(script.next());
      case 13:
        return order(port, op);
      default:
        return poll(port % kShards);
    }
  }

  void raw_frame(Script& script, size_t port) {
    const size_t length = script.next();
    const size_t beyond = script.next();
    arrive(port, script.take(length), beyond * 16);
  }
  void spoilt_frame(Script& script, size_t port) {
    const uint8_t which = script.next();
    const uint8_t how = script.next();  // copies in the low bits, spoilt octets in the high ones
    Frame frame = good_frame(port, which);
    for (int i = how >> 5; i > 0; --i) {
      const size_t at = script.next() % frame.size();
      frame[at] = script.next();
    }
    for (int i = how & 0x1f; i >= 0; --i) arrive(port, frame, (which >> 4) * 256);
  }
  void arrive(size_t port, std::span<const uint8_t> frame, size_t beyond) {
    if (pool().available() <= 64) return;  // what a device without buffers does
    io_of(port).arrive(PortId(port), Frame(frame.begin(), frame.end()), frame.size() + beyond);
  }

  // Time passes; the world polls at deadlines, as it promised.
  void wait(Duration time) {
    constexpr int kPolls = 200;
    const Instant end = now_ + time;
    for (int i = 0; i < kPolls; ++i) {
      Instant next = Instant::never();
      for (size_t shard = 0; shard < kShards; ++shard) {
        next = std::min(next, object_->shard(ShardId(shard)).next_deadline());
        for (const auto& line : io_[shard].line_free) next = std::min(next, line.first);
      }
      if (next > end) break;
      now_ = std::max(now_, next);
      poll_all();
    }
    now_ = std::max(now_, end);
    poll_all();
  }

  void reload(uint8_t n) {
    const auto done = object_->reconfigure(variant(n));
    ASSERT(done.ok());
    (void)object_->reclaim();
  }

  void order(size_t port, uint8_t op) {
    if (!command_.done.load() && posted_) return;
    command_.kind = (op & 0x40) != 0 ? Command::Kind::set_port_tx : Command::Kind::clear_watermarks;
    command_.port = PortId(port);
    command_.on = (op & 0x80) != 0;
    posted_ = object_->post(ShardId(port % kShards), command_);
  }

  void poll(size_t shard) {
    io_[shard].complete(now_);
    object_->shard(ShardId(shard)).poll(io_[shard], now_);
    const Balance balance = object_->balance();
    ASSERT(balance.holds());
    ASSERT(balance.held <= kPackets);
  }
  void poll_all() {
    for (size_t shard = 0; shard < kShards; ++shard) poll(shard);
    for (size_t shard = 0; shard < kShards; ++shard) poll(shard);
  }

  std::array<ManualIo, kShards> io_{ManualIo(pool()), ManualIo(pool())};
  std::unique_ptr<Switch> object_;
  Instant now_;
  Command command_;
  bool posted_ = false;
};

}  // namespace
}  // namespace eddy::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  eddy::test::World world;
  eddy::test::Script script(data, size);
  world.run(script);
  world.finish();
  return 0;
}
