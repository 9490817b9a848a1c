// One EAL for all tests of the binary, without hugepages, PCI or telemetry.
#pragma once

#include <memory>

#include "switch/dpdk/pools.h"

namespace eddy::testing_support {

// Pools for 2,048 packets of 1,700 octets, made once.
const PacketPools& pools();

}  // namespace eddy::testing_support
