#include "tests/fuzz/ways.h"

#include <array>
#include <memory>

#include "net/checksum.h"
#include "net/roce.h"
#include "net/shim.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr size_t kShards = 2;
constexpr size_t kPackets = 1'024;
constexpr size_t kSpare = 64;  // packets that stay in the pool, for what is in flight
constexpr int kVlan = 10;
constexpr MacAddress kSpineMac = {{0x02, 0, 0, 0, 0, 9}};
// Two hosts, of which the second is in a VLAN, two spines, and a port that is down.
constexpr size_t kPorts = 5;
constexpr size_t kFirstUplink = 2;

class Script {
 public:
  explicit Script(std::span<const uint8_t> octets) : octets_(octets) {}
  bool done() const { return octets_.empty(); }
  uint8_t next() {
    if (octets_.empty()) return 0;
    const uint8_t octet = octets_.front();
    octets_ = octets_.subspan(1);
    return octet;
  }

 private:
  std::span<const uint8_t> octets_;
};

config::SwitchConfig config_by(uint8_t n) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[0].addresses.push_back(prefix("fd00:1::1/64"));
  config.ports[1].vlan = kVlan;
  config.ports[1].tagging_mode = static_cast<config::TaggingMode>(n & 1);
  config.ports[1].maps.trust_pcp = (n & 2) != 0;
  for (const char* name : {"spine1", "spine2"}) {
    add_fabric_port(config, name, 10_Gbps);
    config.ports.back().peer_mac = kSpineMac;
  }
  add_host_port(config, 1, 5, 10_Gbps);
  config.ports[4].admin_up = false;
  config.leaves = {{LeafId(2), {{"spine1", 1, {}}, {"spine2", 2, {}}}}};
  config.routes = {{prefix("10.2.0.0/16"), LeafId(2), {}}, {prefix("fd00:9::/32"), LeafId(2), {}}};
  if ((n & 4) != 0) config.routes.push_back({prefix("0.0.0.0/0"), LeafId(2), {}});
  config.loopbacks = {ip("192.0.2.1"), ip("fd00:5::1")};
  constexpr const char* kSchemes[] = {"ecmp", "letflow", "drill", "conga"};
  config.load_balancer.scheme = kSchemes[n >> 3 & 3];
  if ((n & 32) != 0) config.rlb = config::rlb_preset(config::RlbPreset::paper);
  if ((n & 64) != 0) config.path_service.shim = config::ShimUse::every;
  config.buffer.cell_bytes = 64;
  config.buffer.size = 1_MiB;
  config.buffer.profiles["lossless"].xoff = (n & 128) != 0 ? 8_KiB : 40_KiB;
  config.buffer.wred["default"] = {true, 5_KiB, 20_KiB, 0.5};
  for (config::PortConfig& port : config.ports)
    port.watchdog = {
        true, 1_ms, 1_ms, 1_ms, config::WatchdogDetect::stalled, config::WatchdogAction::drop};
  spread_over_workers(config, kShards);
  return config;
}

// A frame and what a world says of it.
struct Arriving {
  Frame frame;
  size_t wire_len = 0;
  bool free_shim = false;
};

enum class Wrap : uint8_t { nothing, vlan, priority, other_vlan, service_tag, shim };

class Frames {
 public:
  Frames(const config::SwitchConfig& config, Instant now)
      : config_(config), now_ns_(lb::PathRecord::wire_time(now)) {}

  Arriving make(Script& script, size_t port) const {
    const uint8_t what = script.next();
    const uint8_t how = script.next();
    Arriving out;
    const bool feedback = port >= kFirstUplink && (how & 0xc) == 0xc;
    out.frame = feedback             ? echo(script, what, port)
                : (what & 0x80) != 0 ? roce(script, what, port)
                                     : udp(script, what, port);
    const auto wrap = static_cast<Wrap>(port == 1 ? (how & 7) % 5 : (how & 1) * (how >> 1 & 7) % 6);
    if (!feedback || (how & 3) == 3) put_around(out.frame, wrap, script);
    out.free_shim = (how & 0x10) != 0;
    if ((how & 0xc0) == 0x40) spoil(out, script);
    if ((how & 0xc0) == 0x80) change(out, script);
    if ((how & 0xe0) == 0xc0) out.frame = pause_frame(how, 100);
    const uint8_t more = script.next();
    out.wire_len = std::max(out.frame.size(), out.wire_len);
    if (!feedback || (more & 0x38) == 0) out.wire_len += size_t{more & 7u} * 200;
    return out;
  }

