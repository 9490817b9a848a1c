// Poisson arrivals between random pairs, sizes from a distribution, at a load.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lab/fabric/host_names.h"
#include "lab/traffic/cdf.h"
#include "lab/traffic/traffic_item.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

using config::LoadReference;
using config::TopologyKind;

// Picks a destination that a source may send to, every one alike, with one draw; or the only one
// where sources and destinations are paired.
class DestinationChoice {
 public:
  explicit DestinationChoice(const TrafficItem& item)
      : item_(item), sorted_(item.destinations), remote_only_(item.config().remote_only) {
    std::ranges::sort(sorted_, {}, [this](uint32_t host) { return group_of(host); });
    if (!item.config().paired || item.destinations.empty()) return;
    for (size_t i = 0; i < item.sources.size(); ++i)
      partners_.emplace(item.sources[i], item.destinations[i % item.destinations.size()]);
  }

  bool may_send(uint32_t source, uint32_t destination) const {
    return item_.may_pair(source, destination) &&
           (partners_.empty() || partners_.at(source) == destination);
  }
  size_t count_for(uint32_t source) const {
    if (!partners_.empty()) return may_send(source, partners_.at(source)) ? 1 : 0;
    return sorted_.size() - barred(source).size();
  }
  // Of those, how many hang on other leaves.
  size_t remote_count_for(uint32_t source) const {
    if (!partners_.empty())
      return item_.leaf_of(partners_.at(source)) != item_.leaf_of(source) ? 1 : 0;
    const auto same = std::ranges::count_if(
        sorted_, [&](uint32_t host) { return item_.leaf_of(host) == item_.leaf_of(source); });
    return sorted_.size() - static_cast<size_t>(same);
  }
  uint32_t draw(uint32_t source, RandomStream& stream) const {
    if (!partners_.empty()) return partners_.at(source);
    const Span out = barred(source);
    auto i = stream.below(static_cast<uint32_t>(sorted_.size() - out.size()));
    if (i >= out.begin) i += static_cast<uint32_t>(out.size());
    return sorted_[i];
  }

 private:
  // Hosts of one group never send to each other.
  size_t group_of(uint32_t host) const { return remote_only_ ? item_.leaf_of(host) : host; }
  struct Span {  // of sorted_
    size_t begin = 0;
    size_t end = 0;
    size_t size() const { return end - begin; }
  };
  Span barred(uint32_t source) const {
    const auto [first, last] =
        std::equal_range(sorted_.begin(), sorted_.end(), source,
                         [this](uint32_t a, uint32_t b) { return group_of(a) < group_of(b); });
    return {static_cast<size_t>(first - sorted_.begin()),
            static_cast<size_t>(last - sorted_.begin())};
  }

  const TrafficItem& item_;
  std::vector<uint32_t> sorted_;
  std::map<uint32_t, uint32_t> partners_;  // by source; empty: not paired
  bool remote_only_;
};

class Poisson {
 public:
  Poisson(TrafficItem& item, SizeCdf cdf)
      : item_(item), config_(item.config()), cdf_(std::move(cdf)), choice_(item) {}

  void run() {
    keep_sources_with_destinations();
    if (item_.sources.empty()) return;
    const WireCost cost = item_.wire_cost();
    const int64_t wire = cdf_.mean_q16() + cost.a_packet * cdf_.mean_packets_q16(cost.mtu) +
                         (WireCost::kRethHeader << 16);
    const auto offered = offered_rate();
    if (!offered) return;
    describe(wire, *offered);
    check_nics(*offered);
    if (!item_.problems.empty()) return;
    const int64_t gap = mean_gap_q16(wire, *offered);
    const Duration time = item_.end() - item_.begin();
    if (item_.fits((static_cast<__int128>(time.ps()) << 16) / gap)) draw(gap);
  }

 private:
  void keep_sources_with_destinations();
  BitRate reference() const;
  BitRate core_capacity() const;
  std::optional<BitRate> offered_rate();
  void describe(int64_t wire_q16, BitRate offered);
  void check_nics(BitRate offered);
  void draw(int64_t mean_gap);

  TrafficItem& item_;
  const config::TrafficConfig& config_;
  SizeCdf cdf_;
  DestinationChoice choice_;
};

void Poisson::keep_sources_with_destinations() {
  const size_t before = item_.sources.size();
  std::erase_if(item_.sources, [&](uint32_t host) { return choice_.count_for(host) == 0; });
  const std::string whom =
      config_.remote_only ? "no destination on another leaf" : "no destination";
  if (item_.sources.empty())
    item_.problem("", "no source has a destination" +
                          std::string(config_.remote_only ? " on another leaf" : " but itself") +
                          ", name other sources or destinations");
  else if (item_.sources.size() < before)
    item_.warning("", std::to_string(before - item_.sources.size()) + " of " +
                          std::to_string(before) + " sources have " + whom + " and send nothing");
}

