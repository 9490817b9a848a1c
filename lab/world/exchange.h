// Exchange: how the processes (ranks) that run one world together hear of each other.
//
// All ranks call trade() equally often and in the same order; nothing else passes between them. The
// world knows nothing of how messages travel: eddylab-mpi has MPI, tests have threads. Owner: the
// caller; it outlives the worlds that use it. One thread of each rank calls. Errors: a message that
// cannot be carried or read throws ExchangeError, after which no rank can go on. Source: decision
// 0034.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace eddy::lab {

using Message = std::vector<uint8_t>;

class ExchangeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual size_t rank() const = 0;
  virtual size_t ranks() const = 0;  // at least 1
  // Sends to_each[r] to every other rank r, and returns when from_each[r] of every other one has
  // come. Both have an element for each rank; what stands at one's own is left alone.
  virtual void trade(std::span<const Message> to_each, std::span<Message> from_each) = 0;
};

}  // namespace eddy::lab
