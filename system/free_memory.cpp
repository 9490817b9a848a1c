#include "system/free_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace eddy {

uint64_t free_memory_in(std::istream& meminfo) {
  constexpr uint64_t kKib = 1'024;
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t kib = 0;
    if (words >> name >> kib && name == "MemAvailable:") return kib * kKib;
  }
  return 0;
}

uint64_t free_memory() {
  std::ifstream meminfo("/proc/meminfo");
  if (const uint64_t available = free_memory_in(meminfo); available > 0) return available;
  return static_cast<uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L)) *
         static_cast<uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
}

}  // namespace eddy
