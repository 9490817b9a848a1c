#include "switch/control/ctl/techsupport.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "net/version.h"
#include "switch/control/ctl/archive.h"
#include "switch/control/ctl/dossier.h"
#include "switch/control/ctl/machine.h"
#include "switch/control/ctl/secrets.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/top/links.h"

namespace eddy::control {
namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kReadme =
    R"(What eddyctl techsupport has collected.

machine.txt                          kernel, distribution, CPUs, memory, hugepages, limits of the group
links.json, switches.json            the topology, as eddyctl top --all has it
problems.txt                         what could not be had, and why
SWITCH/configuration_in_force.yaml   what the switch runs with
SWITCH/configuration_file.yaml       what its file says now
SWITCH/versions.txt                  of eddyd and DPDK
SWITCH/reports/                      every report of eddyctl show, with all rows
SWITCH/dpdk.json                     what DPDK's telemetry says of ports and memory
SWITCH/process.txt                   limits, state and threads of the process

No environment and no command line is in it. Values that follow words such as password, secret or
token are ***. Names, addresses (IP and MAC), routes and comments of the configuration are in it.
)";

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%SZ", &parts);
  return text.data();
}

std::vector<Dossier> dossiers_of(const std::vector<Target>& targets) {
  std::vector<Dossier> out(targets.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < targets.size(); ++i)
    threads.emplace_back([&, i] { out[i] = dossier_of(targets[i]); });
  threads.clear();  // waits for them
  return out;
}

void add_topology(const std::vector<Dossier>& dossiers, Files& files) {
  std::vector<SwitchReading> readings;
  for (const Dossier& each : dossiers) readings.push_back(each.reading);
  files["links.json"] = links_report("", readings).at("rows").dump(1, ' ', true) + "\n";
  files["switches.json"] = switches_report("", readings).at("rows").dump(1, ' ', true) + "\n";
}

std::string lines_of(const Problems& problems) {
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  return text.empty() ? "none\n" : text;
}

// All but the top folder's name; adds to `problems`.
Files collect(const std::vector<Target>& targets, Problems& problems) {
  const std::vector<Dossier> dossiers = dossiers_of(targets);
  Files files;
  for (size_t i = 0; i < targets.size(); ++i) {
    for (const auto& [name, text] : dossiers[i].files) files[targets[i].name + "/" + name] = text;
    for (const std::string& problem : dossiers[i].problems)
      problems.push_back(targets[i].name + ": " + problem);
  }
  add_topology(dossiers, files);
  files["machine.txt"] = version_line("eddyctl") + "\n\n" + machine_text();
  files["problems.txt"] = lines_of(problems);
  files["README.txt"] = kReadme;
  return files;
}

Problems write(const std::string& path, const std::string& folder, const Files& files) {
  Archive archive(path);
  if (Problems problems = archive.open(); !problems.empty()) return problems;
  for (const auto& [name, text] : files)
    if (Problems problems = archive.add(folder + "/" + name, without_secrets(text));
        !problems.empty())
      return problems;
  return archive.finish();
}

// The one that is named, or all of the folder, of which there may be none: a switch that does not
// start is a fault, too.
Result<std::vector<Target>> wanted(Arguments& arguments, Problems& problems) {
  arguments.options.all = arguments.name.empty() && arguments.socket.empty();
  Result<std::vector<Target>> targets = std::vector<Target>{};
  if (asks_all(arguments)) {
    targets = targets_of(arguments);
    if (targets.ok()) return targets;
    problems = targets.problems();
    return std::vector<Target>{};
  }
  const std::string socket = control_socket(arguments);
  if (access(socket.c_str(), F_OK) != 0) return targets_of(arguments);  // says who runs instead
  const std::string name = arguments.name.empty() ? "switch" : arguments.name;
  return std::vector<Target>{{name, socket}};
}

}  // namespace

Problems check_techsupport(const Arguments& arguments) {
  if (arguments.out == "-" && isatty(STDOUT_FILENO) != 0)
    return {"--out -: standard output is a terminal; name a file"};
  return {};
}

int techsupport(Arguments arguments) {
  if (Problems problems = check_techsupport(arguments); !problems.empty())
    return fail(kUsage, problems);
  Problems problems;
  const Result<std::vector<Target>> targets = wanted(arguments, problems);
  if (!targets.ok()) return fail(kRefused, targets.problems());
  const std::string folder = "eddy-techsupport-" + now_text();
  const std::string path = arguments.out.empty() ? folder + ".tar.gz" : arguments.out;
  const Files files = collect(targets.value(), problems);
  if (Problems refused = write(path, folder, files); !refused.empty()) {
    if (arguments.out.empty()) refused.front() += " (--out names another place, - standard output)";
    return fail(kRefused, refused);
  }
  if (!problems.empty()) fail(kDone, problems);
  if (path != "-")
    std::cout << path << ": " << files.size() << " files of " << targets.value().size()
              << (targets.value().size() == 1 ? " switch\n" : " switches\n");
  return kDone;
}

}  // namespace eddy::control
