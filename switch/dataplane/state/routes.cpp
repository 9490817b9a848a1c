#include "switch/dataplane/state/routes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "net/assert.h"

namespace eddy {
namespace {

unsigned __int128 key_of(const uint8_t* octets) {
  unsigned __int128 key = 0;
  for (int i = 0; i < 16; ++i) key = key << 8 | octets[i];
  return key;
}

template <class Key>
Key network_key(const IpPrefix& prefix) {
  if constexpr (sizeof(Key) == 4) {
    return prefix.network().address.v4().value;
  } else {
    return key_of(prefix.network().address.octets().data());
  }
}

template <class Key>
constexpr int kKeyBits = static_cast<int>(sizeof(Key)) * 8;

// The first key behind the prefix; 0 when the prefix reaches the end of the address space.
template <class Key>
Key end_key(Key start, int length) {
  return length == 0 ? Key{0} : static_cast<Key>(start + (Key{1} << (kKeyBits<Key> - length)));
}

// Tables below the first 24 bits that rte_fib reserves at most: one a step of 8 bits of each
// prefix.
uint32_t lower_tables(std::span<const Route> routes, bool v4) {
  constexpr uint32_t kLeast = 256;
  uint32_t tables = kLeast;
  for (const Route& route : routes)
    if (route.prefix.address.is_v4() == v4 && route.prefix.length > 24)
      tables += (route.prefix.length - 24u + 7) / 8;
  return tables;
}

// What entries of two octets can number; four octets double the memory.
constexpr uint32_t kMaxTwoOctetTables = 32'767;

// rte_fib wants a name of its own for each table that exists.
std::string unique_name(const char* family, const void* table) {
  return std::string(family) + "_" + std::to_string(reinterpret_cast<uintptr_t>(table));
}

}  // namespace

// Sweeps over the sorted prefixes with a stack of those that enclose the current point.
template <class Key>
RouteTable::Ranges<Key> RouteTable::flatten(std::span<const Route> routes,
                                            std::span<const uint16_t> target_of, bool v4) {
  struct Item {
    Key start;
    int length;
    uint16_t target;
  };
  std::vector<Item> items;
  for (size_t i = 0; i < routes.size(); ++i)
    if (routes[i].prefix.address.is_v4() == v4)
      items.push_back({network_key<Key>(routes[i].prefix), routes[i].prefix.length, target_of[i]});
  // Of equal prefixes the last one counts, as in the FIB.
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.start != b.start ? a.start < b.start : a.length < b.length;
  });

  Ranges<Key> ranges;
  const auto emit = [&ranges](Key start, uint16_t target) {
    if (!ranges.starts.empty() && ranges.starts.back() == start) {
      ranges.targets.back() = target;
    } else {
      ranges.starts.push_back(start);
      ranges.targets.push_back(target);
    }
  };
  std::vector<Item> open;
  const auto close_until = [&](Key point, bool all) {
    while (!open.empty()) {
      const Key end = end_key(open.back().start, open.back().length);
      if (!all && (end == 0 || end > point)) break;
      open.pop_back();
      if (end != 0) emit(end, open.empty() ? kNoRoute : open.back().target);
    }
  };
  emit(0, kNoRoute);
  for (const Item& item : items) {
    close_until(item.start, false);
    emit(item.start, item.target);
    open.push_back(item);
  }
  close_until(0, true);
  ranges.finish();
  return ranges;
}

template <class Key>
void RouteTable::Ranges<Key>::finish() {
  const size_t count = starts.size();
  const auto interval_of = [&](Key key) {
    return static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), key) -
                               starts.begin()) -
           1;
  };
  if (count > 1) {  // the first interval begins at 0, the index where the second does
    lowest = top_of(starts[1]);
    const auto range = static_cast<Top>(top_of(starts.back()) - lowest);
    const size_t most_slots = std::clamp(count * kSlotsEach, kFewestSlots, kMostSlots);
    while ((range >> shift) >= most_slots) ++shift;
    slots = static_cast<uint32_t>(range >> shift);
    index.reserve(slots);
    size_t most = 1;
    for (size_t slot = 0; slot < slots; ++slot) {  // the last one has no end: not in the index
      const auto top = static_cast<Top>(lowest + (static_cast<Top>(slot) << shift));
      const Key begin = static_cast<Key>(top) << kBelowTop;
      const Key last = static_cast<Key>(begin + ((Key{1} << (shift + kBelowTop)) - 1));
      const size_t first = interval_of(begin);
      const size_t count_there = interval_of(last) - first + 1;
      index.push_back(static_cast<uint32_t>(count_there == 1 ? kAlone | targets[first] : first));
      most = std::max(most, count_there);
    }
    crowd = std::bit_ceil(most);
  }
  const uint16_t last_target = targets.back();
  const size_t padded = std::bit_ceil(count + crowd);  // a search of a crowd stays inside
  starts.resize(padded, static_cast<Key>(~Key{0}));
  targets.resize(padded, last_target);
}

