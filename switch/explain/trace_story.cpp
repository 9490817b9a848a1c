#include "switch/explain/trace_story.h"

#include "switch/explain/step_lines.h"
#include "switch/explain/story.h"

namespace eddy::explain {
namespace {

Json rlb_words(uint8_t decisions) {
  Json words = Json::array();
  for (size_t bit = 0; bit < kCaptureDecisionWords.size(); ++bit)
    if ((decisions >> bit & 1) != 0) words.push_back(std::string(kCaptureDecisionWords[bit]));
  return words;
}

std::string rlb_text(const Json& words, uint8_t rounds) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : ", ") + word.get<std::string>();
  if (rounds != 0) text += "; rounds in the loop: " + std::to_string(rounds);
  return text;
}

uint64_t nanoseconds_in(const Json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string dropped(Json& story, const CaptureRecord& gone, const TraceNames& names) {
  const std::string reason =
      gone.reason < names.reasons.size() ? names.reasons[gone.reason] : "unknown";
  // Where it was foreseen the story ends with the step already.
  const bool foreseen = story.value("fate", "") == "dropped" && story.value("reason", "") == reason;
  story["as_said"] = foreseen;
  story["fate"] = "dropped";
  story["reason"] = reason;
  return "dropped: " + reason + (foreseen ? "" : ", which was not foreseen");
}

std::string left(Json& story, const CaptureRecord& gone, const TraceNames& names,
                 uint64_t took_ns) {
  const std::string port = names.of.port(PortId(gone.port));
  story["as_said"] = story.value("egress", "") == port;
  story["fate"] = "sent";
  story["egress"] = port;
  if (gone.queue != kCaptureNone) story["queue"] = gone.queue;
  const Json words = rlb_words(gone.decisions);
  std::string text =
      "by " + port + (gone.queue == kCaptureNone ? "" : ", queue " + std::to_string(gone.queue)) +
      ", " + time_text(Duration::nanoseconds(static_cast<int64_t>(took_ns))) + " after it came";
  if (!words.empty() || gone.rounds != 0) text += "; RLB: " + rlb_text(words, gone.rounds);
  if (!words.empty()) story["rlb"] = words;
  if (gone.rounds != 0) story["rounds"] = gone.rounds;
  return text;
}

}  // namespace

Json traced(const Explanation& explanation, const CaptureRecord& came, const TraceNames& names) {
  Json story = story_of(explanation, names.of);
  story["came_ns"] = came.stamp_ns;
  return story;
}

Json finished(Json story, const CaptureRecord& gone, const TraceNames& names) {
  const uint64_t came = nanoseconds_in(story, "came_ns");
  const uint64_t took = gone.stamp_ns > came ? gone.stamp_ns - came : 0;
  const bool drop = gone.direction == CaptureDirection::drop;
  const std::string text = drop ? dropped(story, gone, names) : left(story, gone, names, took);
  story[drop ? "dropped_ns" : "left_ns"] = gone.stamp_ns;
  story["took_ns"] = took;
  if (!drop) story["steps"].push_back(step("15", "transmit", text));
  story["text"] = drop ? text : "it left " + text;
  return story;
}

Json unfinished(Json story) {
  story["fate"] = "unknown";
  story["text"] = "it has neither left nor been dropped, as far as was told";
  return story;
}

std::string trace_lines(const Json& story) {
  return lines_of(story) + "\n";
}

}  // namespace eddy::explain
