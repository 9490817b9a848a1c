#include "lb/path_table.h"

#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace eddy::lb {
namespace {

template <class T>
T load(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}
template <class T>
void store(std::atomic<T>& value, int64_t to) {
  value.store(static_cast<T>(to), std::memory_order_relaxed);
}

size_t most_members(std::span<const PathSet> sets) {
  size_t most = 1;
  for (const PathSet& set : sets) most = std::max<size_t>(most, set.count);
  return most;
}

}  // namespace

void PathRecord::mix_marks(uint32_t packets, uint32_t marked_packets, int64_t smoothing) {
  constexpr int64_t kOne = std::numeric_limits<uint16_t>::max();
  const int64_t share = std::min<int64_t>(marked_packets, packets) * kOne / packets;
  store(marked, smoothed(load(marked), share, smoothing));
}

// Bit 0 is not of the time; the time by which a rebase goes back is even.
void PathRecord::rebase(const Rebase& rebase) {
  const int64_t echoed = load(echoed_ps);
  const int64_t stamp = rebase(Instant::at(Duration::picoseconds(echoed & ~int64_t{1}))).ps();
  store(echoed_ps, stamp | (echoed & 1));
}

void PathTable::rebase(const Rebase& rebase) {
  constexpr Duration kStamps = Duration::microseconds(int64_t{1} << 32);
  const int64_t ahead = (ahead_.ps() + rebase.back().ps() % kStamps.ps()) % kStamps.ps();
  ahead_ = Duration::picoseconds(ahead < 0 ? ahead + kStamps.ps() : ahead);
  for (size_t i = 0; i < record_count_; ++i) {
    records_[i].rebase(rebase);
    if (sweeps_ == nullptr) continue;
    Instant swept = sweeps_[i].swept();
    rebase.shift_if_any(swept);
    store(sweeps_[i].swept_ps, swept.ps());
  }
  for (size_t path = 0; path < record_of_.size(); ++path) show({path, record_of_[path]});
}

PathTable::PathTable(std::span<const PathSet> sets, const Parameters& parameters,
                     std::span<const LeafId> leaves)
    : parameters_(parameters),
      stale_us_(static_cast<uint32_t>(
          std::min<int64_t>((parameters.base_rtt * kStaleAfter).ps() / 1'000'000, UINT32_MAX))),
      arrivals_(most_members(sets)) {
  // Sets to the same leaf share the records of the paths that they have in common.
  std::map<std::tuple<size_t, PortId, PathId>, uint32_t> known;
  for (size_t i = 0; i < sets.size(); ++i) {
    const size_t to = leaves.empty() ? i : leaves[i].index();
    first_.push_back(static_cast<uint32_t>(record_of_.size()));
    for (size_t member = 0; member < sets[i].count; ++member) {
      const PathMember& path = sets[i].members[member];
      const auto next = static_cast<uint32_t>(known.size());
      record_of_.push_back(known.try_emplace({to, path.port, path.path}, next).first->second);
      sharers_.push_back({0, static_cast<uint16_t>(i), static_cast<MemberIndex>(member)});
    }
  }
  record_count_ = known.size();
  link_sharers();
  records_ = std::make_unique<PathRecord[]>(record_count_);
  delays_ = std::make_unique<std::atomic<uint32_t>[]>(record_of_.size());
  for (size_t path = 0; path < record_of_.size(); ++path)
    store(delays_[path], PathRecord::kUnknown);
  uses_ = std::make_unique<PathUse[]>(known.size());
  if (parameters.measured.swept_queues != 0) sweeps_ = std::make_unique<PathSweep[]>(record_count_);
  failed_ = std::make_unique<std::atomic<MemberMask>[]>(sets.size());
}

// For each path the next one of the same record, the first one after the last.
void PathTable::link_sharers() {
  std::vector<uint32_t> last(record_count_, UINT32_MAX);
  for (uint32_t path = 0; path < record_of_.size(); ++path) {
    uint32_t& before = last[record_of_[path]];
    sharers_[path].next = before == UINT32_MAX ? path : std::exchange(sharers_[before].next, path);
    before = path;
  }
}

void PathTable::set_failed(size_t set, MemberIndex member, PathFailure why) {
  const uint32_t record = record_of_[first_[set] + member];
  uses_[record].failure.store(why, std::memory_order_relaxed);
  for (size_t other = 0; other < first_.size(); ++other) {
    const size_t end = other + 1 < first_.size() ? first_[other + 1] : record_of_.size();
    for (size_t i = first_[other]; i < end; ++i) {
      if (record_of_[i] != record) continue;
      const MemberMask bit = bit_of(static_cast<MemberIndex>(i - first_[other]));
      const bool fails = why != PathFailure::none;
      const MemberMask before = fails ? failed_[other].fetch_or(bit, std::memory_order_relaxed)
                                      : failed_[other].fetch_and(~bit, std::memory_order_relaxed);
      if (((before & bit) != 0) == fails) continue;
      failures_.fetch_add(fails ? 1 : UINT32_MAX, std::memory_order_relaxed);
    }
  }
}

}  // namespace eddy::lb
