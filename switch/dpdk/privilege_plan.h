// PrivilegePlan: what a configuration lets eddyd give up of what it holds, and whether what it
// holds will do.
//
// A function of the configuration and of what was found of the process; system/privileges.h does
// it. Control plane, before EAL starts. Source: config/capabilities.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/dpdk/plan.h"
#include "system/privileges.h"

namespace eddy {

inline constexpr const char* kOwnUser = "eddy";  // and its group

// What was found of this process and this machine; given by tests.
struct PrivilegeView {
  Rights rights;
  std::function<std::optional<User>(const std::string& name)> find_user;
  std::optional<gid_t> own_group;  // of the name kOwnUser
  // What keeps a user from the files of the configuration.
  std::function<Problems(const User& user)> check_files;
};

struct PrivilegePlan {
  Narrowing narrowing;
  bool narrows = true;  // false: nothing is known of a port's driver, so nothing is given up
  std::vector<std::string> notes;
  std::vector<std::string> warnings;
};

// `config` as scaled. Problems are for people: a port's or a kind's capability that is missing, a
// limit of locked memory that is too low, a user that cannot be become.
Result<PrivilegePlan> plan_privileges(const config::SwitchConfig& config, const DaemonPlan& plan,
                                      const PrivilegeView& view);

// Octets that a port's driver locks: af_packet's rings, af_xdp's packet buffers.
Bytes locked_memory_of(const config::PortConfig& port, const DaemonPlan& plan);

// What a user must be able to do with files for this configuration.
std::vector<FileNeed> files_of(const config::SwitchConfig& config, const std::string& config_path,
                               const std::string& control_folder);

}  // namespace eddy
