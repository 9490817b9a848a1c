#include "host/nic_counters.h"

namespace eddy::host {

std::span<const NicCounterInfo> nic_counter_infos() {
#define EDDY_NIC_ENTRY(name, help) {#name, help},
  static constexpr NicCounterInfo kInfos[] = {EDDY_NIC_COUNTERS(EDDY_NIC_ENTRY)};
#undef EDDY_NIC_ENTRY
  return kInfos;
}

}  // namespace eddy::host
