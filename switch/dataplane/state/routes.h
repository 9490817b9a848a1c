// RouteTable: longest-prefix match from an IPv4 or IPv6 destination to a RouteTarget. Immutable
// once built.
//
// A target names the destination leaf and, on that leaf, the port; so one table serves every switch
// of a fabric: a switch whose own leaf id matches uses the port, any other sends to the leaf's path
// set. Two engines stand behind one interface: `ranges` flattens the prefixes into disjoint
// intervals, finds the part of them where the key lies by an index over their common range, and
// searches that without branches (a few KiB); `fib` is rte_fib / rte_fib6 (32 MiB
// and more, needs an EAL). `automatic` takes fib above kRangePrefixes. Threads: any. Cost: ranges
// log2(intervals that share a slot of the index) steps: 0 or 1 where prefixes are of one length.
// Source: architecture, section 6.
#pragma once

#include <rte_fib.h>
#include <rte_fib6.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/addresses.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy {

enum class RouteEngine : uint8_t { automatic, ranges, fib };

struct RouteTarget {
  LeafId leaf = LeafId::none();  // whose the prefix is
  PortId port =
      PortId::none();  // on that leaf; none: the leaf is remote for everybody who uses the table
  bool local = false;  // an address of the leaf switch itself
  LeafId via = LeafId::none();  // the path set that leads there; none: the leaf's own
  bool operator==(const RouteTarget&) const = default;
};

struct Route {
  IpPrefix prefix;
  RouteTarget target;
};

class RouteTable {
 public:
  static constexpr size_t kRangePrefixes = 256;
  static constexpr uint16_t kNoRoute =
      0;  // index of the target that stands for "no prefix covers it"

  static Result<std::shared_ptr<const RouteTable>> build(std::span<const Route> routes,
                                                         RouteEngine engine);

  // The target index of a destination in host order; not for a table that uses_fib4().
  uint16_t find4(uint32_t destination) const { return ranges4_.find(destination); }
  // Target indices for a burst of destinations in host order.
  void lookup(std::span<const uint32_t> destinations, uint16_t* targets) const;
  // For one destination of 16 octets in wire order.
  uint16_t lookup6(const uint8_t* destination) const;

  const RouteTarget& target(uint16_t index) const { return targets_[index]; }
  size_t target_count() const { return targets_.size(); }
  std::span<const Route> routes() const { return routes_; }
  bool uses_fib() const { return fib_ != nullptr || fib6_ != nullptr; }
  bool uses_fib4() const { return fib_ != nullptr; }

 private:
  template <class Key>
  struct Ranges {
    static constexpr size_t kMaxSlots = 1024;

    std::vector<Key> starts;        // sorted, power-of-two count, padded with the largest key
    std::vector<uint16_t> targets;  // of the interval that begins at starts[i]
    // The index: slot i is keys lowest + (i << shift) and on; there it is the interval first[i] or
    // one of the `crowd` - 1 behind it, a power of two. Keys in no slot are searched for anywhere.
    Key lowest = 0;
    int shift = 0;
    size_t crowd = 1;
    std::vector<uint32_t> first;

    uint16_t find(Key key) const {
      const Key slot = static_cast<Key>(key - lowest) >> shift;
      if (slot >= first.size()) [[unlikely]]
        return search(starts.data(), starts.size(), key);
      return search(&starts[first[static_cast<size_t>(slot)]], crowd, key);
    }
    uint16_t search(const Key* base, size_t count, Key key) const {
      for (size_t half = count / 2; half > 0; half /= 2) base += (base[half] <= key) ? half : 0;
      return targets[static_cast<size_t>(base - starts.data())];
    }
    // Pads and indexes `starts`.
    void finish();
  };
  struct FreeFib {
    void operator()(rte_fib* fib) const { rte_fib_free(fib); }
    void operator()(rte_fib6* fib) const { rte_fib6_free(fib); }
  };
  using Key6 = unsigned __int128;

  template <class Key>
  static Ranges<Key> flatten(std::span<const Route> routes, std::span<const uint16_t> target_of,
                             bool v4);
  uint16_t intern(const RouteTarget& target);
  Problems build_fib(std::span<const uint16_t> target_of);
  Problems build_fib6(std::span<const uint16_t> target_of);

  std::vector<Route> routes_;
  std::vector<RouteTarget> targets_{RouteTarget{}};
  Ranges<uint32_t> ranges4_;
  Ranges<Key6> ranges6_;
  std::unique_ptr<rte_fib, FreeFib> fib_;
  std::unique_ptr<rte_fib6, FreeFib> fib6_;
};

}  // namespace eddy
