// A run as lines of JSON, for runs that are compared: every event as it came, and in the end every
// counter that is not zero.
//
// {"at_ns", "event", "port", "prio", "value"}, then {"port", "prio" | "queue" | "pg", "counter",
// "value"} and {"port", "drop", "value"} by port in the order of counters.h, and how many packets
// are still held. Nothing is limited or rounded but times, down to the nanosecond. Pure functions;
// the object must not be polled meanwhile. Source: architecture, sections 4 and 11.
#pragma once

#include <string>

#include "config/config.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/events.h"

namespace eddy::control {

std::string event_record(const Event& event, const config::SwitchConfig& config);
// Takes the events that wait, shard by shard.
std::string take_event_records(Switch& object);
std::string counter_records(const Switch& object);

}  // namespace eddy::control
