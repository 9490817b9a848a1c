#include "switch/explain/trace_reader.h"

#include <cstring>
#include <utility>

#include "switch/dataplane/state/explanation.h"

namespace eddy::explain {

std::optional<Json> TraceReader::take(const CapturedPacket& packet) {
  if (packet.head.direction == CaptureDirection::trace) return take_coming(packet);
  // Its beginning may be in another worker's ring, which is read later.
  const auto found = open_.find(packet.head.trace);
  if (found == open_.end()) {
    early_.emplace(packet.head.trace, packet.head);
    return std::nullopt;
  }
  Json story = finished(std::move(found->second), packet.head, names_);
  open_.erase(found);
  return story;
}

std::optional<Json> TraceReader::take_coming(const CapturedPacket& packet) {
  Explanation explanation;
  const size_t octets = packet.frame.size();
  broken_ |= octets < explanation_size(0) || octets > sizeof explanation;
  if (broken_) return std::nullopt;
  std::memcpy(static_cast<void*>(&explanation), packet.frame.data(), octets);
  broken_ = !is_sound(explanation) || explanation_size(explanation.options) != octets;
  if (broken_) return std::nullopt;
  Json story = traced(explanation, packet.head, names_);
  const auto early = early_.find(packet.head.trace);
  if (early != early_.end()) return finished(std::move(story), early->second, names_);
  if (explanation.fate == Fate::consumed) return story;
  open_[packet.head.trace] = std::move(story);
  return std::nullopt;
}

std::vector<Json> TraceReader::take_unfinished() {
  std::vector<Json> stories;
  for (auto& [id, story] : open_) stories.push_back(unfinished(std::move(story)));
  open_.clear();
  return stories;
}

}  // namespace eddy::explain
