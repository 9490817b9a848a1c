// Nodes: what the partitions of a world share: its switches, hosts and lines, and what looks at
// them.
//
// Switches are the first nodes, hosts follow. Owner: the world; in windows its threads, each of
// which writes what belongs to its partitions, and of a line how many frames it lost.
// Source: architecture, section 3.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/nic.h"
#include "lab/world/hooks.h"
#include "lab/world/packet_pool.h"
#include "lab/world/switch_node.h"
#include "lab/world/world_options.h"
#include "net/fault_sites.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::lab {

// One direction of a link: from the port that sends to the port that receives.
struct alignas(32) Line {  // two a cache line
  Duration delay;
  uint32_t from = 0;  // node
  uint32_t to = 0;
  PortId from_port;
  PortId to_port;
  bool up = true;
  bool filtered = false;      // a LineFilter looks at every frame
  uint16_t to_partition = 0;  // of `to`, in a world that is divided
  uint32_t back = 0;          // the line of the other direction; itself, where nothing is joined
};
static_assert(sizeof(Line) == 32);

// What one port has counted of both its lines, so that what a thread writes lies together, and in
// no memory that others read.
struct LineEnd {
  uint64_t entered = 0;    // frames given to its own line, and copies that a filter made
  uint64_t delivered = 0;  // of the line of the other direction, arrived
};

struct HostNode {
  std::unique_ptr<host::Nic> nic;
  LineRate rate;
  Intake* intake = nullptr;
  int line_overhead = 0;
  bool line_busy = false;
  bool due = false;            // its deadline has come
  bool departs = false;        // a flow waits for another of its own to leave
  bool blank_missing = false;  // the pool was empty when it last had something to send
  Instant wake_at = Instant::never();
  uint32_t line = 0;
};

struct Nodes {
  explicit Nodes(const WorldOptions& with) : options(with), sites(with.sites) {}

  size_t size() const { return switches.size() + hosts.size(); }
  bool is_switch(uint32_t node) const { return node < first_host; }
  // Else it is another rank's, and has neither a switch object nor a NIC.
  bool is_here(uint32_t node) const {
    return is_switch(node) ? switches[node].object != nullptr
                           : hosts[node - first_host].nic != nullptr;
  }
  HostNode& host_at(uint32_t node) { return hosts[node - first_host]; }
  uint64_t entered(uint32_t line) const { return ends[line].entered; }
  uint64_t& entered(uint32_t line) { return ends[line].entered; }
  uint64_t delivered(uint32_t line) const { return ends[lines[line].back].delivered; }
  uint64_t& delivered(uint32_t line) { return ends[lines[line].back].delivered; }
  Instant& wake_at(uint32_t node) {
    return is_switch(node) ? switches[node].wake_at : host_at(node).wake_at;
  }

  const WorldOptions options;
  [[no_unique_address]] FaultProbe sites;
  std::vector<Line> lines;
  std::vector<LineRate> rates;  // by line
  // By line: frames. The link was down at one end of the flight, or a filter took them.
  std::vector<uint64_t> lost;
  std::vector<LineEnd> ends;  // by the line that leaves there
  std::vector<SwitchNode> switches;
  std::vector<HostNode> hosts;
  uint32_t first_host = 0;
  std::unique_ptr<PacketPool> pool;  // of which those of threads borrow
  std::vector<uint32_t> places;      // by node: its number within its partition
  std::vector<LineFilter*> filters;  // by line
  std::vector<Intake*> intakes;      // those that are set
  size_t filtered = 0;               // lines
  Watcher* watcher = nullptr;
};

struct WorldCounts {
  uint64_t events = 0;
  uint64_t packet_hops = 0;  // frames delivered over one line
  uint64_t ties = 0;
  uint64_t polls = 0;  // of switches
  uint64_t host_turns = 0;
  uint64_t blank_missing = 0;  // times that a host had no packet to write into
};

}  // namespace eddy::lab