 private:
  static IpAddress destination(uint8_t n, bool v4) {
    constexpr const char* kV4[] = {"10.2.1.2", "10.2.3.4",  "10.1.1.2",  "10.1.2.2",
                                   "10.2.1.2", "192.0.2.1", "127.0.0.1", "99.0.0.1"};
    constexpr const char* kV6[] = {"fd00:9::2", "fd00:9::3", "fd00:1::2", "fd00:9::2",
                                   "fd00:9::4", "fd00:5::1", "::1",       "2001:db8::1"};
    return ip(v4 ? kV4[n & 7] : kV6[n & 7]);
  }
  static IpAddress source(uint8_t n, bool v4) {
    constexpr const char* kV4[] = {"10.1.1.2",  "10.1.2.2",  "10.2.1.2",        "0.1.2.3",
                                   "127.0.0.1", "239.0.0.1", "255.255.255.255", "240.0.0.1"};
    constexpr const char* kV6[] = {"fd00:1::2", "fd00:2::2", "fd00:9::2",       "ff02::1",
                                   "::1",       "::",        "::ffff:10.1.1.2", "2001:db8::9"};
    const uint8_t which = (n & 0xc0) == 0xc0 ? n & 7 : n & 1;
    return ip(v4 ? kV4[which] : kV6[which]);
  }
  static uint8_t ttl(uint8_t n) {
    constexpr uint8_t kRare[] = {0, 1, 2, 255};
    return (n & 0xf0) == 0xf0 ? kRare[n & 3] : 64;
  }
  Frame udp(Script& script, uint8_t what, size_t port) const {
    const uint8_t flow = script.next();
    const uint8_t size = script.next();
    const bool v4 = (what & 0x40) == 0;
    UdpSpec spec{.destination_mac = port_mac(config_, port),
                 .source_mac = host_mac(1, port + 1),
                 .source = source(flow, v4),
                 .destination = destination(what, v4),
                 .source_port = flow,
                 .dscp = static_cast<uint8_t>((what >> 3 & 3) + 2),
                 .ecn = static_cast<uint8_t>(flow >> 6),
                 .ttl = ttl(size),
                 .frame_len = size_t{size} + 42};
    if ((what & 0x20) != 0 && (size & 3) == 0) spec.destination_port = kRocePort;  // not a BTH
    return udp_frame(spec);
  }
  Frame roce(Script& script, uint8_t what, size_t port) const {
    constexpr RoceOpcode kOpcodes[] = {RoceOpcode::write_middle, RoceOpcode::acknowledge,
                                       RoceOpcode::cnp, RoceOpcode::send_only};
    const uint8_t flow = script.next();
    const bool v4 = (what & 0x40) == 0;
    RocePacket packet;
    packet.addresses = {source(flow, v4), destination(what, v4)};
    packet.dscp = kLosslessDscp;
    packet.source_port = static_cast<uint16_t>(50'000 + (flow & 7));
    packet.bth.opcode = kOpcodes[what >> 3 & 3];
    packet.bth.destination_qpn = flow & 7u;
    packet.payload_len = 64;
    Frame frame(14 + roce_packet_length(packet));
    const size_t at = encode(
        EthernetHeader{port_mac(config_, port), kSpineMac, v4 ? kEtherTypeIpv4 : kEtherTypeIpv6},
        frame);
    (void)encode_headers(packet, Octets(frame).subspan(at));
    return frame;
  }
  // What leaf 2 may tell of a path: the echo of a stamp that may have been sent.
  Frame echo(Script& script, uint8_t what, size_t port) const {
    Shim shim{.kind = ShimKind::feedback,
              .flags = static_cast<uint8_t>((what & 0x80) != 0 ? what : what | kShimRttEcho),
              .source_leaf = LeafId((what & 0x70) == 0x70 ? 3 : 2),
              .destination_leaf = LeafId((what & 0x7) == 0x7 ? 2 : 1),
              .feedback_path = PathId((port - kFirstUplink) << 8 | 0xff),
              .feedback_congestion = what,
              .sent_ns = now_ns_};
    shim.echoed_ns = now_ns_ - script.next() * 500u;
    shim.hold_ns = script.next();
    shim.feedback_packets = 1;
    Frame frame(60);
    const size_t at =
        encode(EthernetHeader{port_mac(config_, port), kSpineMac, kEtherTypeShim}, frame);
    (void)encode(shim, Octets(frame).subspan(at));
    return frame;
  }
  static void put_around(Frame& frame, Wrap wrap, Script& script) {
    std::vector<uint8_t> between;
    const auto tag = [&](uint16_t type, uint16_t vlan) {
      between = {static_cast<uint8_t>(type >> 8), static_cast<uint8_t>(type),
                 static_cast<uint8_t>(script.next() << 5), static_cast<uint8_t>(vlan)};
    };
    switch (wrap) {
      case Wrap::nothing:
        return;
      case Wrap::vlan:
        tag(kEtherTypeVlan, kVlan);
        break;
      case Wrap::priority:
        tag(kEtherTypeVlan, 0);
        break;
      case Wrap::other_vlan:
        tag(kEtherTypeVlan, 7);
        break;
      case Wrap::service_tag:
        tag(kEtherTypeServiceVlan, kVlan);
        break;
      case Wrap::shim:
        return put_shim(frame, script);
    }
    frame.insert(frame.begin() + 12, between.begin(), between.end());
  }
  // As from leaf 2; now and then of a kind that carries no data.
  static void put_shim(Frame& frame, Script& script) {
    const uint8_t n = script.next();
    Shim shim{.kind = (n & 0x70) == 0x70 ? ShimKind::feedback : ShimKind::data,
              .flags = script.next(),
              .source_leaf = LeafId(2),
              .destination_leaf = LeafId((n & 0x80) != 0 ? 2 : 1),
              .path = PathId(size_t{n & 1u} << 8 | 0xff),
              .sent_ns = n * 100u,
              .inner_ethertype = load_be16(&frame[12])};
    if (shim.kind != ShimKind::data) shim.inner_ethertype = 0;
    std::array<uint8_t, kShimHeader> octets;
    (void)encode(shim, octets);
    store_be16(&frame[12], kEtherTypeShim);
    frame.insert(frame.begin() + kEthernetHeader, octets.begin(), octets.end());
  }
  // Some bits turned over or octets replaced, most of them in headers; the IPv4 checksum is mostly
  // right afterwards.
  static void spoil(Arriving& out, Script& script) {
    const uint8_t how = script.next();
    for (int i = how & 1; i >= 0; --i) {
      const uint8_t where = script.next();
      const uint8_t value = script.next();
      const size_t at = (where & 0x80) != 0 ? 12 + where % 44u : where;
      uint8_t& octet = out.frame[at % out.frame.size()];
      octet = (how & 2) != 0 ? value : static_cast<uint8_t>(octet ^ 1u << (value & 7));
    }
    if ((how & 0xc) != 0) mend_checksum(out.frame);
  }
  // Of a header without options, behind whatever is before it.
  static size_t ip_of(const Frame& frame) {
    for (const size_t at : {size_t{14}, size_t{18}, size_t{46}})
      if (frame.size() >= at + kIpv4Header + kUdpHeader &&
          (load_be16(&frame[at - 2]) == kEtherTypeIpv4 ||
           load_be16(&frame[at - 2]) == kEtherTypeIpv6))
        return at;
    return 0;
  }
  static void mend_checksum(Frame& frame) {
    const size_t at = ip_of(frame);
    if (at == 0 || frame[at] >> 4 != 4) return;
    store_be16(&frame[at + 10], 0);
    store_be16(&frame[at + 10], internet_checksum(ConstOctets(frame).subspan(at, kIpv4Header)));
  }
  static void add(Frame& frame, size_t at, int n) {
    store_be16(&frame[at], static_cast<uint16_t>(load_be16(&frame[at]) + n));
  }
  // Lengths of the frame, of what can be read of it and inside it; what is by one octet too long or
  // too short; and what makes a header no plain one.
  static void change(Arriving& out, Script& script) {
    const uint8_t how = script.next();
    const uint8_t n = script.next();
    Frame& frame = out.frame;
    const size_t ip = ip_of(frame);
    const size_t whole = frame.size() - (out.free_shim && ip == 46 ? kShimHeader : 0);
    if (ip == 0) return;
    switch (how & 7) {
      case 0:
        frame.resize(std::min<size_t>(frame.size(), 14 + n % 100u));
        break;
      case 1:
        frame.resize(frame.size() - (n & 3));
        return;
      case 2:
      case 3:  // headers only, as in virtual time
        frame.resize(std::min<size_t>(whole, ip + 48 + (n & 15)));
        out.wire_len = whole - (n >> 4 & 1);
        return;
      case 4:
        add(frame, ip + (frame[ip] >> 4 == 4 ? 2 : 4), (n & 15) - 8);
        break;
      case 5:
        add(frame, ip + kIpv4Header + 4, (n & 15) - 8);
        break;
      case 6:
        frame[ip + 6] = static_cast<uint8_t>(frame[ip + 6] ^ 1u << (n & 7));
        break;
      case 7:
        frame[ip] = static_cast<uint8_t>(frame[ip] ^ 1u << (n & 7));
    }
    mend_checksum(frame);
    if ((n & 0x40) != 0) out.wire_len = whole;
  }

  const config::SwitchConfig& config_;
  const uint32_t now_ns_;
};

// One of the two, with a world a shard.
class OneWay {
 public:
  OneWay(bool long_way, const config::SwitchConfig& config) : pool_(kPackets, 1'024) {
    odds_[static_cast<size_t>(FaultSite::long_way)] = long_way ? FaultSites::kAlways : 0;
    sites_ = FaultSites(1, odds_);
    auto made = Switch::create(config, {.shards = kShards, .sites = FaultProbe(&sites_)});
    ASSERT(made.ok());
    object_ = std::move(*made);
    for (size_t port = 0; port < kPorts; ++port) set_link(port, true);
  }
  void set_link(size_t port, bool up) { io_[port % kShards].links.push_back({PortId(port), up}); }
  void set_limit(size_t shard, size_t frames) { io_[shard].transmit_limit = frames; }
  bool has_room() const { return pool_.available() > kSpare; }
  void arrive(size_t port, const Arriving& what) {
    Packet* packet = pool_.get(what.frame, what.wire_len);
    packet->flags = what.free_shim ? kPacketFreeShim : 0;
    io_[port % kShards].arrived.emplace_back(PortId(port), packet);
  }
  void reload(const config::SwitchConfig& config) {
    const auto done = object_->reconfigure(config);
    ASSERT(done.ok());
    (void)object_->reclaim();
  }
  void poll(Instant now) {
    for (size_t shard = 0; shard < kShards; ++shard) {
      io_[shard].complete(now);
      object_->shard(ShardId(shard)).poll(io_[shard], now);
    }
    ASSERT(object_->balance().holds());
  }
  uint64_t long_ways() const { return sites_.use(FaultSite::long_way).fired; }
  uint64_t echoes() const {
    uint64_t heard = 0;
    for (size_t port = 0; port < kPorts; ++port)
      heard += count(*object_, port, PortCounter::path_samples);
    return heard;
  }
  size_t take_sent() {
    size_t count = 0;
    for (ManualIo& io : io_) {
      count += io.sent.size();
      io.sent.clear();
    }
    return count;
  }

