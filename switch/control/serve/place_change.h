// PlaceChange: a reload by which ports come or go, step by step.
//
// The devices of ports that come are opened first; those of ports that go are closed last. In
// between a port that goes is down until nothing of it is left anywhere in the switch, and a place
// that changes its worker is nobody's until every worker has seen that. What goes wrong before the
// last step is undone: then the configuration that was in force is in force, with devices as they
// were. Owner and thread: control's. Bounds: it waits kRounds times. Source: docs/adr/0049.
#pragma once

#include <functional>

#include "config/places.h"
#include "net/result.h"
#include "switch/control/report/backend.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::control {

class PlaceChange {
 public:
  static constexpr int kRounds = 50'000;

  struct Steps {
    std::function<Problems()> meet;  // ShardCommands::meet()
    std::function<void()> wait;      // between two looks at what is left of a port
    std::function<void()> settled;   // before the new configuration is in force
  };
  PlaceChange(Switch& object, Backend& backend, Steps steps)
      : object_(object), backend_(backend), steps_(std::move(steps)) {}

  // The generation that is in force then, or why nothing has changed. What could not be closed
  // afterwards is in late_problems().
  Result<uint64_t> apply(const config::Seating& next);
  const Problems& late_problems() const { return late_problems_; }

 private:
  Problems plug(const config::Seating& next);
  void unplug_added();
  bool needs_between(const config::Seating& next) const;
  config::SwitchConfig between(const config::Seating& next) const;
  Problems make_room(const config::Seating& next);
  Problems what_is_left(const config::Seating& next) const;
  void undo(const config::Seating& next, const config::SwitchConfig& before);

  Switch& object_;
  Backend& backend_;
  Steps steps_;
  std::vector<PortId> plugged_;
  Problems late_problems_;
};

}  // namespace eddy::control
