#include "switch/dataplane/state/counters.h"

#include "net/parse.h"

namespace eddy {
namespace {

#define EDDY_INFO(name, help) CounterInfo{#name, help},
constexpr CounterInfo kPortInfos[] = {EDDY_PORT_COUNTERS(EDDY_INFO)};
constexpr CounterInfo kPfcInfos[] = {EDDY_PFC_COUNTERS(EDDY_INFO)};
constexpr CounterInfo kQueueInfos[] = {EDDY_QUEUE_COUNTERS(EDDY_INFO)};
constexpr CounterInfo kPgInfos[] = {EDDY_PG_COUNTERS(EDDY_INFO)};
constexpr CounterInfo kDropInfos[] = {EDDY_DROP_REASONS(EDDY_INFO)};
#undef EDDY_INFO

// drop_reason_of() counts on the parser's verdicts being the first reasons, one place on.
static_assert(static_cast<int>(DropReason::runt) == static_cast<int>(ParseVerdict::runt) - 1);
static_assert(static_cast<int>(DropReason::shim_bad_version) ==
              static_cast<int>(ParseVerdict::shim_bad_version) - 1);

}  // namespace

std::span<const CounterInfo> port_counter_infos() {
  return kPortInfos;
}
std::span<const CounterInfo> pfc_counter_infos() {
  return kPfcInfos;
}
std::span<const CounterInfo> queue_counter_infos() {
  return kQueueInfos;
}
std::span<const CounterInfo> pg_counter_infos() {
  return kPgInfos;
}
std::span<const CounterInfo> drop_reason_infos() {
  return kDropInfos;
}

}  // namespace eddy
