// What the live page shows, as server-sent events, from the readings of `top`: which switches and
// links there are ("shape"), and their numbers ("values"), and the tables of one port.
//
// Numbers are as in reports, counters as the switches count them: who shows them makes differences
// of them, so an event that was missed does no harm. A link is a row of links_report(). Owner: who
// calls. Cost: that of links_report(), and linear in links and rows of RLB.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "switch/control/report/json.h"
#include "switch/control/top/links.h"
#include "switch/control/web/web_server.h"

namespace eddy::control {

class LivePicture {
 public:
  // `title`: whose switches they are; `every_ms`: between two pictures.
  LivePicture(std::string title, int64_t every_ms)
      : title_(std::move(title)), every_ms_(every_ms) {}

  // `rlb`: each switch's report of RLB, by the position of `switches`, or an empty object.
  // `at_ms`: the wall clock's, since 1970. The shape's number grows when the shape changes.
  Picture draw(std::span<const SwitchReading> switches, std::span<const Json> rlb, int64_t at_ms);

 private:
  const std::string title_;
  const int64_t every_ms_;
  Picture last_;
};

// A report as a browser has it: {"report", "keys", "head", "rows", "below"}, cells as texts.
Json cells_of(const Json& report);

}  // namespace eddy::control
