#include "switch/control/report/event_record.h"

#include <nlohmann/json.hpp>
#include <span>

#include "switch/control/report/json.h"
#include "switch/control/report/sample.h"

namespace eddy::control {
namespace {

// Appends a line for each value that is not zero: `label`, then which counter, then the value.
template <size_t kCount>
void append(std::string& out, const Json& label, std::span<const CounterInfo> infos,
            const Values<kCount>& values, const char* what = "counter") {
  for (size_t i = 0; i < kCount; ++i) {
    if (values[i] == 0) continue;
    Json line = label;
    line[what] = std::string(infos[i].name);
    line["value"] = values[i];
    out += line.dump() + "\n";
  }
}

PortNumbers numbers_of(const Switch& object, PortId port) {
  PortNumbers sum;
  for (size_t shard = 0; shard < object.shard_count(); ++shard)
    sum += read_numbers(object.counters(ShardId(shard)), port);
  return sum;
}

void append_port(std::string& out, const Json& port, const PortNumbers& numbers) {
  append(out, port, port_counter_infos(), numbers.port);
  const auto labelled = [&port](const char* label, size_t number) {
    Json with = port;
    with[label] = number;
    return with;
  };
  for (size_t i = 0; i < kPriorities; ++i)
    append(out, labelled("queue", i), queue_counter_infos(), numbers.queue[i]);
  for (size_t i = 0; i < kPriorities; ++i)
    append(out, labelled("pg", i), pg_counter_infos(), numbers.pg[i]);
  for (size_t i = 0; i < kPriorities; ++i)
    append(out, labelled("prio", i), pfc_counter_infos(), numbers.pfc[i]);
  append(out, port, drop_reason_infos(), numbers.drops, "drop");
}

}  // namespace

std::string event_record(const Event& event, const config::SwitchConfig& config) {
  Json line;
  line["at_ns"] = event.at_ns();
  line["event"] = std::string(to_string(event.kind));
  if (!event.port.is_none()) {
    line["port"] = config.ports[event.port.index()].name;
    line["prio"] = event.priority.index();
  }
  line["value"] = event.value;
  return line.dump() + "\n";
}

std::string take_event_records(Switch& object) {
  std::string out;
  Event event;
  for (size_t shard = 0; shard < object.shard_count(); ++shard)
    while (object.events(ShardId(shard)).pop(event)) out += event_record(event, object.config());
  return out;
}

std::string counter_records(const Switch& object) {
  std::string out;
  const auto& ports = object.config().ports;
  for (size_t port = 0; port < ports.size(); ++port)
    if (!ports[port].absent())
      append_port(out, Json{{"port", ports[port].name}}, numbers_of(object, PortId(port)));
  return out + Json{{"held_packets", object.balance().held}}.dump() + "\n";
}

}  // namespace eddy::control
