// Reports of counters and buffers: one row a port, queue, priority group, priority or drop reason.
#include <algorithm>
#include <array>

#include "switch/control/report/report_rows.h"
#include "switch/control/report/words.h"

namespace eddy::control {
namespace {

constexpr size_t value_of(auto counter) {
  return static_cast<size_t>(counter);
}

bool wants(const ReportOptions& options, const config::PortConfig& port) {
  return !port.absent() && (!options.port || *options.port == port.name);
}

// Calls visit(PortReader) for the ports asked for, in the order of their ids.
template <class Visit>
void for_each_port(const ReportInput& input, const ReportOptions& options, Visit visit) {
  const size_t count = std::min(input.config.ports.size(), input.now.numbers.size());
  for (size_t p = 0; p < count; ++p)
    if (wants(options, input.config.ports[p])) visit(PortReader(input, p));
}

template <class Visit>
void for_each_priority(const ReportInput& input, const ReportOptions& options, Visit visit) {
  for_each_port(input, options, [&](const PortReader& port) {
    for (size_t i = 0; i < kPriorities; ++i) visit(port, i);
  });
}

template <size_t kCount>
void put_counters(Json& row, std::span<const CounterInfo> infos, const Values<kCount>& values) {
  for (size_t i = 0; i < kCount; ++i) row[std::string(infos[i].name)] = values[i];
}

template <size_t kCount>
bool any(const Values<kCount>& values) {
  return std::any_of(values.begin(), values.end(), [](uint64_t v) { return v != 0; });
}

uint64_t octets(int64_t n) {
  return n > 0 ? static_cast<uint64_t>(n) : 0;
}

void put_watermark(Json& row, const std::string& prefix, const Watermark& mark) {
  row[prefix + "user_watermark_bytes"] = octets(mark.user);
  row[prefix + "persistent_watermark_bytes"] = octets(mark.persistent);
}

void put_rates(Json& row, const PortReader& port) {
  const PortNumbers& delta = port.since_earlier();
  put_rate(row, "rx_bps", port.rate(delta[PortCounter::rx_bytes] * 8));
  put_rate(row, "tx_bps", port.rate(delta[PortCounter::tx_bytes] * 8));
  put_rate(row, "rx_pps", port.rate(delta[PortCounter::rx_packets]));
  put_rate(row, "tx_pps", port.rate(delta[PortCounter::tx_packets]));
  put_rate(row, "dropped_pps", port.rate(delta.total_drops()));
}

uint64_t sum_of(const PortReader& port, PfcCounter which) {
  uint64_t sum = 0;
  for (const auto& values : port.since_baseline().pfc) sum += values[value_of(which)];
  return sum;
}

uint64_t sum_of(const PortReader& port, QueueCounter which) {
  uint64_t sum = 0;
  for (const auto& values : port.since_baseline().queue) sum += values[value_of(which)];
  return sum;
}

const char* to_string(config::PortRole role) {
  return role == config::PortRole::host ? "host" : "fabric";
}

// A fabric port is no path before the MAC of its peer is known.
const char* oper_text(const config::PortConfig& config, const PortState& state) {
  if (state.up) return "up";
  const bool waits = config.role == config::PortRole::fabric && config.admin_up;
  return waits && state.device.link_up ? "no_peer" : "down";
}

const char* to_string(config::PfcRx rx) {
  switch (rx) {
    case config::PfcRx::honour:
      return "honour";
    case config::PfcRx::clamp:
      return "clamp";
    case config::PfcRx::ignore:
      return "ignore";
  }
  return "";
}

const char* to_string(config::WatchdogAction action) {
  switch (action) {
    case config::WatchdogAction::drop:
      return "drop";
    case config::WatchdogAction::forward:
      return "forward";
    case config::WatchdogAction::alert:
      return "alert";
  }
  return "";
}

std::string name_of(QueueCounter which) {
  return std::string(queue_counter_infos()[value_of(which)].name);
}

// Of all storms, and of the last one, at whose beginning the counter stood at `before`.
void put_storm_packets(Json& row, const PortReader& port, size_t queue, QueueCounter which,
                       uint64_t before) {
  const uint64_t all = port.since_baseline().queue[queue][value_of(which)];
  const uint64_t ever = port.since_start().queue[queue][value_of(which)];
  row[name_of(which)] = all;
  row[name_of(which) + "_last"] = std::min(all, ever - std::min(ever, before));
}

bool is_lossless(const ReportInput& input, const config::PortConfig& port, size_t pg) {
  const auto profile = input.config.buffer.profiles.find(port.pg_profiles[pg]);
  return profile != input.config.buffer.profiles.end() && profile->second.lossless;
}

uint8_t lossless_priorities(const ReportInput& input, const config::PortConfig& port) {
  unsigned priorities = 0;
  for (size_t pg = 0; pg < kPriorities; ++pg)
    if (is_lossless(input, port, pg)) priorities |= 1u << port.maps.pg_to_pfc[pg].index();
  return static_cast<uint8_t>(priorities);
}

}  // namespace

Json port_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_port(input, options, [&](const PortReader& port) {
    const config::PortConfig& config = port.config();
    const PortState& state = port.state();
    uint64_t queued = 0;
    for (const uint32_t bytes : state.queued_bytes) queued += bytes;
    Json row;
    row["port"] = config.name;
    row["role"] = to_string(config.role);
    row["admin"] = up_down(config.admin_up);
    row["oper"] = oper_text(config, state);
    row["tx"] = on_off(state.tx_on);
    row["speed_bps"] = static_cast<uint64_t>(config.speed.bps());
    row["mtu"] = static_cast<uint64_t>(config.mtu);
    row["worker"] = static_cast<uint64_t>(config.worker);
    row["mac"] = to_string(port.mac());
    if (!state.peer_mac.is_zero()) row["peer_mac"] = to_string(state.peer_mac);
    row["device"] = state.device.device;
    row["driver"] = state.device.driver;
    row["device_pfc"] = state.device.pfc;
    put_rates(row, port);
    row["queued_bytes"] = queued;
    row["dropped_packets"] = port.since_baseline().total_drops();
    row["pfc_tx_xoff"] = sum_of(port, PfcCounter::pfc_tx_xoff);
    row["pfc_rx_xoff"] = sum_of(port, PfcCounter::pfc_rx_xoff);
    row["ecn_marked_packets"] = sum_of(port, QueueCounter::ecn_marked_packets);
    put_counters(row, port_counter_infos(), port.since_baseline().port);
    rows.push_back(std::move(row));
  });
  return rows;
}

