// TraceReader: makes stories of the records of a trace, which tell of a packet as it came and,
// later or from another worker's ring, as it left or was dropped.
//
// Who wrote the records may be hostile: what cannot be is broken(). Owner: one reader of a trace.
// Bounds: a story a packet that is in the switch, kMostTraced a worker. Source: docs/adr/0044.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "net/capture/capture_ring.h"
#include "switch/explain/json.h"
#include "switch/explain/trace_story.h"

namespace eddy::explain {

class TraceReader {
 public:
  TraceReader() = default;
  explicit TraceReader(TraceNames names) : names_(std::move(names)) {}

  // A record; the packet's story, if it is whole with it.
  std::optional<Json> take(const CapturedPacket& packet);
  // Packets that have come and not gone.
  size_t open() const { return open_.size(); }
  // Their stories, as far as they are known; they are not open any more.
  std::vector<Json> take_unfinished();
  bool broken() const { return broken_; }
  const TraceNames& names() const { return names_; }

 private:
  std::optional<Json> take_coming(const CapturedPacket& packet);

  TraceNames names_;
  std::map<uint16_t, Json> open_;            // by trace
  std::map<uint16_t, CaptureRecord> early_;  // have gone before it was read that they came
  bool broken_ = false;
};

}  // namespace eddy::explain
