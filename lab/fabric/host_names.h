// HostNames: which hosts a selector means; the words are those of config::TrafficConfig.
//
// Refers to the topology, which must outlive it. Control plane only. Cost: a few lookups a name; a
// range is as long as there are hosts at most. Source: reference E.0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

class HostNames {
 public:
  explicit HostNames(const Topology& topology);

  // Host indices in their order.
  Result<std::vector<uint32_t>> find(std::string_view selector) const;
  // "leaf1.host3": a host by its switch and its place there.
  std::string name_of(uint32_t host) const;

 private:
  bool add_exact(std::string_view name, std::vector<uint32_t>& out) const;
  bool add_range(std::string_view name, std::vector<uint32_t>& out) const;
  std::string valid() const;

  const Topology& topology_;
  std::map<std::string, uint32_t, std::less<>> hosts_;
  std::map<std::string, std::vector<uint32_t>, std::less<>> of_switch_;
};

}  // namespace eddy::lab
