// How much memory the tables of Flowcut, of flowlets and of flowcells take at most, as Flowcut's
// paper computes it.
//
// A flow is in a table while packets of it are in flight. A host has at most the bandwidth-delay
// product of them there, each of the largest size, and so never more flows than packets. Rates are
// bits a second, times seconds, sizes octets. Pure functions. Source: Flowcut paper, section
// III-A2, equation 1 and table III.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace eddy::lab {

struct MemorySetting {
  double hosts = 0;
  double rate = 0;  // of a host
  double rtt = 0;
  double mtu = 0;
  double hosts_per_leaf = 0;
};

// Where a table is, and so whose flows it has.
enum class TableAt : uint8_t { any_switch, leaf, host };
struct FlowTableKind {
  std::string_view name;
  TableAt at{};
  double octets = 0;  // a flow
};
// A flowlet's table is in every switch, as the paper has it; a flowcell's too.
inline constexpr std::array kFlowTableKinds = {
    FlowTableKind{"flowcut full", TableAt::any_switch, 11},
    FlowTableKind{"flowcut ingress", TableAt::leaf, 10},
    FlowTableKind{"flowcut nic", TableAt::host, 10},
    FlowTableKind{"flowlet", TableAt::any_switch, 5},
    FlowTableKind{"flowcell", TableAt::any_switch, 2},
};

// Of one host, at once.
double packets_in_flight(const MemorySetting& setting);
// Of a host that sends so many flows.
double flows_in_flight(const MemorySetting& setting, double flows);
// In the worst case: of any switch those of all hosts.
double table_flows(const MemorySetting& setting, TableAt at, double flows);
double table_octets(const MemorySetting& setting, const FlowTableKind& kind, double flows);
// Of a fat tree of so many hosts, k^3 / 4: k / 2.
double fat_tree_hosts_per_leaf(double hosts);

}  // namespace eddy::lab