Json queue_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_priority(input, options, [&](const PortReader& port, size_t queue) {
    const auto& counters = port.since_baseline().queue[queue];
    const auto& delta = port.since_earlier().queue[queue];
    const QueueStatus& status = port.state().queues[queue];
    const uint64_t used = std::max<uint64_t>(octets(status.used), port.state().queued_bytes[queue]);
    if (!options.all && !any(counters) && used == 0 && !status.paused) return;
    const config::QueueConfig& config = port.config().queues[queue];
    Json row;
    row["port"] = port.config().name;
    row["queue"] = queue;
    row["scheduler"] = config.scheduler == config::SchedulerType::strict ? "strict" : "dwrr";
    row["weight"] = static_cast<uint64_t>(config.weight);
    row["wred"] = config.wred.value_or("none");
    row["used_bytes"] = used;
    put_watermark(row, "", status.watermark);
    row["paused"] = yes_no(status.paused);
    row["storm"] = yes_no(status.storm);
    put_rate(row, "tx_bps", port.rate(delta[value_of(QueueCounter::queue_tx_bytes)] * 8));
    put_rate(row, "tx_pps", port.rate(delta[value_of(QueueCounter::queue_tx_packets)]));
    put_counters(row, queue_counter_infos(), counters);
    rows.push_back(std::move(row));
  });
  return rows;
}

Json pg_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_priority(input, options, [&](const PortReader& port, size_t pg) {
    const auto& counters = port.since_baseline().pg[pg];
    const PgStatus& status = port.state().pgs[pg];
    const bool lossless = is_lossless(input, port.config(), pg);
    if (!options.all && !any(counters) && status.used == 0 && !status.pausing) return;
    Json row;
    row["port"] = port.config().name;
    row["pg"] = pg;
    row["profile"] = port.config().pg_profiles[pg];
    row["lossless"] = yes_no(lossless);
    row["used_bytes"] = octets(status.used);
    row["headroom_bytes"] = octets(status.headroom);
    row["xoff_bytes"] = octets(status.xoff);
    put_watermark(row, "", status.shared_watermark);
    put_watermark(row, "headroom_", status.headroom_watermark);
    row["pausing"] = yes_no(status.pausing);
    const auto& delta = port.since_earlier().pg[pg];
    put_rate(row, "rx_bps", port.rate(delta[value_of(PgCounter::pg_rx_bytes)] * 8));
    put_counters(row, pg_counter_infos(), counters);
    rows.push_back(std::move(row));
  });
  return rows;
}

