// Two switches that are given the same, of which one takes in every burst the long way: whatever
// they send, count and report must be the same, at the same time.
//
// What they are given comes from a script of octets: bursts of frames, sound ones of every kind
// that has a short way and of some that have none, many of them spoilt; time; links; devices that
// refuse; reloads. Owner: one test.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace eddy::test {

struct WaysResult {
  uint64_t frames = 0;     // that came in
  uint64_t sent = 0;       // by each switch
  uint64_t echoes = 0;     // of stamps, that were believed
  uint64_t long_ways = 0;  // bursts that the second one took in
  std::string difference;  // empty: none
};

// Ends where the script does, or at the first difference.
WaysResult run_both_ways(std::span<const uint8_t> script);

}  // namespace eddy::test
