// WatcherPair: two watchers of one world, each of which sees everything, the first one first.
//
// Owner: one run; both must outlive it. Cost: two calls for one.
#pragma once

#include "lab/world/world.h"

namespace eddy::lab {

class WatcherPair final : public Watcher {
 public:
  WatcherPair(Watcher& first, Watcher& second) : first_(first), second_(second) {}

  void on_frame(uint32_t line, Step step, const Packet& packet) override {
    first_.on_frame(line, step, packet);
    second_.on_frame(line, step, packet);
  }
  void on_turn(uint32_t node) override {
    first_.on_turn(node);
    second_.on_turn(node);
  }
  void on_instant() override {
    first_.on_instant();
    second_.on_instant();
  }

 private:
  Watcher& first_;
  Watcher& second_;
};

}  // namespace eddy::lab