  // Empty: none.
  std::string difference(OneWay& other) {
    if (pool_.available() != other.pool_.available()) return "packets held";
    for (size_t shard = 0; shard < kShards; ++shard) {
      const std::string of = " of shard " + std::to_string(shard);
      if (!same_frames(io_[shard].sent, other.io_[shard].sent)) return "frames" + of;
      if (!same_events(ShardId(shard), other)) return "events" + of;
      if (!same_paths(other)) return "paths" + of;
      for (size_t port = 0; port < kPorts; ++port)
        if (const char* counter = different_counter(ShardId(shard), PortId(port), other))
          return std::string(counter) + of + ", port " + std::to_string(port);
    }
    return {};
  }

 private:
  static bool same_frames(const std::vector<Sent>& ours, const std::vector<Sent>& theirs) {
    return std::equal(
        ours.begin(), ours.end(), theirs.begin(), theirs.end(), [](const Sent& a, const Sent& b) {
          return a.port == b.port && a.at == b.at && a.wire_len == b.wire_len && a.frame == b.frame;
        });
  }
  bool same_events(ShardId shard, OneWay& other) {
    for (;;) {
      Event ours, theirs;
      const bool more = object_->events(shard).pop(ours);
      if (more != other.object_->events(shard).pop(theirs)) return false;
      if (!more) return true;
      if (ours.at != theirs.at || ours.kind != theirs.kind || ours.port != theirs.port ||
          ours.value != theirs.value)
        return false;
    }
  }
  // What is measured of those to leaf 2.
  bool same_paths(const OneWay& other) const {
    const lb::PathTable* const ours = object_->paths();
    const lb::PathTable* const theirs = other.object_->paths();
    if (ours == nullptr || theirs == nullptr) return ours == theirs;
    for (const lb::MemberIndex member : {0, 1}) {
      const lb::PathRecord& a = ours->at(0, member);
      const lb::PathRecord& b = theirs->at(0, member);
      if (a.echoed_ps != b.echoed_ps || a.delay_ns != b.delay_ns || a.marked != b.marked ||
          a.sampled_at_us != b.sampled_at_us || a.congestion != b.congestion)
        return false;
    }
    return true;
  }
  template <class Array>
  static bool same(const Array& ours, const Array& theirs, size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (ours.read(i) != theirs.read(i)) return false;
    return true;
  }
  const char* different_counter(ShardId shard, PortId port, OneWay& other) {
    const PortTally ours = object_->shard(shard).counters()[port];
    const PortTally theirs = other.object_->shard(shard).counters()[port];
    if (!same(ours.port, theirs.port, kPortCounters)) return "counters";
    if (!same(ours.drops, theirs.drops, kDropReasons)) return "drops";
    for (size_t i = 0; i < kPriorities; ++i)
      if (!same(ours.queue[i], theirs.queue[i], kQueueCounters) ||
          !same(ours.pg[i], theirs.pg[i], kPgCounters) ||
          !same(ours.pfc[i], theirs.pfc[i], kPfcCounters))
        return "counters of a class";
    return nullptr;
  }