Json pfc_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_priority(input, options, [&](const PortReader& port, size_t priority) {
    const auto& counters = port.since_baseline().pfc[priority];
    const config::PfcPortConfig& pfc = port.config().pfc;
    const size_t queue = port.config().maps.pfc_to_queue[priority].index();
    const QueueStatus& status = port.state().queues[queue];
    if (!options.all && !any(counters) && !status.paused) return;
    const auto& delta = port.since_earlier().pfc[priority];
    Json row;
    row["port"] = port.config().name;
    row["prio"] = priority;
    row["enabled"] =
        yes_no((pfc.priorities(lossless_priorities(input, port.config())) >> priority & 1) != 0);
    row["pfc_tx"] = on_off(pfc.tx);
    row["pfc_rx"] = to_string(pfc.rx);
    row["paused"] = yes_no(status.paused);
    row["storm"] = yes_no(status.storm);
    put_rate(row, "pfc_tx_xoff_pps", port.rate(delta[value_of(PfcCounter::pfc_tx_xoff)]));
    put_rate(row, "pfc_rx_xoff_pps", port.rate(delta[value_of(PfcCounter::pfc_rx_xoff)]));
    put_counters(row, pfc_counter_infos(), counters);
    rows.push_back(std::move(row));
  });
  return rows;
}

// As SONiC's `show pfcwd stats` has them.
Json pfcwd_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_priority(input, options, [&](const PortReader& port, size_t queue) {
    const auto& counters = port.since_baseline().queue[queue];
    const QueueStatus& status = port.state().queues[queue];
    if (!options.all && counters[value_of(QueueCounter::pfcwd_deadlock_detected)] == 0 &&
        !status.storm)
      return;
    Json row;
    row["port"] = port.config().name;
    row["queue"] = queue;
    row["status"] = status.storm ? "stormed" : "operational";
    row["action"] = to_string(port.config().watchdog.action);
    for (const QueueCounter which :
         {QueueCounter::pfcwd_deadlock_detected, QueueCounter::pfcwd_deadlock_restored})
      row[name_of(which)] = counters[value_of(which)];
    const StormPackets& last = status.last_storm;
    put_storm_packets(row, port, queue, QueueCounter::pfcwd_tx_packets, last.tx);
    put_storm_packets(row, port, queue, QueueCounter::pfcwd_tx_dropped_packets, last.tx_dropped);
    put_storm_packets(row, port, queue, QueueCounter::pfcwd_rx_packets, last.rx);
    put_storm_packets(row, port, queue, QueueCounter::pfcwd_rx_dropped_packets, last.rx_dropped);
    rows.push_back(std::move(row));
  });
  return rows;
}

Json buffer_rows(const ReportInput& input, const ReportOptions&) {
  const BufferStatus& buffer = input.now.buffer;
  Json row;
  row["pool"] = "shared";
  row["cell_bytes"] = static_cast<uint64_t>(input.config.buffer.cell_bytes);
  row["size_bytes"] = octets(buffer.size);
  row["reserved_bytes"] = octets(buffer.reserved);
  row["shared_size_bytes"] = octets(buffer.shared_size);
  row["shared_used_bytes"] = octets(buffer.shared_used);
  put_watermark(row, "shared_", buffer.shared_watermark);
  row["headroom_used_bytes"] = octets(buffer.headroom_used);
  put_watermark(row, "headroom_", buffer.headroom_watermark);
  row["stages_size_bytes"] = octets(buffer.stages_size);
  row["stages_used_bytes"] = octets(buffer.stages_used);
  put_watermark(row, "stages_", buffer.stages_watermark);
  Json rows = Json::array();
  rows.push_back(std::move(row));
  return rows;
}

