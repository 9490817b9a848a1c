#include "switch/dataplane/object/flow_tables.h"

#include "switch/dataplane/object/shard_impl.h"

namespace eddy {

lb::FlowTableUse flow_table_of(Shard& shard, Instant now) {
  lb::Selector* const selector = static_cast<ShardImpl&>(shard).selector();
  if (selector == nullptr) return {};  // it has never been polled
  const size_t places = selector->flow_table(now, 0, 0).places;
  return selector->flow_table(now, 0, places);
}

}  // namespace eddy
