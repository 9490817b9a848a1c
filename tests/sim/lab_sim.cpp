// Runs random labs and prints a line for each seed: its digest and what it was, or the violation.
//
//   lab_sim SEED...          these
//   lab_sim --from A --to B  all from A to B
//
// Exits 1 when an invariant did not hold.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/sim/random_lab.h"

int main(int argc, char** argv) {
  std::vector<uint64_t> seeds;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (argc == 5 && std::strcmp(argv[1], "--from") == 0 && std::strcmp(argv[3], "--to") == 0)
    for (uint64_t seed = number(2); seed <= number(4); ++seed) seeds.push_back(seed);
  else
    for (int i = 1; i < argc && number(i) != 0; ++i) seeds.push_back(number(i));
  if (seeds.empty()) {
    std::fputs("usage: lab_sim SEED... | --from A --to B\n", stderr);
    return 2;
  }
  int failed = 0;
  for (const uint64_t seed : seeds) {
    const eddy::test::RandomLabResult result = eddy::test::run_random_lab(seed);
    std::printf("%s\n", eddy::test::digest_line(seed, result).c_str());
    for (const std::string& problem : result.problems) std::printf("  %s\n", problem.c_str());
    std::fflush(stdout);
    failed |= result.problems.empty() ? 0 : 1;
  }
  return failed;
}
