#include "lab/real/process_fabric.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "config/document.h"
#include "lab/real/choose_deployment.h"
#include "lab/real/programs.h"
#include "lab/real/switch_config.h"
#include "lab/run/flow_results.h"
#include "net/text/plain_name.h"
#include "system/hostile_json.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr Duration kAnswer = Duration::seconds(5);
constexpr Duration kEnd = Duration::seconds(5);  // from SIGTERM on
constexpr auto kLook = std::chrono::milliseconds(50);

std::string last_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  for (std::string next; std::getline(stream, next);)
    if (!next.empty()) line = next;
  return line.empty() ? "it said nothing" : line;
}

// Null: it is no JSON within bounds.
Json read_json(const std::string& text) {
  const Result<Json> json = parse_json("", text, kAnswerBounds);
  return json ? json.value() : Json();
}

Json read_state(const fs::path& folder) {
  const Result<Json> state = read_json_file(folder / "state.json", kFileBounds);
  return state ? state.value() : Json();
}

struct Known {
  pid_t pid = 0;
  uint64_t started = 0;
  bool lives() const { return process_start(pid) == started; }
};
Known known_of(const Json& pair) {
  return {pair.at(0).get<pid_t>(), pair.at(1).get<uint64_t>()};
}
Json state_of(pid_t pid) {
  return Json::array({pid, process_start(pid).value_or(0)});
}

bool name_ok(const std::string& name) {
  constexpr size_t kLongest = 20;
  return is_plain_name(name) && name.size() <= kLongest &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

DeploymentKind deployment_of(const Json& state) {
  const Json kind = state.value("deployment", Json::object());
  const DeploymentKind none;
  return {.word = kind.value("word", none.word), .host = kind.value("host", none.host)};
}

// Ends what is left of a fabric whose owner is gone.
Problems clear_remains(const fs::path& folder) {
  const Json state = read_state(folder);
  std::vector<Known> left;
  if (state.is_object())
    for (const Json& pair : state.value("processes", Json::array())) left.push_back(known_of(pair));
  for (const int number : {SIGTERM, SIGKILL}) {
    std::erase_if(left, [](const Known& each) { return !each.lives(); });
    for (const Known& each : left) kill(each.pid, number);
    for (auto waited = std::chrono::milliseconds(0);
         waited.count() < kEnd.ns() / 1'000'000 && std::ranges::any_of(left, &Known::lives);
         waited += kLook)
      std::this_thread::sleep_for(kLook);
  }
  Problems problems;
  if (state.is_object()) problems = make_deployment(deployment_of(state))->clear(folder.filename());
  if (!problems.empty()) return problems;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return {};
}

// Makes the folder; refuses one that somebody uses.
Problems claim(const fs::path& folder, const std::string& name) {
  const Json state = read_state(folder);
  if (state.is_object() && known_of(state.at("owner")).lives())
    return {
        fmt::format("a fabric named {} is up already (process {}); eddylab down {} ends it, "
                    "--name gives another name",
                    name, known_of(state.at("owner")).pid, name)};
  if (Problems problems = clear_remains(folder); !problems.empty()) return problems;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {folder.string() + ": " + error.message()};
  return {};
}

}  // namespace

fs::path real_folder() {
  const char* user = geteuid() == 0 ? nullptr : std::getenv("XDG_RUNTIME_DIR");
  return (user == nullptr ? fs::path("/run") : fs::path(user)) / "eddy" / "lab";
}

RealFabric::RealFabric(Topology topology, std::string name, const Deployment& deployment)
    : topology_(std::move(topology)),
      name_(std::move(name)),
      folder_(real_folder() / name_),
      deployment_(deployment) {}

Result<std::unique_ptr<RealFabric>> RealFabric::start(const config::Experiment& experiment,
                                                      uint64_t seed, const std::string& name,
                                                      const Deployment& deployment) {
  using Started = Result<std::unique_ptr<RealFabric>>;
  if (!name_ok(name))
    return Started::failure("--name " + name +
                            ": valid are 1 to 20 of a to z, 0 to 9 and -, no - first");
  Result<Topology> topology = unscaled_topology(experiment);
  if (!topology) return topology.problems();
  if (Problems problems = check_real(experiment, *topology); !problems.empty()) return problems;
  seed_switches(*topology, seed);
  if (Problems problems = claim(real_folder() / name, name); !problems.empty()) return problems;
  std::unique_ptr<RealFabric> fabric(new RealFabric(std::move(*topology), name, deployment));
  if (Problems problems = fabric->save_state(); !problems.empty())
    return problems;  // ours from now
  if (Problems problems = deployment.claim(name, fabric->folder(), fabric->nodes());
      !problems.empty())
    return problems;
  if (Problems problems = fabric->write_files(experiment); !problems.empty()) return problems;
  if (Problems problems = fabric->start_switches(); !problems.empty()) return problems;
  return fabric;
}

