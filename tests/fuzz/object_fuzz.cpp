// One input, one script for a switch of two shards: frames (any octets, or good ones spoilt), what
// other switches of a fabric send (warnings, stamps, RoCEv2 by several paths), time, links, devices
// that refuse, pools that are empty, fault sites, reloads to every scheme, to RLB and to
// resequencing. One scheme more says all that a path agent can (chatty.cpp). After every poll the
// conservation law must hold; in the end, with all links down, nothing may be held, charged or
// leaked.
#include <array>
#include <cstdint>
#include <memory>

#include "lb/registry.h"
#include "net/arp.h"
#include "net/cnm.h"
#include "net/lldp.h"
#include "net/nd.h"
#include "net/roce.h"
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

// The same with what fabrics use: any scheme, RLB in any preset and guard, measured paths,
// resequencing.
config::SwitchConfig fabric_variant(uint8_t n, uint8_t m, uint8_t scheme) {
  config::SwitchConfig config = variant(n);
  const auto schemes = lb::schemes();
  config.load_balancer.scheme = schemes[scheme % schemes.size()].name;
  config.rlb = config::rlb_preset(static_cast<config::RlbPreset>(m & 3));
  if (config.rlb.enabled()) {
    config.rlb.guard.mode = static_cast<config::GuardMode>(m >> 2 & 3);
    config.rlb.guard.flows = 8;
    config.rlb.all_warned = static_cast<config::AllWarned>(m >> 4 & 3);
    config.rlb.recirculation.on_exceed = static_cast<config::OnExceed>((m >> 6) % 3);
    config.rlb.recirculation.follow_release = static_cast<config::FollowRelease>(scheme >> 7);
    config.rlb.predictor.threshold = Bytes::kib(2);
    config.rlb.failure_detector.mode = static_cast<config::DetectorMode>((scheme >> 5 & 3) % 3);
  }
  config.path_service.shim =
      (scheme & 16) != 0 ? config::ShimUse::every : config::ShimUse::automatic;
  config.path_service.common_clock = (m & 128) == 0;
  config.resequence = {.enabled = (n & 4) != 0, .flows = 8, .packets = 5};
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

// RoCEv2 of flow `n & 7` to a host here or, with bit 3, to another leaf.
RocePacket roce_packet(uint8_t n, uint8_t psn) {
  constexpr RoceOpcode kOpcodes[] = {RoceOpcode::write_first,  RoceOpcode::write_middle,
                                     RoceOpcode::write_last,   RoceOpcode::send_only,
                                     RoceOpcode::read_request, RoceOpcode::acknowledge};
  const bool leaves = (n & 8) != 0;
  RocePacket packet;
  packet.addresses = {ip(leaves ? "10.1.1.2" : "10.2.1.2"), ip(leaves ? "10.2.1.2" : "10.1.1.2")};
  packet.dscp = kLosslessDscp;
  packet.source_port = static_cast<uint16_t>(50'000 + (n & 7));
  packet.bth.opcode = kOpcodes[(n >> 4) % std::size(kOpcodes)];
  packet.bth.destination_qpn = n & 7u;
  packet.bth.psn = psn;
  packet.payload_len = 64;
  return packet;
}

Frame roce_frame(size_t port, uint8_t n, uint8_t psn, const Shim* shim) {
  static const config::SwitchConfig config = base_config();
  const RocePacket packet = roce_packet(n, psn);
  Frame frame(14 + kShimHeader + roce_packet_length(packet));
  const uint16_t type = shim == nullptr ? kEtherTypeIpv4 : kEtherTypeShim;
  size_t at = encode(EthernetHeader{port_mac(config, port), kSpineMac, type}, frame);
  if (shim != nullptr) at += encode(*shim, Octets(frame).subspan(at));
  (void)encode_headers(packet, Octets(frame).subspan(at));
  frame.resize(at + roce_packet_length(packet));
  return frame;
}

// As from leaf 2, by a path that there is or (now and then) is not; times are the script's.
Shim stamp(Script& script, ShimKind kind) {
  const uint8_t flags = script.next();
  const uint8_t path = script.next();
  return {.kind = kind,
          .flags = flags,
          .source_leaf = LeafId(2),
          .destination_leaf = LeafId((path & 0x80) != 0 ? 3 : 1),
          .path = PathId(static_cast<size_t>(path & 3) << 8 | 0xff),
          .feedback_path = PathId(static_cast<size_t>(path >> 2 & 3) << 8 | 0xff),
          .congestion = path,
          .feedback_congestion = flags,
          .sent_ns = script.next() * 1'000u,
          .echoed_ns = script.next() * 1'000u,
          .hold_ns = script.next() * 100u,
          .feedback_packets = 8,
          .feedback_marked = static_cast<uint8_t>(flags & 7),
          .inner_ethertype = kind == ShimKind::data ? kEtherTypeIpv4 : uint16_t{0}};
}

Frame warning_frame(Script& script) {
  const uint8_t n = script.next();
  const Cnm message{.feedback = static_cast<uint8_t>(n & 63),
                    .congestion_point = {kSpineMac, static_cast<uint16_t>(n >> 6)},
                    .priority = Priority((n & 64) != 0 ? 4 : 3),
                    .warning = {.predicting_switch = SwitchId(101 + (n >> 7)),
                                .destination_leaf = (n & 32) != 0 ? kCnmAllLeaves : LeafId(2),
                                .hops_left = static_cast<uint8_t>(n & 3),
                                .sequence = script.next(),
                                .time_to_pfc_ns = script.next() * 100u,
                                .expiry_ns = script.next() * 1'000u}};
  Frame frame(14 + 4 + kCnmMessage);
  const EthernetHeader header{
      .source = kSpineMac, .ethertype = kEtherTypeCnm, .tag_count = 1, .tags = {VlanTag{.pcp = 7}}};
  const size_t at = encode(header, frame);
  frame.resize(at + encode(message, Octets(frame).subspan(at)));
  return frame;
}

class World {
 public:
  World() {
    auto made = Switch::create(variant(0), {.shards = kShards, .sites = FaultProbe(&sites_)});
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
    sites_ = FaultSites(0, {});
    poll_all();
    for (size_t port = 0; port < kPorts; ++port) set_link(port, false);
    now_ = now_ + 100_ms;  // what waits for a sequence number waits no longer
    for (int i = 0; i < 4; ++i) poll_all();
    ASSERT(object_->balance().held == 0);
    for (size_t i = 0; i < kPorts * kPriorities; ++i) {
      const PortId port(i / kPriorities);
      const PgStatus pg = object_->pg_status(port, PriorityGroupId(i % kPriorities));
      ASSERT(pg.used == 0 && pg.headroom == 0);
      ASSERT(object_->queue_status(port, QueueId(i % kPriorities)).used == 0);
    }
    const BufferStatus buffer = object_->buffer_status();
    ASSERT(buffer.shared_used == 0 && buffer.headroom_used == 0 && buffer.stages_used == 0);
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
      case 14:
        return fabric_frame(script, port);
      case 15:
        if ((op & 0x40) != 0) return reload_fabric(script);
        if ((op & 0x80) != 0) return upset(script);
        [[fallthrough]];
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
  // What a spine or a host sends in a fabric with RLB and measured paths; sound but for its times.
  void fabric_frame(Script& script, size_t port) {
    const uint8_t which = script.next();
    const uint8_t flow = script.next();
    const uint8_t psn = script.next();
    const Shim shim = stamp(script, kKinds[which % std::size(kKinds)]);
    switch (which >> 5) {
      case 0:
        return arrive(port, warning_frame(script), 0);
      case 1:
        return arrive(port, control_frame(shim), 0);
      case 2:
      case 3:
        return arrive(port, roce_frame(port, flow, psn, nullptr), 0);
      case 4: {
        Shim data = shim;
        data.kind = ShimKind::data;
        data.inner_ethertype = kEtherTypeIpv4;
        return arrive(port, roce_frame(port, flow, psn, &data), 0);
      }
      default:  // a run of one flow
        for (int i = which & 15; i >= 0; --i)
          arrive(port, roce_frame(port, flow, static_cast<uint8_t>(psn + i), nullptr), 512);
    }
  }
  static Frame control_frame(const Shim& shim) {
    Frame frame(64 + kShimControlLimit);
    size_t at = encode(EthernetHeader{{}, kSpineMac, kEtherTypeShim}, frame);
    ShimControl control{.shim = shim, .value = shim.sent_ns, .order_hash = shim.echoed_ns};
    if (control.shim.kind == ShimKind::data) control.shim.kind = ShimKind::probe;
    control.shim.inner_ethertype = 0;
    at += encode(control, Octets(frame).subspan(at));
    frame.resize(pad_frame(frame, at));
    return frame;
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

  void reload(uint8_t n) { reload(variant(n)); }
  void reload_fabric(Script& script) {
    const uint8_t n = script.next();
    const uint8_t m = script.next();
    reload(fabric_variant(n, m, script.next()));
  }
  void reload(const config::SwitchConfig& config) {
    const auto done = object_->reconfigure(config);
    ASSERT(done.ok());
    (void)object_->reclaim();
  }
  // From here on a fault site of the code fires now and then, or never again.
  void upset(Script& script) {
    const uint8_t n = script.next();
    odds_[(n & 15) % kFaultSites] = static_cast<uint16_t>((n >> 4) * 64);
    sites_ = FaultSites(n, odds_);
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

  static constexpr ShimKind kKinds[] = {
      ShimKind::data,      ShimKind::feedback, ShimKind::probe,       ShimKind::probe_reply,
      ShimKind::notify,    ShimKind::clear,    ShimKind::flowcut_ack, ShimKind::hula_probe,
      ShimKind::flow_xoff, ShimKind::flow_xon, ShimKind::sweep,       ShimKind::swept};
  FaultSites::Odds odds_{};
  FaultSites sites_{0, odds_};
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
