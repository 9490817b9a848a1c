#include "lab/run/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/thread_ranks.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What every rank gets to hear; it is the same for all.
Problems all_agree(const std::vector<Statement>& statements) {
  std::vector<Problems> heard(statements.size());
  test::ThreadRanks(statements.size()).run([&](Exchange& exchange) {
    heard[exchange.rank()] = agree(exchange, statements[exchange.rank()]);
  });
  for (const Problems& each : heard) EXPECT_EQ(each, heard.front());
  return heard.front();
}

TEST(Agreement, OfLikeRanksIsThatTheyMayGoOn) {
  const Statement same{.program = "eddylab-mpi 0.1.0", .configuration = 7};
  EXPECT_THAT(all_agree({same, same, same}), IsEmpty());
  EXPECT_THAT(all_agree({same}), IsEmpty());
}

TEST(Agreement, AnotherProgramOrConfigurationIsNamedWithItsRank) {
  const Statement same{.program = "eddylab-mpi 0.1.0", .configuration = 7};
  Statement other = same;
  other.program = "eddylab-mpi 0.2.0";
  EXPECT_THAT(all_agree({same, same, other}),
              ElementsAre(HasSubstr("rank 2: it is eddylab-mpi 0.2.0, and rank 0 is")));
  other = same;
  other.configuration = 8;
  EXPECT_THAT(all_agree({same, other}),
              ElementsAre(HasSubstr("rank 1: it reads another configuration (0000000000000008)")));
}

TEST(Agreement, ProblemsOfAllAreSaidOnceAndThoseOfOneWithItsRank) {
  const Statement good{.program = "p"};
  const Statement bad{.program = "p", .problems = {"no such file", "nor that"}};
  EXPECT_THAT(all_agree({bad, bad}), ElementsAre("no such file", "nor that"));
  EXPECT_THAT(all_agree({good, bad}), ElementsAre("rank 1: no such file", "rank 1: nor that"));
}

TEST(Agreement, AStatementThatCannotBeReadIsAProblem) {
  const Message message = write_statement({.program = "p", .problems = {"one"}});
  for (size_t length = 0; length < message.size(); ++length)
    EXPECT_FALSE(
        read_statement(Message(message.begin(), message.begin() + static_cast<int>(length))).ok());
  ASSERT_TRUE(read_statement(message).ok());
  Message foreign = message;
  foreign[4] = 2;
  EXPECT_THAT(read_statement(foreign).problems(), ElementsAre(HasSubstr("another version")));
}

}  // namespace
}  // namespace eddy::lab
