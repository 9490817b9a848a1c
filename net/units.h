// Strong units: time in picoseconds, sizes in bytes, rates in bits per second.
//
// Instant counts from a world's own zero (0 in the lab; in the daemon the process's start, or the
// last rebase after it, net/rebase.h) and lasts 106 days. Line rates are kept as picoseconds a byte
// in fixed point, so that serialisation is one multiplication. Cost: everything is constexpr and
// fits a register. Source: architecture, section 3.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace eddy {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration picoseconds(int64_t n) { return Duration(n); }
  static constexpr Duration nanoseconds(int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration microseconds(int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration milliseconds(int64_t n) { return Duration(n * 1'000'000'000); }
  static constexpr Duration seconds(int64_t n) { return Duration(n * 1'000'000'000'000); }
  static constexpr Duration max() { return Duration(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t ps() const { return ps_; }
  constexpr int64_t ns() const { return ps_ / 1'000; }
  constexpr auto operator<=>(const Duration&) const = default;

  constexpr Duration operator+(Duration other) const { return Duration(ps_ + other.ps_); }
  constexpr Duration operator-(Duration other) const { return Duration(ps_ - other.ps_); }
  constexpr Duration operator*(int64_t n) const { return Duration(ps_ * n); }
  constexpr Duration operator/(int64_t n) const { return Duration(ps_ / n); }
  constexpr int64_t operator/(Duration other) const { return ps_ / other.ps_; }
  constexpr Duration& operator+=(Duration other) { return ps_ += other.ps_, *this; }
  constexpr Duration& operator-=(Duration other) { return ps_ -= other.ps_, *this; }

 private:
  explicit constexpr Duration(int64_t ps) : ps_(ps) {}
  int64_t ps_ = 0;
};

class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant at(Duration since_zero) { return Instant(since_zero.ps()); }
  static constexpr Instant never() { return Instant(std::numeric_limits<int64_t>::max()); }
  // 26.7 days before zero: no clock keeps anything older apart.
  static constexpr Instant long_past() { return Instant(-(int64_t{1} << 61)); }

  constexpr int64_t ps() const { return ps_; }
  constexpr Duration since_zero() const { return Duration::picoseconds(ps_); }
  constexpr auto operator<=>(const Instant&) const = default;

  constexpr Instant operator+(Duration d) const { return Instant(ps_ + d.ps()); }
  constexpr Instant operator-(Duration d) const { return Instant(ps_ - d.ps()); }
  constexpr Duration operator-(Instant other) const {
    return Duration::picoseconds(ps_ - other.ps_);
  }

 private:
  explicit constexpr Instant(int64_t ps) : ps_(ps) {}
  int64_t ps_ = 0;
};

class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(int64_t n) : n_(n) {}
  static constexpr Bytes kib(int64_t n) { return Bytes(n * 1024); }
  static constexpr Bytes mib(int64_t n) { return Bytes(n * 1024 * 1024); }

  constexpr int64_t count() const { return n_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes other) const { return Bytes(n_ + other.n_); }
  constexpr Bytes operator-(Bytes other) const { return Bytes(n_ - other.n_); }
  constexpr Bytes operator*(int64_t n) const { return Bytes(n_ * n); }
  constexpr Bytes operator/(int64_t n) const { return Bytes(n_ / n); }
  constexpr Bytes& operator+=(Bytes other) { return n_ += other.n_, *this; }
  constexpr Bytes& operator-=(Bytes other) { return n_ -= other.n_, *this; }
  // The next multiple of `unit`.
  constexpr Bytes rounded_up(int64_t unit) const { return Bytes((n_ + unit - 1) / unit * unit); }

 private:
  int64_t n_ = 0;
};

class BitRate {
 public:
  constexpr BitRate() = default;
  static constexpr BitRate bits_per_second(int64_t n) { return BitRate(n); }
  static constexpr BitRate mbps(int64_t n) { return BitRate(n * 1'000'000); }
  static constexpr BitRate gbps(int64_t n) { return BitRate(n * 1'000'000'000); }

  constexpr int64_t bps() const { return bps_; }
  constexpr auto operator<=>(const BitRate&) const = default;

 private:
  explicit constexpr BitRate(int64_t bps) : bps_(bps) {}
  int64_t bps_ = 0;
};

// Time on the wire of a line of fixed rate. Range: 1 Mb/s to 1.6 Tb/s, frames up to 64 KiB.
class LineRate {
 public:
  constexpr LineRate() = default;
  explicit constexpr LineRate(BitRate rate)
      : ps_a_byte_q16_(static_cast<int64_t>((__int128{8'000'000'000'000} << kShift) / rate.bps())) {
  }

  constexpr Duration time_of(Bytes size) const {
    return Duration::picoseconds((size.count() * ps_a_byte_q16_) >> kShift);
  }
  // 802.3 annex 31B: one pause quantum is 512 bit times.
  constexpr Duration time_of_quanta(uint16_t quanta) const { return time_of(Bytes(64) * quanta); }

 private:
  static constexpr int kShift = 16;
  int64_t ps_a_byte_q16_ = 0;
};

// Bytes that a line of this rate carries in `time`, rounded up.
constexpr Bytes bytes_in(Duration time, BitRate rate) {
  const __int128 bits_ps = __int128{time.ps()} * rate.bps();
  const __int128 per_byte = __int128{8} * 1'000'000'000'000;
  return Bytes(static_cast<int64_t>((bits_ps + per_byte - 1) / per_byte));
}

namespace literals {
constexpr Duration operator""_ps(unsigned long long n) {
  return Duration::picoseconds(static_cast<int64_t>(n));
}
constexpr Duration operator""_ns(unsigned long long n) {
  return Duration::nanoseconds(static_cast<int64_t>(n));
}
constexpr Duration operator""_us(unsigned long long n) {
  return Duration::microseconds(static_cast<int64_t>(n));
}
constexpr Duration operator""_ms(unsigned long long n) {
  return Duration::milliseconds(static_cast<int64_t>(n));
}
constexpr Duration operator""_s(unsigned long long n) {
  return Duration::seconds(static_cast<int64_t>(n));
}
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes(static_cast<int64_t>(n));
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes::kib(static_cast<int64_t>(n));
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes::mib(static_cast<int64_t>(n));
}
constexpr BitRate operator""_Mbps(unsigned long long n) {
  return BitRate::mbps(static_cast<int64_t>(n));
}
constexpr BitRate operator""_Gbps(unsigned long long n) {
  return BitRate::gbps(static_cast<int64_t>(n));
}
}  // namespace literals

}  // namespace eddy
