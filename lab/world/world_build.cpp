// How a World is made: switches, lines, hosts, flows, memory.
#include <algorithm>
#include <numeric>
#include <utility>

#include "lab/traffic/wire_cost.h"
#include "lab/world/division.h"
#include "lab/world/world.h"
#include "lb/stages/flow_orders.h"
#include "net/assert.h"
#include "net/protocols.h"
#include "net/roce.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::lab {
namespace {

constexpr size_t kSmallestFrame = 60;  // without FCS
constexpr size_t kPlannedEvents =
    65'536;  // flow starts and actions; a packet has one event at most
constexpr uint32_t kJitterPurpose = 0x6a697474;

size_t in_flight(const Topology& topology, BitRate rate, Duration delay) {
  const Bytes smallest(static_cast<int64_t>(kSmallestFrame) + topology.line_overhead);
  const Duration frame = LineRate(rate).time_of(smallest);
  return static_cast<size_t>(delay / frame) + 2;
}

size_t order_table(const config::ResequenceConfig& config) {
  return config.enabled ? static_cast<size_t>(config.places()) * sizeof(lb::FlowOrder) : 0;
}

Bytes frame_length(const RocePacket& packet) {
  return Bytes(static_cast<int64_t>(kEthernetHeader + roce_packet_length(packet)));
}

}  // namespace

size_t World::packets_needed(const Topology& topology) {
  return packets_needed(topology, [](uint32_t) { return true; });
}

// In buffers and on lines of the switches that are meant.
size_t World::packets_needed(const Topology& topology, const Meant& is_meant) {
  size_t packets = frames_on_lines(topology, is_meant);
  for (uint32_t i = 0; i < topology.switches.size(); ++i)
    if (is_meant(i))
      packets += static_cast<size_t>(topology.switches[i].buffer.size.count()) / kSmallestFrame;
  return packets + topology.hosts.size();
}

// A line has at most what flies, and one frame that is leaving.
size_t World::frames_on_lines(const Topology& topology, const Meant& is_meant) {
  size_t frames = 0;
  for (const Topology::Link& link : topology.links)
    if (is_meant(static_cast<uint32_t>(link.a.switch_index)) ||
        is_meant(static_cast<uint32_t>(link.b.switch_index)))
      frames += 2 * in_flight(topology, link.rate, link.delay);
  for (const Topology::Host& host : topology.hosts)
    if (is_meant(static_cast<uint32_t>(host.switch_index)))
      frames += 2 * in_flight(topology, host.rate, host.delay);
  return frames;
}

size_t World::memory_needed(const Topology& topology, size_t queue_pairs) {
  // memory.switch.Nports of pipeline_bench is 118 KiB, with 31 path sets, and 3.3 KiB a port; what
  // a port that is paused and counts all that is rare writes to beside; and a flowlet table of 64
  // Ki.
  constexpr size_t kSwitch = (96 + 512) << 10;
  constexpr size_t kPathSet = 700;  // its members and ecmp's buckets
  constexpr size_t kPort = 6 << 10;
  constexpr size_t kHost = 16 << 10;    // with the replies that wait in its NIC
  constexpr size_t kQueuePair = 1'024;  // both ends, its record and its flow
  size_t octets = queue_pairs * kQueuePair + topology.hosts.size() * kHost;
  for (const config::SwitchConfig& each : topology.switches)
    octets += kSwitch + each.ports.size() * kPort + each.leaves.size() * kPathSet +
              order_table(each.resequence);
  // Packets in the fabric: of what can fly, and of full frames in the buffers, one in sixteen.
  constexpr size_t kShare = 16;
  constexpr size_t kFrame = 1'024;
  size_t packets = 0;
  for (const config::SwitchConfig& each : topology.switches)
    packets += static_cast<size_t>(each.buffer.size.count()) / kShare / kFrame;
  return octets +
         (packets +
          (kPlannedEvents + frames_on_lines(topology, [](uint32_t) { return true; })) / kShare) *
             PacketPool::kStride;
}

World::World(const Topology& topology, std::span<const Flow> flows, const WorldOptions& options)
    : nodes_(options),
      book_(flows, options.host.queue_pairs,
            {.waits = options.waits,
             .word = longest_delay(topology),
             .shared = options.exchange != nullptr && options.exchange->ranks() > 1}),
      agenda_(*this) {
  nodes_.first_host = static_cast<uint32_t>(topology.switches.size());
}

void World::make_pool(const Topology& topology) {
  const WorldOptions& options = nodes_.options;
  const size_t idle =  // in the pools of threads
      options.division.threads * static_cast<size_t>(PacketPool::kMostIdle + PacketPool::kBorrowed);
  const size_t needed = packets_needed(topology, [this](uint32_t node) { return is_mine(node); });
  nodes_.pool =
      std::make_unique<PacketPool>(options.packets != 0 ? options.packets : needed + idle);
}

