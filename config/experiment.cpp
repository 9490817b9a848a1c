#include "config/experiment.h"

#include <algorithm>
#include <string_view>

namespace eddy::config {
namespace {

class TrafficCheck {
 public:
  TrafficCheck(size_t index, const TrafficConfig& traffic, std::vector<std::string>& problems)
      : prefix_("traffic." + std::to_string(index)), traffic_(traffic), problems_(problems) {}

  void run() {
    check_type();
    if (traffic_.count < 1) problem(".count", "no flows, write 1 or more");
    const bool in_file = traffic_.type == TrafficType::trace;  // the start is, the stop is not
    const bool stops = !in_file && traffic_.type != TrafficType::collective;
    if (stops && traffic_.stop > Duration{} && traffic_.stop <= traffic_.start)
      problem(".stop", "not after start, no flow would start");
  }

 private:
  void problem(std::string_view key, std::string_view text) {
    problems_.push_back(prefix_ + std::string(key) + ": " + std::string(text));
  }
  void check_type() {
    switch (traffic_.type) {
      case TrafficType::poisson:
        return check_poisson();
      case TrafficType::incast:
        check_size();
        return check_incast();
      case TrafficType::burst:
        check_size();
        return check_repeat(traffic_.period > Duration{}, "period");
      case TrafficType::permutation:
      case TrafficType::all_to_all:
      case TrafficType::long_flow:
        return check_size();
      case TrafficType::collective:
        check_size();
        if (traffic_.chunks < 1) problem(".chunks", "no chunks, write 1 or more");
        return;
      case TrafficType::trace:
        if (traffic_.file.empty()) problem("", "no file, give the key 'file'");
        return;
    }
  }
  void check_size() {
    if (traffic_.size < Bytes(1)) problem("", "no size, give the key 'size', such as 64KiB");
  }
  void check_poisson() {
    if (traffic_.cdf.empty()) problem("", "no flow sizes, give the key 'cdf', such as web_search");
    if (!traffic_.rate && !(traffic_.load > 0 && traffic_.load <= 1))
      problem(".load", "a load is above 0 and at most 1");
    check_rate();
  }
  void check_incast() {
    if (traffic_.degree < 1) problem("", "no degree, give the key 'degree', such as 15");
    if (traffic_.size < Bytes(traffic_.degree))
      problem(".size", "less than 1 octet for each of 'degree' senders");
    if (traffic_.rate && traffic_.period > Duration{})
      problem(".rate", "both rate and period, give one of them");
    check_rate();
    check_repeat(traffic_.rate || traffic_.period > Duration{}, "period or rate");
  }
  void check_rate() {
    if (traffic_.rate && *traffic_.rate <= BitRate{}) problem(".rate", "a rate is above 0");
  }
  void check_repeat(bool repeats, std::string_view how) {
    if (traffic_.repeat > 1 && !repeats)
      problem(".repeat", "repeated without " + std::string(how) + ", give it");
  }

  std::string prefix_;
  const TrafficConfig& traffic_;
  std::vector<std::string>& problems_;
};

}  // namespace

std::string_view name_of(const TrafficConfig& traffic) {
  return traffic.name.empty() ? name_of(traffic.type) : std::string_view(traffic.name);
}

std::vector<size_t> predecessors(const std::vector<TrafficConfig>& traffic) {
  std::vector<size_t> before(traffic.size(), kNoItem);
  for (size_t i = 0; i < traffic.size(); ++i)
    for (size_t other = 0; other < traffic.size() && !traffic[i].after.empty(); ++other)
      if (name_of(traffic[other]) == traffic[i].after) before[i] = other;
  return before;
}

std::vector<std::string> traffic_problems(const Experiment& experiment) {
  std::vector<std::string> problems;
  for (size_t i = 0; i < experiment.traffic.size(); ++i)
    TrafficCheck(i, experiment.traffic[i], problems).run();
  return problems;
}

}  // namespace eddy::config
