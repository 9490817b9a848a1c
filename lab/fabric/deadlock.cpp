#include "lab/fabric/deadlock.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "config/config.h"
#include "lab/fabric/circle.h"
#include "lab/fabric/detours.h"
#include "lab/fabric/path_sets.h"

namespace eddy::lab {
namespace {

class Channels {
 public:
  Channels(const FabricPlan& plan, const ChannelUse& use)
      : plan_(plan),
        use_(use),
        levels_(static_cast<uint32_t>(use.isolates ? 2 : std::max(use.channels, 1))),
        waits_for_(2 * plan.cables.size() * levels_) {
    const PathFinder finder(plan);
    std::vector<bool> leaf(plan.switches.size());
    for (const FabricPlan::Host& host : plan.hosts) leaf[host.at] = true;
    for (size_t end = 0; end < leaf.size(); ++end)
      if (leaf[end]) add(finder.towards(end), leaf, end);
    if (use.isolates) add_gates();
    for (std::vector<uint32_t>& each : waits_for_) {
      std::ranges::sort(each);
      each.erase(std::unique(each.begin(), each.end()), each.end());
    }
  }

  std::vector<uint32_t> circle() const { return circle_in(waits_for_); }

  size_t source(uint32_t channel) const {
    const FabricPlan::Cable& cable = plan_.cables[cable_of(channel)];
    return channel / levels_ % 2 == 0 ? cable.a : cable.b;
  }
  size_t target(uint32_t channel) const {
    return plan_.cables[cable_of(channel)].other(source(channel));
  }
  // After which a frame would need one more; none: nowhere.
  std::optional<uint32_t> beyond() const { return beyond_; }

 private:
  // A frame in a channel, and the cable that its detour prescribes at the next switch.
  struct Way {
    uint32_t channel;
    std::optional<uint32_t> then;
  };

  uint32_t channel(uint32_t cable, size_t from, uint32_t level) const {
    return (2 * cable + (plan_.cables[cable].a == from ? 0 : 1)) * levels_ + level;
  }
  uint32_t cable_of(uint32_t channel) const { return channel / levels_ / 2; }
  config::LinkReach reach(uint32_t cable) const {
    const FabricPlan::Cable& each = plan_.cables[cable];
    const bool inside = plan_.switches[each.a].group == plan_.switches[each.b].group;
    return inside ? config::LinkReach::local : config::LinkReach::global;
  }
  // What is isolated leaves behind what it came behind.
  void add_gates() {
    for (uint32_t normal = 0; normal < waits_for_.size(); normal += levels_)
      if (!waits_for_[normal].empty() || !waits_for_[normal + 1].empty())
        waits_for_[normal + 1].push_back(normal);
  }
  // None: there is no such channel.
  std::optional<uint32_t> next_channel(uint32_t in, uint32_t cable) const {
    if (use_.isolates) return channel(cable, target(in), 0);
    const bool rises = use_.channels != 0 && config::rises(reach(cable_of(in)), reach(cable));
    const uint32_t level = in % levels_ + (rises ? 1 : 0);
    if (level >= levels_) return std::nullopt;
    return channel(cable, target(in), level);
  }

  // What frames to one leaf use, from the other leaves on.
  void add(const PathFinder::NextHops& next, const std::vector<bool>& leaf, size_t end) {
    std::vector<bool> seen(waits_for_.size());
    std::vector<Way> ways;
    const auto reach = [&](uint32_t channel) {
      if (!seen[channel]) ways.push_back({channel, std::nullopt});
      seen[channel] = true;
    };
    // Into whichever class.
    const auto reach_all = [&](uint32_t channel) {
      reach(channel);
      if (use_.isolates) reach(channel + 1);
    };
    const DetourFinder finder(plan_);
    const std::vector<int> hops = use_.detours ? hops_along(plan_, next) : std::vector<int>{};
    for (size_t from = 0; from < next.size(); ++from) {
      if (!leaf[from] || from == end) continue;
      for (const uint32_t cable : next[from]) reach_all(channel(cable, from, 0));
      if (!use_.detours) continue;
      for (const Detour& detour : finder.between(from, end, hops))
        if (detour.then)
          ways.push_back({channel(detour.cable, from, 0), detour.then});
        else
          reach(channel(detour.cable, from, 0));
    }
    for (size_t i = 0; i < ways.size(); ++i) {
      const Way way = ways[i];
      const std::vector<uint32_t> prescribed(way.then ? 1 : 0, way.then.value_or(0));
      for (const uint32_t cable : way.then ? prescribed : next[target(way.channel)]) {
        const auto out = next_channel(way.channel, cable);
        if (!out) {
          beyond_ = way.channel;
          continue;
        }
        waits_for_[way.channel].push_back(*out);
        if (use_.isolates) waits_for_[way.channel].push_back(*out + 1);
        reach_all(*out);
      }
    }
  }

  const FabricPlan& plan_;
  const ChannelUse use_;
  const uint32_t levels_;                         // channels of a cable's direction
  std::vector<std::vector<uint32_t>> waits_for_;  // by channel
  std::optional<uint32_t> beyond_;
};

}  // namespace

Circles circles_of(const FabricPlan& plan, const ChannelUse& use) {
  if (plan.routing == FabricRouting::up_down) return {};
  Channels channels(plan, use);
  Circles found;
  const auto name = [&](size_t node) { return plan.switches[node].name; };
  if (const auto beyond = channels.beyond())
    found.beyond = name(channels.source(*beyond)) + " > " + name(channels.target(*beyond));
  const std::vector<uint32_t> circle = channels.circle();
  for (const uint32_t channel : circle) found.circle += name(channels.source(channel)) + " > ";
  if (!circle.empty()) found.circle += name(channels.source(circle.front()));
  return found;
}

std::string waiting_circle(const FabricPlan& plan) {
  return circles_of(plan, {}).circle;
}

}  // namespace eddy::lab
