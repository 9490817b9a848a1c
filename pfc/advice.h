// Advice: what a lossless fabric should have, computed from speed, delay, buffer and MTU, and what
// an operator's settings will do.
//
// Pure functions on a configuration that is scaled and for which plan_buffer() has an answer. Each
// sentence is about all ports of a switch that it holds for. What a switch cannot know of its
// fabric (hosts, the way to them) comes in FabricFacts, or is guessed from its own cables. Units in
// the types. Owner: control, at start and in tools; not for the hot path. Cost: ports times PGs.
// Source: reference B.14, C.2, C.4, C.7; DCTCP and DCQCN (docs/papers.md); docs/advice.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::pfc {

enum class AdviceSubject : uint8_t { marking, xoff, headroom, buffer, window, rlb, isolation };
std::string_view name_of(AdviceSubject subject);

struct Advice {
  AdviceSubject subject{};
  bool warning = false;  // the setting does harm, or cannot do what it is for
  std::string says;      // what will happen
  std::string because;
  std::vector<std::string> where;  // ports
  bool operator==(const Advice&) const = default;
};

// What there is around a switch.
struct FabricFacts {
  Duration base_rtt;            // the longest between hosts, without queues
  std::optional<bool> windows;  // whether at most a BDP of a flow is on its way; none: not known
  // The most that many senders have on its way to one host at once; 0: they never meet; none: not
  // known.
  std::optional<Bytes> incast = {};
};
// By a switch's own cables: hosts under two leaves below one spine.
FabricFacts guessed_facts(const config::SwitchConfig& config);

// What a lossless priority group of a port should have.
struct Recommended {
  std::string port;  // the first of those that are alike
  int pg = 0;
  BitRate speed;
  Bytes bdp;   // of the port's speed and the base RTT
  Bytes xoff;  // in force; dynamic: of one group alone
  Bytes kmin;  // marking
  Bytes kmax;
  double pmax = 0;
  Bytes headroom;
  Bytes resume;      // XON at least here, so that the line does not idle
  Duration horizon;  // of RLB's predictor
  bool operator==(const Recommended&) const = default;
};
// One of each kind that the switch has.
Result<std::vector<Recommended>> recommend(const config::SwitchConfig& config,
                                           const FabricFacts& facts);

// The gravest first. A problem: the buffer has no plan.
Result<std::vector<Advice>> advise(const config::SwitchConfig& config, const FabricFacts& facts);

// "256KiB", "62.5kB": to a tenth of a kilobyte where it is no whole number of KiB.
std::string readable(Bytes size);
// "marking begins at 400kB, XOFF is at 256KiB: PFC will act before DCQCN (h1, h2)".
std::string text_of(const Advice& advice);

}  // namespace eddy::pfc
