// Dre: the discounting rate estimator, one register a port, for every scheme that wants
// utilisation.
//
// The register X gains each sent packet's octets and loses the share alpha every period: X stands
// for alpha-weighted octets of the last tau = period / alpha. Decay is lazy, through a table of
// powers of 1 - alpha in 2^-32. One writer a port (the shard that owns it); another shard may read
// X of one period with the start of the next, and is then wrong by one decay until the next packet.
// Cost: add() is a comparison and a store, and divides once a period. Source: reference A.7 (CONGA,
// section 3.2).
#pragma once

#include <array>
#include <cstdint>

#include "lb/path_view.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::config {
struct DreConfig;
}

namespace eddy::lb {

class Dre {
 public:
  struct Parameters {
    Duration period = Duration::microseconds(20);
    uint32_t alpha_numerator = 1;  // alpha = numerator / denominator, in (0, 1]
    uint32_t alpha_denominator = 8;
    uint8_t level_bits = 3;  // Q
  };
  static Parameters of(const config::DreConfig& config);
  static constexpr uint32_t kFullScale = 1 << 16;  // utilisation 1

  explicit Dre(const Parameters& parameters);

  Duration period() const { return period_; }
  // What X comes to just before a decay on a line of this rate that never rests: C * tau.
  Bytes capacity(BitRate rate) const;

  // A packet of `size` octets was sent. Thread: the port's shard; `now` does not go back.
  void add(PortSignals& port, uint32_t size, Instant now) const {
    const int64_t then = port.dre_since_ps.load(std::memory_order_relaxed);
    const int64_t periods = periods_since(then, now);
    const uint64_t left = decayed(port.dre_bytes.load(std::memory_order_relaxed), periods);
    port.dre_bytes.store(left + size, std::memory_order_relaxed);
    if (periods != 0)
      port.dre_since_ps.store(then + periods * period_.ps(), std::memory_order_relaxed);
  }

  // Starts from nothing: what X and its period mean changes with the parameters. Thread: the port's
  // shard.
  void restart(PortSignals& port, Instant now) const {
    port.dre_bytes.store(0, std::memory_order_relaxed);
    port.dre_since_ps.store(now.ps() - now.ps() % period_.ps(), std::memory_order_relaxed);
  }

  // Periods begin when they would have, also of a port that rests for longer than a rebase tells.
  // Thread: as the rebase.
  void rebase(PortSignals& port, const Rebase& rebase) const;

  // X as of `now`. Thread: any.
  uint64_t octets(const PortSignals& port, Instant now) const {
    const int64_t then = port.dre_since_ps.load(std::memory_order_relaxed);
    return decayed(port.dre_bytes.load(std::memory_order_relaxed), periods_since(then, now));
  }

  // What is left of X after so many periods.
  uint64_t decayed(uint64_t octets, int64_t periods) const {
    if (periods == 0) return octets;
    if (periods >= static_cast<int64_t>(kPowers)) return 0;
    constexpr unsigned __int128 kHalf = uint64_t{1} << (kShift - 1);
    const unsigned __int128 product =
        static_cast<unsigned __int128>(octets) * powers_[static_cast<size_t>(periods)];
    return static_cast<uint64_t>((product + kHalf) >> kShift);
  }

  // X / capacity in 1/kFullScale, clamped to [0, kFullScale].
  uint32_t utilisation(const PortSignals& port, Bytes capacity, Instant now) const;
  // The same in Q bits: 0 .. 2^Q - 1, clamped before it is quantised.
  uint8_t level(const PortSignals& port, Bytes capacity, Instant now) const;

 private:
  static constexpr size_t kPowers = 64;  // after as many periods nothing is left
  static constexpr int kShift = 32;

  int64_t periods_since(int64_t then, Instant now) const {
    const int64_t late = now.ps() - then;
    if (late < period_.ps()) [[likely]]
      return 0;
    return late / period_.ps();
  }

  Duration period_;
  uint32_t alpha_numerator_;
  uint32_t alpha_denominator_;
  uint8_t level_bits_;
  std::array<uint64_t, kPowers> powers_{};  // (1 - alpha)^k in 2^-32
};

}  // namespace eddy::lb
