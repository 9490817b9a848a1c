// Timeline: what happens along one path of a run between two instants, for a figure and for files.
//
// A path is switches joined by links; a single link is a path, too. For each hop it records every
// change. At the sender: the queue towards the next switch, whether that queue is paused or warned
// of, and what RLB decided. At the receiver: what the ingress priority group holds and where it
// sends PFC. On the way forward: the octets of each frame. On the way back: CNMs (of congestion
// points on the path only) and PFC, when they arrive. Recording changes nothing in the run, and so
// not its digest. Times are the experiment's own. Owner: one run. Bounds: memory for the records of
// the span. Cost: a look at the path's switches at each of their turns within the span. Source:
// architecture, section 8.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/fabric/topology.h"
#include "lab/world/world.h"
#include "net/result.h"

namespace eddy::lab {

// "leaf1:spine2:leaf3@1.5ms-1800us"; without a span the whole run.
struct TimelineSpec {
  std::vector<std::string> switches;
  Duration from{};
  Duration to = Duration::max();
};
Result<TimelineSpec> parse_timeline(std::string_view text);

#define EDDY_TIMELINE(X)                                                                    \
  X(queue_bytes, "sender: octets that wait in the lossless queue of the hop")               \
  X(paused, "sender: 1 while the hop's lossless queue is paused")                           \
  X(warned, "sender: how many warnings of the hop it holds")                                \
  X(sent_bytes, "sender: octets of a frame that it gives to the line")                      \
  X(rerouted, "sender: packets that RLB has taken off a warned path since the last record") \
  X(all_warned, "sender: packets for which all paths were warned, the same")                \
  X(suspended, "sender: packets left alone since the receiver is the bottleneck, the same") \
  X(pg_bytes, "receiver: octets that the lossless ingress priority group holds")            \
  X(xoff_bytes, "receiver: what it pauses the sender above")                                \
  X(predicted, "receiver: times that it predicted PFC, since the last record")              \
  X(cnm, "a CNM of the receiver has reached the sender; severity, 0: clear")                \
  X(cnm_relayed, "the same, of a switch further on, passed on by the receiver")             \
  X(pfc, "PFC of the receiver has reached the sender: 1 XOFF, 0 XON")

enum class TimelineKind : uint8_t {
#define EDDY_TIMELINE_ENUM(name, help) name,
  EDDY_TIMELINE(EDDY_TIMELINE_ENUM)
#undef EDDY_TIMELINE_ENUM
      kCount
};
std::string_view name_of(TimelineKind kind);
std::string_view help_of(TimelineKind kind);

struct TimelineRecord {
  Instant at;
  uint32_t hop = 0;
  TimelineKind kind{};
  int64_t value = 0;
};

// All that a figure or a file needs.
struct TimelineData {
  struct Hop {
    std::string from;
    std::string to;
    Duration delay;  // of the link, one way
  };
  std::vector<Hop> hops;
  Instant from;
  Instant to;                           // of the span, or of the run if that ended earlier
  std::vector<TimelineRecord> records;  // by time
};

class Timeline final : public Watcher {
 public:
  // Of the path's switches as they are named; problems begin with --timeline.
  static Result<Timeline> create(const TimelineSpec& spec, const Topology& topology,
                                 const config::Experiment& experiment);
  void attach(World& world);
  // Once, after the run; the world may be gone.
  TimelineData take();

  void on_frame(uint32_t line, Step step, const Packet& packet) override;
  void on_turn(uint32_t node) override;
  void on_instant() override { seen_ = world_->now(); }

 private:
  static constexpr size_t kKinds = static_cast<size_t>(TimelineKind::kCount);
  struct Hop {
    size_t from = 0;  // switch
    size_t to = 0;
    PortId out;  // of `from`
    PortId in;   // of `to`
    uint32_t line = 0;
    uint32_t back = 0;
    std::array<int64_t, kKinds> last{};  // levels and counters, as last seen
  };

  explicit Timeline(int64_t time_dilation) : time_dilation_(time_dilation) {}
  Problems add_hop(const Topology& topology, const std::string& from, const std::string& to);
  bool in_span() const { return world_->now() >= from_ && world_->now() <= to_; }
  void look_at_sender(uint32_t hop);
  void look_at_receiver(uint32_t hop);
  void level(uint32_t hop, TimelineKind kind, int64_t value);
  void counter(uint32_t hop, TimelineKind kind, uint64_t value);
  void heard(uint32_t hop, const Packet& packet);
  void record(uint32_t hop, TimelineKind kind, int64_t value);
  uint64_t sum(size_t switch_index, PortCounter counter) const;

  int64_t time_dilation_;
  Priority priority_{0};
  Instant from_;
  Instant to_;
  Instant seen_;
  World* world_ = nullptr;
  std::vector<Hop> hops_;
  std::vector<MacAddress> bridges_;  // of the path's switches
  TimelineData data_;
};

std::string timeline_json(const TimelineData& data);
std::string timeline_csv(const TimelineData& data);

}  // namespace eddy::lab
