#include "system/say.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "net/text/printable.h"

namespace eddy {

void say(std::string_view before, const Problems& lines, LogLevel level) {
  for (const std::string& line : lines) log_line(level, std::string(before) + printable(line));
}

int end_of_output(std::string_view before, int code) {
  errno = 0;
  std::cout.flush();
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout;
  const int error = errno;
  if (is_written || error == EPIPE) return code;
  say(before, {std::string("standard output: ") +
               (error == 0 ? "not all of it could be written" : std::strerror(error))});
  return code == 0 ? 1 : code;
}

}  // namespace eddy
