// RLB as the papers print it does to the bit what it did when its digests were written down,
// whatever becomes of the preset `default`.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

// When the switch, the NIC or the world changed on purpose, but not when RLB's mechanism did:
// build/dev/bin/lab_sim --rlb paper SEED..., each line with the preset before it.
TEST(PaperPresets, GiveTheDigestsThatAreWrittenDown) {
  std::ifstream file(EDDY_SOURCE_DIR "/tests/sim/paper_digests.txt");
  std::string line;
  size_t lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    std::istringstream words(line);
    std::string name, digest;
    uint64_t seed = 0;
    words >> name >> seed;
    std::getline(words >> std::ws, digest);
    const auto preset = std::ranges::find(config::kRlbPresetNames, name);
    ASSERT_NE(preset, config::kRlbPresetNames.end()) << line;
    const auto number = static_cast<config::RlbPreset>(preset - config::kRlbPresetNames.begin());
    EXPECT_EQ(name + " " + digest_line(seed, run_preset_lab(seed, number)),
              name + " " + std::to_string(seed) + " " + digest);
  }
  EXPECT_EQ(lines, 10u);
}

}  // namespace
}  // namespace eddy::test
