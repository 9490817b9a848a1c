#include "lab/fabric/path_limits.h"

#include <algorithm>
#include <set>

#include "lab/fabric/host_names.h"

namespace eddy::lab {
namespace {

std::string item_key(size_t item) {
  return "traffic." + std::to_string(item);
}

std::string joined(const std::vector<std::string>& names) {
  if (names.empty()) return "all paths";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

PathLimits::PathLimits(const config::Experiment& experiment, const FabricPlan& plan,
                       const Topology& topology, LeafId first)
    : experiment_(experiment),
      plan_(plan),
      topology_(topology),
      next_(first.index()),
      via_(topology.hosts.size(), LeafId::none()) {
  const bool any =
      std::ranges::any_of(experiment.traffic, [](const auto& item) { return !item.paths.empty(); });
  if (!any) return;
  for (size_t i = 0; i < topology.switches.size(); ++i)
    switch_named_[topology.switches[i].name] = i;
  for (size_t item = 0; item < experiment.traffic.size(); ++item) read_item(item);
}

// Unknown hosts are the traffic's own problem: it tells them.
void PathLimits::read_item(size_t item) {
  const config::TrafficConfig& traffic = experiment_.traffic[item];
  if (!check_names(item)) return;
  const HostNames names(topology_);
  const auto hosts_of = [&](std::vector<std::string> selectors) {
    if (selectors.empty()) selectors.push_back("all");
    std::set<uint32_t> hosts;
    for (const std::string& selector : selectors)
      if (const auto found = names.find(selector))
        hosts.insert(found.value().begin(), found.value().end());
    return hosts;
  };
  const bool among_themselves = traffic.type == config::TrafficType::permutation;
  const bool collective = traffic.type == config::TrafficType::collective;
  const auto& senders = collective ? traffic.ranks : traffic.sources;
  const auto sources = hosts_of(senders);
  const auto destinations =
      hosts_of(among_themselves || collective ? senders : traffic.destinations);
  std::set<size_t> leaves;
  for (const uint32_t host : sources) leaves.insert(topology_.hosts[host].switch_index);
  for (const uint32_t host : destinations) {
    std::vector<size_t> remote(leaves.begin(), leaves.end());
    std::erase(remote, topology_.hosts[host].switch_index);
    if (!remote.empty()) claim(item, host, remote);
  }
}

bool PathLimits::check_names(size_t item) {
  const std::vector<std::string>& paths = experiment_.traffic[item].paths;
  bool good = true;
  for (size_t i = 0; i < paths.size(); ++i) {
    const auto found = switch_named_.find(paths[i]);
    if (found != switch_named_.end() && !has_hosts(found->second)) continue;
    problems_.push_back(item_key(item) + ".paths." + std::to_string(i) + ": \"" + paths[i] +
                        "\" is no switch between leaves; " + valid_names());
    good = false;
  }
  return good;
}

void PathLimits::claim(size_t item, uint32_t host, const std::vector<size_t>& sources) {
  std::vector<std::string> paths = experiment_.traffic[item].paths;
  std::ranges::sort(paths);
  const auto [use, is_first] = uses_.try_emplace(host, Use{item, paths});
  if (!is_first && use->second.paths != paths) {
    if (told_.try_emplace({use->second.item, item}, true).second)
      problems_.push_back(item_key(item) + ".paths: " + joined(paths) + " to " +
                          topology_.hosts[host].name + ", but " + item_key(use->second.item) +
                          " has " + joined(use->second.paths) +
                          " to it; the same paths or other destinations would be valid");
    return;
  }
  if (paths.empty()) return;
  Set& set = set_for(use->second.item, topology_.hosts[host].switch_index);
  via_[host] = set.id;
  std::vector<size_t> united;
  std::ranges::set_union(set.sources, sources, std::back_inserter(united));
  set.sources = std::move(united);
}

PathLimits::Set& PathLimits::set_for(size_t item, size_t leaf) {
  std::vector<bool> barred = barred_beside(experiment_.traffic[item].paths);
  const auto found = std::ranges::find_if(
      sets_, [&](const Set& set) { return set.leaf == leaf && set.barred == barred; });
  if (found != sets_.end()) return *found;
  return sets_.emplace_back(
      Set{LeafId(next_++), leaf, std::move(barred), {}, item_key(item) + ".paths"});
}

// Of each tier that has a named switch, all but the named ones.
std::vector<bool> PathLimits::barred_beside(const std::vector<std::string>& names) const {
  std::set<int> tiers;
  for (const std::string& name : names) tiers.insert(plan_.switches[switch_named_.at(name)].tier);
  std::vector<bool> barred(plan_.switches.size());
  for (size_t i = 0; i < barred.size(); ++i)
    barred[i] = !has_hosts(i) && tiers.contains(plan_.switches[i].tier) &&
                std::ranges::find(names, plan_.switches[i].name) == names.end();
  return barred;
}

std::string PathLimits::valid_names() const {
  const std::string* first = nullptr;
  const std::string* last = nullptr;
  for (size_t i = 0; i < plan_.switches.size(); ++i) {
    if (has_hosts(i)) continue;
    if (first == nullptr) first = &plan_.switches[i].name;
    last = &plan_.switches[i].name;
  }
  if (first == nullptr) return "this fabric has none";
  return first == last ? "there is " + *first : "there are " + *first + " to " + *last;
}

}  // namespace eddy::lab
