// The short ways of a burst end as packet by packet does: two equal switches get the same random
// bursts, one of them with every burst taken apart, and are compared after each poll in all that
// can be seen of them: frames with their times, counters, buffers, queues, watermarks, events.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "net/arp.h"
#include "net/ethernet.h"
#include "net/lldp.h"
#include "net/random.h"
#include "net/shim.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

constexpr size_t kHosts = 3;
constexpr size_t kSpines = 3;
constexpr int kVlan = 7;
constexpr size_t kLearning = kHosts + kSpines - 1;  // port whose peer says who it is

// Everything that two switches may differ in.
std::string seen_of(Switch& object, const std::vector<std::unique_ptr<ManualIo>>& worlds) {
  std::string text;
  const auto note = [&text](const char* what, auto... values) {
    text += what;
    ((text += ' ' + std::to_string(values)), ...);
    text += '\n';
  };
  for (const auto& world : worlds) {
    for (const Sent& sent : world->sent) {
      note("sent", sent.port.index(), sent.at.ps(), sent.wire_len);
      for (const uint8_t octet : sent.frame)
        text += "0123456789abcdef"[octet >> 4], text += "0123456789abcdef"[octet & 15];
    }
    world->sent.clear();
  }
  const auto mark = [&](const char* what, const Watermark& of) {
    note(what, of.user, of.persistent);
  };
  for (size_t port = 0; port < object.port_count(); ++port) {
    for (size_t shard = 0; shard < object.shard_count(); ++shard) {
      const PortCounters counters = object.counters(ShardId(shard))[PortId(port)];
      for (size_t i = 0; i < kPortCounters; ++i) note("port", port, i, counters.port.read(i));
      for (size_t i = 0; i < kDropReasons; ++i) note("drop", port, i, counters.drops.read(i));
      for (size_t q = 0; q < kPriorities; ++q) {
        for (size_t i = 0; i < kQueueCounters; ++i)
          note("queue", port, q, i, counters.queue[q].read(i));
        for (size_t i = 0; i < kPgCounters; ++i) note("pg", port, q, i, counters.pg[q].read(i));
        for (size_t i = 0; i < kPfcCounters; ++i) note("pfc", port, q, i, counters.pfc[q].read(i));
      }
    }
    for (size_t i = 0; i < kPriorities; ++i) {
      const PgStatus pg = object.pg_status(PortId(port), PriorityGroupId(i));
      note("pg", port, i, pg.used, pg.headroom, pg.xoff, pg.pausing);
      mark("shared", pg.shared_watermark);
      mark("headroom", pg.headroom_watermark);
      const QueueStatus queue = object.queue_status(PortId(port), QueueId(i));
      note("queue", port, i, queue.used);
      mark("mark", queue.watermark);
    }
  }
  const BufferStatus buffer = object.buffer_status();
  note("buffer", buffer.shared_used, buffer.headroom_used);
  mark("shared", buffer.shared_watermark);
  mark("headroom", buffer.headroom_watermark);
  for (const Event& event : take_events(object))
    note("event", static_cast<int>(event.kind), event.at.ps(), event.port.index(), event.value);
  return text;
}

// Empty if they are alike.
std::string first_difference(const std::string& one, const std::string& other) {
  std::istringstream lines(one), others(other);
  std::string line, its;
  while (std::getline(lines, line), std::getline(others, its), lines || others)
    if (line != its || lines.good() != others.good()) return line + " / " + its;
  return "";
}

struct World {
  World(const config::SwitchConfig& config, size_t shards, FaultSites* sites) {
    auto made = Switch::create(config, {.shards = shards, .sites = FaultProbe(sites)});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.problems().front());
    object = std::move(*made);
    for (size_t shard = 0; shard < shards; ++shard) ios.push_back(std::make_unique<ManualIo>(pool));
    for (size_t port = 0; port < config.ports.size(); ++port)
      ios[static_cast<size_t>(config.ports[port].worker)]->links.push_back({PortId(port), true});
  }
  void poll(Instant now) {
    for (size_t shard = 0; shard < ios.size(); ++shard) {
      ios[shard]->complete(now);
      object->shard(ShardId(shard)).poll(*ios[shard], now);
    }
    ASSERT_TRUE(object->balance().holds());
  }
  PacketPool pool{8192, 512};
  std::vector<std::unique_ptr<ManualIo>> ios;
  std::unique_ptr<Switch> object;
};

