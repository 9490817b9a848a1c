#include "switch/narrow.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "config/capabilities.h"
#include "switch/control/report/words.h"
#include "switch/dpdk/privilege_plan.h"
#include "system/privileges.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kGroupToo = 007;
constexpr mode_t kRunFolder = 0770;

// Where sockets are looked for; somebody has to make it, and then it is the own user's.
void make_run_folder() {
  const std::string folder(control::kSocketDirectory);
  const std::optional<User> own = find_user(kOwnUser);
  if (!own || ::geteuid() != 0 || ::mkdir(folder.c_str(), kRunFolder) != 0) return;
  if (::chown(folder.c_str(), own->uid, own->gid) == 0) return;
  std::error_code ignored;
  fs::remove(folder, ignored);  // without CAP_CHOWN it stays to be made by whoever needs it
}

std::string socket_folder(const config::SwitchConfig& config) {
  if (config.control.socket.empty()) return std::string(control::kSocketDirectory);
  return fs::path(config.control.socket).parent_path();
}

PrivilegeView view_of_process(const config::SwitchConfig& config, const std::string& config_path) {
  PrivilegeView view;
  view.rights = rights_of_process();
  view.find_user = find_user;
  view.own_group = find_group(kOwnUser);
  view.check_files = [files = files_of(config, config_path, socket_folder(config))](
                         const User& user) mutable {
    files.push_back({std::string(control::kSocketDirectory), true});  // DPDK's files are there, too
    return check_files_as(user, files);
  };
  return view;
}

void say_what_is_left(const Narrowing& narrowing) {
  const auto left = config::CapabilitySet::of_mask(rights_of_process().capabilities);
  spdlog::info("runs as {} with {}", narrowing.user ? narrowing.user->name : "its user",
               left.empty() ? "no capability" : left.words("CAP_", ", "));
}

}  // namespace

Problems narrow_privileges(const config::SwitchConfig& config, const DaemonPlan& plan,
                           const std::string& config_path) {
  ::umask(kGroupToo);
  make_run_folder();
  auto made = plan_privileges(config, plan, view_of_process(config, config_path));
  if (!made) return made.problems();
  for (const std::string& warning : made->warnings) spdlog::warn("{}", warning);
  for (const std::string& note : made->notes) spdlog::info("{}", note);
  if (!made->narrows) return {};
  if (Problems problems = give_up(made->narrowing); !problems.empty()) return problems;
  if (made->narrowing.user)
    ::setenv("XDG_RUNTIME_DIR", std::string(control::kSocketDirectory).c_str(), 1);
  say_what_is_left(made->narrowing);
  return {};
}

}  // namespace eddy
