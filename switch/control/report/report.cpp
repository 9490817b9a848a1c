#include "switch/control/report/report.h"

#include "config/places.h"
#include "switch/control/report/report_rows.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::control {
namespace {

Json rows_of(Report report, const ReportInput& input, const ReportOptions& options) {
  switch (report) {
    case Report::ports:
      return port_rows(input, options);
    case Report::queues:
      return queue_rows(input, options);
    case Report::pgs:
      return pg_rows(input, options);
    case Report::pfc:
      return pfc_rows(input, options);
    case Report::pfcwd:
      return pfcwd_rows(input, options);
    case Report::buffers:
      return buffer_rows(input, options);
    case Report::watermarks:
      return watermark_rows(input, options);
    case Report::drops:
      return drop_rows(input, options);
    case Report::rlb:
      return rlb_rows(input, options);
    case Report::isolation:
      return isolation_rows(input, options);
    case Report::isolated:
      return isolated_rows(input, options);
    case Report::paths:
      return path_rows(input, options);
    case Report::flows:
      return flow_rows(input, options);
    case Report::schemes:
      return scheme_rows(input, options);
    case Report::workers:
      return worker_rows(input, options);
    case Report::neighbors:
      return neighbor_rows(input, options);
    case Report::routes:
      return route_rows(input, options);
    case Report::events:
      return event_rows(input, options);
  }
  return Json::array();
}

}  // namespace

Json make_report(Report report, const ReportInput& input, const ReportOptions& options) {
  Json out;
  out["report"] = std::string(to_string(report));
  out["switch"] = input.config.name;
  out["generation"] = input.generation;
  out["uptime_ns"] = static_cast<uint64_t>(input.now.at_ns - input.started_at_ns);
  if (report == Report::rlb) put_waits(out, input);
  if (report == Report::flows) put_flow_tables(out, input);
  if (report == Report::schemes) put_plugin(out, input);
  Json& rows = out["rows"] = rows_of(report, input, options);
  if (options.top && rows.size() > *options.top)
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(*options.top), rows.end());
  return out;
}

PortReader::PortReader(const ReportInput& input, size_t port)
    : config_(input.config.ports[port]),
      state_(input.now.ports[port]),
      mac_(port_mac(input.config, port)),
      since_start_(input.now.numbers[port]) {
  const PortNumbers& now = since_start_;
  since_baseline_ = port < input.baseline.size() ? now - input.baseline[port] : now;
  if (input.earlier == nullptr || port >= input.earlier->numbers.size()) return;
  since_earlier_ = now - input.earlier->numbers[port];
  interval_ns_ = input.now.at_ns - input.earlier->at_ns;
}

std::optional<uint64_t> PortReader::rate(uint64_t count_since_earlier) const {
  if (interval_ns_ <= 0) return std::nullopt;
  return static_cast<uint64_t>(static_cast<unsigned __int128>(count_since_earlier) * 1'000'000'000 /
                               static_cast<uint64_t>(interval_ns_));
}

void put_rate(Json& row, const char* key, const std::optional<uint64_t>& rate) {
  if (rate) row[key] = *rate;
}

size_t port_position(const config::SwitchConfig& config, const std::string& name) {
  return config::place_of(config, name);
}

}  // namespace eddy::control
