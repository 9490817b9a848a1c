#include "lab/fabric/link_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "net/random.h"

namespace eddy::lab {
namespace {

constexpr uint32_t kFailedPurpose = 0x666c;    // "fl"
constexpr uint32_t kDegradedPurpose = 0x6467;  // "dg"
constexpr uint32_t kWeightedPurpose = 0x7774;  // "wt"

class Chooser {
 public:
  Chooser(FabricPlan& plan, uint64_t seed) : plan_(plan), seed_(seed) {
    for (size_t i = 0; i < plan.cables.size(); ++i) by_name_[plan.cables[i].name] = i;
  }

  // Calls act(cable) for each link of each choice.
  template <class Act>
  void apply(const std::vector<config::LinkChoice>& choices, const std::string& key,
             uint32_t purpose, Act act) {
    for (size_t i = 0; i < choices.size(); ++i) {
      const std::string place = key + "." + std::to_string(i);
      by_names(choices[i], place, act);
      by_fraction(choices[i], place, RandomStream(seed_, static_cast<uint32_t>(i), purpose), act);
    }
  }

  void refuse(const std::string& place, const std::string& what) {
    problems_.push_back(place + ": " + what);
  }
  Problems take() { return std::move(problems_); }

 private:
  template <class Act>
  void by_names(const config::LinkChoice& choice, const std::string& place, Act act) {
    if (choice.links.empty() && choice.fraction == 0)
      refuse(place, "chooses no link, give links by name or a fraction");
    for (size_t i = 0; i < choice.links.size(); ++i) {
      const auto found = by_name_.find(choice.links[i]);
      if (found == by_name_.end()) {
        refuse(place + ".links." + std::to_string(i),
               "no link \"" + choice.links[i] + "\"; " + what_there_is(choice.links[i]));
      } else {
        act(choice, plan_.cables[found->second]);
      }
    }
  }

  template <class Act>
  void by_fraction(const config::LinkChoice& choice, const std::string& place, RandomStream random,
                   Act act) {
    if (!(choice.fraction >= 0 && choice.fraction <= 1))
      return refuse(place + ".fraction", "must be within 0..1");
    std::vector<size_t> left;
    for (size_t i = 0; i < plan_.cables.size(); ++i)
      if (plan_.cables[i].up) left.push_back(i);
    const auto wanted = static_cast<size_t>(
        std::llround(choice.fraction * static_cast<double>(plan_.cables.size())));
    if (wanted > left.size())
      return refuse(place + ".fraction", "means " + std::to_string(wanted) + " links, only " +
                                             std::to_string(left.size()) + " are up");
    for (size_t i = 0; i < wanted; ++i) {
      const size_t rest = left.size() - i;
      std::swap(left[i], left[i + random.below(static_cast<uint32_t>(rest))]);
      act(choice, plan_.cables[left[i]]);
    }
  }

  // Those that begin like the name, if any do; else all, by the first and the last.
  std::string what_there_is(const std::string& name) const {
    if (plan_.cables.empty()) return "this fabric has none";
    const std::string end = name.substr(0, name.find('-')) + "-";
    std::vector<const std::string*> near;
    for (const FabricPlan::Cable& cable : plan_.cables)
      if (cable.name.starts_with(end)) near.push_back(&cable.name);
    if (near.empty())
      for (const FabricPlan::Cable& cable : plan_.cables) near.push_back(&cable.name);
    if (near.size() == 1) return "there is " + *near.front();
    return "there are " + std::to_string(near.size()) + " from " + *near.front() + " to " +
           *near.back();
  }

  FabricPlan& plan_;
  uint64_t seed_;
  std::map<std::string, size_t> by_name_;
  Problems problems_;
};

}  // namespace

Problems apply_link_choices(const config::TopologyConfig& config, FabricPlan& plan) {
  Chooser chooser(plan, config.seed);
  chooser.apply(config.failed, "topology.failed", kFailedPurpose,
                [](const config::LinkChoice&, FabricPlan::Cable& cable) { cable.up = false; });
  for (size_t i = 0; i < config.degraded.size(); ++i)
    if (!config.degraded[i].rate || config.degraded[i].rate->bps() <= 0)
      chooser.refuse("topology.degraded." + std::to_string(i) + ".rate",
                     "a degraded link needs a rate above 0");
  chooser.apply(config.degraded, "topology.degraded", kDegradedPurpose,
                [](const config::LinkChoice& choice, FabricPlan::Cable& cable) {
                  cable.rate = choice.rate.value_or(cable.rate);
                });
  chooser.apply(config.weighted, "topology.weighted", kWeightedPurpose,
                [](const config::LinkChoice& choice, FabricPlan::Cable& cable) {
                  cable.weight = choice.weight;
                });
  return chooser.take();
}

}  // namespace eddy::lab
