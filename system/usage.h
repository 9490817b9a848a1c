// What CLI11 says of a command line that it cannot read, or of --help: words of the command line
// are quoted in it, so it passes printable_lines(). Returns CLI11's exit status, 0 for --help.
#pragma once

#include <iostream>
#include <sstream>

#include "net/text/printable.h"

namespace eddy {

template <class App, class Error>
int say_usage(const App& app, const Error& error) {
  std::ostringstream out;
  std::ostringstream complaint;
  const int code = app.exit(error, out, complaint);
  std::cout << out.str() << std::flush;
  std::cerr << printable_lines(complaint.str());
  return code;
}

}  // namespace eddy
