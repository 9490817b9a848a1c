#include "lb/dre.h"

#include <algorithm>

#include "config/config.h"
#include "net/assert.h"

namespace eddy::lb {

Dre::Parameters Dre::of(const config::DreConfig& config) {
  constexpr uint32_t kUnit = 1 << 16;  // of alpha
  return {.period = config.period,
          .alpha_numerator = static_cast<uint32_t>(config.alpha * kUnit),
          .alpha_denominator = kUnit,
          .level_bits = static_cast<uint8_t>(config.q)};
}

Dre::Dre(const Parameters& parameters)
    : period_(parameters.period),
      alpha_numerator_(parameters.alpha_numerator),
      alpha_denominator_(parameters.alpha_denominator),
      level_bits_(parameters.level_bits) {
  ASSERT(period_ > Duration{} && level_bits_ >= 1 && level_bits_ <= 8);
  ASSERT(alpha_numerator_ > 0 && alpha_numerator_ <= alpha_denominator_);
  const uint64_t kept = alpha_denominator_ - alpha_numerator_;
  const uint64_t factor = (kept << kShift) / alpha_denominator_;
  powers_[0] = uint64_t{1} << kShift;
  for (size_t k = 1; k < kPowers; ++k) {
    const auto product = static_cast<unsigned __int128>(powers_[k - 1]) * factor;
    powers_[k] = static_cast<uint64_t>(product >> kShift);
  }
}

Bytes Dre::capacity(BitRate rate) const {
  const Duration tau = period_ * alpha_denominator_ / alpha_numerator_;
  return bytes_in(tau, rate);
}

void Dre::rebase(PortSignals& port, const Rebase& rebase) const {
  const Instant then =
      Instant::at(Duration::picoseconds(port.dre_since_ps.load(std::memory_order_relaxed)));
  const Instant moved = rebase(then);
  const int64_t lag = ((moved + rebase.back()) - then).ps() % period_.ps();
  port.dre_since_ps.store(moved.ps() + (lag == 0 ? 0 : period_.ps() - lag),
                          std::memory_order_relaxed);
}

uint32_t Dre::utilisation(const PortSignals& port, Bytes capacity, Instant now) const {
  const auto scaled = static_cast<unsigned __int128>(octets(port, now)) * kFullScale;
  const auto full = static_cast<unsigned __int128>(capacity.count());
  return static_cast<uint32_t>(std::min<unsigned __int128>(scaled / full, kFullScale));
}

uint8_t Dre::level(const PortSignals& port, Bytes capacity, Instant now) const {
  const uint32_t top = (1u << level_bits_) - 1;
  const uint32_t level = (utilisation(port, capacity, now) << level_bits_) / kFullScale;
  return static_cast<uint8_t>(std::min(level, top));
}

}  // namespace eddy::lb
