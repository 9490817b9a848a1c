#include "switch/control/report/event_log.h"

#include <algorithm>
#include <array>
#include <utility>

namespace eddy::control {
namespace {
constexpr int64_t kNano = 1'000'000'000;
}

TokenBucket::TokenBucket(int64_t per_second, int64_t burst)
    : per_second_(per_second), burst_(burst), nanotokens_(burst * kNano) {}

bool TokenBucket::take(int64_t now_ns) {
  // An idle time that fills the bucket anyway is cut, so that the product cannot overflow.
  const int64_t idle_ns = std::clamp<int64_t>(now_ns - filled_at_ns_, 0, burst_ * kNano);
  nanotokens_ = std::min(burst_ * kNano, nanotokens_ + idle_ns * per_second_);
  filled_at_ns_ = std::max(filled_at_ns_, now_ns);
  if (nanotokens_ < kNano) return false;
  nanotokens_ -= kNano;
  return true;
}

EventLog::EventLog(Sink sink) : sink_(std::move(sink)) {}

void EventLog::add(const Event& event, int64_t now_ns, int64_t unix_ns, std::string port) {
  Kind& kind = kinds_[static_cast<size_t>(event.kind)];
  if (kind.bucket.take(now_ns)) {
    pass({event, 0, kind.suppressed, unix_ns, std::move(port)}, kind);
    return;
  }
  kind.last = event;
  kind.last_unix_ns = unix_ns;
  kind.last_port = std::move(port);
  ++kind.suppressed;
  ++suppressed_total_;
}

void EventLog::flush(int64_t now_ns) {
  for (Kind& kind : kinds_)
    if (kind.suppressed > 0 && kind.bucket.take(now_ns)) {
      --suppressed_total_;  // the last one held back is said after all
      pass({kind.last, 0, kind.suppressed - 1, kind.last_unix_ns, std::move(kind.last_port)}, kind);
    }
}

void EventLog::pass(LoggedEvent logged, Kind& kind) {
  kind.suppressed = 0;
  logged.number = next_number_++;
  kept_.push_back(std::move(logged));
  if (kept_.size() > kEventsKept) kept_.pop_front();
  sink_(kept_.back());
}

std::string path_text_of(const Event& event) {
  constexpr std::array<std::string_view, 4> kWhy = {"none", "silent", "forced", "rounds"};
  constexpr size_t kHopByHop = 0xff;
  if (event.kind != EventKind::path_failed && event.kind != EventKind::path_returned) return "";
  const PathEvent path = PathEvent::of(event.value);
  const size_t second = path.path.index() & 0xff;
  return "leaf " + std::to_string(path.leaf.index()) + ", path " +
         std::to_string(path.path.index() >> 8) +
         (second == kHopByHop ? "" : "." + std::to_string(second)) + ", " +
         std::string(kWhy[path.why % kWhy.size()]);
}

}  // namespace eddy::control
