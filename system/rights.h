// Rights of this process: what it holds of what only root has by itself.
//
// Numbers of capabilities are the kernel's, as bits of a mask. They belong to threads: what is said
// is of the thread that asks. Cost: a file of /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace eddy {

// The masks of /proc/self/status, by name: "CapEff", ...
std::map<std::string, uint64_t> capability_masks();

inline constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
struct Rights {
  uint64_t capabilities = 0;  // effective
  uid_t uid = 0;
  uint64_t lockable = kNoLimit;  // octets of memory that may be locked without CAP_IPC_LOCK

  bool may_change_group() const { return (capabilities >> kSetGid & 1) != 0; }
  bool may_change_user() const { return may_change_group() && (capabilities >> kSetUid & 1) != 0; }

 private:
  static constexpr unsigned kSetGid = 6;  // CAP_SETGID
  static constexpr unsigned kSetUid = 7;
};
Rights rights_of_process();

}  // namespace eddy
