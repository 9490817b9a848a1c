// Preview: which path a selector would give a packet now, and why, found out without lasting
// effect. For reports.
//
// Plain values, good for the instant at which they were asked for. Owner: who asks. Source:
// docs/adr/0044.
#pragma once

#include <cstdint>

#include "lb/path_view.h"
#include "lb/waiting.h"

namespace eddy::lb {

// Why a scheme wants its member, as far as it says. unsaid: it does not.
enum class Reason : uint8_t {
  unsaid,
  hash,    // of the flow
  keeps,   // the flow, flowlet or flowcell goes on where it is
  begins,  // one begins, and gets a path by the scheme's measure
  leaves,  // it leaves a path that is no longer good enough
  packet,  // each packet is placed by itself
};
inline constexpr size_t kReasons = static_cast<size_t>(Reason::packet) + 1;

// What RLB's order guard says of the packet's flow.
enum class Hold : uint8_t {
  none,       // it is not asked
  first,      // nothing of the flow is known to be on the way
  free,       // it may leave its last path: all has arrived there, or it goes on by it
  stays,      // it must stay there
  pinned,     // the same, as it shares its slot with flows to elsewhere
  placeless,  // the table has no place for it: it goes by its hash
  drains,     // it waits until what was sent before it has arrived
};
inline constexpr size_t kHolds = static_cast<size_t>(Hold::drains) + 1;

struct Preview {
  enum class By : uint8_t { unknown, ecmp, scheme };
  By by = By::unknown;                   // unknown: the selector does not say; ecmp: set apart
  MemberIndex member = kWait;            // kWait: it would go round the loop
  MemberIndex wanted = kWait;            // by the scheme, before RLB
  MemberIndex last = kWait;              // that the flow took before; kWait: not known
  Reason reason = Reason::unsaid;        // of `wanted`
  bool tied = false;                     // `wanted` is one of several that are equally good
  Decision decision = Decision::direct;  // RLB's
  Hold hold = Hold::none;
};

}  // namespace eddy::lb
