// Privileges of this process: giving up what it does not need, for good.
//
// Capabilities belong to threads, and a thread inherits those of the one that starts it: give_up()
// is for a process with one thread, and refuses others. Numbers of capabilities are the kernel's,
// as bits of a mask. Owner: main, before anything else is started. Cost: some system calls.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/result.h"
#include "system/rights.h"

namespace eddy {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};
std::optional<User> find_user(const std::string& name);
std::optional<gid_t> find_group(const std::string& name);

// What somebody must be able to do with a path. A folder that is to be written in may be missing;
// the first one above it that is there counts then.
struct FileNeed {
  std::string path;
  bool write = false;
};
// Tried by a child process of that user, without capabilities; empty: all will do.
Problems check_files_as(const User& user, const std::vector<FileNeed>& files);

struct Narrowing {
  uint64_t keep = 0;           // capabilities; those that are not held are not asked for
  std::optional<User> user;    // to become
  std::optional<gid_t> group;  // to have as the group, with the user that there is
};
// Nothing started from here on can get more (no_new_privs). The bounding set is emptied where the
// process may. What remains is read back: problems when it is not what was asked for.
[[nodiscard]] Problems give_up(const Narrowing& narrowing);

}  // namespace eddy
