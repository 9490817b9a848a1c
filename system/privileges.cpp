#include "system/privileges.h"

#include <cap-ng.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

namespace eddy {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100;  // a child tells which by its exit status

bool holds(uint64_t mask, unsigned capability) {
  return (mask >> capability & 1) != 0;
}

#ifdef __SANITIZE_THREAD__
constexpr size_t kOnlyThread = 2;  // its own, which does nothing of ours
#else
constexpr size_t kOnlyThread = 1;
#endif

size_t count_threads() {
  std::error_code ignored;
  size_t count = 0;
  for (auto task = fs::directory_iterator("/proc/self/task", ignored); task != fs::end(task);
       ++task)
    ++count;
  return count;
}

// What has to be there for `need`, and how.
bool allows(const FileNeed& need) {
  fs::path path = need.path;
  std::error_code ignored;
  while (need.write && path.has_relative_path() && !fs::exists(fs::symlink_status(path, ignored)))
    path = path.parent_path();
  const int mode = need.write ? R_OK | W_OK | X_OK : R_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

// In the child: 0, or one more than the place of the first that it cannot have.
int first_refused(const User& user, const std::vector<FileNeed>& files) {
  if (::setgid(user.gid) != 0 || ::initgroups(user.name.c_str(), user.gid) != 0 ||
      ::setuid(user.uid) != 0)
    return kMostFiles + 1;
  for (size_t i = 0; i < files.size() && i < kMostFiles; ++i)
    if (!allows(files[i])) return static_cast<int>(i) + 1;
  return 0;
}

Problems failed(const std::string& what) {
  return {"capabilities cannot be given up: " + what};
}

// What libcap-ng says when it could not.
std::string said_by(int result) {
  return "libcap-ng says " + std::to_string(result) + " (" + std::strerror(errno) + ")";
}

// Those groups that there are, and the old one of the process: its files stay within reach.
bool keep_old_group() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  if (!groups.empty() && ::getgroups(static_cast<int>(groups.size()), groups.data()) < 0)
    return false;
  groups.push_back(::getegid());
  return ::setgroups(groups.size(), groups.data()) == 0;
}

Problems check_what_is_left(const Narrowing& narrowing, uint64_t wanted, bool bounding) {
  const std::map<std::string, uint64_t> left = capability_masks();
  const bool exact = left.at("CapEff") == wanted && left.at("CapPrm") == wanted &&
                     left.at("CapInh") == 0 && left.at("CapAmb") == 0;
  if (!exact) return failed("some are left");
  if (bounding && left.at("CapBnd") != 0) return failed("the bounding set is not empty");
  if (narrowing.user && (::getuid() != narrowing.user->uid || ::geteuid() != narrowing.user->uid))
    return failed("the user is another than " + narrowing.user->name);
  return {};
}

}  // namespace

std::optional<User> find_user(const std::string& name) {
  const passwd* found = ::getpwnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  return User{name, found->pw_uid, found->pw_gid};
}

std::optional<gid_t> find_group(const std::string& name) {
  const group* found = ::getgrnam(name.c_str());
  if (found == nullptr) return std::nullopt;
  return found->gr_gid;
}

Problems check_files_as(const User& user, const std::vector<FileNeed>& files) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(first_refused(user, files));
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return {"it cannot be told what user " + user.name + " may do"};
  const auto which = static_cast<size_t>(WEXITSTATUS(status));
  if (which == 0) return {};
  if (which > files.size()) return {"this process cannot become user " + user.name};
  const FileNeed& refused = files[which - 1];
  return {"user " + user.name + " cannot " + (refused.write ? "write in " : "read ") +
          refused.path};
}

Problems give_up(const Narrowing& narrowing) {
  if (count_threads() > kOnlyThread) return failed("the process has more than one thread");
  const Rights before = rights_of_process();
  const uint64_t keep = narrowing.keep & before.capabilities;
  const bool bounding = holds(before.capabilities, CAP_SETPCAP);
  if (narrowing.group && !keep_old_group()) return failed("the groups cannot be changed");
  capng_clear(CAPNG_SELECT_ALL);
  for (unsigned capability = 0; capability < 64; ++capability)
    if (holds(keep, capability))
      capng_update(CAPNG_ADD, static_cast<capng_type_t>(CAPNG_EFFECTIVE | CAPNG_PERMITTED),
                   capability);
  int flags = bounding ? CAPNG_CLEAR_BOUNDING : CAPNG_NO_FLAG;
  if (narrowing.user) flags |= CAPNG_INIT_SUPP_GRP;
  const int uid = narrowing.user ? static_cast<int>(narrowing.user->uid) : -1;
  const int gid = narrowing.user    ? static_cast<int>(narrowing.user->gid)
                  : narrowing.group ? static_cast<int>(*narrowing.group)
                                    : -1;
  if (const int result = capng_change_id(uid, gid, static_cast<capng_flags_t>(flags)); result != 0)
    return failed(said_by(result));
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed(std::strerror(errno));
  // A change of user makes a process's own /proc files root's, and it reads there: the sockets of
  // drivers, by /proc/self/fd.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return check_what_is_left(narrowing, keep, bounding);
}

}  // namespace eddy
