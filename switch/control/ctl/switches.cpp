#include "switch/control/ctl/switches.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "net/text/plain_name.h"
#include "switch/control/report/words.h"
#include "switch/control/serve/client.h"
#include "system/run_folder.h"

namespace eddy::control {
namespace {

namespace fs = std::filesystem;

// Where eddylab keeps its fabrics, a folder for each: root's, or this user's.
fs::path fabrics_folder() {
  const char* user = geteuid() == 0 ? nullptr : std::getenv("XDG_RUNTIME_DIR");
  return (user == nullptr ? fs::path(kSocketDirectory) : fs::path(user) / "eddy") / "lab";
}

std::string listed(const std::set<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// Those of socket_files() that are not memif's.
std::map<std::string, std::string> control_sockets(const std::string& folder) {
  std::map<std::string, std::string> found = socket_files(folder);
  std::erase_if(found,
                [](const auto& each) { return is_of_another_type(each.second, SOCK_STREAM); });
  return found;
}

// Names of the fabrics of eddylab that have sockets.
std::set<std::string> fabrics() {
  std::set<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fabrics_folder(), ignored))
    if (!socket_files(entry.path()).empty()) found.insert(entry.path().filename());
  return found;
}

// Why there is nobody, as far as the folder says.
Problems nobody(const Arguments& arguments, const Sockets& sockets) {
  const fs::path folder = folder_of(arguments);
  std::error_code error;
  (void)fs::directory_iterator(folder, error);
  if (error == std::errc::permission_denied)
    return {folder.string() + ": only its owner and group may look into it"};
  const std::string telemetry = arguments.folder.empty() ? dpdk_run_folder() : "";
  Problems out{"no switch runs here (looked in " + folder.string() +
               (telemetry.empty() ? "" : " and " + telemetry) + ")"};
  for (const auto& [name, problem] : sockets.problems) out.push_back(problem);
  return out;
}

// No name was given; the problem, or empty and the name is that of the only one that runs.
Problems choose_only_one(Arguments& arguments, const Sockets& sockets) {
  if (sockets.running.size() > 1)
    return {"several switches run here, choose with --name: " + listed(sockets.running)};
  if (sockets.running.empty()) return nobody(arguments, sockets);
  arguments.name = *sockets.running.begin();
  return {};
}

}  // namespace

std::string folder_of(const Arguments& arguments) {
  return arguments.folder.empty() ? std::string(kSocketDirectory) : arguments.folder;
}

std::map<std::string, std::string> socket_files(const std::string& folder) {
  std::map<std::string, std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".sock" && is_plain_name(path.stem().native()) &&
        entry.is_socket(ignored))
      found[path.stem()] = path;
  }
  return found;
}

Problems choose_folder(Arguments& arguments) {
  std::error_code error;
  if (!arguments.folder.empty() && !fs::is_directory(arguments.folder, error))
    return {"--dir " + arguments.folder + ": there is no such folder"};
  if (!arguments.of_fabric) return {};
  const std::set<std::string> known = fabrics();
  if (arguments.fabric.empty()) {
    if (known.size() > 1)
      return {"several fabrics run here, choose with --fabric: " + listed(known)};
    if (known.empty()) return {};  // the switches that are no fabric of eddylab's
    arguments.fabric = *known.begin();
  }
  if (!known.contains(arguments.fabric))
    return {"no fabric \"" + arguments.fabric + "\" runs here" +
            (known.empty() ? "" : "; running: " + listed(known))};
  arguments.folder = fabrics_folder() / arguments.fabric;
  return {};
}

Sockets find_sockets(const Arguments& arguments) {
  Sockets found;
  for (const auto& [name, path] : control_sockets(folder_of(arguments))) {
    const Problems problems = try_socket(path, SOCK_STREAM);
    if (problems.empty()) found.running.insert(name);
    if (!problems.empty()) found.problems[name] = problems.front();
  }
  if (!arguments.folder.empty()) return found;
  // eddyd's own user has its folder of DPDK's below that of the sockets.
  for (const std::string& base :
       {dpdk_run_folder().string(), std::string(kSocketDirectory) + "/dpdk"})
    for (const auto& [name, socket] : telemetry_sockets(base)) found.running.insert(name);
  return found;
}

Problems choose_switch(Arguments& arguments) {
  if (!arguments.socket.empty()) return {};
  if (!arguments.name.empty()) {
    Problems problems = try_socket(control_socket(arguments), SOCK_STREAM);
    std::error_code error;
    (void)fs::exists(control_socket(arguments), error);
    if (problems.empty() || error == std::errc::permission_denied) return problems;
  }
  const Sockets sockets = find_sockets(arguments);
  if (arguments.name.empty()) return choose_only_one(arguments, sockets);
  if (sockets.running.contains(arguments.name)) return {};
  const auto problem = sockets.problems.find(arguments.name);
  if (problem != sockets.problems.end()) return {problem->second};
  return {"no switch \"" + arguments.name + "\" runs here" +
          (sockets.running.empty() ? "" : "; running: " + listed(sockets.running))};
}

std::string control_socket(const Arguments& arguments) {
  if (!arguments.socket.empty()) return arguments.socket;
  return fs::path(folder_of(arguments)) / (arguments.name + ".sock");
}

Result<std::vector<Target>> targets_of(Arguments arguments) {
  if (!asks_all(arguments)) {
    if (Problems problems = choose_switch(arguments); !problems.empty()) return problems;
    const std::string path = control_socket(arguments);
    return std::vector<Target>{
        {arguments.name.empty() ? fs::path(path).stem().string() : arguments.name, path}};
  }
  std::vector<Target> targets;
  for (const auto& [name, path] : control_sockets(folder_of(arguments)))
    targets.push_back({name, path});
  if (targets.empty()) return nobody(arguments, {});
  return targets;
}

}  // namespace eddy::control
