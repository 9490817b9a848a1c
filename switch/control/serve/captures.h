// Captures: begins and ends the capture of packets, one at a time, for a client of the control
// socket, and says what the client must know to read it.
//
// Workers copy into rings and wait for nobody; nothing of a packet passes control. The capture ends
// with the connection of who asked. Owner: Operations, under control's mutex. Units: now and the
// Unix clock are asked for once, when it begins. Source: docs/adr/0043; docs/control.md.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "net/capture/capture_order.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/control/report/json.h"
#include "switch/control/report/shard_commands.h"
#include "switch/control/serve/capture_memory.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::control {

class Captures {
 public:
  Captures(Switch& object, ShardCommands& commands) : object_(object), commands_(commands) {}

  struct Begun {
    Json answer;
    std::vector<Fd> descriptors;
  };
  // `now`: of the workers' clock, at this moment.
  Result<Begun> begin(const Json& request, Instant now);
  // The same of packets that are traced (docs/explain.md): one or the other runs, not both.
  Result<Begun> begin_trace(const Json& request, Instant now);
  // As often as one likes.
  void end();
  bool running() const { return capture_ != nullptr; }

 private:
  // Lives until the last shard has let go of it.
  struct Capture {
    std::shared_ptr<CaptureMemory> memory;
    std::vector<CaptureOrder> orders;  // by shard
    TraceOrder trace;                  // of them, where packets are traced
  };
  Result<Begun> begin(const CaptureOrder& order, std::shared_ptr<Capture> capture, Instant now);
  Json describe(const CaptureOrder& order) const;

  Switch& object_;
  ShardCommands& commands_;
  std::shared_ptr<Capture> capture_;  // null: none runs
};

}  // namespace eddy::control
