#include "lab/fabric/fabric_paths.h"

#include <algorithm>
#include <map>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr size_t kNoSet = ~size_t{0};

size_t other_end(const Topology::Link& link, size_t at) {
  return link.a.switch_index == at ? link.b.switch_index : link.a.switch_index;
}

// Picoseconds that `size` takes at `rate`, rounded down.
Duration time_at(Bytes size, BitRate rate) {
  ASSERT(rate.bps() > 0);
  constexpr __int128 kBitPicoseconds = __int128{8} * 1'000'000'000'000;
  return Duration::picoseconds(static_cast<int64_t>(kBitPicoseconds * size.count() / rate.bps()));
}

}  // namespace

FabricPaths::FabricPaths(const Topology& topology) : topology_(topology) {
  const Members by_set = members();
  for (const Topology::Host& host : topology.hosts) {
    uint16_t index = 0;
    const uint32_t address = host.address.v4().value;
    topology.routes->lookup({&address, 1}, &index);
    const RouteTarget& target = topology.routes->target(index);
    set_of_host_.push_back(set_of(target.via.is_none() ? target.leaf : target.via));
  }
  for (const Topology::Host& to : topology.hosts) {
    const size_t set = set_of_host_[static_cast<size_t>(&to - topology.hosts.data())];
    if (!steps_[set].empty()) continue;
    steps_[set].resize(topology.switches.size());
    if (set >= by_set.size()) continue;
    for (size_t at = 0; at < topology.switches.size(); ++at) find(set, at, to.switch_index, by_set);
  }
}

size_t FabricPaths::set_of(LeafId id) {
  if (id.index() >= sets_.size()) sets_.resize(id.index() + 1, kNoSet);
  size_t& set = sets_[id.index()];
  if (set == kNoSet) {
    set = steps_.size();
    steps_.emplace_back();
  }
  return set;
}

FabricPaths::Members FabricPaths::members() {
  std::vector<std::map<std::string_view, uint32_t>> link_by_port(topology_.switches.size());
  for (uint32_t i = 0; i < topology_.links.size(); ++i) {
    const Topology::Link& link = topology_.links[i];
    if (!link.up) continue;
    for (const Topology::End& end : {link.a, link.b})
      link_by_port[end.switch_index]
                  [topology_.switches[end.switch_index].ports[end.port.index()].name] = i;
  }
  Members members;
  for (size_t at = 0; at < topology_.switches.size(); ++at)
    for (const config::LeafConfig& leaf : topology_.switches[at].leaves) {
      const size_t set = set_of(leaf.id);
      if (set >= members.size()) members.resize(set + 1);
      members[set].resize(topology_.switches.size());
      for (const config::PathConfig& path : leaf.paths) {
        const auto found = link_by_port[at].find(path.port);
        if (path.detour || found == link_by_port[at].end()) continue;
        if (auto& links = members[set][at]; links.empty() || links.back() != found->second)
          links.push_back(found->second);  // once, however many pinned paths begin with it
      }
    }
  return members;
}

const FabricPaths::Step& FabricPaths::find(size_t set, size_t at, size_t end,
                                           const Members& members) {
  constexpr BitRate kAnyRate = BitRate::bits_per_second(INT64_MAX);
  Step& step = steps_[set][at];
  if (step.begun) return step;
  step.begun = true;  // a way that comes back here is none
  if (at == end) {
    step.bottleneck = kAnyRate;
    step.ways = 1;
    return step;
  }
  for (const uint32_t link : members[set][at]) {
    const Step& beyond = find(set, other_end(topology_.links[link], at), end, members);
    if (beyond.ways == 0) continue;
    const BitRate slowest = std::min(beyond.bottleneck, topology_.links[link].rate);
    step.ways += beyond.ways;
    const bool better = step.link == kNone || beyond.links + 1 < step.links ||
                        (beyond.links + 1 == step.links && slowest > step.bottleneck);
    if (!better) continue;
    step.link = link;
    step.links = beyond.links + 1;
    step.bottleneck = slowest;
  }
  return step;
}

template <class Visit>
bool FabricPaths::walk(uint32_t source, uint32_t destination, Visit visit) const {
  const Topology::Host& from = topology_.hosts[source];
  const Topology::Host& to = topology_.hosts[destination];
  const std::vector<Step>& steps = steps_[set_of_host_[destination]];
  if (steps[from.switch_index].ways == 0 && from.switch_index != to.switch_index) return false;
  visit(from.rate, from.delay);
  for (size_t at = from.switch_index; at != to.switch_index;) {
    const Topology::Link& link = topology_.links[steps[at].link];
    visit(link.rate, link.delay);
    at = other_end(link, at);
  }
  visit(to.rate, to.delay);
  return true;
}

FabricPaths::Path FabricPaths::path(uint32_t source, uint32_t destination) const {
  Path path;
  const bool any = walk(source, destination, [&](BitRate rate, Duration delay) {
    path.bottleneck = path.links == 0 ? rate : std::min(path.bottleneck, rate);
    path.delay += delay;
    ++path.links;
  });
  const size_t at = topology_.hosts[source].switch_index;
  if (any)
    path.ways = at == topology_.hosts[destination].switch_index
                    ? 1
                    : steps_[set_of_host_[destination]][at].ways;
  return path;
}

Duration FabricPaths::base_rtt(uint32_t source, uint32_t destination, Bytes packet) const {
  Duration rtt;
  const bool any = walk(source, destination, [&](BitRate rate, Duration delay) {
    rtt += delay * 2 + time_at(packet, rate);
  });
  ASSERT(any);
  return rtt;
}

Duration FabricPaths::ideal_fct(uint32_t source, uint32_t destination, Bytes size,
                                const Packets& packets) const {
  const int64_t count = (size.count() + packets.payload.count() - 1) / packets.payload.count();
  return base_rtt(source, destination, packets.payload) +
         time_at(size + packets.header * count, path(source, destination).bottleneck);
}

std::vector<uint32_t> typical_hosts(const Topology& topology) {
  constexpr int kAlike = 2;
  std::map<std::pair<size_t, std::pair<BitRate, Duration>>, int> seen;
  std::vector<uint32_t> hosts;
  for (uint32_t i = 0; i < topology.hosts.size(); ++i) {
    const Topology::Host& host = topology.hosts[i];
    if (++seen[{host.switch_index, {host.rate, host.delay}}] <= kAlike) hosts.push_back(i);
  }
  return hosts;
}

Bytes FabricPaths::largest_bdp(Bytes packet) const {
  const std::vector<uint32_t> hosts = typical_hosts(topology_);
  Bytes largest(0);
  for (const uint32_t from : hosts)
    for (const uint32_t to : hosts) {
      if (from == to || path(from, to).links == 0) continue;
      const Duration rtt = base_rtt(from, to, packet);
      largest = std::max(largest, bytes_in(rtt, topology_.hosts[from].rate));
    }
  return largest;
}

}  // namespace eddy::lab
