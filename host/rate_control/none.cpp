// none: every QP sends at line rate, within its window. Source: reference D.4.
#include "host/describe.h"

namespace eddy::host {
namespace {

class None : public RateControl {
 public:
  static constexpr std::string_view kSummary = "line rate, within the window";

  explicit None(const LawInit& init) : line_(init.nic.speed) {}

  BitRate rate(uint32_t, Instant) const override { return line_; }

 private:
  BitRate line_;
};

}  // namespace

EDDY_RATE_CONTROL(none, None)

}  // namespace eddy::host
