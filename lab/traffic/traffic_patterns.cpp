// Flows of a given size between given or random pairs: bursts, incast, permutations, all to all.
#include <algorithm>
#include <map>

#include "lab/traffic/traffic_item.h"

namespace eddy::lab {
namespace {

void shuffle(std::vector<uint32_t>& hosts, RandomStream& stream) {
  for (size_t left = hosts.size(); left > 1; --left)
    std::swap(hosts[left - 1], hosts[stream.below(static_cast<uint32_t>(left))]);
}

void add_pair(TrafficItem& item, uint32_t source, uint32_t destination, Instant start) {
  const Bytes size = item.config().size;
  for (int i = 0; i < item.config().count && !item.full(); ++i)
    item.add({.source = source, .destination = destination, .size = size, .start = start});
}

__int128 flows_of_all_pairs(const TrafficItem& item) {
  return static_cast<__int128>(item.sources.size() * item.destinations.size()) *
         item.config().count;
}

// One request: who asks, and what the senders answer.
class Incast {
 public:
  explicit Incast(TrafficItem& item)
      : item_(item),
        clients_(item.stream(TrafficDraw::destination)),
        senders_(item.stream(TrafficDraw::senders)) {}

  // A problem where some client has too few senders.
  bool check() {
    const auto degree = static_cast<size_t>(item_.config().degree);
    for (size_t i = 0; i < item_.destinations.size(); ++i) {
      const size_t count = senders_of(item_.destinations[i]).size();
      if (count >= degree) continue;
      item_.problem(".degree", "there are " + std::to_string(count) + " senders for host " +
                                   item_.topology().hosts[item_.destinations[i]].name +
                                   ", at most that many can answer a request");
      return false;
    }
    return !item_.destinations.empty();
  }

  void request(Instant start) {
    const auto& clients = item_.destinations;
    const uint32_t client = clients[clients_.below(static_cast<uint32_t>(clients.size()))];
    std::vector<uint32_t> senders = senders_of(client);
    const int degree = item_.config().degree;
    const int64_t octets = item_.config().size.count();
    for (int i = 0; i < degree; ++i) {
      const auto left = static_cast<uint32_t>(senders.size()) - static_cast<uint32_t>(i);
      std::swap(senders[static_cast<size_t>(i)],
                senders[static_cast<size_t>(i) + senders_.below(left)]);
      const int64_t share = octets / degree + (i < octets % degree ? 1 : 0);
      item_.add({.source = senders[static_cast<size_t>(i)],
                 .destination = client,
                 .size = Bytes(share),
                 .start = start,
                 .request = number_});
    }
    ++number_;
  }

 private:
  std::vector<uint32_t> senders_of(uint32_t client) const {
    std::vector<uint32_t> senders;
    for (const uint32_t host : item_.sources)
      if (item_.may_pair(host, client)) senders.push_back(host);
    return senders;
  }

  TrafficItem& item_;
  RandomStream clients_;
  RandomStream senders_;
  uint32_t number_ = 0;
};

// Requests as Poisson arrivals that offer `rate`.
void add_poisson_requests(TrafficItem& item, Incast& incast) {
  const config::TrafficConfig& config = item.config();
  const int64_t wire =
      item.wire_cost().of(Bytes(config.size.count() / config.degree)) * config.degree;
  const int64_t gap = mean_gap_q16(wire << 16, *config.rate);
  const __int128 time = (item.end() - item.begin()).ps();
  if (config.repeat == 0 && !item.fits((time << 16) / gap * config.degree)) return;
  PoissonClock clock(item.begin(), gap, item.stream(TrafficDraw::gap));
  item.summary.offered = *config.rate;
  int64_t left = config.repeat > 0 ? config.repeat : INT64_MAX;
  for (Instant start = clock.next(); start < item.end() && !item.full() && left > 0; --left) {
    incast.request(start);
    start = clock.next();
  }
}

// Who sends to whom: a random pairing without a pair within one group.
//
// Begins with the hosts sorted by group and everyone paired with the host one largest group further
// on, which is always allowed; then random pairs exchange their destinations where that is allowed.
class Pairing {
 public:
  Pairing(TrafficItem& item) : item_(item), hosts_(item.sources) {}

