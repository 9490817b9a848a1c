// RouteTable: longest-prefix match from an IPv4 or IPv6 destination to a RouteTarget. Immutable
// once built.
//
// A target names the destination leaf and, on that leaf, the port; so one table serves every switch
// of a fabric: a switch whose own leaf id matches uses the port, any other sends to the leaf's path
// set. Two engines stand behind one interface: `ranges` flattens the prefixes into disjoint
// intervals and has an index over their common range, by the first 64 bits of an address: a slot of
// the index that lies in one interval holds that one's target, any other says where to search,
// without branches (16 KiB, or 64 octets an interval where they are hundreds, up to 256 KiB); `fib`
// is rte_fib / rte_fib6 (32 MiB and more, needs an EAL). `automatic` takes fib above
// kRangePrefixes. Threads: any. Cost: ranges one look into the index, or log2(intervals of the most
// crowded slot) steps more. Source: architecture, section 6.
#pragma once

#include <rte_fib.h>
#include <rte_fib6.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "net/addresses.h"
#include "net/byte_order.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy {

// Of the address that is looked up, in its network header.
inline constexpr uint32_t kIpv4DestinationOffset = 16;
inline constexpr uint32_t kIpv6DestinationOffset = 24;

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
  // The same for who has many to find: what it goes by, in one place. Of a table that uses_fib4()
  // find4() finds kNoRoute, at no cost.
  template <class Key>
  class Find;
  auto find4() const;
  auto find6() const;
  // Target indices for a burst of destinations in host order.
  void lookup(std::span<const uint32_t> destinations, uint16_t* targets) const;
  // For one destination of 16 octets in wire order.
  uint16_t lookup6(const uint8_t* destination) const {
    if (fib6_ != nullptr) [[unlikely]]
      return lookup_in_fib6(destination);
    return ranges6_.find(key6_of(load_be64(destination), load_be64(destination + 8)));
  }

  const RouteTarget& target(uint16_t index) const { return targets_[index]; }
  size_t target_count() const { return targets_.size(); }
  std::span<const Route> routes() const { return routes_; }
  bool uses_fib() const { return fib_ != nullptr || fib6_ != nullptr; }
  bool uses_fib4() const { return fib_ != nullptr; }

 private:
  using Key6 = unsigned __int128;
  static Key6 key6_of(uint64_t high, uint64_t low) { return Key6{high} << 64 | low; }

  template <class Key>
  struct Ranges {
    // Of the index: so many an interval, within these bounds.
    static constexpr size_t kSlotsEach = 16;
    static constexpr size_t kFewestSlots = 4'096;
    static constexpr size_t kMostSlots = 65'536;
    static constexpr uint32_t kAlone = 1u << 31;  // a slot in one interval: with that one's target
    // What the index goes by: an IPv4 address, the first half of an IPv6 one.
    using Top = std::conditional_t<sizeof(Key) == 4, uint32_t, uint64_t>;
    static constexpr int kBelowTop = static_cast<int>(8 * (sizeof(Key) - sizeof(Top)));
    static Top top_of(Key key) { return static_cast<Top>(key >> kBelowTop); }

    std::vector<Key> starts;        // sorted, power-of-two count, padded with the largest key
    std::vector<uint16_t> targets;  // of the interval that begins at starts[i]
    // The index: slot i is the keys whose tops are lowest + (i << shift) and on. Where it is not
    // alone its keys are in the interval of that number, or one of the `crowd` - 1 behind it, a
    // power of two. Keys in no slot are searched for anywhere.
    Top lowest = 0;
    int shift = 0;
    uint32_t slots = 0;
    size_t crowd = 1;
    std::vector<uint32_t> index;

    uint16_t find(Key key) const {
      const Top slot = static_cast<Top>(top_of(key) - lowest) >> shift;
      if (slot >= slots) [[unlikely]]
        return search(starts.data(), starts.size(), key);
      const uint32_t entry = index[static_cast<size_t>(slot)];
      if ((entry & kAlone) != 0) [[likely]]
        return static_cast<uint16_t>(entry);
      return search(&starts[entry], crowd, key);
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

  template <class Key>
  static Ranges<Key> flatten(std::span<const Route> routes, std::span<const uint16_t> target_of,
                             bool v4);
  uint16_t intern(const RouteTarget& target);
  Problems build_fib(std::span<const uint16_t> target_of);
  Problems build_fib6(std::span<const uint16_t> target_of);
  uint16_t lookup_in_fib6(const uint8_t* destination) const;

  std::vector<Route> routes_;
  std::vector<RouteTarget> targets_{RouteTarget{}};
  Ranges<uint32_t> ranges4_;
  Ranges<Key6> ranges6_;
  std::unique_ptr<rte_fib, FreeFib> fib_;
  std::unique_ptr<rte_fib6, FreeFib> fib6_;
};

template <class Key>
class RouteTable::Find {
 public:
  // Of a destination in wire order.
  uint16_t operator()(const uint8_t* destination) const {
    const Top slot = static_cast<Top>(top_of(destination) - lowest_) >> shift_;
    if (slot < slots_) [[likely]] {
      const uint32_t entry = index_[slot];
      if ((entry & Of::kAlone) != 0) [[likely]]
        return static_cast<uint16_t>(entry);
    }
    return search(destination);
  }

 private:
  friend class RouteTable;
  using Of = Ranges<Key>;
  using Top = typename Of::Top;
  static constexpr bool kIpv4 = sizeof(Key) == sizeof(uint32_t);
  static constexpr std::array<uint32_t, 2> kNowhere = {Of::kAlone | kNoRoute,
                                                       Of::kAlone | kNoRoute};

  static Top top_of(const uint8_t* destination) {
    if constexpr (kIpv4)
      return load_be32(destination);
    else
      return load_be64(destination);
  }
  [[gnu::noinline]] uint16_t search(const uint8_t* destination) const {
    if constexpr (kIpv4)
      return table_.find4(load_be32(destination));
    else
      return table_.lookup6(destination);
  }
  Find(const RouteTable& table, const Of& ranges)
      : table_(table),
        index_(ranges.index.data()),
        lowest_(ranges.lowest),
        slots_(ranges.slots),
        shift_(ranges.shift) {}
  // All keys are in a slot that has no route.
  static Find nowhere(const RouteTable& table, const Of& ranges) {
    Find out(table, ranges);
    out.index_ = kNowhere.data();
    out.lowest_ = 0;
    out.slots_ = kNowhere.size();
    out.shift_ = static_cast<int>(8 * sizeof(Top)) - 1;
    return out;
  }

  const RouteTable& table_;
  const uint32_t* index_;
  Top lowest_;
  uint32_t slots_;
  int shift_;
};

inline auto RouteTable::find4() const {
  using Find4 = Find<uint32_t>;
  return uses_fib4() ? Find4::nowhere(*this, ranges4_) : Find4(*this, ranges4_);
}
inline auto RouteTable::find6() const {
  Find<Key6> find(*this, ranges6_);
  if (fib6_ != nullptr) find.slots_ = 0;  // each is searched for
  return find;
}

}  // namespace eddy
