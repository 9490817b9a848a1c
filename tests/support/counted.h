// All counters of a switch that are not zero, by name, so that a test can say what was counted and,
// by that, that nothing else was.
//
// "0.rx_packets" is of port 0; "0/3.pg_rx_packets" of its priority group, queue or priority 3;
// "0.drops.runt" a reason to drop. Summed over shards.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/counters.h"

namespace eddy::test {

using Counted = std::map<std::string, uint64_t>;

namespace detail {

template <class Array>
void add_counted(Counted& all, const std::string& where, std::span<const CounterInfo> infos,
                 const Array& counters) {
  for (size_t i = 0; i < infos.size(); ++i)
    if (counters.read(i) != 0) all[where + std::string(infos[i].name)] += counters.read(i);
}

}  // namespace detail

inline Counted counted(const Switch& object) {
  Counted all;
  for (size_t shard = 0; shard < object.shard_count(); ++shard) {
    const Counters& counters = object.counters(ShardId(shard));
    for (size_t port = 0; port < counters.port_count(); ++port) {
      const PortCounters of = counters[PortId(port)];
      const std::string at = std::to_string(port);
      detail::add_counted(all, at + ".", port_counter_infos(), of.port);
      detail::add_counted(all, at + ".drops.", drop_reason_infos(), of.drops);
      for (size_t i = 0; i < kPriorities; ++i) {
        const std::string in = at + "/" + std::to_string(i) + ".";
        detail::add_counted(all, in, queue_counter_infos(), of.queue[i]);
        detail::add_counted(all, in, pg_counter_infos(), of.pg[i]);
        detail::add_counted(all, in, pfc_counter_infos(), of.pfc[i]);
      }
    }
  }
  return all;
}

// Those whose name, behind the point, begins with one of the words.
inline Counted only(const Counted& all, std::initializer_list<std::string_view> words) {
  Counted some;
  for (const auto& [name, value] : all)
    for (const std::string_view word : words)
      if (std::string_view(name).substr(name.find('.') + 1).starts_with(word)) some[name] = value;
  return some;
}

}  // namespace eddy::test
