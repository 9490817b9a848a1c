// Talker: a scheme of the tests that declares all that a scheme can say and hear, and does what the
// test tells it. It chooses as ecmp does. Quiet declares nothing of it but has the same calls;
// Sparse declares frames only.
//
// The program that links talker.cpp has these beside ecmp and conga as its only schemes: it
// defines lb::schemes() itself. Owner: one test at a time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lb/agent.h"
#include "net/ids.h"

namespace eddy::test {

// What one Talker (of a switch and shard) is to do, and what it heard.
struct Talk {
  // What it does; nothing where there is none.
  std::function<void(lb::Voice&)> on_timers;
  std::function<void(lb::Voice&, std::span<lb::Dressing>)> dress;
  std::function<void(std::span<uint32_t>)> dress_briefly;  // none: it asks for dress()
  std::function<void(lb::Voice&, std::span<lb::HeardFrame>)> on_frames;
  std::function<void(lb::Voice&, std::span<const lb::Arrival>)> on_arrivals;
  Instant deadline = Instant::never();

  // What it heard.
  std::vector<lb::Arrival> arrivals;  // without their packets
  std::vector<lb::Feedback> feedback;
  std::vector<lb::HeardFrame> frames;
  std::vector<lb::Reply> replies;  // likewise
  int calls = 0;                   // of any kind
  int rebases = 0;
  bool lives = false;
};

// By switch and shard; it outlives the switch, and its Talkers.
Talk& talk(SwitchId of, ShardId shard = ShardId(0));
void forget_talks();

// Forgets them when the switches of what inherits from it are gone.
struct ForgetsTalks {
  ForgetsTalks() = default;
  ~ForgetsTalks() { forget_talks(); }
  ForgetsTalks(const ForgetsTalks&) = delete;
  ForgetsTalks& operator=(const ForgetsTalks&) = delete;
};

}  // namespace eddy::test
