#include "system/say.h"

#include <cstdio>

#include "net/text/printable.h"

namespace eddy {

void say(std::string_view before, const Problems& lines) {
  for (const std::string& line : lines) {
    const std::string whole = std::string(before) + printable(line) + "\n";
    std::fwrite(whole.data(), 1, whole.size(), stderr);
  }
}

}  // namespace eddy
