// Runs labs and prints a line for each: its digest and what it was, or the violation.
//
//   lab_sim SEED...              random labs
//   lab_sim --from A --to B      all from A to B
//   lab_sim --lab FILE.yaml...   labs that are written out (lab_file.h)
//   lab_sim --write FILE.yaml SEED   writes a random lab out
//
// Exits 1 when an invariant did not hold.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/sim/lab_file.h"
#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

constexpr const char* kProgram = "build/dev/bin/lab_sim ";

using Words = std::vector<std::string>;

uint64_t number(const std::string& word) {
  return std::strtoull(word.c_str(), nullptr, 10);
}

int usage() {
  std::fputs("usage: lab_sim SEED... | --from A --to B | --lab FILE... | --write FILE SEED\n",
             stderr);
  return 2;
}

int print(uint64_t seed, const LabResult& result) {
  std::printf("%s\n", digest_line(seed, result).c_str());
  for (const std::string& problem : result.problems) std::printf("  %s\n", problem.c_str());
  std::fflush(stdout);
  return result.problems.empty() ? 0 : 1;
}

int refuse(const Problems& problems) {
  for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
  return problems.empty() ? 0 : 2;
}

int run_files(const Words& files) {
  int failed = 0;
  for (const std::string& file : files) {
    const auto lab = read_lab(file);
    if (!lab) return refuse(lab.problems());
    const LabResult result = run_lab(lab.value(), {.replay = kProgram + ("--lab " + file)});
    failed |= print(lab.value().seed, result);
  }
  return failed;
}

int run_seeds(const std::vector<uint64_t>& seeds) {
  int failed = 0;
  for (const uint64_t seed : seeds) failed |= print(seed, run_random_lab(seed));
  return failed;
}

int run(const Words& words) {
  if (words.size() >= 2 && words[0] == "--lab") return run_files({words.begin() + 1, words.end()});
  if (words.size() == 3 && words[0] == "--write")
    return refuse(write_lab(make_random_lab(number(words[2])), words[1],
                            "Random lab " + words[2] + " of generator 1, written out."));
  std::vector<uint64_t> seeds;
  if (words.size() == 4 && words[0] == "--from" && words[2] == "--to") {
    for (uint64_t seed = number(words[1]); seed <= number(words[3]); ++seed) seeds.push_back(seed);
  } else {
    for (const std::string& word : words) {
      if (number(word) == 0) return usage();
      seeds.push_back(number(word));
    }
  }
  return seeds.empty() ? usage() : run_seeds(seeds);
}

}  // namespace
}  // namespace eddy::test

int main(int argc, char** argv) {
  return eddy::test::run({argv + 1, argv + argc});
}