World::~World() = default;

Result<std::unique_ptr<World>> World::create(const Topology& topology, std::span<const Flow> flows,
                                             const RttOf& rtt_of, const WorldOptions& options) {
  std::unique_ptr<World> world(new World(topology, flows, options));
  Problems problems = world->build(topology, rtt_of);
  if (!problems.empty()) return problems;
  return world;
}

Problems World::build(const Topology& topology, const RttOf& rtt_of) {
  Problems problems = spread(topology);
  if (!problems.empty()) return problems;
  make_pool(topology);
  problems = add_switches(topology);
  if (!problems.empty()) return problems;
  add_lines(topology);
  add_hosts(topology);
  open_flows(rtt_of);
  make_whole(topology);
  make_windows(division_);
  whole_->take_over(Instant());
  for (uint32_t node = 0; node < nodes_.first_host; ++node)
    if (nodes_.is_here(node)) whole_->turn(node);
  return problems;
}

// Which nodes run together, and which of them on this rank.
Problems World::spread(const Topology& topology) {
  Exchange* exchange = nodes_.options.exchange;
  DivisionOptions options = nodes_.options.division;
  options.ranks = exchange == nullptr ? 1 : exchange->ranks();
  division_ = divide(topology, options);
  if (options.ranks == 1) return {};
  if (nodes_.options.packets != 0)
    return {"run.packets: who gets the last packet of a pool is known to one process alone"};
  if (division_.partitions < options.ranks)
    return {"this fabric divides into " + std::to_string(division_.partitions) +
            " parts that can run apart, which is too few for " + std::to_string(options.ranks) +
            " ranks"};
  ranks_ = std::make_unique<Ranks>(*exchange, nodes_, division_);
  return {};
}

void World::make_whole(const Topology& topology) {
  std::vector<uint32_t> all(nodes_.size());
  std::iota(all.begin(), all.end(), 0U);
  whole_ = std::make_unique<Whole>(
      Whole::Setup{.nodes = nodes_,
                   .book = book_,
                   .tools = {.pool = nodes_.pool.get()},
                   .agenda = &agenda_,
                   .members = std::move(all)},
      kPlannedEvents + frames_on_lines(topology, [this](uint32_t node) { return is_mine(node); }));
  whole_->reserve_lanes(usual_frames(topology.line_overhead));
}

// Who gets the last packet of a pool, and what a fault site draws, is settled by the order of turns
// of all nodes.
void World::make_windows(const Division& division) {
  if (nodes_.options.packets != 0 || nodes_.options.sites != nullptr) return;
  if (division.partitions > 1)
    windows_ = std::make_unique<Windows>(nodes_, book_, division, ranks_.get());
}

Problems World::add_switches(const Topology& topology) {
  Problems problems;
  nodes_.switches.resize(topology.switches.size());
  for (size_t i = 0; i < nodes_.switches.size(); ++i) {
    const config::SwitchConfig& config = topology.switches[i];
    first_line_.push_back(static_cast<uint32_t>(nodes_.lines.size()));
    nodes_.lines.resize(nodes_.lines.size() + config.ports.size());
    if (!is_mine(static_cast<uint32_t>(i))) continue;
    auto made = Switch::create(
        config, {.shards = 1, .shared_routes = topology.routes, .sites = nodes_.sites});
    if (!made) {
      for (const std::string& problem : made.problems())
        problems.push_back(config.name + ": " + problem);
      continue;
    }
    SwitchNode& node = nodes_.switches[i];
    node.object = std::move(*made);
    node.clock_ahead = nodes_.options.clock_ahead;
    if (nodes_.options.instead) node.instead = nodes_.options.instead(i, *node.object);
    node.shard = node.instead ? node.instead.get() : &node.object->shard(ShardId(0));
    node.io = std::make_unique<SwitchIo>(
        SwitchIo::Setup{.pool = nodes_.pool.get(),
                        .first_line = first_line_.back(),
                        .ports = config.ports.size(),
                        .burst = nodes_.options.poll_model == config::PollModel::busy_poll
                                     ? static_cast<size_t>(nodes_.options.poll_burst)
                                     : 0,
                        .seed = nodes_.options.seed + (i << 32)});
    node.jitter = RandomStream(nodes_.options.seed, static_cast<uint32_t>(i + 1), kJitterPurpose);
    if (nodes_.options.poll_model == config::PollModel::busy_poll)
      node.grid_offset = Duration::picoseconds(static_cast<int64_t>(
          node.jitter.next64() % static_cast<uint64_t>(nodes_.options.poll_period.ps())));
  }
  return problems;
}

