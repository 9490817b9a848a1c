// A circle in a directed graph. Cost: linear in its places and edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace eddy::lab {

// Its places in their order, from any on; empty: there is none. edges[i]: the places that i leads
// to.
[[nodiscard]] std::vector<uint32_t> circle_in(std::span<const std::vector<uint32_t>> edges);

}  // namespace eddy::lab