// A leaf with hosts, one of them in a VLAN, and uplinks to another leaf; small buffers, so that
// every limit is met.
config::SwitchConfig leaf(const std::string& scheme) {
  LeafSpineSpec spec;
  spec.leaves = 3;
  spec.spines = kSpines;
  spec.hosts = kHosts;
  spec.scheme = scheme;
  config::SwitchConfig config = leaf_spine(spec).leaves[0];
  config.ports[1].vlan = kVlan;
  config.ports[2].mtu = 1'000;
  config.buffer.size = 500_KiB;
  config.buffer.profiles["lossless"].headroom = 10_KiB;
  config.buffer.profiles["lossless"].xoff = 30_KiB;
  config.buffer.wred["default"] = {true, 3_KiB, 9_KiB, 0.5};
  config.ports[0].watchdog = {true, 40_us, 40_us, 20_us};
  for (config::PortConfig& port : config.ports)
    for (config::QueueConfig& queue : port.queues) queue.wred = "default";
  config.ports[kLearning].peer_mac.reset();
  config.control.lldp = true;
  config.control.neighbors_per_port = 1;
  config.neighbors.pop_back();  // the last one has to be asked for
  for (size_t host = 1; host < kHosts; ++host) {
    config.ports[host - 1].addresses.push_back({ip("fd00:1:" + std::to_string(host) + "::1"), 64});
    config.neighbors.push_back({ip("fd00:1:" + std::to_string(host) + "::2"), host_mac(1, host),
                                "host" + std::to_string(host)});
  }
  config.routes.push_back({prefix("fd00:2::/32"), LeafId(2), {}});
  return config;
}

class Traffic {
 public:
  Traffic(const config::SwitchConfig& config, uint64_t seed)
      : config_(config), random_(seed, 7, 7) {}

