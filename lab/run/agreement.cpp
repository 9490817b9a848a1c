#include "lab/run/agreement.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "lab/world/message.h"

namespace eddy::lab {
namespace {

constexpr uint32_t kMagic = 0x53594445;  // "EDYS"
constexpr uint16_t kVersion = 1;

std::string of_rank(size_t rank, const std::string& text) {
  return "rank " + std::to_string(rank) + ": " + text;
}

std::string hexadecimal(uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

// What keeps the ranks from going on, of what all of them have stated.
Problems problems_of(const std::vector<Statement>& all) {
  Problems problems;
  const bool alike = std::ranges::all_of(
      all, [&](const Statement& each) { return each.problems == all.front().problems; });
  if (alike && !all.front().problems.empty()) return all.front().problems;
  for (size_t rank = 0; rank < all.size(); ++rank)
    for (const std::string& problem : all[rank].problems)
      problems.push_back(of_rank(rank, problem));
  if (!problems.empty()) return problems;
  const Statement& first = all.front();
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].program != first.program)
      return {of_rank(rank, "it is " + all[rank].program + ", and rank 0 is " + first.program +
                                ": all ranks must be the same program")};
    if (all[rank].configuration != first.configuration)
      return {of_rank(rank, "it reads another configuration (" +
                                hexadecimal(all[rank].configuration) + ") than rank 0 (" +
                                hexadecimal(first.configuration) +
                                "): all ranks need the same files and command line")};
  }
  return {};
}

}  // namespace

Message write_statement(const Statement& statement) {
  Message message;
  MessageWriter write(message);
  write.number(kMagic);
  write.number(kVersion);
  write.text(statement.program);
  write.number(statement.configuration);
  write.compact(statement.problems.size());
  for (const std::string& problem : statement.problems) write.text(problem);
  return message;
}

Result<Statement> read_statement(const Message& message) {
  MessageReader read(message);
  if (read.number<uint32_t>() != kMagic || read.number<uint16_t>() != kVersion)
    return Result<Statement>::failure("it is another program, or another version of eddylab-mpi");
  Statement statement{.program = read.text(), .configuration = read.number<uint64_t>()};
  for (size_t left = read.count(1); left > 0; --left) statement.problems.push_back(read.text());
  if (!read.done()) return Result<Statement>::failure("what it states cannot be read");
  return statement;
}

Problems agree(Exchange& exchange, const Statement& mine) {
  std::vector<Message> to_each(exchange.ranks(), write_statement(mine));
  std::vector<Message> from_each(exchange.ranks());
  exchange.trade(to_each, from_each);
  std::vector<Statement> all(exchange.ranks());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (rank == exchange.rank()) {
      all[rank] = mine;
      continue;
    }
    Result<Statement> read = read_statement(from_each[rank]);
    if (read)
      all[rank] = std::move(*read);
    else
      all[rank].problems = read.problems();
  }
  return problems_of(all);
}

}  // namespace eddy::lab
