#include "switch/control/serve/service_report.h"

#include <algorithm>

namespace eddy::control {
namespace {

constexpr size_t kMostNames = 8;
constexpr int64_t kNsInUs = 1'000;

// "a, b and 3 more"
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i)
    out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames)
    out += " and " + std::to_string(names.size() - kMostNames) + " more";
  return out;
}

bool all_up(const std::vector<PortReadiness>& ports) {
  return std::all_of(ports.begin(), ports.end(),
                     [](const PortReadiness& port) { return port.up || !port.wanted; });
}

// Workers that have not polled since.
std::vector<size_t> still_since(const std::vector<uint64_t>& before,
                                const std::vector<uint64_t>& now) {
  std::vector<size_t> still;
  for (size_t i = 0; i < now.size() && i < before.size(); ++i)
    if (now[i] == before[i]) still.push_back(i);
  return still;
}

}  // namespace

void ServiceReport::start(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  started_ns_ = now_ns;
  fed_ns_ = now_ns;
  say_status("starts", now_ns);
}

void ServiceReport::tick(const std::vector<PortReadiness>& ports,
                         const std::vector<uint64_t>& polls, int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  feed(polls, now_ns);
  const bool late = now_ns - started_ns_ >= setup_.ready_within_ns;
  if (!ready_ && (late || all_up(ports))) become_ready(ports, now_ns);
  if (now_ns - status_ns_ >= kStatusNs) say_status(status_of(ports), now_ns);
}

// `fed_polls_` are those at the last sign of life, so a worker that polled only just after it is
// found still at the next but one.
void ServiceReport::feed(const std::vector<uint64_t>& polls, int64_t now_ns) {
  if (setup_.watchdog_ns == 0 || now_ns - fed_ns_ < setup_.watchdog_ns / kSignsInTime) return;
  still_ = still_since(fed_polls_, polls);
  if (!still_.empty()) return;
  fed_ns_ = now_ns;
  fed_polls_ = polls;
  setup_.sink("WATCHDOG=1");
}

void ServiceReport::become_ready(const std::vector<PortReadiness>& ports, int64_t now_ns) {
  ready_ = true;
  status_ = status_of(ports);
  status_ns_ = now_ns;
  setup_.sink("READY=1\nSTATUS=" + status_);
}

void ServiceReport::say_status(const std::string& status, int64_t now_ns) {
  if (status == status_) return;
  status_ = status;
  status_ns_ = now_ns;
  setup_.sink("STATUS=" + status_);
}

std::string ServiceReport::status_of(const std::vector<PortReadiness>& ports) const {
  std::vector<std::string> down;
  size_t wanted = 0;
  for (const PortReadiness& port : ports) {
    wanted += port.wanted ? 1 : 0;
    if (port.wanted && !port.up) down.push_back(port.name);
  }
  std::string out =
      "ports up: " + std::to_string(wanted - down.size()) + " of " + std::to_string(wanted);
  if (!down.empty()) out += "; down: " + listed(down);
  std::vector<std::string> still;
  for (const size_t worker : still_) still.push_back(std::to_string(worker));
  if (!still.empty()) out += "; workers that do not advance: " + listed(still);
  return reloaded_.empty() ? out : out + "; " + reloaded_;
}

// A manager that was not told that the switch is ready would take the end of a reload for that.
void ServiceReport::reload_begins(int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (!ready_ || stopping_) return;
  setup_.sink("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_ns / kNsInUs) +
              "\nSTATUS=reloads the configuration");
  status_.clear();
}

void ServiceReport::reload_ends(const std::string& outcome) {
  const std::lock_guard lock(mutex_);
  reloaded_ = "last reload: " + outcome;
  if (!ready_ || stopping_) return;
  status_ = reloaded_;
  setup_.sink("READY=1\nSTATUS=" + status_);
}

void ServiceReport::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  setup_.sink("STOPPING=1\nSTATUS=sends XON and drains its queues");
}

}  // namespace eddy::control
