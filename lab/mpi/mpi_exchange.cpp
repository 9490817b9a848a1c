#include "lab/mpi/mpi_exchange.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>

namespace eddy::lab {
namespace {

constexpr int kTag = 1;

// How whoever waits spends its time: at first it only lets others run, then it sleeps.
class Patience {
 public:
  void wait() {
    constexpr int kTries = 200;
    constexpr std::chrono::microseconds kLongest{50};
    if (++tries_ <= kTries) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(nap_ * 2, kLongest);
  }

 private:
  int tries_ = 0;
  std::chrono::microseconds nap_{5};
};

}  // namespace

MpiExchange::MpiExchange() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  int rank = 0, ranks = 1, neighbors = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &neighbors);
  MPI_Comm_free(&machine);
  rank_ = static_cast<size_t>(rank);
  ranks_ = static_cast<size_t>(ranks);
  neighbors_ = static_cast<size_t>(neighbors);
}

MpiExchange::~MpiExchange() {
  MPI_Finalize();
}

void MpiExchange::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

void MpiExchange::trade(std::span<const Message> to_each, std::span<Message> from_each) {
  requests_.assign(ranks_, MPI_REQUEST_NULL);
  for (size_t to = 0; to < ranks_; ++to) {
    if (to == rank_) continue;
    const Message& message = to_each[to];
    if (message.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
      throw ExchangeError("a message of " + std::to_string(message.size()) +
                          " octets is too long for MPI: give more ranks");
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, static_cast<int>(to),
              kTag, MPI_COMM_WORLD, &requests_[to]);
  }
  has_come_.assign(ranks_, 0);
  size_t awaited = ranks_ - 1;
  int all_sent = 0;
  for (Patience patience;;) {
    const size_t come = receive_some(from_each);
    awaited -= come;
    if (all_sent == 0)
      MPI_Testall(static_cast<int>(ranks_), requests_.data(), &all_sent, MPI_STATUSES_IGNORE);
    if (awaited == 0 && all_sent != 0) return;
    if (come == 0) patience.wait();
  }
}

// Messages of one pair of ranks come in the order of their sending, so one of a later trade waits.
size_t MpiExchange::receive_some(std::span<Message> from_each) {
  size_t come = 0;
  for (size_t from = 0; from < ranks_; ++from) {
    if (from == rank_ || has_come_[from] != 0) continue;
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(static_cast<int>(from), kTag, MPI_COMM_WORLD, &is_there, &message, &status);
    if (is_there == 0) continue;
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    from_each[from].resize(static_cast<size_t>(length));
    MPI_Mrecv(from_each[from].data(), length, MPI_BYTE, &message, &status);
    has_come_[from] = 1;
    ++come;
  }
  return come;
}

}  // namespace eddy::lab
