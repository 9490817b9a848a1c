// What a poll costs that holds a single packet, or a single transmit completion: how a world in
// virtual time polls its switches. And what memory a switch takes, of which such a world has
// hundreds.
//
//   poll.one_packet         a 1,086-octet RoCEv2 frame is received from a host and sent up by ecmp
//                           at once
//   poll.completion         then the line is free, and a poll hears of nothing else
//   poll.*.N                the same for N such switches of 16 ports that take turns: what is
//                           touched has gone from the nearer caches by the next turn
//   memory.switch.Nports    resident octets of a switch object of N ports, ready to work
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report.h"

namespace eddy::bench {

std::vector<Result> measure_single_polls(int rounds);
std::vector<Result> measure_switch_memory(int rounds);

// For callgrind, which is to collect in SinglePolls::send_all or ::complete_all: "poll.single", and
// "poll.single.N" for N switches. False for any other name.
[[nodiscard]] bool run_single_polls(const std::string& name, size_t polls);

}  // namespace eddy::bench
