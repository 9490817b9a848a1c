// What control says on standard error: events and its own doings, for people or as JSON lines.
//
// Texts may quote names and files of others: on a terminal they are printable(), in JSON escaped.
//
// Level of an event: losses are errors, trouble is a warning, PFC back and forth is debug (not
// printed by default, always in `show events`). Thread: any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/ids.h"
#include "switch/control/report/event_log.h"
#include "switch/control/report/json.h"
#include "switch/control/serve/log_format.h"

namespace spdlog {
class logger;
}

namespace eddy::control {

class Log {
 public:
  using PortName = std::function<std::string(PortId)>;
  Log(LogFormat format, PortName port_name);

  void event(const LoggedEvent& logged) const;
  void info(const std::string& text) const;
  void error(const std::string& text) const;

 private:
  LogFormat format_;
  PortName port_name_;
  std::shared_ptr<spdlog::logger> logger_;
};

// Lets spdlog's own logger, which the daemon uses before there is a switch, say printable() lines.
void make_default_log_printable();

// The line of an event, without time and level; JSON when the format says so.
std::string event_line(const LoggedEvent& logged, const std::string& port, LogFormat format);

}  // namespace eddy::control
