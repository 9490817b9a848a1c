#include "switch/control/serve/place_change.h"

#include <algorithm>
#include <string>
#include <utility>

namespace eddy::control {
namespace {

const std::string& name_of(const config::SwitchConfig& config, PortId port) {
  return config.ports[port.index()].name;
}

// What still is of the port, in words; empty: nothing.
std::string remains_of(const Switch& object, PortId port) {
  for (size_t i = 0; i < kPriorities; ++i) {
    const PgStatus pg = object.pg_status(port, PriorityGroupId(i));
    if (pg.used != 0)
      return std::to_string(pg.used) + " octets that came by it wait for other ports (PG " +
             std::to_string(i) + ")";
    if (pg.pausing) return "its PG " + std::to_string(i) + " still pauses its sender";
    if (object.queue_status(port, QueueId(i)).used != 0)
      return "its queue " + std::to_string(i) + " is not empty";
  }
  return object.signals(port).up.load(std::memory_order_relaxed) != 0 ? "it is still up" : "";
}

}  // namespace

Result<uint64_t> PlaceChange::apply(const config::Seating& next) {
  const config::SwitchConfig before = object_.config();
  if (Problems problems = plug(next); !problems.empty()) return problems;
  if (Problems problems = make_room(next); !problems.empty()) {
    undo(next, before);
    return problems;
  }
  steps_.settled();
  Result<uint64_t> generation = object_.reconfigure(next.config);
  if (!generation.ok()) {
    undo(next, before);
    return generation;
  }
  late_problems_ = steps_.meet();
  for (const PortId port : next.removed)
    for (std::string& problem : backend_.unplug_port(port))
      late_problems_.push_back(std::move(problem));
  for (const PortId place : next.added) backend_.use_port(place);
  return generation;
}

Problems PlaceChange::plug(const config::Seating& next) {
  for (const PortId place : next.added) {
    Problems problems = backend_.plug_port(place, next.config);
    if (!problems.empty()) {
      unplug_added();
      return problems;
    }
    plugged_.push_back(place);
  }
  return {};
}

void PlaceChange::unplug_added() {
  for (const PortId place : plugged_) (void)backend_.unplug_port(place);
  plugged_.clear();
}

bool PlaceChange::needs_between(const config::Seating& next) const {
  const std::vector<config::PortConfig>& now = object_.config().ports;
  return !next.removed.empty() || std::ranges::any_of(next.added, [&](PortId place) {
    return now[place.index()].worker != next.config.ports[place.index()].worker;
  });
}

// As it is in force, with ports that go down, and empty places with the workers of those that come.
config::SwitchConfig PlaceChange::between(const config::Seating& next) const {
  config::SwitchConfig config = object_.config();
  for (const PortId port : next.removed) config.ports[port.index()].admin_up = false;
  for (const PortId place : next.added)
    config.ports[place.index()].worker = next.config.ports[place.index()].worker;
  return config;
}

Problems PlaceChange::make_room(const config::Seating& next) {
  if (!needs_between(next)) return {};
  if (const auto done = object_.reconfigure(between(next)); !done.ok()) return done.problems();
  for (const PortId port : next.removed) backend_.set_admin_up(port, false);
  if (Problems late = steps_.meet(); !late.empty()) return late;
  Problems left = what_is_left(next);
  for (int round = 0; round < kRounds && !left.empty(); ++round) {
    steps_.wait();
    left = what_is_left(next);
  }
  return left;
}

Problems PlaceChange::what_is_left(const config::Seating& next) const {
  Problems problems;
  for (const PortId port : next.removed)
    if (const std::string what = remains_of(object_, port); !what.empty())
      problems.push_back("port " + name_of(object_.config(), port) + " cannot go: " + what +
                         "; nothing is changed");
  return problems;
}

void PlaceChange::undo(const config::Seating& next, const config::SwitchConfig& before) {
  unplug_added();
  if (!(object_.config() == before)) (void)object_.reconfigure(before);
  for (const PortId port : next.removed)
    backend_.set_admin_up(port, before.ports[port.index()].admin_up);
  (void)steps_.meet();
}

}  // namespace eddy::control
