#include "switch/control/ctl/healthy.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "switch/control/ctl/ask.h"
#include "switch/control/ctl/health.h"
#include "switch/control/ctl/switches.h"
#include "system/hostile_json.h"

namespace eddy::control {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGiveUpMs = 2'000;  // for a worker to poll; others may have its CPU
constexpr auto kFirstWait = std::chrono::milliseconds(1);
constexpr auto kLongestWait = std::chrono::milliseconds(50);

int milliseconds_since(Clock::time_point then) {
  return static_cast<int>(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - then).count());
}

// Reads the workers again until all have polled or their time is over.
Problems watch_workers(const std::string& socket, Health& health) {
  const Result<Json> before = ask_report(socket, Report::workers, {});
  if (!before.ok()) return before.problems();
  const Clock::time_point began = Clock::now();
  for (auto wait = kFirstWait;; wait = std::min(2 * wait, kLongestWait)) {
    std::this_thread::sleep_for(wait);
    const Result<Json> now = ask_report(socket, Report::workers, {});
    if (!now.ok()) return now.problems();
    const std::vector<Json> still = still_workers(before.value(), now.value());
    const int waited_ms = milliseconds_since(began);
    if (!still.empty() && waited_ms < kGiveUpMs) continue;
    judge_workers(now.value(), still, waited_ms, health);
    return {};
  }
}

Problems read_health(const std::string& socket, PortChoice choice, Health& health) {
  const Result<Json> ports = ask_report(socket, Report::ports, {});
  if (!ports.ok()) return ports.problems();
  judge_ports(ports.value(), choice, health);
  const Result<Json> schemes = ask_report(socket, Report::schemes, {});
  if (!schemes.ok()) return schemes.problems();
  judge_scheme(schemes.value(), health);
  return watch_workers(socket, health);
}

Health health_of(const std::string& socket, PortChoice choice) {
  Health health;
  try {
    for (std::string& problem : read_health(socket, choice, health))
      health.problems.push_back(std::move(problem));
  } catch (const std::exception& error) {  // of JSON: whoever answered is no switch
    health.problems.push_back(socket + ": the answer is not as expected: " + error.what());
  }
  return health;
}

std::vector<Health> health_of_all(const std::vector<Target>& targets, PortChoice choice) {
  std::vector<Health> out(targets.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < targets.size(); ++i)
    threads.emplace_back([&, i] { out[i] = health_of(targets[i].socket, choice); });
  threads.clear();  // waits for them
  return out;
}

int say_in_json(const std::vector<Target>& targets, const std::vector<Health>& healths,
                const Problems& problems) {
  Json switches = Json::array();
  bool all_well = problems.empty();
  for (size_t i = 0; i < targets.size(); ++i) {
    switches.push_back(health_json(targets[i].name, healths[i]));
    all_well = all_well && healths[i].problems.empty();
  }
  std::cout << json_line({{"healthy", all_well}, {"problems", problems}, {"switches", switches}})
            << std::flush;
  return all_well ? kDone : kRefused;
}

int say_in_words(const std::vector<Target>& targets, const std::vector<Health>& healths) {
  int code = kDone;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (healths[i].problems.empty())
      std::cout << targets[i].name << " is healthy (" << health_line(healths[i]) << ")\n";
    Problems lines;
    for (const std::string& problem : healths[i].problems)
      lines.push_back(targets[i].name + ": " + problem);
    if (!lines.empty()) code = fail(kRefused, lines);
  }
  std::cout << std::flush;
  return code;
}

}  // namespace

int healthy(const Arguments& arguments) {
  const PortChoice choice = parse_port_choice(arguments.ports).value_or(PortChoice::fabric);
  const Result<std::vector<Target>> targets = targets_of(arguments);
  if (!targets.ok())
    return arguments.json ? say_in_json({}, {}, targets.problems())
                          : fail(kRefused, targets.problems());
  const std::vector<Health> healths = health_of_all(targets.value(), choice);
  return arguments.json ? say_in_json(targets.value(), healths, {})
                        : say_in_words(targets.value(), healths);
}

}  // namespace eddy::control
