#include "lab/fabric/deadlock.h"

#include <algorithm>
#include <cstdint>

#include "lab/fabric/path_sets.h"

namespace eddy::lab {
namespace {

class Channels {
 public:
  explicit Channels(const FabricPlan& plan) : plan_(plan), waits_for_(2 * plan.cables.size()) {
    const PathFinder finder(plan);
    std::vector<bool> leaf(plan.switches.size());
    for (const FabricPlan::Host& host : plan.hosts) leaf[host.at] = true;
    for (size_t end = 0; end < leaf.size(); ++end)
      if (leaf[end]) add(finder.towards(end), leaf, end);
    for (std::vector<uint32_t>& each : waits_for_) {
      std::ranges::sort(each);
      each.erase(std::unique(each.begin(), each.end()), each.end());
    }
  }

  // Depth first; a channel met again while it is open closes a circle.
  std::vector<uint32_t> circle() {
    std::vector<State> state(waits_for_.size());
    std::vector<Visit> open;
    for (uint32_t start = 0; start < state.size(); ++start) {
      if (state[start] != State::fresh) continue;
      open.push_back({start, 0});
      state[start] = State::open;
      while (!open.empty()) {
        Visit& top = open.back();
        if (top.next == waits_for_[top.channel].size()) {
          state[top.channel] = State::done;
          open.pop_back();
          continue;
        }
        const uint32_t to = waits_for_[top.channel][top.next++];
        if (state[to] == State::open) return from(open, to);
        if (state[to] == State::done) continue;
        state[to] = State::open;
        open.push_back({to, 0});
      }
    }
    return {};
  }

  size_t source(uint32_t channel) const {
    const FabricPlan::Cable& cable = plan_.cables[channel / 2];
    return channel % 2 == 0 ? cable.a : cable.b;
  }

 private:
  enum class State : uint8_t { fresh, open, done };
  struct Visit {
    uint32_t channel;
    size_t next;
  };

  uint32_t channel(uint32_t cable, size_t from) const {
    return 2 * cable + (plan_.cables[cable].a == from ? 0 : 1);
  }

  // What frames to one leaf use, from the other leaves on.
  void add(const PathFinder::NextHops& next, const std::vector<bool>& leaf, size_t end) {
    std::vector<bool> seen(next.size());
    std::vector<size_t> reached;
    for (size_t i = 0; i < next.size(); ++i)
      if (leaf[i] && i != end) {
        reached.push_back(i);
        seen[i] = true;
      }
    for (size_t i = 0; i < reached.size(); ++i)
      for (const uint32_t in : next[reached[i]]) {
        const size_t to = plan_.cables[in].other(reached[i]);
        for (const uint32_t out : next[to])
          waits_for_[channel(in, reached[i])].push_back(channel(out, to));
        if (!seen[to]) reached.push_back(to);
        seen[to] = true;
      }
  }

  static std::vector<uint32_t> from(const std::vector<Visit>& open, uint32_t first) {
    std::vector<uint32_t> circle;
    for (const Visit& visit : open)
      if (visit.channel == first || !circle.empty()) circle.push_back(visit.channel);
    return circle;
  }

  const FabricPlan& plan_;
  std::vector<std::vector<uint32_t>> waits_for_;  // by channel
};

}  // namespace

std::string waiting_circle(const FabricPlan& plan) {
  if (plan.routing == FabricRouting::up_down) return {};
  Channels channels(plan);
  const std::vector<uint32_t> circle = channels.circle();
  if (circle.empty()) return {};
  std::string text;
  for (const uint32_t channel : circle)
    text += plan.switches[channels.source(channel)].name + " > ";
  return text + plan.switches[channels.source(circle.front())].name;
}

}  // namespace eddy::lab
