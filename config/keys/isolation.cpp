// The keys of congestion isolation.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

// The two classes, and how they are told apart on the wire.
std::vector<Key> pair_keys() {
  using S = IsolationConfig;
  using enum KeyClass;
  return {
      key<S>(&S::enabled, {.name = "enabled", .help = "congested hosts are isolated at all"}),
      key<S>(&S::normal, {.name = "class",
                          .key_class = restart,
                          .max = kPriorities - 1,
                          .help = "traffic class whose packets are isolated"}),
      key<S>(&S::isolated,
             {.name = "isolated_class",
              .key_class = restart,
              .max = kPriorities - 1,
              .help = "traffic class that they are put into between switches; its priority "
                      "group, queue and priority are nobody else's"}),
      key<S>(&S::dscp, {.name = "dscp",
                        .key_class = restart,
                        .max = 63,
                        .absent = "auto",
                        .help = "of packets that may be isolated; others of the class are "
                                "left alone. auto: the lowest that leads to the class"}),
      key<S>(&S::isolated_dscp,
             {.name = "isolated_dscp",
              .key_class = restart,
              .max = 63,
              .absent = "auto",
              .help = "that isolated packets have between switches; the last leaf puts dscp "
                      "back. auto: the lowest that leads to isolated_class"}),
  };
}

// When a host is congested, and for how long others believe it.
std::vector<Key> news_keys() {
  using S = IsolationConfig;
  using enum KeyClass;
  return {
      key<S>(&S::threshold,
             {.name = "threshold",
              .min = 1,
              .max = kGib,
              .absent = "auto",
              .help = "octets in a host port's queue above which the hosts behind it are hot; "
                      "auto: what the port sends in 12us, and at least 8 frames"}),
      key<S>(&S::cold,
             {.name = "cold",
              .max = kGib,
              .absent = "auto",
              .help = "octets below which they are hot no more; auto: half of threshold"}),
      key<S>(&S::refresh, {.name = "refresh",
                           .min = kMicrosecond,
                           .max = kSecond,
                           .help = "how often a leaf says that a host is still hot"}),
      key<S>(&S::life, {.name = "life",
                        .min = kMicrosecond,
                        .max = 4 * kSecond,
                        .help = "how long that is believed; at least twice refresh"}),
      key<S>(&S::stay,
             {.name = "stay",
              .min = kMicrosecond,
              .max = kSecond,
              .help = "a host that is cold, and to which no isolated packet has come for so "
                      "long, is forgotten once the isolated queues are empty"}),
      key<S>(
          &S::hosts,
          {.name = "hosts",
           .key_class = restart,
           .min = 16,
           .max = 65'536,
           .help = "congested hosts known, of a shard, and flows that are named "
                   "in place of theirs, up to 4 each; 92 octets each. Packets of those beyond are "
                   "not isolated"}),
      key<S>(&S::relays, {.name = "relays",
                          .max = 4,
                          .help = "switches that pass a leaf's news on: 1 in two tiers, 3 in "
                                  "three"}),
      key<S>(&S::most_hot,
             {.name = "most_hot",
              .min = 1,
              .max = 100,
              .help = "percent of a leaf's host ports; while so many are hot, it takes 4 "
                      "times the threshold for another, since where everybody is congested "
                      "nobody is to be put apart"}),
  };
}

// Which flows through a fabric port are put apart.
std::vector<Key> long_flow_keys() {
  using S = IsolationConfig;
  return {
      key<S>(&S::long_flows,
             {.name = "long_flows",
              .help = "long flows through a crowded fabric port are isolated, too, by each switch "
                      "for itself"}),
      key<S>(&S::crowded, {.name = "crowded",
                           .min = 1,
                           .max = kGib,
                           .absent = "auto",
                           .help = "octets in both queues of a fabric port, while neither is "
                                   "paused, above which it is; auto: what it sends in 12us, and "
                                   "at least 8 frames"}),
      key<S>(&S::long_flow,
             {.name = "long_flow",
              .min = 1,
              .max = kGib,
              .absent = "auto",
              .help = "octets of a flow that find the port crowded until it is long; auto: what "
                      "the port sends in 60us, and at least 8 frames"}),
  };
}

}  // namespace

template <>
const Section& section_of<IsolationConfig>() {
  static const Section section = [] {
    std::vector<Key> keys = pair_keys();
    std::ranges::copy(news_keys(), std::back_inserter(keys));
    std::ranges::copy(long_flow_keys(), std::back_inserter(keys));
    return make_section(
        "isolation",
        "Packets to a host whose leaf port is congested go into a lossless class apart, from their "
        "first switch on, so that PFC stops them and nobody else. Switch it on everywhere in a "
        "fabric. Both classes are lossless on fabric ports; `rlb` need not be on.",
        std::move(keys), IsolationConfig{});
  }();
  return section;
}

}  // namespace eddy::config
