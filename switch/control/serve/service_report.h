// ServiceReport: what a service manager is told of a running switch, and when.
//
// Ready: all ports that should be up are up, or the time for that is over. A peer that is not there
// must not keep a switch from being ready for ever: two switches that wait for each other, each
// started after the other is ready, would wait for good. Which ports are down is in the status.
// A sign of life goes out only when every worker has polled since the last one. Times are control's
// monotonic nanoseconds. Threads: any, one mutex; the sink is called with it held. Cost: linear in
// ports and workers. Source: sd_notify(3).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace eddy::control {

struct PortReadiness {
  std::string name;
  bool wanted = true;  // its configuration has it up
  bool up = false;
};

class ServiceReport {
 public:
  static constexpr int64_t kStatusNs = 1'000'000'000;  // at most one status in that time
  static constexpr int64_t kSignsInTime = 4;           // of life, in what the watchdog allows

  struct Setup {
    int64_t ready_within_ns = 0;  // after start(); then ready all the same
    int64_t watchdog_ns = 0;      // a sign of life at least this often; 0: none is wanted
    std::function<void(const std::string& lines)> sink;
  };
  explicit ServiceReport(Setup setup) : setup_(std::move(setup)) {}

  void start(int64_t now_ns);
  // `polls`: of each worker since its start.
  void tick(const std::vector<PortReadiness>& ports, const std::vector<uint64_t>& polls,
            int64_t now_ns);
  void reload_begins(int64_t now_ns);
  void reload_ends(const std::string& outcome);  // "generation 7 is in force"
  void stop();

 private:
  void feed(const std::vector<uint64_t>& polls, int64_t now_ns);
  void become_ready(const std::vector<PortReadiness>& ports, int64_t now_ns);
  void say_status(const std::string& status, int64_t now_ns);
  std::string status_of(const std::vector<PortReadiness>& ports) const;

  const Setup setup_;
  std::mutex mutex_;
  int64_t started_ns_ = 0;
  bool ready_ = false;
  bool stopping_ = false;
  std::string status_;  // as last sent
  int64_t status_ns_ = 0;
  std::string reloaded_;  // the outcome of the last reload
  int64_t fed_ns_ = 0;
  std::vector<uint64_t> fed_polls_;
  std::vector<size_t> still_;  // workers that kept the last sign of life from going out
};

}  // namespace eddy::control