// What the leaves of the sources have towards other switches, with every link healthy.
BitRate Poisson::core_capacity() const {
  std::set<size_t> leaves;
  for (const uint32_t host : item_.sources) leaves.insert(item_.leaf_of(host));
  const config::TopologyConfig& topology = item_.experiment().topology;
  const bool own_rates = topology.kind == TopologyKind::file || topology.kind == TopologyKind::hpcc;
  int64_t sum = 0;
  for (const Topology::Link& link : item_.topology().links)
    for (const Topology::End& end : {link.a, link.b})
      if (leaves.contains(end.switch_index))
        sum += (own_rates ? link.rate : topology.fabric_rate).bps();
  return BitRate::bits_per_second(sum);
}

BitRate Poisson::reference() const {
  switch (config_.reference) {
    case LoadReference::core:
      return core_capacity();
    case LoadReference::host:
      break;
  }
  int64_t sum = 0;
  for (const uint32_t host : item_.sources) sum += item_.topology().hosts[host].rate.bps();
  return BitRate::bits_per_second(sum);
}

// All sources together, on the line; nothing and a problem when it cannot be.
std::optional<BitRate> Poisson::offered_rate() {
  constexpr double kBillion = 1e9;
  if (config_.rate) return *config_.rate;
  item_.summary.reference = reference();
  __int128 offered = static_cast<__int128>(item_.summary.reference.bps()) *
                     std::llround(config_.load * kBillion) / 1'000'000'000;
  if (config_.reference == LoadReference::core) {
    // Only what crosses the core loads it: all flows make up for those that stay on a leaf.
    __int128 crossing = 0;  // Q32, summed over sources
    for (const uint32_t host : item_.sources)
      crossing += (static_cast<__int128>(choice_.remote_count_for(host)) << 32) /
                  static_cast<int64_t>(choice_.count_for(host));
    if (crossing == 0 || offered == 0) {
      item_.problem(".reference", "no flow crosses the core, write reference: host");
      return std::nullopt;
    }
    offered = (offered * static_cast<int64_t>(item_.sources.size()) << 32) / crossing;
  }
  return BitRate::bits_per_second(static_cast<int64_t>(std::max<__int128>(offered, 1)));
}

void Poisson::describe(int64_t wire_q16, BitRate offered) {
  constexpr double kQ16 = 65'536;
  item_.summary.cdf_digest = cdf_.digest();
  item_.summary.mean_size = static_cast<double>(cdf_.mean_q16()) / kQ16;
  item_.summary.mean_wire_size = static_cast<double>(wire_q16) / kQ16;
  item_.summary.offered = offered;
}

void Poisson::check_nics(BitRate offered) {
  const auto& hosts = item_.topology().hosts;
  const HostNames names(item_.topology());
  const int64_t each = offered.bps() / static_cast<int64_t>(item_.sources.size());
  std::vector<int64_t> received(hosts.size());
  for (const uint32_t source : item_.sources) {
    if (each > hosts[source].rate.bps())
      return item_.problem(config_.rate ? ".rate" : ".load",
                           "each of " + std::to_string(item_.sources.size()) +
                               " sources would have to send " +
                               to_string(BitRate::bits_per_second(each)) + ", " +
                               names.name_of(source) + " has " + to_string(hosts[source].rate));
    const auto receivers = static_cast<int64_t>(choice_.count_for(source));
    if (receivers == 0) continue;
    const int64_t share = each / receivers;
    for (const uint32_t host : item_.destinations)
      if (choice_.may_send(source, host)) received[host] += share;
  }
  for (const uint32_t host : item_.destinations)
    if (received[host] > hosts[host].rate.bps())
      return item_.warning("", names.name_of(host) + " is offered " +
                                   to_string(BitRate::bits_per_second(received[host])) +
                                   " and has " + to_string(hosts[host].rate));
}

void Poisson::draw(int64_t mean_gap) {
  PoissonClock clock(item_.begin(), mean_gap, item_.stream(TrafficDraw::gap));
  RandomStream sizes = item_.stream(TrafficDraw::size);
  RandomStream sources = item_.stream(TrafficDraw::source);
  RandomStream destinations = item_.stream(TrafficDraw::destination);
  const auto count = static_cast<uint32_t>(item_.sources.size());
  for (Instant start = clock.next(); start < item_.end() && !item_.full(); start = clock.next()) {
    const uint32_t source = item_.sources[sources.below(count)];
    item_.add({.source = source,
               .destination = choice_.draw(source, destinations),
               .size = cdf_.draw(sizes),
               .start = start});
  }
}

}  // namespace

void add_poisson(TrafficItem& item, const ReadTrafficFile& read) {
  const auto file = read(item.config().cdf);
  if (!file) return item.problem(".cdf", file.problems().front());
  item.summary.cdf = file.value().name;
  auto cdf = SizeCdf::parse(file.value());
  if (!cdf) {
    item.problems.insert(item.problems.end(), cdf.problems().begin(), cdf.problems().end());
    return;
  }
  if (item.config().truncate) cdf.value() = cdf->truncated(*item.config().truncate);
  Poisson(item, std::move(cdf.value())).run();
}

}  // namespace eddy::lab
