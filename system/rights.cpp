#include "system/rights.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace eddy {

std::map<std::string, uint64_t> capability_masks() {
  std::map<std::string, uint64_t> out;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Cap")) out[line.substr(0, 6)] = std::stoull(line.substr(8), nullptr, 16);
  return out;
}

Rights rights_of_process() {
  Rights out;
  const std::map<std::string, uint64_t> masks = capability_masks();
  const auto effective = masks.find("CapEff");
  out.capabilities = effective == masks.end() ? 0 : effective->second;
  out.uid = ::geteuid();
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    out.lockable = limit.rlim_cur;
  return out;
}

}  // namespace eddy
