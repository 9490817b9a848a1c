// What each kind of port asks of the kernel: capabilities to open it and to run it, and the device
// files that its user must be able to open.
//
// The one table. eddyd keeps by it and refuses by it, prints it (--capabilities), and whatever
// makes services and containers is fed from that. A port's row follows from its device string
// alone. Pure; control plane. Source: measured on Linux 6.18 with DPDK 22.11 by leaving out one
// capability at a time, where `measured` says so; else from DPDK's guides.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace eddy::config {

// With the kernel's numbers.
enum class Capability : uint8_t {
  net_admin = 12,
  net_raw = 13,
  ipc_lock = 14,
  sys_rawio = 17,
  sys_admin = 21,
  sys_nice = 23
};
std::string_view to_string(Capability capability);  // "NET_ADMIN"
std::span<const Capability> all_capabilities();     // that a row names

class CapabilitySet {
 public:
  constexpr CapabilitySet() = default;
  constexpr CapabilitySet(std::initializer_list<Capability> list) {
    for (const Capability capability : list) bits_ |= bit(capability);
  }
  // Of a mask as the kernel writes it; those that no row names are left out.
  static CapabilitySet of_mask(uint64_t mask);

  constexpr bool has(Capability capability) const { return (bits_ & bit(capability)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr CapabilitySet operator|(CapabilitySet other) const { return of(bits_ | other.bits_); }
  constexpr CapabilitySet operator&(CapabilitySet other) const { return of(bits_ & other.bits_); }
  constexpr CapabilitySet operator-(CapabilitySet other) const { return of(bits_ & ~other.bits_); }
  std::vector<Capability> list() const;                                    // ascending
  std::string words(std::string_view before, std::string_view gap) const;  // "CAP_NET_RAW, ..."
  std::string named() const;  // "capability CAP_NET_RAW", "capabilities CAP_NET_ADMIN, CAP_NET_RAW"
  bool operator==(const CapabilitySet&) const = default;

 private:
  static constexpr uint64_t bit(Capability capability) {
    return uint64_t{1} << static_cast<unsigned>(capability);
  }
  static constexpr CapabilitySet of(uint64_t bits) {
    CapabilitySet out;
    out.bits_ = bits;
    return out;
  }
  uint64_t bits_ = 0;
};

// Indexed by PortKind.
std::span<const std::string_view> port_kind_names();
std::string_view to_string(PortKind kind);
// By the name of its driver, whichever of those the device string has.
PortKind port_kind_of(std::string_view device);

struct CapabilityRow {
  PortKind kind = PortKind::other;
  std::string_view when;   // what a device of the kind must say for this row; empty = always
  CapabilitySet needs;     // without one of them the port does not open, or does not run
  CapabilitySet comfort;   // the port runs without them, with a limit that `why` names
  bool own_user = true;    // another user than root can run it, given the capabilities
  std::string_view files;  // device files that this user must be able to open
  bool measured = true;
  std::string_view why;
};

// Ascending by kind; the rows of a kind that depend on the device come before the one that does
// not.
std::span<const CapabilityRow> capability_table();
// Of hugepages, for whatever port.
const CapabilityRow& hugepage_row();

const CapabilityRow& capability_row(std::string_view device);

// What all these ask together.
struct CapabilityDemand {
  CapabilitySet needs;
  CapabilitySet comfort;
  bool own_user = true;
  bool known = true;  // false: a driver that no row knows is among them
  void add(const CapabilityRow& row);
};
// Of the ports, and of the kinds under privileges.ports with all that their devices could ask.
CapabilityDemand capability_demand(const SwitchConfig& config);

}  // namespace eddy::config
