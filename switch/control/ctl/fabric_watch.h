// FabricWatch: reads all switches of a folder again and again, each in a thread of its own, so that
// one that is slow or hangs keeps nobody waiting.
//
// look() asks every switch for the report that is wanted and waits a moment for the answers; who
// has not answered by then is shown as it was last, and as silent once its time is over. Sockets
// that come are switches that come; those that go are shown as gone. Owner: one thread, which calls
// look(). Bounds: a thread and two reports a switch.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "switch/control/ctl/switches.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"
#include "switch/control/top/links.h"

namespace eddy::control {

class FabricWatch {
 public:
  explicit FabricWatch(std::string folder);
  explicit FabricWatch(const Target& only);  // one switch, wherever its socket is
  ~FabricWatch();                            // waits for nobody who hangs
  FabricWatch(const FabricWatch&) = delete;
  FabricWatch& operator=(const FabricWatch&) = delete;

  // Reads anew: ports, and `report` if it is another one. Waits until all have answered that have
  // before, at most `patience`.
  void look(Report report, std::chrono::milliseconds patience);

  // As last read; the same positions. A switch without a report of the kind has an empty object.
  const std::vector<SwitchReading>& switches() const { return switches_; }
  const std::vector<Json>& reports() const { return reports_; }

 private:
  class Reader;
  void find_new();
  bool all_done() const;
  void collect(Report report);

  const std::string folder_;  // empty: of one switch
  const int stop_fd_;
  std::vector<std::unique_ptr<Reader>> readers_;  // by name
  std::vector<SwitchReading> switches_;
  std::vector<Json> reports_;
};

}  // namespace eddy::control
