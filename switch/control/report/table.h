// Tables for people, from reports: aligned columns, units, the columns that matter. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switch/control/report/json.h"

namespace eddy::control {

// One report (docs/control.md), or "links" or "switches" of a fabric, as lines of text, each with
// its newline.
std::string render_table(const Json& report);

// The same in pieces, for who arranges them otherwise.
struct TableCells {
  std::vector<std::string> keys;                // of the columns, as in the report's rows
  std::vector<std::vector<std::string>> lines;  // the heads, then the rows; padded to equal widths
  std::string below;  // lines about the whole switch, or that there are no rows
};
TableCells table_cells(const Json& report);

// "1,234,567"
std::string grouped(uint64_t n);
// Powers of 1024: "999 B", "12.0 KiB", "9.5 MiB"
std::string bytes_text(uint64_t octets);
// Powers of 1000: "0 b/s", "1.25 Gb/s"
std::string rate_text(uint64_t bits_per_second);
// "0 s", "250.0 ns", "1.5 us", "12.3 ms", "4.0 s"; above two minutes "3m 20s", "2h 5m", "4d 3h"
std::string duration_text(uint64_t picoseconds);
inline constexpr uint64_t kPicosecondsANanosecond = 1'000;  // reports state either

}  // namespace eddy::control
