#include "switch/control/report/counter_docs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace eddy::control {
namespace {

TEST(CounterDocs, TheCheckedInPageIsCurrent) {
  std::ifstream file(EDDY_SOURCE_DIR "/docs/counters.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), counters_markdown())
      << "run: build/dev/bin/eddyctl counters --markdown > docs/counters.md";
}

TEST(CounterDocs, TextNamesACounterOnEachLine) {
  EXPECT_NE(counters_text().find("  rx_packets"), std::string::npos);
}

}  // namespace
}  // namespace eddy::control