  size_t port() { return random_.below(static_cast<uint32_t>(kHosts + kSpines)); }
  uint32_t below(uint32_t bound) { return random_.below(bound); }
  // What follows is another burst: every other one leads on as a whole and is of IPv4, half of
  // these to hosts of this leaf.
  void next_burst() {
    plain_ = random_.below(2) == 0;
    stays_ = plain_ && random_.below(2) == 0;
  }
  // `calm`: of one class, so that the burst is alike.
  Frame frame(size_t from, bool calm) {
    const bool v6 = random_.below(4) == 0 && !plain_;
    UdpSpec spec;
    spec.destination_mac = port_mac(config_, from);
    spec.source_mac = host_mac(9, 9);
    spec.source = v6 ? ip("fd00:9::9") : ip("10.9.9.9");
    spec.destination = destination(v6);
    spec.source_port = static_cast<uint16_t>(1'000 + random_.below(12));
    constexpr uint8_t kDscps[] = {kLosslessDscp, kOtherLosslessDscp, kLossyDscp, 46};
    spec.dscp = calm ? kLosslessDscp : kDscps[random_.below(4)];
    spec.ecn = static_cast<uint8_t>(random_.below(3));
    spec.ttl = static_cast<uint8_t>(random_.below(calm ? 200 : 20) == 0 && !plain_ ? 1 : 64);
    spec.frame_len = 80 + random_.below(random_.below(3) == 0 ? 1'400 : 200);
    spec.readable_len = 128;
    wire_len = spec.frame_len;
    const bool control = random_.below(6) == 0;  // RoCE's: no scheme chooses for it
    if (control) spec.destination_port = kRocePort;
    Frame frame = udp_frame(spec);
    constexpr uint8_t kAcknowledge = 0x11;
    if (control)
      frame[kEthernetHeader + (v6 ? kIpv6Header : kIpv4Header) + kUdpHeader] = kAcknowledge;
    if (from < kHosts && config_.ports[from].vlan) return with_tag(frame);
    if (from >= kHosts && random_.below(3) == 0 && !plain_) return with_shim(frame);
    return frame;
  }
  size_t wire_len = 0;

 private:
  IpAddress destination(bool v6) {
    // The fourth does not exist.
    const std::string host = std::to_string(1 + random_.below(plain_ ? 3 : 4));
    const uint32_t where = stays_ ? 0 : random_.below(plain_ ? 7 : 8);
    if (v6) return ip(where < 4 ? "fd00:1:" + host + "::2" : "fd00:2::" + host);
    if (where == 7) return ip("172.16.0.1");
    return ip("10." + std::to_string(1 + where % 3) + "." + host + ".2");
  }
  Frame with_tag(Frame frame) {
    const std::array<uint8_t, 4> tag = {0x81, 0x00, static_cast<uint8_t>(random_.below(8) << 5),
                                        kVlan};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    wire_len += tag.size();
    return frame;
  }
  Frame with_shim(const Frame& frame) {
    Frame with(frame.size() + kShimHeader);
    std::copy_n(frame.begin(), 12, with.begin());
    with[12] = static_cast<uint8_t>(kEtherTypeShim >> 8);
    with[13] = static_cast<uint8_t>(kEtherTypeShim & 0xff);
    encode(Shim{.source_leaf = LeafId(2),
                .destination_leaf = LeafId(1),
                .path = PathId(0x00ff),
                .inner_ethertype = load_be16(frame.data() + 12)},
           Octets(with).subspan(14));
    std::copy(frame.begin() + 14, frame.end(), with.begin() + 14 + kShimHeader);
    wire_len += kShimHeader;
    return with;
  }

  const config::SwitchConfig& config_;
  RandomStream random_;
  bool plain_ = false;
  bool stays_ = false;  // goes to hosts here
};

FaultSites::Odds always(FaultSite site) {
  FaultSites::Odds odds{};
  odds[static_cast<size_t>(site)] = FaultSites::kAlways;
  return odds;
}

struct Run {
  std::string name;
  std::function<void(config::SwitchConfig&)> change = [](config::SwitchConfig&) {};
  size_t shards = 1;
  std::string scheme = "ecmp";
  friend std::ostream& operator<<(std::ostream& out, const Run& run) { return out << run.name; }
};

// Things that change between bursts, and with them what is known of a port and its neighbors.
class Changes {
 public:
  Changes(const config::SwitchConfig& config, uint64_t seed)
      : config_(config), random_(seed, 8, 8) {}

  void make(std::vector<World*> worlds) {
    if (std::exchange(down_, PortId::none()) != PortId::none())
      return set_link(worlds, last_, true);
    switch (random_.below(20)) {
      case 0:
        last_ = down_ = PortId(random_.below(static_cast<uint32_t>(kHosts + kSpines)));
        return set_link(worlds, last_, false);
      case 1:
        config_.ports[random_.below(kHosts)].mtu = 600 + static_cast<int>(random_.below(900));
        for (World* world : worlds) ASSERT_TRUE(world->object->reconfigure(config_).ok());
        return;
      case 2:
      case 3:
        return arrive(worlds, 2, announcement());
      case 4:
        return arrive(worlds, kLearning, advertisement());
      case 5:
        return arrive(worlds, kHosts, clear());
      case 6:
        return arrive(worlds, 0, pause_frame(bit(kLossless), random_.below(2) == 0 ? 0 : 0xffff));
      default:
        return;
    }
  }

 private:
  // The host that is asked for moves to another MAC; or its neighbor comes, for whom it is
  // forgotten.
  Frame announcement() {
    const Ipv4Address own = random_.below(3) == 0 ? ip("10.1.3.3").v4() : host_ip(1, 3).v4();
    const ArpMessage message{
        ArpOperation::request, host_mac(7, 1 + random_.below(3)), own, {}, own};
    Frame frame(60);
    encode(EthernetHeader{MacAddress::broadcast(), message.sender_mac, kEtherTypeArp}, frame);
    encode(message, Octets(frame).subspan(14));
    return frame;
  }
  Frame advertisement() {
    Frame frame(128);
    frame.resize(encode(LldpFrame{.source = host_mac(8, 1 + random_.below(3)),
                                  .chassis = host_mac(8, 0),
                                  .port = "leaf1",
                                  .ttl_seconds = 10,
                                  .system_name = "spine"},
                        frame));
    return frame;
  }
  // The other leaf says that it speaks conweave: flows may leave paths that answer late.
  static Frame clear() {
    Frame frame(128);
    size_t length = encode(EthernetHeader{host_mac(1, 1), host_mac(9, 9), kEtherTypeShim}, frame);
    length += encode(ShimControl{.shim = {.kind = ShimKind::clear,
                                          .source_leaf = LeafId(2),
                                          .destination_leaf = LeafId(1)}},
                     Octets(frame).subspan(length));
    frame.resize(pad_frame(frame, length));
    return frame;
  }
  ManualIo& io_of(World& world, size_t port) {
    return *world.ios[static_cast<size_t>(config_.ports[port].worker)];
  }
  void arrive(const std::vector<World*>& worlds, size_t port, const Frame& frame) {
    for (World* world : worlds) io_of(*world, port).arrive(PortId(port), frame);
  }
  void set_link(const std::vector<World*>& worlds, PortId port, bool up) {
    for (World* world : worlds) io_of(*world, port.index()).links.push_back({port, up});
  }

  config::SwitchConfig config_;
  RandomStream random_;
  PortId down_ = PortId::none();  // for one step
  PortId last_;
};

class BurstStages : public testing::TestWithParam<Run> {};

TEST_P(BurstStages, EndAsPacketByPacketDoes) {
  config::SwitchConfig config = leaf(GetParam().scheme);
  GetParam().change(config);
  spread_over_workers(config, GetParam().shards);
  FaultSites none(1, {});
  FaultSites apart(1, always(FaultSite::burst_apart));
  World fast(config, GetParam().shards, &none);
  World slow(config, GetParam().shards, &apart);
  Traffic traffic(config, 11);
  Changes changes(config, 12);
  Instant now = Instant::at(1_ms);
  uint64_t sent = 0;
  for (int step = 0; step < 600; ++step) {
    changes.make({&fast, &slow});
    const bool calm = step % 3 != 0;
    for (uint32_t burst = traffic.below(8); burst > 0; --burst) {
      if (traffic.below(2) == 0) changes.make({&fast, &slow});
      traffic.next_burst();
      const size_t port = traffic.port();
      const auto shard = static_cast<size_t>(config.ports[port].worker);
      for (uint32_t i = 1 + traffic.below(40); i > 0; --i) {
        const Frame frame = traffic.frame(port, calm);
        for (World* world : {&fast, &slow})
          world->ios[shard]->arrive(PortId(port), frame, traffic.wire_len);
      }
    }
    const size_t limit = traffic.below(8) == 0 ? traffic.below(9) : SIZE_MAX;
    const Bytes backlog(traffic.below(6) == 0 ? traffic.below(40'000) : 0);
    now = now + Duration::nanoseconds(200 + traffic.below(traffic.below(10) == 0 ? 50'000 : 3'000));
    for (World* world : {&fast, &slow}) {
      for (const auto& io : world->ios) {
        io->transmit_limit = limit;
        io->backlog = backlog;
        io->backlog_packets = backlog.count() / 500;
      }
      world->poll(now);
    }
    sent += fast.ios[0]->sent.size();
    ASSERT_EQ(first_difference(seen_of(*fast.object, fast.ios), seen_of(*slow.object, slow.ios)),
              "")
        << "step " << step;
  }
  EXPECT_GT(sent, 2'000u);
  EXPECT_EQ(apart.use(FaultSite::burst_apart).fired > 200, kHasFaultSites);
}

// Sends of different ports in the order of ports, those of a port in theirs.
void sort_by_port(World& world) {
  std::stable_sort(world.ios[0]->sent.begin(), world.ios[0]->sent.end(),
                   [](const Sent& one, const Sent& other) { return one.port < other.port; });
}

// Both get the same, and are compared after each poll. Ports come up and go down, are paused, and
// refuse frames. Where one world asks for no order of ports, `in_order` is false.
void expect_same_sends(World& one, World& other, const config::SwitchConfig& config,
                       bool in_order) {
  Traffic traffic(config, 13);
  Instant now = Instant::at(1_ms);
  size_t refused = 0, sent = 0;
  for (int step = 0; step < 1'500; ++step) {
    const auto arrive = [&](size_t port, const Frame& frame, size_t wire_len = 0) {
      for (World* world : {&one, &other}) world->ios[0]->arrive(PortId(port), frame, wire_len);
    };
    for (uint32_t burst = traffic.below(6); burst > 0; --burst) {
      traffic.next_burst();
      const size_t port = traffic.port();
      for (uint32_t i = 1 + traffic.below(60); i > 0; --i) {
        const Frame frame = traffic.frame(port, true);
        arrive(port, frame, traffic.wire_len);
      }
    }
    if (traffic.below(10) == 0)
      arrive(traffic.port(), pause_frame(bit(kLossless), traffic.below(3) == 0 ? 0xffff : 0));
    if (step % 50 > 47)
      for (World* world : {&one, &other})
        world->ios[0]->links.push_back(
            {PortId(static_cast<size_t>(step / 50 % 6)), step % 50 == 49});
    const size_t limit = traffic.below(6) == 0 ? traffic.below(5) : SIZE_MAX;
    now = now + Duration::nanoseconds(100 + traffic.below(traffic.below(8) == 0 ? 60'000 : 2'000));
    for (World* world : {&one, &other}) {
      world->ios[0]->transmit_limit = limit;
      world->poll(now);
      if (!in_order) sort_by_port(*world);
    }
    refused += limit != SIZE_MAX ? 1 : 0;
    sent += one.ios[0]->sent.size();
    ASSERT_EQ(first_difference(seen_of(*one.object, one.ios), seen_of(*other.object, other.ios)),
              "")
        << "step " << step;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(sent, 10'000u);
}

config::SwitchConfig untagged_leaf() {
  config::SwitchConfig config = leaf("letflow");
  config.ports[1].vlan.reset();
  return config;
}

// Ports that are ready together are served by a way of their own where nothing limits them. A rate
// that no line has limits none, but keeps a queue off that way.
TEST(ReadyPorts, SendWhatEachSendsByItself) {
  const config::SwitchConfig config = untagged_leaf();
  config::SwitchConfig limited = config;
  for (config::PortConfig& port : limited.ports)
    for (config::QueueConfig& queue : port.queues) queue.max_rate = BitRate::gbps(1'600);
  World together(config, 1, nullptr);
  World apart(limited, 1, nullptr);
  expect_same_sends(together, apart, config, /*in_order=*/true);
}

// Where the world asks for no order of ports, those whose line rested come first, and each sends
// what it does in the order of ports.
TEST(ReadyPorts, SendTheSameInAnyOrder) {
  const config::SwitchConfig config = untagged_leaf();
  World in_order(config, 1, nullptr);
  World resting_first(config, 1, nullptr);
  resting_first.ios[0]->ports_apart = true;
  expect_same_sends(in_order, resting_first, config, /*in_order=*/false);
}

// What another shard takes comes queue by queue: a packet of a burst draws another number.
void mark_without_chance(config::SwitchConfig& config) {
  config.buffer.wred["default"] = {true, 6_KiB, 6_KiB, 1.0};
}

std::vector<Run> runs() {
  return {
      {"plain"},
      {"letflow", [](config::SwitchConfig&) {}, 1, "letflow"},
      {"drill", [](config::SwitchConfig&) {}, 1, "drill"},  // which looks at queues
      {"roomy_drill",
       [](config::SwitchConfig& config) {
         config.buffer.size = 64_MiB;
         config.buffer.wred["default"] = {true, 200_KiB, 2_MiB, 0.5};
       },
       1, "drill"},
      {"two_shards", mark_without_chance, 2},
      {"three_shards", mark_without_chance, 3},
      {"every_packet_a_shim",
       [](config::SwitchConfig& config) { config.path_service.shim = config::ShimUse::every; }},
      {"shims_and_shards",
       [](config::SwitchConfig& config) { config.path_service.shim = config::ShimUse::every; }, 2},
      {"shims_of_conga", [](config::SwitchConfig&) {}, 1, "conga"},  // which reports
      {"shims_of_conweave", [](config::SwitchConfig&) {}, 1, "conweave"},
      {"shims_of_flowcut", [](config::SwitchConfig&) {}, 1, "flowcut"},
      {"shims_of_plb", [](config::SwitchConfig&) {}, 1, "plb"},
      {"free_shims_of_plb",
       [](config::SwitchConfig& config) { config.path_service.shim = config::ShimUse::free; }, 1,
       "plb"},
      {"much_room",
       [](config::SwitchConfig& config) {
         config.buffer.size = 64_MiB;
         config.buffer.wred["default"] = {true, 1_MiB, 2_MiB, 0.5};
       }},
      {"marks_at_dequeue",
       [](config::SwitchConfig& config) {
         config.buffer.wred["default"].mark = config::WredMark::dequeue;
       }},
      {"rlb",
       [](config::SwitchConfig& config) { config.rlb.preset = config::RlbPreset::standard; }},
  };
}

INSTANTIATE_TEST_SUITE_P(Runs, BurstStages, testing::ValuesIn(runs()),
                         [](const auto& info) { return info.param.name; });

// A wrong checksum is counted, unless the world answers for all checksums of the burst.
TEST(SumsGood, AreTheWordOfTheWorld) {
  const config::SwitchConfig config = hosts_switch(2);
  Frame frame = udp_frame(between(config, 0, 1));
  frame[kEthernetHeader + 10] ^= 1;
  for (const bool good : {false, true}) {
    World world(config, 1, nullptr);
    world.poll(Instant::at(1_ms));
    world.ios[0]->sums_good = good;
    for (int i = 0; i < 4; ++i) world.ios[0]->arrive(PortId(0), frame);
    world.poll(Instant::at(2_ms));
    world.poll(Instant::at(3_ms));
    EXPECT_EQ(drops(*world.object, DropReason::ipv4_bad_checksum), good ? 0u : 4u);
    EXPECT_EQ(count(*world.object, 1, PortCounter::tx_packets), good ? 4u : 0u);
  }
}

}  // namespace
}  // namespace eddy::test
