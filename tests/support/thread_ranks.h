// Ranks that are threads of one process, for tests of what several processes do together.
//
// Each rank has an Exchange of its own; a trade copies messages between them. Owner: one test. If
// one rank throws, the others' next trade throws too.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "lab/world/exchange.h"

namespace eddy::test {

class ThreadRanks {
 public:
  explicit ThreadRanks(size_t ranks) : sent_(ranks) {
    for (size_t rank = 0; rank < ranks; ++rank) exchanges_.emplace_back(*this, rank);
  }

  // Calls work(exchange) on a thread for every rank; throws what rank 0, or else another, threw.
  template <class Work>
  void run(Work work) {
    std::vector<std::exception_ptr> thrown(exchanges_.size());
    {
      std::vector<std::jthread> threads;
      for (size_t rank = 0; rank < exchanges_.size(); ++rank)
        threads.emplace_back([&, rank] {
          try {
            work(exchanges_[rank]);
          } catch (...) {
            thrown[rank] = std::current_exception();
            fail();
          }
        });
    }
    for (const std::exception_ptr& each : thrown)
      if (each != nullptr) std::rethrow_exception(each);
  }

 private:
  class One final : public lab::Exchange {
   public:
    One(ThreadRanks& all, size_t rank) : all_(all), rank_(rank) {}
    size_t rank() const override { return rank_; }
    size_t ranks() const override { return all_.sent_.size(); }
    void trade(std::span<const lab::Message> to_each, std::span<lab::Message> from_each) override {
      all_.sent_[rank_].assign(to_each.begin(), to_each.end());
      all_.meet();
      for (size_t from = 0; from < all_.sent_.size(); ++from)
        if (from != rank_) from_each[from] = all_.sent_[from][rank_];
      all_.meet();
    }

   private:
    ThreadRanks& all_;
    size_t rank_;
  };

  void meet() {
    std::unique_lock lock(mutex_);
    const uint64_t meeting = meetings_;
    if (++arrived_ == exchanges_.size()) {
      arrived_ = 0;
      ++meetings_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return meetings_ != meeting || failed_; });
    if (meetings_ == meeting) throw lab::ExchangeError("another rank has failed");
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

  std::vector<One> exchanges_;
  std::vector<std::vector<lab::Message>> sent_;  // by rank: what it sends each
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t arrived_ = 0;
  uint64_t meetings_ = 0;
  bool failed_ = false;
};

}  // namespace eddy::test