  // The largest group; a pairing exists while it is at most half of all.
  size_t largest_group() const {
    std::map<size_t, size_t> sizes;
    size_t largest = 0;
    for (const uint32_t host : hosts_) largest = std::max(largest, ++sizes[group_of(host)]);
    return largest;
  }
  size_t size() const { return hosts_.size(); }

  void make() {
    constexpr size_t kExchangesAHost = 16;
    RandomStream stream = item_.stream(TrafficDraw::pairs);
    shuffle(hosts_, stream);
    std::ranges::stable_sort(hosts_, {}, [this](uint32_t host) { return group_of(host); });
    destinations_ = hosts_;
    std::rotate(destinations_.begin(), destinations_.begin() + static_cast<long>(largest_group()),
                destinations_.end());
    for (size_t i = 0; i < kExchangesAHost * hosts_.size(); ++i) exchange(stream);
  }
  void add_flows(Instant start) {
    for (size_t i = 0; i < hosts_.size(); ++i) add_pair(item_, hosts_[i], destinations_[i], start);
  }

 private:
  size_t group_of(uint32_t host) const {
    return item_.config().remote_only ? item_.leaf_of(host) : host;
  }
  void exchange(RandomStream& stream) {
    const size_t i = stream.below(static_cast<uint32_t>(hosts_.size()));
    const size_t j = stream.below(static_cast<uint32_t>(hosts_.size()));
    if (item_.may_pair(hosts_[i], destinations_[j]) && item_.may_pair(hosts_[j], destinations_[i]))
      std::swap(destinations_[i], destinations_[j]);
  }

  TrafficItem& item_;
  std::vector<uint32_t> hosts_;
  std::vector<uint32_t> destinations_;
};

}  // namespace

void add_burst(TrafficItem& item) {
  if (!item.fits(flows_of_all_pairs(item) * item.periods())) return;
  item.at_each_period([&](Instant start) {
    for (const uint32_t source : item.sources)
      for (const uint32_t destination : item.destinations)
        if (source != destination) add_pair(item, source, destination, start);
  });
}

void add_incast(TrafficItem& item) {
  Incast incast(item);
  if (!incast.check()) return;
  if (item.config().rate) return add_poisson_requests(item, incast);
  if (!item.fits(static_cast<__int128>(item.periods()) * item.config().degree)) return;
  item.at_each_period([&](Instant start) { incast.request(start); });
}

void add_permutation(TrafficItem& item) {
  Pairing pairing(item);
  const size_t most = pairing.size() / 2;
  if (pairing.size() < 2 || pairing.largest_group() > most)
    return item.problem("", item.config().remote_only
                                ? "more than half of the sources hang on one leaf, they cannot all "
                                  "have a partner on another; write remote_only: false"
                                : "a permutation needs at least 2 hosts");
  if (!item.fits(static_cast<__int128>(pairing.size()) * item.config().count)) return;
  pairing.make();
  if (item.begin() < item.end()) pairing.add_flows(item.begin());
}

// In rounds, so that no destination is everybody's first.
void add_all_to_all(TrafficItem& item) {
  if (!item.fits(flows_of_all_pairs(item))) return;
  const auto& to = item.destinations;
  for (size_t round = 1; round <= to.size() && item.begin() < item.end(); ++round)
    for (size_t i = 0; i < item.sources.size(); ++i) {
      const uint32_t destination = to[(i + round) % to.size()];
      if (destination != item.sources[i])
        add_pair(item, item.sources[i], destination, item.begin());
    }
}

void add_long_flows(TrafficItem& item) {
  const size_t pairs = std::max(item.sources.size(), item.destinations.size());
  if (!item.fits(static_cast<__int128>(pairs) * item.config().count)) return;
  for (size_t i = 0; i < pairs; ++i) {
    const uint32_t source = item.sources[i % item.sources.size()];
    const uint32_t destination = item.destinations[i % item.destinations.size()];
    if (source == destination)
      return item.problem("", "pair " + std::to_string(i + 1) + " is " +
                                  item.topology().hosts[source].name +
                                  " and itself, name other sources or destinations");
    if (item.begin() < item.end()) add_pair(item, source, destination, item.begin());
  }
}

}  // namespace eddy::lab
