#include "system/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "system/unix_socket.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "eddy.lock";
constexpr const char* kTelemetry = "dpdk_telemetry.v2";
constexpr mode_t kOwnerOnly = 0700;

Problems refused(const fs::path& folder) {
  return {folder.string() + ": " + std::strerror(errno)};
}

bool make(const fs::path& folder) {
  return ::mkdir(folder.c_str(), kOwnerOnly) == 0 || errno == EEXIST;
}

// A folder of ours and nobody else's, not a link to one.
Problems make_own(const fs::path& folder) {
  if (!make(folder)) return refused(folder);
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) return refused(folder);
  if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid()) return {};
  return {folder.string() + ": this is no folder of this user"};
}

bool is_same_file(int fd, const fs::path& path) {
  struct stat opened {};
  struct stat there {};
  return ::fstat(fd, &opened) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

// Removes what stands in a folder, but for the lock.
void clear(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename() != kLock) fs::remove_all(entry.path(), ignored);
}

}  // namespace

fs::path dpdk_run_folder() {
  if (::getuid() == 0) return "/var/run/dpdk";
  const char* user = std::getenv("XDG_RUNTIME_DIR");
  return user == nullptr || *user != '/' ? fs::path() : fs::path(user) / "dpdk";
}

Result<std::unique_ptr<RunFolder>> RunFolder::claim(const fs::path& folder,
                                                    const std::string& who) {
  const Problems in_the_way{who + " runs already (" + folder.string() + ")"};
  if (!make(folder.parent_path())) return refused(folder.parent_path());
  for (;;) {
    if (Problems problems = make_own(folder); !problems.empty()) return problems;
    const int lock =
        ::open((folder / kLock).c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0 && errno == ENOENT) continue;  // the one before has just removed the folder
    if (lock < 0) return refused(folder / kLock);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock);
      return in_the_way;
    }
    if (!is_same_file(lock, folder / kLock)) {  // it removed the file that we hold
      ::close(lock);
      continue;
    }
    // A process of DPDK that knows no such lock.
    if (socket_path_state(folder / kTelemetry) == SocketPath::held) {
      ::close(lock);
      return in_the_way;
    }
    clear(folder);
    return std::unique_ptr<RunFolder>(new RunFolder(folder, lock));
  }
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

}  // namespace eddy
