// LoadReports: the two ends of CONGA's feedback. A destination leaf keeps the load that packets of
// each path met (its From-Leaf table) and tells of the paths in turn, by every packet to their
// leaf. A source leaf keeps what it is told in the paths' records (its To-Leaf table).
//
// What else was counted of the path goes with it (marks): the host adds it. An echo of a stamp says
// the same of its path, and has precedence. Owner: one shard's agent. Bounds: 4 octets for each
// path and 12 for each set, taken at construction. Cost: a few loads for a packet. Source:
// reference A.8; docs/paths.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lb/agent.h"

namespace eddy::lb {

class LoadReports {
 public:
  static constexpr Speech kSpeech = {.shim = ShimNeed::every,
                                     .probes_idle = true,
                                     .fields = kFieldReport,
                                     .arrivals = true,
                                     .feedback = kFeedbackLoad};

  explicit LoadReports(std::span<const PathSet> sets);

  // Of one path from the set's leaf.
  struct Report {
    uint8_t place;
    uint8_t load;
    PathId path;
  };
  // Paths from there are known; from any leaf.
  bool has_any() const { return has_any_; }
  bool has(uint16_t set) const { return leaves_[set].used != 0; }
  // Where has(set): the next packet's there.
  Report next(uint16_t set);
  void dress(std::span<Dressing> burst) {
    for (Dressing& dressing : burst)
      if (dressing.may_report && has(dressing.set)) report(dressing);
  }
  void arrived(std::span<const Arrival> burst);
  static void on_feedback(Voice& voice, std::span<const Feedback> burst);

 private:
  struct FromPath {
    PathId path;
    uint8_t load = 0;
  };
  struct FromLeaf {
    uint64_t used = 0;  // places
    uint32_t first = 0;
    uint8_t last = 0;  // place, a power of two less one
    uint8_t turn = 0;
  };

  void report(Dressing& dressing);

  bool has_any_ = false;
  std::vector<FromLeaf> leaves_;  // by set
  std::unique_ptr<FromPath[]> paths_;
};

// For a leaf whose scheme has no reports of its own, where the configuration gives every packet a
// shim.
class LoadReporter final : public PathAgent {
 public:
  explicit LoadReporter(std::span<const PathSet> sets)
      : PathAgent(LoadReports::kSpeech), reports_(sets) {}
  void dress(Voice&, std::span<Dressing> burst) override { reports_.dress(burst); }
  bool dress_briefly(Voice&, std::span<Packet* const>, std::span<const uint16_t>,
                     std::span<uint32_t>) override {
    return true;
  }
  LoadReports* reports() override { return &reports_; }
  void arrived(Voice&, std::span<const Arrival> burst) override { reports_.arrived(burst); }
  void on_feedback(Voice& voice, std::span<const Feedback> burst) override {
    LoadReports::on_feedback(voice, burst);
  }

 private:
  LoadReports reports_;
};

}  // namespace eddy::lb
