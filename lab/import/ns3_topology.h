// A topology file of HPCC's or ConWeave's simulator, as those programs read it, and made over into
// one that this lab reads.
//
// "nodes switches links", the numbers of the switches, then a line a link: "source destination rate
// delay error-rate". Those programs read as many switches and links as the first line says and
// leave the rest of the file alone, where their own files have notes. What is made over has rates
// and delays in our units and no error rates, which are told apart; a host with several links has
// one, to its switches in turn, as fast as all of them. Problems are told with
// file:line:column, kept by whom the file belongs to. Owner: one import. Cost: linear in the file;
// ns3_reach(): the switches with hosts times the links. Source: scratch/third.cc, the topology
// files of those programs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/fabric/fabric_plan.h"
#include "lab/fabric/word_lines.h"
#include "net/units.h"
#include "system/import_report.h"

namespace eddy::lab {

struct Ns3Topology {
  struct Link {
    int64_t a = 0;
    int64_t b = 0;
    BitRate rate;
    Duration delay;
    double error_rate = 0;
    int line = 0;
    bool is_joined = false;  // several links of a host, as fast as all of them
  };
  // As faults name it: a link of the fabric or a host.
  struct Target {
    std::string name;
    bool is_host = false;
    bool is_joined = false;  // with other links of the host
  };

  std::string name;  // of the file
  int64_t nodes = 0;
  std::set<int64_t> switches;
  std::vector<Link> links;  // made over
  BitRate host_link_rate;   // that most links of hosts have in the file
  FabricPlan plan;
  std::string text;  // made over
  bool is_read = true;

  // In the place of one that cannot be read, for what else there is to be told: any node may be a
  // host, and nothing is known of links.
  static Ns3Topology unread(const std::string& name);
  bool is_host(int64_t node) const { return node >= 0 && node < nodes && !switches.contains(node); }
  // Of the first link between the two; any link of a host is its one.
  std::optional<Target> target(int64_t a, int64_t b) const;
  Target target_of(size_t link) const;
  std::vector<BitRate> rates() const;  // of links that are not joined, each once
  bool joins_to(BitRate rate) const;   // a joined link is as fast
  size_t most_ports() const;           // of a switch
};

// Nothing: problems of `file` say why. `name` stands for it in the report.
std::optional<Ns3Topology> read_ns3_topology(WordLines& file, const std::string& name,
                                             ImportReport& report);

// The largest of all pairs of hosts, as those programs reckon them: twice the delay of the way and
// one packet's time on each of its links; and what the slowest link carries in that time.
struct Ns3Reach {
  Duration rtt;
  Bytes bdp;
  Duration between_leaves;  // one way, the longest
};
Ns3Reach ns3_reach(const FabricPlan& plan, Bytes payload);

}  // namespace eddy::lab
