// Which item of the traffic waits for which.
#include <algorithm>

#include "lab/fabric/text_table.h"
#include "lab/traffic/traffic_item.h"

namespace eddy::lab {
namespace {

// Who waits for whom.
class AfterCheck {
 public:
  AfterCheck(const std::vector<config::TrafficConfig>& traffic, Problems& problems)
      : traffic_(traffic), before_(config::predecessors(traffic)), problems_(problems) {}

  void run() {
    for (size_t i = 0; i < traffic_.size(); ++i) {
      if (traffic_[i].after.empty()) continue;
      const auto named = std::ranges::count_if(traffic_, [&](const config::TrafficConfig& each) {
        return config::name_of(each) == traffic_[i].after;
      });
      if (named > 1)
        problem(i, std::to_string(named) + " items are called " + in_quotes(traffic_[i].after) +
                       ", give each a name of its own");
      else if (before_[i] == config::kNoItem)
        problem(i, "no item is called " + in_quotes(traffic_[i].after) + ", there are " + names());
      else
        check_circle(i);
    }
  }

 private:
  void problem(size_t item, const std::string& text) {
    problems_.push_back("traffic." + std::to_string(item) + ".after: " + text);
  }
  std::string names() const {
    std::string names;
    for (const config::TrafficConfig& each : traffic_)
      names += (names.empty() ? "" : ", ") + in_quotes(config::name_of(each));
    return names;
  }
  // Said once, of the first item that is in it.
  void check_circle(size_t first) {
    std::string way = in_quotes(config::name_of(traffic_[first]));
    size_t at = before_[first];
    for (size_t steps = 0; at != config::kNoItem && at > first && steps < traffic_.size();
         ++steps) {
      way += " after " + in_quotes(config::name_of(traffic_[at]));
      at = before_[at];
    }
    if (at == first) problem(first, "a circle, " + way + " after itself: none of them can begin");
  }

  const std::vector<config::TrafficConfig>& traffic_;
  const std::vector<size_t> before_;
  Problems& problems_;
};

}  // namespace

Problems after_problems(const config::Experiment& experiment) {
  Problems problems;
  AfterCheck(experiment.traffic, problems).run();
  return problems;
}

}  // namespace eddy::lab
