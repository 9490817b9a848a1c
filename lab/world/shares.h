// Shares: who of several has which of the partitions.
//
// Each tier of a fabric, those that are as far from hosts as each other, is shared out by itself,
// in stretches of neighbours by number: what they exchange stays with one of them, and everybody
// has a part of every tier. A share may be empty where a tier has few. Cost: of the number of
// partitions; in a tier of few, of its cube at worst. Source: decisions 0032 and 0034.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eddy::lab {

// By partition.
struct SharedOut {
  std::vector<size_t> tiers;
  std::vector<int64_t> weights;  // 1 or more
};

// The share of each partition, where share i does speeds[i] of weight in a unit of time.
std::vector<uint16_t> stretches_of(const SharedOut& of, std::span<const double> speeds);

// The same, but where a tier is of at most kFew, whose stretches can't be even, some are exchanged
// so that they are.
inline constexpr size_t kFew = 64;
std::vector<uint16_t> even_shares_of(const SharedOut& of, std::span<const double> speeds);

// Which of several threads runs each partition, from one look at what they cost to the next.
// Owner: whoever has the partitions; the threads wait while it is called.
class Sharing {
 public:
  // Partitions of one turn run at once, and turns one after the other.
  struct Partition {
    size_t tier;
    uint8_t turn;
    uint16_t thread;  // at first
  };

  explicit Sharing(size_t threads) : paces_(threads) {}
  void add(const Partition& partition);  // they are known by the order in which they are added
  // `events`: how many each partition has had since the last look; `worked`: how long each thread
  // has worked for that, in any unit. What earlier looks saw of a thread counts, too, the longer
  // ago, the less. True: some go to another thread, as the threads would otherwise end at times
  // that are too different.
  bool look(std::span<const uint64_t> events, std::span<const uint64_t> worked);
  std::span<const uint16_t> thread_of() const { return thread_of_; }
  uint64_t moves() const { return moves_; }  // from one thread to another, of all looks

 private:
  // Of a thread.
  struct Pace {
    double done = 0;  // weight
    double worked = 0;
  };
  void note(std::span<const uint64_t> worked);
  std::vector<double> speeds() const;
  double unevenness(std::span<const uint16_t> thread_of, std::span<const double> speeds) const;

  std::vector<Pace> paces_;
  SharedOut of_;
  std::vector<uint8_t> turns_;
  std::vector<uint16_t> thread_of_;
  uint64_t moves_ = 0;
};

}  // namespace eddy::lab
