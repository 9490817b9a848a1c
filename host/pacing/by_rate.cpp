// by_rate: a packet may start when the one before it would have left at the QP's rate; a rate that
// changes meanwhile counts for the whole gap. Source: reference D.4.
#include "host/describe.h"

namespace eddy::host {
namespace {

class ByRate : public Pacing {
 public:
  static constexpr std::string_view kSummary = "gaps in proportion to the last packet's length";

  explicit ByRate(const LawInit&) {}

  Instant next_send(uint32_t, const Pace& pace, const SendState&, Instant) override {
    constexpr int64_t kBitPicoseconds = 8'000'000'000'000;  // of an octet at 1 b/s
    const int64_t gap = pace.last_line_octets * kBitPicoseconds / pace.rate_bps;
    return pace.last_start + Duration::picoseconds(gap);
  }
};

}  // namespace

EDDY_PACING(by_rate, ByRate)

}  // namespace eddy::host