RealFabric::~RealFabric() {
  for (const ChildProcess& each : switches_) each.signal(SIGTERM);
  for (ChildProcess& each : switches_) each.wait(kEnd);
  switches_.clear();  // kills who does not end
  // What cannot be cleared now can be by down, which finds it by the folder.
  if (!deployment_.clear(name_).empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string RealFabric::control_name(size_t index) const {
  return topology_.switches[index].name + ".sock";
}

std::vector<std::string> RealFabric::nodes() const {
  std::vector<std::string> names = {kHostsNode};
  for (const config::SwitchConfig& each : topology_.switches) names.push_back(each.name);
  return names;
}

Problems RealFabric::write_files(const config::Experiment& experiment) {
  for (size_t i = 0; i < topology_.switches.size(); ++i) {
    const RealPlace place{
        .sockets = inside(), .control = inside() / control_name(i), .prefix = name_ + "-"};
    const fs::path file = folder_ / (topology_.switches[i].name + ".yaml");
    std::ofstream stream(file);
    stream << config::print_config(real_switch(experiment, topology_, i, place));
    if (!stream.flush()) return {file.string() + ": cannot be written"};
  }
  return {};
}

Result<ChildProcess> RealFabric::start_node(const RealNode& node) const {
  return ChildProcess::start(deployment_.start(name_, folder_, node));
}

Problems RealFabric::start_switches() {
  for (const config::SwitchConfig& each : topology_.switches) {
    Result<ChildProcess> child =
        start_node({.name = each.name,
                    .program = "eddyd",
                    .arguments = {"--config", inside() / (each.name + ".yaml")},
                    .log = folder_ / (each.name + ".log")});
    if (!child) return child.problems();
    switches_.push_back(std::move(*child));
  }
  return save_state();
}

Problems RealFabric::save_state() const {
  const DeploymentKind& kind = deployment_.kind();
  Json state = {{"owner", state_of(getpid())},
                {"deployment", {{"word", kind.word}, {"host", kind.host}}},
                {"processes", Json::array()}};
  for (const ChildProcess& each : switches_) state["processes"].push_back(state_of(each.pid()));
  std::ofstream stream(folder_ / "state.json");
  stream << state.dump() << "\n";
  if (!stream.flush()) return {(folder_ / "state.json").string() + ": cannot be written"};
  return {};
}

Problems RealFabric::check_alive() {
  for (size_t i = 0; i < switches_.size(); ++i)
    if (const auto status = switches_[i].ended()) {
      const std::string& name = topology_.switches[i].name;
      return {fmt::format("eddyd {} ended ({}): {}", name, *status,
                          last_line(folder_ / (name + ".log")))};
    }
  return {};
}

bool RealFabric::fabric_ports_up(size_t index) const {
  const Result<std::string> said = output_of({program_beside("eddyctl"), "--json", "--socket",
                                              folder_ / control_name(index), "show", "ports"},
                                             kAnswer);
  if (!said) return false;
  const Json report = read_json(said.value());
  if (!report.is_object()) return false;
  const Json rows = report.value("rows", Json::array());
  return rows.size() == topology_.switches[index].ports.size() &&
         std::ranges::all_of(rows, [](const Json& row) {
           return row.value("role", "") == "host" || row.value("admin", "") == "down" ||
                  row.value("oper", "") == "up";
         });
}

Result<bool> RealFabric::wait_until_up(Duration time, const std::atomic<bool>& interrupt) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.ns());
  for (size_t up = 0; up < switches_.size();) {
    if (interrupt.load(std::memory_order_relaxed)) return false;
    if (Problems problems = check_alive(); !problems.empty()) return problems;
    if (fabric_ports_up(up)) {
      ++up;
      continue;
    }
    if (std::chrono::steady_clock::now() > until)
      return Result<bool>::failure(
          fmt::format("eddyd {}: its ports are not up within {} s: {}", topology_.switches[up].name,
                      time / Duration::seconds(1),
                      last_line(folder_ / (topology_.switches[up].name + ".log"))));
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

Result<Duration> RealFabric::poll_gap() {
  Duration longest;
  for (size_t i = 0; i < switches_.size(); ++i) {
    const Result<std::string> said = output_of({program_beside("eddyctl"), "--json", "--socket",
                                                folder_ / control_name(i), "show", "workers"},
                                               kAnswer);
    if (!said) return said.problems();
    const Json report = read_json(said.value());
    if (!report.is_object())
      return Result<Duration>::failure(fmt::format("eddyd {}: it does not say how it is polled: {}",
                                                   topology_.switches[i].name, said.value()));
    for (const Json& row : report.value("rows", Json::array()))
      longest = std::max(
          longest,
          Duration::nanoseconds(static_cast<int64_t>(row.value("poll_gap_p999_ns", uint64_t{0}))));
  }
  return longest;
}

Problems take_down(const std::string& name, Deployment* containers) {
  const fs::path folder = real_folder() / name;
  std::error_code error;
  const bool there_is = name_ok(name) && fs::exists(folder, error);
  if (containers != nullptr && !there_is && name_ok(name)) return containers->clear(name);
  if (!there_is) {
    std::string there;
    for (const std::string& each : real_fabrics()) there += (there.empty() ? "" : ", ") + each;
    return {fmt::format("no fabric named {} is up{}", name,
                        there.empty() ? "" : "; there are: " + there)};
  }
  const Json state = read_state(folder);
  if (state.is_object()) {
    const Known owner = known_of(state.at("owner"));
    if (owner.lives()) kill(owner.pid, SIGTERM);
    for (auto waited = std::chrono::milliseconds(0);
         waited.count() < 3 * kEnd.ns() / 1'000'000 && owner.lives(); waited += kLook)
      std::this_thread::sleep_for(kLook);
    if (owner.lives())
      return {
          fmt::format("process {} does not end; what it has is in {}", owner.pid, folder.string())};
  }
  return clear_remains(folder);
}

std::vector<std::string> real_fabrics() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(real_folder(), error))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace eddy::lab
