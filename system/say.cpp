#include "system/say.h"

#include <string>

#include "net/text/printable.h"

namespace eddy {

void say(std::string_view before, const Problems& lines, LogLevel level) {
  for (const std::string& line : lines) log_line(level, std::string(before) + printable(line));
}

}  // namespace eddy
