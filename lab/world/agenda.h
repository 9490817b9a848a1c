// Agenda: what others have planned to do to a world, in the order of time and of planning.
//
// Owner: the world. Cost: log2 of what is planned. Bounds: it grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "net/units.h"

namespace eddy::lab {

class World;

class Agenda {
 public:
  using Action = std::function<void(World&)>;

  explicit Agenda(World& world) : world_(world) {}
  Agenda(const Agenda&) = delete;
  Agenda& operator=(const Agenda&) = delete;

  // `shared`: every rank of the run plans the same, not only the one that it concerns.
  void add(Instant at, Action action, bool shared = true) {
    planned_.push_back({at, made_++, shared, std::move(action)});
    std::push_heap(planned_.begin(), planned_.end(), later);
  }
  Instant next() const { return planned_.empty() ? Instant::never() : planned_.front().at; }
  // There is one. It is no longer planned when it runs, since it may plan another.
  void run_next() {
    std::pop_heap(planned_.begin(), planned_.end(), later);
    const Action action = std::move(planned_.back().action);
    shared_run_ += planned_.back().shared ? 1 : 0;
    planned_.pop_back();
    action(world_);
  }
  uint64_t shared_run() const { return shared_run_; }  // shared actions
  // The instants of all that is planned, the earliest first.
  std::vector<Instant> instants() const {
    std::vector<Instant> all;
    for (const Planned& each : planned_) all.push_back(each.at);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  struct Planned {
    Instant at;
    uint64_t number;  // of planning
    bool shared;
    Action action;
  };
  static bool later(const Planned& a, const Planned& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }

  World& world_;
  std::vector<Planned> planned_;  // a heap
  uint64_t made_ = 0;
  uint64_t shared_run_ = 0;
};

}  // namespace eddy::lab
