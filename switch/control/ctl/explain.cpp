#include "switch/control/ctl/explain.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/switches.h"
#include "switch/explain/story.h"
#include "system/hostile_json.h"

namespace eddy::control {

int explain(const Arguments& arguments, const std::string& packet) {
  const Result<Json> said =
      ask(control_socket(arguments), {{"command", "explain"}, {"packet", packet}});
  if (!said.ok()) return fail(kRefused, said.problems());
  std::cout << (arguments.json ? json_line(said.value())
                               : explain::lines_of(with_printable_texts(said.value())))
            << std::flush;
  return kDone;
}

}  // namespace eddy::control
