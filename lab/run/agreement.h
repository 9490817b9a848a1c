// Whether all ranks of a run may go on: they are the same program, read the same configuration, and
// none of them has a problem.
//
// All ranks call, and all get the same answer, in lines that name ranks. Owner: the caller. Cost: a
// message a pair. Errors: a statement that cannot be read is a problem of its rank.
#pragma once

#include <cstdint>
#include <string>

#include "lab/world/exchange.h"
#include "net/result.h"

namespace eddy::lab {

struct Statement {
  std::string program;         // what --version prints
  uint64_t configuration = 0;  // a hash of all that the run is made of
  Problems problems;
};

// Of another rank's message: the statement, or why there is none.
Result<Statement> read_statement(const Message& message);
Message write_statement(const Statement& statement);

// Empty: all may go on.
[[nodiscard]] Problems agree(Exchange& exchange, const Statement& mine);

}  // namespace eddy::lab
