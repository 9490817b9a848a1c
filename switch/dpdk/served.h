// is_served: whether a process accepts connections on a Unix socket, as DPDK's telemetry and memif
// have them; a path that a killed process left behind is not served.
#pragma once

#include <filesystem>

namespace eddy {

bool is_served(const std::filesystem::path& socket_path);

}  // namespace eddy
