// EventLog: what happens to events after the data plane: rate limit, sink, the last thousand.
//
// Each kind of event has its own token bucket, so a storm of pauses cannot hide a dead link. What a
// bucket holds back is counted and said with the next event of the kind that passes, or by flush()
// once a token is there. Units: nanoseconds of control's clock, handed in. Owner: control's thread,
// under its mutex. Bounds: kEventsKept records. Cost: constant an event. Source: architecture,
// section 8.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "switch/dataplane/state/events.h"

namespace eddy::control {

inline constexpr size_t kEventsKept = 1'000;

#define EDDY_EVENT_COUNT(name, help) +1
inline constexpr size_t kEventKinds = EDDY_EVENTS(EDDY_EVENT_COUNT);
#undef EDDY_EVENT_COUNT

struct LoggedEvent {
  Event event;
  uint64_t number = 0;      // 1, 2, ... of those that passed
  uint64_t suppressed = 0;  // events of the kind held back since the last that passed
  int64_t unix_ns = 0;      // when it happened, by the wall clock; 0: not known
  std::string port = {};    // what the event's port was called when it was read; empty: not said
};

// `burst` at once, then `per_second`. Exact: counted in billionths of a token.
class TokenBucket {
 public:
  TokenBucket(int64_t per_second, int64_t burst);
  bool take(int64_t now_ns);

 private:
  int64_t per_second_;
  int64_t burst_;
  int64_t nanotokens_;
  int64_t filled_at_ns_ = 0;
};

class EventLog {
 public:
  static constexpr int64_t kPerSecond = 10;
  static constexpr int64_t kBurst = 50;
  using Sink = std::function<void(const LoggedEvent&)>;

  explicit EventLog(Sink sink);
  // `port`: the name of the event's, which another may have later.
  void add(const Event& event, int64_t now_ns, int64_t unix_ns = 0, std::string port = {});
  // Says what was held back of kinds that have gone quiet.
  void flush(int64_t now_ns);
  const std::deque<LoggedEvent>& kept() const { return kept_; }
  uint64_t suppressed_total() const { return suppressed_total_; }

 private:
  struct Kind {
    TokenBucket bucket{kPerSecond, kBurst};
    Event last;  // held back
    int64_t last_unix_ns = 0;
    std::string last_port;
    uint64_t suppressed = 0;
  };
  void pass(LoggedEvent logged, Kind& kind);

  Sink sink_;
  std::array<Kind, kEventKinds> kinds_;
  std::deque<LoggedEvent> kept_;
  uint64_t next_number_ = 1;
  uint64_t suppressed_total_ = 0;
};

// "leaf 3, path 1.2, silent": what the value of path_failed or path_returned says; "" for others.
std::string path_text_of(const Event& event);

}  // namespace eddy::control
