// A capture of a run: what it names, what it finds, and that the run is the same with it.
#include "lab/results/packet_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lab/fabric/build_topology.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ParseCapture, NamesAPlaceAndASpan) {
  EXPECT_EQ(parse_capture("leaf1-spine1").value().what, "leaf1-spine1");
  EXPECT_EQ(parse_capture("leaf1-spine1").value().to, Duration::max());
  const CaptureSpec spec = parse_capture("leaf1:spine1@10us-1ms").value();
  EXPECT_EQ(spec.what, "leaf1:spine1");
  EXPECT_EQ(spec.from, 10_us);
  EXPECT_EQ(spec.to, 1_ms);
}

TEST(ParseCapture, NonsenseIsOneLine) {
  EXPECT_THAT(parse_capture("").problems(),
              ElementsAre("--capture: '' names neither link nor port"));
  for (const char* text : {"a@", "a@1ms", "a@2ms-1ms", "a@x-y", "a@1ms-"})
    EXPECT_THAT(parse_capture(text).problems(), ElementsAre(HasSubstr("is no span"))) << text;
}

// Host 1 of each leaf sends to the other's; RLB is on and PFC comes, as an incast joins.
config::Experiment experiment(config::PollModel polls = config::PollModel::exact) {
  config::Experiment made;
  made.topology.leaves = 2;
  made.topology.spines = 2;
  made.topology.hosts_per_leaf = 3;
  made.run.warmup = Duration{};
  made.run.duration = 1_ms;
  made.run.poll_model = polls;
  made.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  made.load_balancer.scheme = "drill";
  const auto burst = [](const char* from, const char* to) {
    config::TrafficConfig item;
    item.type = config::TrafficType::burst;
    item.size = 256_KiB;
    item.sources = {from};
    item.destinations = {to};
    return item;
  };
  made.traffic = {burst("leaf1.host1", "leaf2.host1"), burst("leaf2.host1", "leaf1.host1"),
                  burst("leaf1.host2", "leaf2.host1"), burst("leaf1.host3", "leaf2.host1"),
                  burst("leaf2.host2", "leaf1.host1"), burst("leaf2.host3", "leaf1.host1")};
  return made;
}

class PacketCaptureTest : public testing::Test {
 protected:
  ~PacketCaptureTest() override { fs::remove_all(folder_); }

  Problems problems(const std::string& what) {
    const Topology topology = build_topology(experiment()).value();
    auto made = PacketCapture::create(parse_capture(what).value(), topology, 1);
    return made ? Problems{} : made.problems();
  }
  // The run's digest; the file is there afterwards. Empty: without a capture.
  uint64_t run(const config::Experiment& of, const std::string& what) {
    const Topology topology = build_topology(of).value();
    std::unique_ptr<PacketCapture> capture;
    RunOptions options{.topology = &topology};
    if (!what.empty()) {
      capture = std::move(
          *PacketCapture::create(parse_capture(what).value(), topology, of.run.time_dilation));
      EXPECT_THAT(capture->open(folder_), IsEmpty());
      options.built = [&](const BuiltRun& built) {
        capture->attach(built.world);
        return capture.get();
      };
    }
    auto result = run_experiment(of, options);
    EXPECT_TRUE(result.ok());
    if (capture) {
      EXPECT_THAT(capture->close(), IsEmpty());
    }
    return result->digest;
  }
  struct Block {
    uint64_t stamp_ns;
    std::string comment;
  };
  // The packets of the file.
  std::vector<Block> packets() {
    std::ifstream stream(folder_ / kCaptureFile, std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(stream)), {});
    const auto word = [&file](size_t at) {
      uint32_t value = 0;
      std::memcpy(&value, file.data() + at, sizeof value);
      return value;
    };
    std::vector<Block> found;
    for (size_t at = 0; at < file.size(); at += word(at + 4)) {
      if (word(at) != 6) continue;
      const size_t option = at + 28 + (word(at + 20) + 3) / 4 * 4;
      EXPECT_EQ(word(option) & 0xffff, 1u);
      found.push_back({uint64_t{word(at + 12)} << 32 | word(at + 16),
                       file.substr(option + 4, word(option) >> 16)});
    }
    return found;
  }

  fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

size_t with(const std::vector<std::string>& words, const auto& packets) {
  return static_cast<size_t>(std::ranges::count_if(packets, [&](const auto& packet) {
    return std::ranges::all_of(words, [&](const std::string& word) {
      return (packet.comment + ' ').find(' ' + word + ' ') != std::string::npos;
    });
  }));
}

TEST_F(PacketCaptureTest, WhatIsNotThereIsSaidWithWhatIs) {
  EXPECT_THAT(problems("leaf1-spine2"), IsEmpty());
  EXPECT_THAT(problems("leaf1.host1"), IsEmpty());
  EXPECT_THAT(problems("spine2:leaf1"), IsEmpty());
  EXPECT_THAT(
      problems("leaf1-spine9"),
      ElementsAre(HasSubstr("there is no link \"leaf1-spine9\"; there are leaf1-spine1, ")));
  EXPECT_THAT(
      problems("leaf9:spine1"),
      ElementsAre(
          "--capture: there is no switch \"leaf9\"; there are leaf1, leaf2, spine1, spine2"));
  EXPECT_THAT(problems("leaf1:nope"),
              ElementsAre(HasSubstr("leaf1 has no port \"nope\"; it has ")));
}

TEST_F(PacketCaptureTest, TheRunIsTheSame) {
  for (const auto polls : {config::PollModel::exact, config::PollModel::busy_poll}) {
    const uint64_t plain = run(experiment(polls), "");
    EXPECT_EQ(run(experiment(polls), "leaf1-spine1"), plain);
    EXPECT_EQ(run(experiment(polls), "leaf2:spine2@10us-50us"), plain);
  }
}

TEST_F(PacketCaptureTest, WhatLeavesAnEndComesInAtTheOther) {
  (void)run(experiment(), "leaf1-spine1");
  const auto found = packets();
  const size_t up = with({"dir=out", "port=leaf1:spine1"}, found);
  EXPECT_GT(up, 100u);
  EXPECT_EQ(with({"dir=in", "port=spine1:leaf1"}, found), up);
  EXPECT_EQ(with({"dir=out", "port=spine1:leaf1"}, found),
            with({"dir=in", "port=leaf1:spine1"}, found));
  EXPECT_TRUE(std::ranges::is_sorted(found, {}, &Block::stamp_ns));
  for (const Block& each : found) EXPECT_THAT(each.comment, testing::StartsWith("eddy dir="));
}

TEST_F(PacketCaptureTest, ASpanIsOfStamps) {
  (void)run(experiment(), "leaf1-spine1");
  const auto all = packets();
  const auto inside = std::ranges::count_if(
      all, [](const Block& each) { return each.stamp_ns >= 20'000 && each.stamp_ns < 40'000; });
  EXPECT_GT(inside, 0);
  (void)run(experiment(), "leaf1-spine1@20us-40us");
  EXPECT_EQ(packets().size(), static_cast<size_t>(inside));
}

}  // namespace
}  // namespace eddy::lab
