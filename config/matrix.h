// The variants of an experiment: what `matrix` says, multiplied out.
//
//   matrix:
//     load_balancer.scheme: [ecmp, letflow]      # an axis: a path and its values
//     where:                                     # an axis of named changes, under any label
//       - {name: "near", set: {topology.fabric_delay: 1us}}
//       - {name: "far", set: {topology.fabric_delay: 5us}}
//
// A list instead of a map is one axis of named changes. The last axis varies fastest. At most
// kMaxVariants. Private to the YAML side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/keys/yaml_tree.h"

namespace eddy::config {

inline constexpr size_t kMaxVariants = 1'024;

struct Variant {
  std::string name;           // "scheme=ecmp near"; empty without a matrix
  std::vector<Node> changes;  // maps, for overlay(), in their order
};

// At least one. Axes whose path is in `fixed` are left out.
std::vector<Variant> expand_matrix(const Node& matrix, const std::vector<std::string>& fixed,
                                   std::vector<Problem>& problems);

}  // namespace eddy::config
