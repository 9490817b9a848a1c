#include "pfc/wred.h"

#include "config/config.h"
#include "net/assert.h"

namespace eddy::pfc {

WredCurve WredCurve::of(const config::WredProfile& profile) {
  WredCurve curve;
  if (!profile.ecn) return curve;
  ASSERT(profile.kmin <= profile.kmax && profile.pmax >= 0 && profile.pmax <= 1);
  curve.kmin_ = profile.kmin.count();
  curve.kmax_ = profile.kmax.count();
  const auto span = static_cast<uint64_t>(curve.kmax_ - curve.kmin_);
  if (span == 0) return curve;
  const auto pmax = static_cast<unsigned __int128>(profile.pmax * static_cast<double>(kCertain));
  curve.slope_ = static_cast<uint64_t>(((pmax << 32) - (pmax == kCertain ? 1 : 0)) / span);
  return curve;
}

}  // namespace eddy::pfc
