// Replays the corpus of one fuzzer: every input that once mattered, in every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace eddy {
namespace {

TEST(Fuzz, CorpusStillPasses) {
  int replayed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EDDY_FUZZ_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> input{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
    SCOPED_TRACE(entry.path().filename());
    // Ends where its allocation ends, so that the address sanitizer sees a read past it.
    const auto exact = std::make_unique<uint8_t[]>(input.size());
    std::copy(input.begin(), input.end(), exact.get());
    EXPECT_EQ(LLVMFuzzerTestOneInput(exact.get(), input.size()), 0);
    ++replayed;
  }
  EXPECT_GT(replayed, 0);
}

}  // namespace
}  // namespace eddy
