// Paging: how a report is cut for DPDK's telemetry, whose replies end at 16 KiB.
//
// A page is the report with "rows" as an object (row number -> row), and "page", "pages" and
// "snapshot" beside it. A reader that wants one coherent report asks page 0, then the others with
// the snapshot it was given; PageCache keeps the last kSnapshotsKept reports for that. Rows are
// never cut. Owner: the caller, which locks. Cost: linear in the report. Source: DPDK 22.11,
// lib/telemetry (MAX_OUTPUT_LEN, RTE_TEL_MAX_DICT_ENTRIES, RTE_TEL_MAX_STRING_LEN).
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/report_options.h"

namespace eddy::control {

inline constexpr size_t kPageBytes = 15'000;   // of 16,384; the rest is the envelope
inline constexpr size_t kPageRows = 250;       // of the 256 entries of a telemetry dictionary
inline constexpr size_t kPageTextBytes = 127;  // longest string of telemetry
inline constexpr size_t kSnapshotsKept = 8;

struct PageRequest {
  uint64_t page = 0;
  std::optional<uint64_t> snapshot;
  ReportOptions options;
};
// "page=1,all=1,port=p0,leaf=2,top=9,snapshot=7", each at most once; empty or null text asks page
// 0.
Result<PageRequest> parse_page_request(std::string_view parameters);

// Index of the first row of each page; at least one page.
std::vector<size_t> page_starts(const Json& rows);
Json cut_page(const Json& report, const std::vector<size_t>& starts, uint64_t page,
              uint64_t snapshot);

class PageCache {
 public:
  using Make = std::function<Json()>;
  // The page, or {"error": ...}. `key` says what is asked (report and options); `make` is called
  // only when no snapshot is named.
  Json page(const std::string& key, const PageRequest& request, const Make& make);

 private:
  struct Kept {
    uint64_t snapshot;
    std::string key;
    Json report;
    std::vector<size_t> starts;
  };
  std::deque<Kept> kept_;
  uint64_t next_snapshot_ = 1;
};

}  // namespace eddy::control
