// SizeCdf: a distribution of flow sizes, as the public traces give it: points joined by straight
// lines.
//
// Text: `size_bytes,cumulative_probability`, both never falling, the last probability 1; a first
// probability above 0 is the share of flows of exactly that size. Sizes are octets of payload up to
// kLargestFlow; probabilities are Q32 inside, so that a draw is the same on every compiler. A draw
// is at least 1 octet. Immutable; any thread. Cost of a draw: one word and a binary search.
// Source: reference D.7.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lab/fabric/text_table.h"
#include "net/random.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

class SizeCdf {
 public:
  static constexpr int kProbabilityBits = 32;
  static constexpr uint64_t kOne = uint64_t{1} << kProbabilityBits;
  static constexpr Bytes kLargestFlow{int64_t{1} << 40};
  static constexpr size_t kMaxPoints = 65'536;

  struct Point {
    int64_t size = 0;
    uint64_t probability = 0;  // Q32 of flows that are at most so long
  };

  // All that is wrong, as "file:line: ...".
  static Result<SizeCdf> parse(const NamedText& file);

  // The same, but what would be longer than `largest` is `largest`.
  SizeCdf truncated(Bytes largest) const;

  Bytes draw(RandomStream& stream) const;
  // Means over flows, Q16: octets of payload; packets of at most `mtu` octets of payload.
  int64_t mean_q16() const;
  int64_t mean_packets_q16(int mtu) const;

  std::span<const Point> points() const { return points_; }
  // Of the file's octets, FNV-1a of 64 bits: says in a result which curve was meant.
  uint64_t digest() const { return digest_; }

 private:
  template <class MeanOfSegment>
  int64_t mean(MeanOfSegment mean_of_segment) const;

  std::vector<Point> points_;
  uint64_t digest_ = 0;
};

}  // namespace eddy::lab
