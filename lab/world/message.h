// Messages between ranks: numbers in little-endian octets, and lists of octets with their lengths.
//
// A reader goes no farther than its octets: what is missing reads as zero, and ok() says so once
// and for all. Plain code. Owner: whoever packs or reads. Cost: a copy.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lab/world/exchange.h"
#include "net/units.h"

namespace eddy::lab {

class MessageWriter {
 public:
  explicit MessageWriter(Message& to) : to_(to) {}

  template <std::unsigned_integral T>
  void number(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) to_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  // Seven bits an octet: most numbers are small.
  void compact(uint64_t value) {
    constexpr uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7) to_.push_back(static_cast<uint8_t>(value | kMore));
    to_.push_back(static_cast<uint8_t>(value));
  }
  void instant(Instant at) { number(static_cast<uint64_t>(at.ps())); }
  void octets(std::span<const uint8_t> octets) {
    to_.insert(to_.end(), octets.begin(), octets.end());
  }
  void text(std::string_view text) {
    compact(text.size());
    to_.insert(to_.end(), text.begin(), text.end());
  }

 private:
  Message& to_;
};

class MessageReader {
 public:
  explicit MessageReader(std::span<const uint8_t> from) : from_(from) {}

  template <std::unsigned_integral T>
  T number() {
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | T{octet()} << 8 * i);
    return value;
  }
  uint64_t compact() {
    constexpr int kBits = 64;
    uint64_t value = 0;
    for (int shift = 0; shift < kBits; shift += 7) {
      const uint8_t part = octet();
      value |= uint64_t{part & 0x7fU} << shift;
      if ((part & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  // A number of things that take at least `least` octets each; more than can follow is none.
  size_t count(size_t least) {
    const uint64_t count = compact();
    if (count <= left() / least) return static_cast<size_t>(count);
    ok_ = false;
    return 0;
  }
  // Below `bound`; else 0.
  size_t index(size_t bound) {
    const uint64_t index = compact();
    if (index < bound) return static_cast<size_t>(index);
    ok_ = false;
    return 0;
  }
  Instant instant() {
    return Instant::at(Duration::picoseconds(static_cast<int64_t>(number<uint64_t>())));
  }
  // Empty: there are fewer.
  std::span<const uint8_t> octets(size_t count) {
    if (count > left()) {
      ok_ = false;
      return {};
    }
    at_ += count;
    return from_.subspan(at_ - count, count);
  }
  std::string text() {
    const std::span<const uint8_t> read = octets(count(1));
    return {read.begin(), read.end()};
  }

  size_t left() const { return from_.size() - at_; }
  bool ok() const { return ok_; }
  void spoil() { ok_ = false; }  // the caller knows better
  bool done() const { return ok_ && left() == 0; }

 private:
  uint8_t octet() {
    if (at_ < from_.size()) return from_[at_++];
    ok_ = false;
    return 0;
  }

  std::span<const uint8_t> from_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace eddy::lab
