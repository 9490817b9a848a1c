#include "lab/fabric/circle.h"

#include <algorithm>
#include <cstddef>

namespace eddy::lab {
// Depth first; a place met again while it is open closes a circle.
std::vector<uint32_t> circle_in(std::span<const std::vector<uint32_t>> edges) {
  enum class State : uint8_t { fresh, open, done };
  struct Visit {
    uint32_t place;
    size_t next = 0;
  };
  std::vector<State> state(edges.size());
  std::vector<Visit> open;
  const auto from = [&open](uint32_t first) {
    std::vector<uint32_t> circle;
    for (auto each = std::ranges::find(open, first, &Visit::place); each != open.end(); ++each)
      circle.push_back(each->place);
    return circle;
  };
  for (uint32_t start = 0; start < state.size(); ++start) {
    if (state[start] != State::fresh) continue;
    open.push_back({start});
    state[start] = State::open;
    while (!open.empty()) {
      Visit& top = open.back();
      if (top.next == edges[top.place].size()) {
        state[top.place] = State::done;
        open.pop_back();
        continue;
      }
      const uint32_t to = edges[top.place][top.next++];
      if (state[to] == State::open) return from(to);
      if (state[to] == State::done) continue;
      state[to] = State::open;
      open.push_back({to});
    }
  }
  return {};
}

}  // namespace eddy::lab