Json watermark_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  // `place`: the labels of what it is a watermark of.
  const auto add = [&](WatermarkOf what, Json place, int64_t used, const Watermark& mark) {
    if (!options.all && mark.persistent == 0 && mark.user == 0) return;
    place["kind"] = std::string(watermark_words()[value_of(what)].name);
    place["used_bytes"] = octets(used);
    put_watermark(place, "", mark);
    rows.push_back(std::move(place));
  };
  const auto place = [](const PortReader& port, const char* kind, size_t index) {
    return Json{{"port", port.config().name}, {kind, index}};
  };
  for_each_port(input, options, [&](const PortReader& port) {
    for (size_t i = 0; i < kPriorities; ++i) {
      const PgStatus& pg = port.state().pgs[i];
      add(WatermarkOf::pg_shared, place(port, "pg", i), pg.used - pg.headroom, pg.shared_watermark);
      add(WatermarkOf::pg_headroom, place(port, "pg", i), pg.headroom, pg.headroom_watermark);
    }
    for (size_t i = 0; i < kPriorities; ++i) {
      const QueueStatus& queue = port.state().queues[i];
      add(WatermarkOf::queue, place(port, "queue", i), queue.used, queue.watermark);
    }
  });
  if (options.port) return rows;  // the pools are of no port
  const BufferStatus& buffer = input.now.buffer;
  add(WatermarkOf::pool, Json::object(), buffer.shared_used, buffer.shared_watermark);
  add(WatermarkOf::headroom_pool, Json::object(), buffer.headroom_used, buffer.headroom_watermark);
  add(WatermarkOf::stages, Json::object(), buffer.stages_used, buffer.stages_watermark);
  return rows;
}

namespace {

// The port counters from one to another; ports where all are zero are left out.
Json rows_between(PortCounter from, PortCounter to, const ReportInput& input,
                  const ReportOptions& options) {
  const auto first = static_cast<size_t>(from);
  const auto last = static_cast<size_t>(to);
  Json rows = Json::array();
  for_each_port(input, options, [&](const PortReader& port) {
    const auto& counters = port.since_baseline().port;
    Json row;
    row["port"] = port.config().name;
    bool quiet = true;
    for (size_t i = first; i <= last; ++i) {
      row[std::string(port_counter_infos()[i].name)] = counters[i];
      quiet = quiet && counters[i] == 0;
    }
    if (options.all || !quiet) rows.push_back(std::move(row));
  });
  return rows;
}

}  // namespace

// Of the predictor, the warnings, RLB and its order guard.
Json rlb_rows(const ReportInput& input, const ReportOptions& options) {
  return rows_between(PortCounter::pfc_predicted, PortCounter::guard_replaced_flows, input,
                      options);
}

Json isolation_rows(const ReportInput& input, const ReportOptions& options) {
  return rows_between(PortCounter::isolation_hot_hosts, PortCounter::isolation_untrusted_packets,
                      input, options);
}

// How long packets were in RLB's loop, to within a quarter; absent: none was.
void put_waits(Json& report, const ReportInput& input) {
  Values<DelayHistogram::kSteps> waits = input.now.waits;
  for (size_t i = 0; input.waits_baseline != nullptr && i < waits.size(); ++i)
    waits[i] -= std::min(waits[i], (*input.waits_baseline)[i]);
  if (!any(waits)) return;
  report["rlb_wait_p50_ns"] = static_cast<uint64_t>(percentile(waits, 50).ns());
  report["rlb_wait_p99_ns"] = static_cast<uint64_t>(percentile(waits, 99).ns());
}

Json drop_rows(const ReportInput& input, const ReportOptions& options) {
  Json rows = Json::array();
  for_each_port(input, options, [&](const PortReader& port) {
    for (size_t i = 0; i < kDropReasons; ++i) {
      const uint64_t packets = port.since_baseline().drops[i];
      if (!options.all && packets == 0) continue;
      Json row;
      row["port"] = port.config().name;
      row["reason"] = std::string(drop_reason_infos()[i].name);
      row["dropped_packets"] = packets;
      put_rate(row, "dropped_pps", port.rate(port.since_earlier().drops[i]));
      row["help"] = std::string(drop_reason_infos()[i].help);
      rows.push_back(std::move(row));
    }
  });
  return rows;
}

}  // namespace eddy::control
