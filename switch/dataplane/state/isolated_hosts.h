// IsolatedHosts: destinations whose packets are put into the isolated class, or were lately.
//
// A host is hot until `hot_until`. One that is not stays known while packets to it may be in the
// isolated class on this switch, so that none of them is overtaken. A row of tags is one cache
// line; what is known of a host stands beside it, and what only readers of `show isolated` want to
// know in lines of its own. Owner: one shard; made by control. Bounds: 92 octets a host, tag
// included; a host whose row is full has no place. Cost of find(): a line, and 16 compares. Source:
// docs/adr/0039.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "net/addresses.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

struct IsolatedHost {
  Instant hot_until;      // long_past(): it is not hot, or only others have said so
  Instant heard_at;       // the last message
  Instant isolated_at;    // the last packet put or kept in the isolated class; long_past(): none
                          // can still be here
  uint64_t packets = 0;   // put or kept in the isolated class
  uint64_t flows = 0;     // of these, a bit a flow: flow_bit()
  uint32_t sequence = 0;  // of the last message
  uint32_t crossed_ns = 0;
  SwitchId origin;  // who said so; none(): nobody, packets showed it
  uint16_t set = 0;
  bool noticed = false;    // since it became hot, a packet from a host here has been isolated
  bool described = false;  // a packet has shown its destination, which is in HostDescription
  bool whole = false;      // while `described`: the tag is the host's, else a flow's to it

  bool hot(Instant now) const { return now < hot_until; }
  // From these bits of many flows their number can be guessed.
  static uint64_t flow_bit(uint64_t order_hash) { return uint64_t{1} << (order_hash >> 32 & 63); }
};
static_assert(sizeof(IsolatedHost) + sizeof(uint32_t) <= 64);

// For people.
struct HostDescription {
  IpAddress destination;     // while `described`
  Instant hot_since;         // as heard here; long_past(): never
  uint32_t queue_bytes = 0;  // of its port, by the last message
  LeafId leaf;               // its own, by messages or path set; none(): not known yet
};
static_assert(sizeof(HostDescription) <= 32);

class IsolatedHosts {
 public:
  explicit IsolatedHosts(size_t hosts)
      : rows_(std::bit_ceil(std::max(hosts, kWays)) / kWays),
        hosts_(rows_.size() * kWays),
        descriptions_(rows_.size() * kWays) {}

  size_t count() const { return count_; }
  size_t places() const { return hosts_.size(); }

  IsolatedHost* find(uint32_t tag) {
    const size_t row = row_of(tag);
    const size_t way = way_of(rows_[row], tag);
    return way < kWays ? &hosts_[row * kWays + way] : nullptr;
  }
  // Known, or new and neither hot nor isolated; null: there is no place.
  IsolatedHost* insert(uint32_t tag) {
    const size_t row = row_of(tag);
    size_t way = way_of(rows_[row], tag);
    if (way < kWays) return &hosts_[row * kWays + way];
    way = way_of(rows_[row], 0);
    if (way == kWays) return nullptr;
    rows_[row][way] = tag;
    ++count_;
    IsolatedHost& host = hosts_[row * kWays + way];
    host = {.hot_until = Instant::long_past(),
            .heard_at = Instant::long_past(),
            .isolated_at = Instant::long_past(),
            .origin = SwitchId::none()};
    describe(host) = {.hot_since = Instant::long_past(), .leaf = LeafId::none()};
    return &host;
  }
  HostDescription& describe(const IsolatedHost& host) {
    return descriptions_[static_cast<size_t>(&host - hosts_.begin())];
  }
  template <class Done>  // bool(uint32_t tag, IsolatedHost&): it is to be forgotten
  void forget_if(Done&& done) {
    for (size_t row = 0; row < rows_.size(); ++row)
      for (size_t way = 0; way < kWays; ++way) {
        uint32_t& tag = rows_[row][way];
        if (tag == 0 || !done(tag, hosts_[row * kWays + way])) continue;
        tag = 0;
        --count_;
      }
  }
  // void(uint32_t tag, const IsolatedHost&, const HostDescription&) of those known among `count`
  // places from `from` on; count 0 to places().
  template <class Visit>
  void for_each(size_t from, size_t count, Visit&& visit) const {
    for (size_t place = from; place < from + count; ++place)
      if (const uint32_t tag = rows_[place / kWays][place % kWays]; tag != 0)
        visit(tag, hosts_[place], descriptions_[place]);
  }
  void rebase(const Rebase& rebase) {
    forget_if([&](uint32_t /*tag*/, IsolatedHost& host) {
      rebase.shift(host.hot_until);
      rebase.shift(host.heard_at);
      rebase.shift(host.isolated_at);
      rebase.shift(describe(host).hot_since);
      return false;
    });
  }

 private:
  static constexpr size_t kWays = 16;
  using Row = std::array<uint32_t, kWays>;  // 0: free

  size_t row_of(uint32_t tag) const { return tag & (rows_.size() - 1); }
  static size_t way_of(const Row& row, uint32_t tag) {
    size_t found = kWays;
    for (size_t way = kWays; way-- > 0;)
      if (row[way] == tag) found = way;
    return found;
  }

  Reserved<Row> rows_;  // a power of two
  Reserved<IsolatedHost> hosts_;
  Reserved<HostDescription> descriptions_;  // of hosts_, in their order
  size_t count_ = 0;
};

}  // namespace eddy
