#include "lab/traffic/cdf.h"

#include <algorithm>
#include <optional>

#include "net/fnv.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kCdfHeader = "size_bytes,cumulative_probability";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "0.25" as Q32, to the nearest; nothing when it is no decimal number 0 to 1.
std::optional<uint64_t> parse_probability(std::string_view text) {
  constexpr size_t kMostDigits = 18;
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view digits = point < text.size() ? text.substr(point + 1) : "0";
  if ((whole != "0" && whole != "1") || digits.empty() || digits.size() > kMostDigits)
    return std::nullopt;
  unsigned __int128 value = whole == "1" ? 1 : 0;
  unsigned __int128 one = 1;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    one *= 10;
  }
  if (value > one) return std::nullopt;
  return static_cast<uint64_t>((value * SizeCdf::kOne * 2 + one) / (one * 2));
}

std::optional<int64_t> parse_size(std::string_view text) {
  const Result<int64_t> size = parse_integer(text);
  const bool valid = size && size.value() >= 0 && size.value() <= SizeCdf::kLargestFlow.count();
  return valid ? std::optional(size.value()) : std::nullopt;
}

void check_order(TextTable& table, size_t line, const SizeCdf::Point& before,
                 const SizeCdf::Point& point) {
  if (point.size < before.size)
    table.problem(line, std::to_string(point.size) + " is below the size of the line before, " +
                            std::to_string(before.size) + ", sizes never fall");
  if (point.probability < before.probability)
    table.problem(line, "the probability is below that of the line before, it never falls");
}

std::vector<SizeCdf::Point> read_points(TextTable& table) {
  std::vector<SizeCdf::Point> points;
  for (const TableRow& row : table.rows()) {
    const auto size = parse_size(row.cells[0]);
    const auto probability = parse_probability(row.cells[1]);
    if (!size)
      table.problem(row.line, in_quotes(row.cells[0]) + " is no size, write whole octets 0 to " +
                                  std::to_string(SizeCdf::kLargestFlow.count()));
    if (!probability)
      table.problem(row.line, in_quotes(row.cells[1]) +
                                  " is no probability, write 0 to 1 with at most 18 decimals");
    if (!size || !probability) continue;
    const SizeCdf::Point point{*size, *probability};
    if (!points.empty()) check_order(table, row.line, points.back(), point);
    points.push_back(point);
  }
  return points;
}

void check_ends(TextTable& table, const std::vector<SizeCdf::Point>& points) {
  const size_t last = table.rows().empty() ? 1 : table.rows().back().line;
  if (points.size() > SizeCdf::kMaxPoints)
    table.problem(last, std::to_string(points.size()) + " points, at most " +
                            std::to_string(SizeCdf::kMaxPoints));
  if (points.empty())
    table.problem(last, "no points, give at least one size with probability 1");
  else if (points.back().probability != SizeCdf::kOne)
    table.problem(last, "the last probability is not 1");
  else if (points.back().size == 0)
    table.problem(last, "every flow is 0 octets long, the last size is at least 1");
}

// The packets of all flows of 0 to `size` octets, summed over sizes: the integral of ceil(s / mtu).
__int128 packets_up_to(int64_t size, int64_t mtu) {
  const __int128 full = size / mtu;
  return full * (full + 1) / 2 * mtu + (size - full * mtu) * (full + 1);
}

}  // namespace

Result<SizeCdf> SizeCdf::parse(const NamedText& file) {
  TextTable table(file, kCdfHeader);
  SizeCdf cdf;
  if (table.ok() || !table.rows().empty()) cdf.points_ = read_points(table);
  if (table.ok()) check_ends(table, cdf.points_);
  if (!table.ok()) return table.problems();
  Fnv64 digest;
  digest.add(file.text);
  cdf.digest_ = digest.value();
  return cdf;
}

SizeCdf SizeCdf::truncated(Bytes largest) const {
  if (largest.count() >= points_.back().size) return *this;
  SizeCdf out;
  out.digest_ = digest_;
  for (const Point& point : points_) {
    if (point.size < largest.count()) {
      out.points_.push_back(point);
      continue;
    }
    if (!out.points_.empty()) {  // up to where the line crosses `largest`
      const Point& from = out.points_.back();
      const __int128 rise = point.probability - from.probability;
      const __int128 part = rise * (largest.count() - from.size) / (point.size - from.size);
      out.points_.push_back({largest.count(), from.probability + static_cast<uint64_t>(part)});
    }
    break;
  }
  out.points_.push_back({largest.count(), kOne});
  return out;
}

Bytes SizeCdf::draw(RandomStream& stream) const {
  const uint64_t u = stream.next();
  const auto above = std::ranges::upper_bound(points_, u, {}, &Point::probability);
  if (above == points_.begin()) return Bytes(std::max<int64_t>(above->size, 1));
  const Point& from = *(above - 1);
  // The middle of the draw's own share, rounded to a whole octet: no bias in the mean.
  const auto range = static_cast<__int128>(above->probability - from.probability);
  const __int128 along = 2 * static_cast<__int128>(u - from.probability) + 1;
  const __int128 size = from.size + (along * (above->size - from.size) + range) / (2 * range);
  return Bytes(std::max<int64_t>(static_cast<int64_t>(size), 1));
}

// Sums `mean_of_segment(from, to)`, Q16, weighted by the segments' shares.
template <class MeanOfSegment>
int64_t SizeCdf::mean(MeanOfSegment mean_of_segment) const {
  __int128 sum = 0;
  Point from{points_.front().size, 0};
  for (const Point& to : points_) {
    sum += static_cast<__int128>(to.probability - from.probability) * mean_of_segment(from, to);
    from = to;
  }
  return static_cast<int64_t>(sum >> kProbabilityBits);
}

int64_t SizeCdf::mean_q16() const {
  return mean([](const Point& from, const Point& to) { return (from.size + to.size) << 15; });
}

int64_t SizeCdf::mean_packets_q16(int mtu) const {
  return mean([mtu](const Point& from, const Point& to) -> int64_t {
    if (from.size == to.size)
      return std::max<int64_t>((to.size + mtu - 1) / mtu, 1) << 16;  // one packet at least
    const __int128 packets = packets_up_to(to.size, mtu) - packets_up_to(from.size, mtu);
    return static_cast<int64_t>((packets << 16) / (to.size - from.size));
  });
}

}  // namespace eddy::lab
