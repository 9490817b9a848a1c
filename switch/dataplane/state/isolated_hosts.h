// IsolatedHosts: destinations whose packets are put into the isolated class, or were lately.
//
// A host is hot until `hot_until`. One that is not stays known while packets to it may be in the
// isolated class on this switch, so that none of them is overtaken. A row of tags is one cache
// line; what is known of a host stands beside it. Owner: one shard; made by control. Bounds: 64
// octets a host, tag included; a host whose row is full has no place. Cost of find(): a line, and
// 16 compares. Source: docs/adr/0039.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

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
  uint32_t sequence = 0;  // of the last message
  uint32_t crossed_ns = 0;
  SwitchId origin;  // who said so
  uint16_t set = 0;
  bool noticed = false;  // since it became hot, a packet from a host here has been isolated

  bool hot(Instant now) const { return now < hot_until; }
};
static_assert(sizeof(IsolatedHost) + sizeof(uint32_t) <= 64);

class IsolatedHosts {
 public:
  explicit IsolatedHosts(size_t hosts)
      : rows_(std::bit_ceil(std::max(hosts, kWays)) / kWays), hosts_(rows_.size() * kWays) {}

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
            .isolated_at = Instant::long_past()};
    return &host;
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
  void rebase(const Rebase& rebase) {
    forget_if([&rebase](uint32_t /*tag*/, IsolatedHost& host) {
      rebase.shift(host.hot_until);
      rebase.shift(host.heard_at);
      rebase.shift(host.isolated_at);
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
  size_t count_ = 0;
};

}  // namespace eddy
