// Explanation: what a switch would do with a packet now, step by step, and what it would go by.
//
// Plain values: whoever asks brings the memory, the shard of the ingress port fills it in. The
// steps are those of docs/packet_walk.md. What belongs to a step that the packet does not reach is
// as it is here. Units: octets without FCS; what a PG holds in whole cells. Source: docs/adr/0044.
#pragma once

#include <array>
#include <cstdint>

#include "lb/path_set.h"
#include "lb/preview.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/parse.h"
#include "net/units.h"
#include "pfc/buffer_pool.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {

enum class Fate : uint8_t {
  queued,    // it would wait in the queue of its egress port
  dropped,   // for Explanation::reason
  consumed,  // by the switch itself, or answered
  loops,     // it would go round RLB's loop first
  held,      // until its neighbor answers
  staged,    // a flow stage would take it, and decide when it goes on to where it is queued
  drains,    // it would wait beside RLB's loop until what its flow sent before has arrived
};

// What a packet's class is by.
enum class ClassBy : uint8_t { dscp, pcp };

// What congestion isolation would make of it.
enum class IsolationStep : uint8_t {
  none,    // nothing
  begins,  // into the isolated class
  keeps,   // it stays in there
  ends,    // back into the normal class
};

enum class NextMac : uint8_t {
  not_asked,
  peer,        // of the switch at the other end
  neighbor,    // of the host
  unknown,     // it is to be asked for, or does not answer
  other_shard  // which knows
};

// A member of the path set, as the packet's class sees it.
struct PathOption {
  PathRow row;  // as show paths has it; of all queues
  PortId port;
  PathId path;
  uint16_t weight = 1;
  uint8_t hops = 0;          // links to the leaf; 0: not said
  bool detour = false;       // longer than routing asks for
  bool chosen_from = false;  // it lives, and no detector has excluded it, or only those are left
  bool warned = false;       // for the packet's queue
  bool named = false;        // the warning names the packet's destination as its cause
  bool paused = false;       // the packet's queue, by PFC
  uint8_t severity = 0;      // of that warning, 1 to 63
  uint32_t queued = 0;       // in the packet's queue
  uint64_t backlog = 0;      // there, and in what is served before or beside it
  uint32_t utilisation = 0;  // of the line by its DRE, of 65,536
};

// How the packet would be charged, and how far its group is from pausing its sender.
struct AdmissionOutlook {
  pfc::Foresight verdict;
  int64_t charge = 0;
  int64_t used = 0;       // by the group before
  int64_t threshold = 0;  // XOFF: it pauses its sender above this
  int64_t headroom_used = 0;
  int64_t headroom = 0;  // of its own
  int64_t shared_free = 0;
  int64_t unread = 0;  // on the port, counted towards XOFF
  bool lossless = false;
  bool pausing = false;  // already
};

struct QueueOutlook {
  QueueId queue;
  bool known = false;  // what follows; false: of another shard's port, but `queued`
  bool up = false;
  bool lossless = false;
  bool fits = true;         // it would not be dropped
  bool discarding = false;  // the PFC watchdog has stopped the queue
  bool stopped = false;     // by PFC, or `set port tx off`
  bool late = false;        // marks when packets leave, by what waits behind them
  bool can_mark = false;    // the packet is ECN-capable, and the queue marks
  bool was_marked = false;  // before it came here
  uint32_t queued = 0;      // octets that it would find
  uint64_t backlog = 0;     // and in queues served before or beside this one
  uint64_t mark = 0;        // probability of a mark, of 2^32, by `queued`
  Duration drain;           // of `backlog` by the line
};

struct Explanation {
  // In: the port by which it comes, and the packet, in memory of the caller. Fields of its line
  // that steps write are written; its frame is not.
  PortId port;
  Packet* packet = nullptr;

  // Out.
  uint64_t generation = 0;  // of the snapshot
  Instant at;
  Fate fate = Fate::queued;
  DropReason reason{};         // dropped
  ParseVerdict verdict{};      // 2
  ParsedFrame frame;           // 2
  uint32_t wire_len = 0;       // 2
  IpAddress source;            // 2, of an IP packet
  IpAddress destination;       // 2, likewise
  ClassBy class_by{};          // 4
  TrafficClass traffic_class;  // 4
  PriorityGroupId pg;          // 4
  NextHop next_hop;            // 5
  IsolationStep isolation{};   // 6a
  AdmissionOutlook admission;  // 7
  bool staged = false;         // 7b: a stage from hosts stands here; what follows is by now
  bool pinned = false;         // 7a: an earlier switch has chosen
  LeafId leaf;                 // 8, as what follows
  uint8_t options = 0;         // of `paths`
  bool chooses = false;        // the packet goes to a path set
  bool joins = false;          // it may have to go behind others of its flow in RLB's loop
  lb::Preview choice;
  uint8_t member = 0;  // that it takes, by 7a or 8
  PortId egress = PortId::none();
  uint32_t mtu = 0;    // 9
  NextMac next_mac{};  // 10
  MacAddress mac;      // 10
  QueueOutlook queue;  // 12 to 14
  // How far it came, in the order of docs/packet_walk.md.
  enum class Step : uint8_t {
    receive,
    parse,
    vlan,
    serve,
    classify,
    accept,
    route,
    lead,
    isolate,
    admit,
    steer,
    stage,
    choose,
    channel,
    depart,
    resolve,
    enqueue
  };
  Step last = Step::receive;
  // 8: the first `options` of them. Last, so that the others can be left out of a copy.
  std::array<PathOption, kMaxPaths> paths;
};

// Octets of an explanation with so many paths.
constexpr size_t explanation_size(size_t options) {
  return sizeof(Explanation) - (kMaxPaths - options) * sizeof(PathOption);
}

// False: it has values that none has; of one from other memory.
bool is_sound(const Explanation& explanation);

}  // namespace eddy
