// What CLI11 says of a command line that it cannot read, or of --help: words of the command line
// are quoted in it, so each of its lines passes printable(). Returns CLI11's exit status, 0 for
// --help.
#pragma once

#include <iostream>
#include <sstream>

#include "system/log_lines.h"

namespace eddy {

template <class App, class Error>
int say_usage(const App& app, const Error& error) {
  std::ostringstream out;
  std::ostringstream complaint;
  const int code = app.exit(error, out, complaint);
  std::cout << out.str() << std::flush;
  say_lines(LogLevel::error, complaint.str());
  return code;
}

}  // namespace eddy