  PacketPool pool_;
  FaultSites::Odds odds_{};
  FaultSites sites_{0, odds_};
  std::array<ManualIo, kShards> io_{ManualIo(pool_), ManualIo(pool_)};
  std::unique_ptr<Switch> object_;
};

class BothWays {
 public:
  explicit BothWays(uint8_t first) : config_(config_by(first)) { poll(); }

  // One step; true: there is no difference.
  bool step(Script& script) {
    const uint8_t op = script.next();
    switch (op & 15) {
      default:
        burst(script, op);
        break;
      case 12:
        now_ = now_ + Duration::nanoseconds(int64_t{script.next()} << (op >> 4));
        break;
      case 13:
        for (OneWay& way : ways_) way.set_limit(op >> 4 & 1, (op & 0x40) != 0 ? 2 : SIZE_MAX);
        break;
      case 14:
        for (OneWay& way : ways_) way.set_link((op >> 4) % kPorts, (op & 0x80) == 0);
        break;
      case 15:
        config_ = config_by(script.next());
        for (OneWay& way : ways_) way.reload(config_);
        break;
    }
    return poll();
  }
  WaysResult result;

 private:
  void burst(Script& script, uint8_t op) {
    const size_t port = std::array<size_t, 8>{0, 0, 0, 1, 2, 2, 3, 4}[op >> 4 & 7];
    const Frames frames(config_, now_);
    const size_t kinds = (script.next() & 3u) + 1;
    std::vector<Arriving> drawn;
    for (size_t i = 0; i < kinds; ++i) drawn.push_back(frames.make(script, port));
    const uint8_t order = script.next();
    for (size_t i = 0; i <= (order & 31u); ++i) {
      if (!ways_[0].has_room() || !ways_[1].has_room()) return;
      const Arriving& one = drawn[(order >> 5) + i < 9 ? 0 : i % kinds];
      for (OneWay& way : ways_) way.arrive(port, one);
      ++result.frames;
    }
  }
  bool poll() {
    now_ = now_ + 5_us;
    for (OneWay& way : ways_) way.poll(now_);
    result.difference = ways_[0].difference(ways_[1]);
    result.sent += ways_[0].take_sent();
    ways_[1].take_sent();
    result.long_ways = ways_[1].long_ways();
    result.echoes = ways_[0].echoes();
    return result.difference.empty();
  }

  config::SwitchConfig config_;
  std::array<OneWay, 2> ways_{OneWay(false, config_), OneWay(true, config_)};
  Instant now_;
};

}  // namespace

WaysResult run_both_ways(std::span<const uint8_t> octets) {
  Script script(octets);
  BothWays both(script.next());
  while (!script.done() && both.step(script)) {
  }
  return both.result;
}

}  // namespace eddy::test
