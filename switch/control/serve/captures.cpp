#include "switch/control/serve/captures.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "net/version.h"
#include "switch/control/report/report_rows.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/explain/names.h"
#include "system/time_text.h"

namespace eddy::control {
namespace {

// Of a worker: 43,000 frames of 64 octets. What is larger does not stay in its core's caches, and
// then each record costs half as much again (docs/adr/0043).
constexpr size_t kRingOctets = 4u << 20;
const std::string kSparePlace = "spare";  // of which packets come from a port that is added later
constexpr std::array<std::string_view, kCaptureDirections> kDirections = {"in", "out", "drop"};

Problems read_ports(const Json& request, const config::SwitchConfig& config, CaptureOrder& order) {
  const auto port = request.find("port");
  if (port == request.end() || !port->is_string())
    return {"port missing; valid are all, or the name of a port"};
  const auto name = port->get<std::string>();
  if (name == "all") {
    order.ports.set();
    return {};
  }
  const size_t position = port_position(config, name);
  if (position < config.ports.size()) {
    order.ports.set(position);
    return {};
  }
  std::string valid = "all";
  for (const config::PortConfig& each : config.ports)
    if (!each.absent()) valid += ", " + each.name;
  return {"port \"" + name + "\" unknown; valid are " + valid};
}

Problems read_directions(const Json& request, CaptureOrder& order) {
  constexpr auto kAll = static_cast<uint8_t>((1u << kCaptureDirections) - 1);
  const auto direction = request.find("direction");
  if (direction == request.end()) {
    order.directions = kAll;
    return {};
  }
  for (size_t i = 0; i < kDirections.size(); ++i)
    if (*direction == kDirections[i]) order.directions = static_cast<uint8_t>(1u << i);
  if (order.directions != 0) return {};
  return {"direction unknown; valid are in, out, drop"};
}

Problems read_snap(const Json& request, CaptureOrder& order) {
  const auto snap = request.find("snap");
  if (snap == request.end()) return {};
  if (!snap->is_number_unsigned() || *snap == 0u || *snap > kCaptureMostSnap)
    return {"snap is no whole number from 1 to " + std::to_string(kCaptureMostSnap)};
  order.snap = snap->get<uint32_t>();
  return {};
}

Result<CaptureOrder> read_order(const Json& request, const config::SwitchConfig& config) {
  CaptureOrder order;
  Problems problems = read_ports(request, config, order);
  for (auto* read : {read_directions, read_snap}) {
    const Problems more = read(request, order);
    problems.insert(problems.end(), more.begin(), more.end());
  }
  if (!problems.empty()) return problems;
  return order;
}

// A number of an instruction, which is no larger than `most`.
bool read_number(const Json& value, uint64_t most, auto& into) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) return false;
  into = static_cast<std::remove_reference_t<decltype(into)>>(value.get<uint64_t>());
  return true;
}

bool read_instruction(const Json& value, FilterInstruction& into) {
  return value.is_array() && value.size() == 4 && read_number(value[0], UINT16_MAX, into.code) &&
         read_number(value[1], UINT8_MAX, into.if_true) &&
         read_number(value[2], UINT8_MAX, into.if_false) &&
         read_number(value[3], UINT32_MAX, into.k);
}

Result<TraceOrder> read_trace(const Json& request) {
  using Read = Result<TraceOrder>;
  TraceOrder trace;
  const auto count = request.find("count");
  if (count != request.end() &&
      (!count->is_number_unsigned() || *count == 0u || *count > kMostTraced))
    return Read::failure("count is no whole number from 1 to " + std::to_string(kMostTraced));
  if (count != request.end()) trace.most = count->get<uint32_t>();
  const auto filter = request.find("filter");
  if (filter == request.end()) return trace;
  if (!filter->is_array() || filter->size() > PacketFilter::kMost)
    return Read::failure("filter is no list of at most " + std::to_string(PacketFilter::kMost) +
                         " instructions");
  std::vector<FilterInstruction> program(filter->size());
  for (size_t i = 0; i < program.size(); ++i)
    if (!read_instruction((*filter)[i], program[i]))
      return Read::failure("filter: instruction " + std::to_string(i) +
                           " is no list of four numbers: code, jt, jf, k");
  Result<PacketFilter> loaded = PacketFilter::load(program);
  if (!loaded.ok()) return loaded.problems();
  trace.filter = std::move(*loaded);
  return trace;
}

}  // namespace

Result<Captures::Begun> Captures::begin(const Json& request, Instant now) {
  Result<CaptureOrder> order = read_order(request, object_.config());
  if (!order.ok()) return order.problems();
  return begin(*order, std::make_shared<Capture>(), now);
}

Result<Captures::Begun> Captures::begin_trace(const Json& request, Instant now) {
  Result<TraceOrder> trace = read_trace(request);
  if (!trace.ok()) return trace.problems();
  auto capture = std::make_shared<Capture>();
  capture->trace = std::move(*trace);
  CaptureOrder order;
  order.ports.set();
  order.trace = &capture->trace;
  Result<Begun> begun = begin(order, capture, now);
  if (!begun.ok()) return begun;
  const explain::Names names = explain::Names::of(object_.config());
  begun->answer["trace_octets"] = sizeof(Explanation);
  begun->answer["scheme"] = names.scheme;
  begun->answer["rlb"] = names.rlb;
  for (const IpPrefix& prefix : names.prefixes)
    begun->answer["prefixes"].push_back(to_string(prefix));
  return begun;
}

Result<Captures::Begun> Captures::begin(const CaptureOrder& wanted,
                                        std::shared_ptr<Capture> capture, Instant now) {
  if (capture_ != nullptr)
    return Result<Begun>::failure(
        "packets of this switch are captured or traced already; one at a time");
  CaptureOrder order = wanted;
  order.zero_ns = unix_now_ns() - now.since_zero().ns();
  Result<std::shared_ptr<CaptureMemory>> memory =
      CaptureMemory::create(object_.shard_count(), kRingOctets);
  if (!memory.ok()) return memory.problems();
  capture->memory = std::move(*memory);
  for (size_t shard = 0; shard < object_.shard_count(); ++shard) {
    capture->orders.push_back(order);
    capture->orders.back().ring = capture->memory->writer(shard);
  }
  capture_ = capture;
  for (size_t shard = 0; shard < capture->orders.size(); ++shard) {
    Problems problems = commands_.capture(ShardId(shard), &capture->orders[shard], capture);
    if (problems.empty()) continue;
    end();
    return problems;
  }
  return Begun{describe(order), capture->memory->descriptors()};
}

void Captures::end() {
  if (capture_ == nullptr) return;
  // A worker that does not answer keeps its ring until it does.
  for (size_t shard = 0; shard < capture_->orders.size(); ++shard)
    (void)commands_.capture(ShardId(shard), nullptr, capture_);
  capture_.reset();
}

// What the reader is told: names by number, and where what lies in the memory.
Json Captures::describe(const CaptureOrder& order) const {
  Json ports = Json::array();
  for (const config::PortConfig& port : object_.config().ports)
    ports.push_back(
        {{"name", port.absent() ? kSparePlace : port.name}, {"speed_bps", port.speed.bps()}});
  Json reasons = Json::array();
  for (const CounterInfo& info : drop_reason_infos()) reasons.push_back(std::string(info.name));
  return Json{{"format", kCaptureFormat},         {"switch", object_.config().name},
              {"version", version_line("eddyd")}, {"rings", object_.shard_count()},
              {"ring_octets", kRingOctets},       {"snap", order.snap},
              {"ports", std::move(ports)},        {"reasons", std::move(reasons)}};
}

}  // namespace eddy::control
