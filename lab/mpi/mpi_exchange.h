// MpiExchange: the ranks of an MPI job as those of a run.
//
// One message a pair of ranks and trade, of any length up to 2 GiB. Who waits for the others tries
// for some tens of microseconds and then sleeps in between, so that a busy machine loses little by
// it. Owner: main, one in a process; MPI is begun with it and ended with it. One thread calls. An
// error of MPI ends the job (MPI's own default); what this class finds throws ExchangeError.
#pragma once

#include <mpi.h>

#include <vector>

#include "lab/world/exchange.h"

namespace eddy::lab {

class MpiExchange final : public Exchange {
 public:
  MpiExchange();
  ~MpiExchange() override;
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  size_t rank() const override { return rank_; }
  size_t ranks() const override { return ranks_; }
  // Of the job, on this machine: they share its memory and its cores.
  size_t neighbors() const { return neighbors_; }
  void trade(std::span<const Message> to_each, std::span<Message> from_each) override;
  // Ends the job on all ranks at once: where one cannot tell the others that it ends.
  [[noreturn]] static void abort(int code);

 private:
  size_t receive_some(std::span<Message> from_each);

  size_t rank_ = 0;
  size_t ranks_ = 1;
  size_t neighbors_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<char> has_come_;  // by rank
};

}  // namespace eddy::lab