uint16_t RouteTable::intern(const RouteTarget& target) {
  const auto found = std::find(targets_.begin() + 1, targets_.end(), target);
  if (found == targets_.end()) {
    targets_.push_back(target);
    return static_cast<uint16_t>(targets_.size() - 1);
  }
  return static_cast<uint16_t>(found - targets_.begin());
}

Problems RouteTable::build_fib(std::span<const uint16_t> target_of) {
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.max_routes = static_cast<int>(routes_.size());
  conf.rib_ext_sz = 0;
  conf.default_nh = kNoRoute;
  conf.dir24_8.num_tbl8 = lower_tables(routes_, /*v4=*/true);
  conf.dir24_8.nh_sz =
      conf.dir24_8.num_tbl8 <= kMaxTwoOctetTables ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B;
  const std::string name = unique_name("eddy4", this);
  fib_.reset(rte_fib_create(name.c_str(), /*socket_id=*/-1, &conf));
  if (!fib_) return {"IPv4 routes: no memory for a FIB of " + std::to_string(routes_.size())};
  for (size_t i = 0; i < routes_.size(); ++i) {
    const IpPrefix& prefix = routes_[i].prefix;
    if (prefix.address.is_v4() && rte_fib_add(fib_.get(), prefix.network().address.v4().value,
                                              prefix.length, target_of[i]) != 0)
      return {"route " + to_string(prefix) + ": the FIB refused it"};
  }
  return {};
}

Problems RouteTable::build_fib6(std::span<const uint16_t> target_of) {
  rte_fib6_conf conf{};
  conf.type = RTE_FIB6_TRIE;
  conf.max_routes = static_cast<int>(routes_.size());
  conf.default_nh = kNoRoute;
  conf.trie.num_tbl8 = lower_tables(routes_, /*v4=*/false);
  conf.trie.nh_sz = conf.trie.num_tbl8 <= kMaxTwoOctetTables ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B;
  const std::string name = unique_name("eddy6", this);
  fib6_.reset(rte_fib6_create(name.c_str(), /*socket_id=*/-1, &conf));
  if (!fib6_) return {"IPv6 routes: no memory for a FIB of " + std::to_string(routes_.size())};
  for (size_t i = 0; i < routes_.size(); ++i) {
    const IpPrefix network = routes_[i].prefix.network();
    if (!network.address.is_v4() && rte_fib6_add(fib6_.get(), network.address.octets().data(),
                                                 network.length, target_of[i]) != 0)
      return {"route " + to_string(network) + ": the FIB refused it"};
  }
  return {};
}

Result<std::shared_ptr<const RouteTable>> RouteTable::build(std::span<const Route> routes,
                                                            RouteEngine engine) {
  auto table = std::make_shared<RouteTable>();
  table->routes_.assign(routes.begin(), routes.end());
  std::vector<uint16_t> target_of;
  size_t v4_count = 0;
  for (const Route& route : routes) {
    target_of.push_back(table->intern(route.target));
    v4_count += route.prefix.address.is_v4() ? 1 : 0;
  }
  const auto wants_fib = [engine](size_t count) {
    return count > 0 && (engine == RouteEngine::fib ||
                         (engine == RouteEngine::automatic && count > kRangePrefixes));
  };
  table->ranges4_ = flatten<uint32_t>(routes, target_of, true);
  table->ranges6_ = flatten<Key6>(routes, target_of, false);
  Problems problems;
  if (wants_fib(v4_count)) problems = table->build_fib(target_of);
  if (problems.empty() && wants_fib(routes.size() - v4_count))
    problems = table->build_fib6(target_of);
  if (!problems.empty()) return problems;
  return std::shared_ptr<const RouteTable>(std::move(table));
}

void RouteTable::lookup(std::span<const uint32_t> destinations, uint16_t* targets) const {
  if (fib_ == nullptr) {
    for (size_t i = 0; i < destinations.size(); ++i) targets[i] = ranges4_.find(destinations[i]);
    return;
  }
  ASSERT(destinations.size() <= kBurst);
  std::array<uint32_t, kBurst> keys;
  std::array<uint64_t, kBurst> found;
  std::copy(destinations.begin(), destinations.end(), keys.begin());
  rte_fib_lookup_bulk(fib_.get(), keys.data(), found.data(), static_cast<int>(destinations.size()));
  for (size_t i = 0; i < destinations.size(); ++i) targets[i] = static_cast<uint16_t>(found[i]);
}

uint16_t RouteTable::lookup_in_fib6(const uint8_t* destination) const {
  uint8_t key[1][16];
  std::memcpy(key[0], destination, 16);
  uint64_t found = kNoRoute;
  rte_fib6_lookup_bulk(fib6_.get(), key, &found, 1);
  return static_cast<uint16_t>(found);
}

}  // namespace eddy
