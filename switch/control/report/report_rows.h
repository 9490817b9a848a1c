// Rows of the single reports, for report.cpp only. Each returns a JSON array of flat objects.
#pragma once

#include <nlohmann/json.hpp>

#include "switch/control/report/json.h"
#include "switch/control/report/report_input.h"
#include "switch/control/report/report_options.h"

namespace eddy::control {

// Numbers of one port since the baseline, and what a rate is made of.
class PortReader {
 public:
  PortReader(const ReportInput& input, size_t port);
  const config::PortConfig& config() const { return config_; }
  const PortState& state() const { return state_; }
  MacAddress mac() const { return mac_; }
  const PortNumbers& since_start() const { return since_start_; }
  const PortNumbers& since_baseline() const { return since_baseline_; }
  const PortNumbers& since_earlier() const { return since_earlier_; }
  // Events a second over the sampling interval; nullopt without one.
  std::optional<uint64_t> rate(uint64_t count_since_earlier) const;

 private:
  const config::PortConfig& config_;
  const PortState& state_;
  const MacAddress mac_;
  const PortNumbers& since_start_;
  PortNumbers since_baseline_;
  PortNumbers since_earlier_;
  int64_t interval_ns_ = 0;
};

void put_rate(Json& row, const char* key, const std::optional<uint64_t>& rate);
inline const char* on_off(bool value) {
  return value ? "on" : "off";
}
inline const char* yes_no(bool value) {
  return value ? "yes" : "no";
}
inline const char* up_down(bool value) {
  return value ? "up" : "down";
}
// Position of a port by name; ports.size() if there is none.
size_t port_position(const config::SwitchConfig& config, const std::string& name);

Json port_rows(const ReportInput& input, const ReportOptions& options);
Json queue_rows(const ReportInput& input, const ReportOptions& options);
Json pg_rows(const ReportInput& input, const ReportOptions& options);
Json pfc_rows(const ReportInput& input, const ReportOptions& options);
Json pfcwd_rows(const ReportInput& input, const ReportOptions& options);
Json buffer_rows(const ReportInput& input, const ReportOptions& options);
Json watermark_rows(const ReportInput& input, const ReportOptions& options);
Json drop_rows(const ReportInput& input, const ReportOptions& options);
Json rlb_rows(const ReportInput& input, const ReportOptions& options);
Json isolation_rows(const ReportInput& input, const ReportOptions& options);
// By host: the flows that are named in a host's place are counted in its row.
Json isolated_rows(const ReportInput& input, const ReportOptions& options);

// Beside the rows of show rlb and show flows.
void put_waits(Json& report, const ReportInput& input);
void put_flow_tables(Json& report, const ReportInput& input);
void put_plugin(Json& report, const ReportInput& input);

// The path that a flow's member is in this configuration; null: it is of another one.
const config::PathConfig* path_of(const std::vector<config::LeafConfig>& leaves, const FlowRow& row,
                                  size_t member);
Json flow_rows(const ReportInput& input, const ReportOptions& options);
Json path_rows(const ReportInput& input, const ReportOptions& options);
Json scheme_rows(const ReportInput& input, const ReportOptions& options);
Json worker_rows(const ReportInput& input, const ReportOptions& options);
Json neighbor_rows(const ReportInput& input, const ReportOptions& options);
Json route_rows(const ReportInput& input, const ReportOptions& options);
Json event_rows(const ReportInput& input, const ReportOptions& options);

}  // namespace eddy::control