void World::join(uint32_t line, uint32_t other) {
  for (const auto& [a, b] : {std::pair{line, other}, std::pair{other, line}}) {
    nodes_.lines[a].to = nodes_.lines[b].from;
    nodes_.lines[a].to_port = nodes_.lines[b].from_port;
    nodes_.lines[a].back = b;
  }
}

// Every switch port has a line, joined or not; then every host.
void World::add_lines(const Topology& topology) {
  const size_t ports = nodes_.lines.size();
  nodes_.lines.resize(ports + topology.hosts.size());
  nodes_.ends.resize(nodes_.lines.size());
  nodes_.rates.resize(nodes_.lines.size());
  nodes_.lost.resize(nodes_.lines.size());
  for (uint32_t line = 0; line < nodes_.lines.size(); ++line) nodes_.lines[line].back = line;
  nodes_.filters.resize(nodes_.lines.size());
  for (uint32_t node = 0; node < nodes_.switches.size(); ++node) {
    for (size_t port = 0; port < topology.switches[node].ports.size(); ++port) {
      Line& line = nodes_.lines[first_line_[node] + port];
      line.from = node;
      line.from_port = PortId(port);
      line.up = false;  // until it is joined
    }
  }
  for (size_t i = 0; i < topology.hosts.size(); ++i)
    nodes_.lines[ports + i].from = static_cast<uint32_t>(nodes_.switches.size() + i);
  const auto lay = [&](uint32_t a, uint32_t b, BitRate rate, Duration delay, bool up) {
    join(a, b);
    for (const uint32_t line : {a, b}) {
      nodes_.lines[line].delay = delay;
      nodes_.rates[line] = LineRate(rate);
      nodes_.lines[line].up = up;
      const uint32_t from = nodes_.lines[line].from;
      if (up && nodes_.is_switch(from) && nodes_.is_here(from))
        nodes_.switches[from].io->change_link(nodes_.lines[line].from_port, true);
    }
  };
  for (const Topology::Link& link : topology.links)
    lay(line_of(link.a.switch_index, link.a.port), line_of(link.b.switch_index, link.b.port),
        link.rate, link.delay, link.up);
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    const Topology::Host& host = topology.hosts[i];
    lay(line_of(host.switch_index, host.port), static_cast<uint32_t>(ports + i), host.rate,
        host.delay, true);
  }
}

void World::add_hosts(const Topology& topology) {
  const std::vector<FlowBook::Needs> needs = book_.needs(topology.hosts.size());
  nodes_.hosts.resize(topology.hosts.size());
  for (const Topology::Host& host : topology.hosts) addresses_.push_back(host.address);
  for (size_t i = 0; i < nodes_.hosts.size(); ++i) {
    const Topology::Host& from = topology.hosts[i];
    HostNode& host = nodes_.hosts[i];
    host.rate = LineRate(from.rate);
    host.line_overhead = topology.line_overhead;
    host.line = line_of_host(i);
    if (!is_mine(static_cast<uint32_t>(nodes_.first_host + i))) continue;
    host.nic = std::make_unique<host::Nic>(host::NicOptions{
        .config = nodes_.options.host,
        .mac = from.mac,
        .gateway = port_mac(topology.switches[from.switch_index], from.port.index()),
        .address = from.address,
        .speed = from.rate,
        .line_overhead = topology.line_overhead,
        .senders = needs[i].senders,
        .receivers = needs[i].receivers,
        .seed = nodes_.options.seed,
        .host = static_cast<uint32_t>(i)});
  }
}

void World::open_flows(const RttOf& rtt_of) {
  std::vector<host::Nic*> nics;
  for (const HostNode& host : nodes_.hosts) nics.push_back(host.nic.get());
  book_.open(nics, addresses_, rtt_of);
}

// Octets of line time of what most frames are: full data packets, ACKs, CNPs and PFC.
std::vector<Bytes> World::usual_frames(int line_overhead) const {
  RocePacket data;
  data.addresses.source = data.addresses.destination =
      addresses_.empty() ? IpAddress{} : addresses_[0];
  data.bth.opcode = RoceOpcode::write_middle;
  data.payload_len = static_cast<uint32_t>(nodes_.options.host.mtu);
  std::vector<Bytes> lengths = {frame_length(data),
                                frame_length(make_ack(data.addresses, 0, 0, {})),
                                frame_length(make_cnp(data.addresses, 0)), Bytes(kSmallestFrame)};
  for (Bytes& length : lengths) length = length + Bytes(line_overhead);
  return lengths;
}

}  // namespace eddy::lab
