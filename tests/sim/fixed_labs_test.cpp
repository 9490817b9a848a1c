// Labs that are written out in tests/sim/labs, and what the checker says of each today. Each once
// showed a fault.
//
// One whose fault is not mended yet is expected to fail in just that way: whoever mends it turns
// the expectation round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/sim/lab_file.h"

namespace eddy::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kFolder = EDDY_SOURCE_DIR "/tests/sim/labs";

// Sound, none of them has more than 1,044, unless it says so.
constexpr size_t kMostUnread = 4'000;

struct FixedLab {
  const char* name;
  const char* place;  // where the checker finds what; null: every invariant holds
  const char* what;
  size_t under_way = 0;  // flows, when the lab ends
  size_t most_unread = kMostUnread;
  bool excused = false;  // packets are lost as a peer reads a pause late
};

constexpr FixedLab kLabs[] = {
    {"probe_on_the_line", nullptr, nullptr},
    {"xon_into_backlog", nullptr, nullptr},
    {"xon_into_endless_backlog", nullptr, nullptr},
    {"slow_receiver_bursts", nullptr, nullptr},
    {"forced_past_the_loop", nullptr, nullptr},
    {"storm_that_stops", nullptr, nullptr},
    {"unread_behind_another_class", nullptr, nullptr, 1, 30'000},
    {"rate_of_a_host_port", nullptr, nullptr},
    {"pause_read_late", nullptr, nullptr, 0, kMostUnread, true},
    {"stamp_past_isolated", nullptr, nullptr},
    {"drained_past_isolated", nullptr, nullptr},
    {"sweeps_in_a_circle", nullptr, nullptr},
};

class FixedLabs : public testing::TestWithParam<FixedLab> {};

TEST_P(FixedLabs, EndAsTheyAreKnownTo) {
  const FixedLab& known = GetParam();
  const auto lab = read_lab(kFolder / (std::string(known.name) + ".yaml"));
  ASSERT_TRUE(lab.ok()) << lab.problems().front();
  const LabResult result =
      run_lab(lab.value(), {.replay = known.name, .most_unread = known.most_unread});
  if (known.place == nullptr) {
    EXPECT_THAT(result.problems, IsEmpty());
    EXPECT_EQ(result.flows_ended + known.under_way, result.flows);
    EXPECT_EQ(result.excused != 0, known.excused) << result.excused;
  } else {
    EXPECT_THAT(result.problems, ElementsAre(AllOf(HasSubstr(known.place), HasSubstr(known.what))))
        << "a known fault is gone or has changed: if it is mended, this lab has none any more";
  }
}

INSTANTIATE_TEST_SUITE_P(All, FixedLabs, testing::ValuesIn(kLabs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FixedLabs, AreAllInTheList) {
  std::set<std::string> files, names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".yaml") files.insert(entry.path().stem());
  for (const FixedLab& known : kLabs) names.insert(known.name);
  EXPECT_EQ(files, names);
}

}  // namespace
}  // namespace eddy::test
