// Captures of a switch through control: what is asked, what is handed over, what ends it.
#include "switch/control/serve/captures.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "switch/control/serve/client.h"
#include "switch/control/serve/control.h"
#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

struct Asked {
  Json answer;
  Operations::Handover handover;

  std::unique_ptr<CaptureView> view() const {
    const Json& said = answer.at("result");
    auto made = CaptureView::map(handover.descriptors, said.at("rings"), said.at("ring_octets"));
    EXPECT_TRUE(made.ok()) << made.problems().front();
    return std::move(*made);
  }
  std::string problem() const { return answer.at("problems").at(0); }
};

Asked ask(LiveSwitch& live, const Json& request) {
  Asked asked;
  asked.answer = live.operations->handle(request, 0, &asked.handover);
  return asked;
}

const Json kAll{{"command", "capture"}, {"port", "all"}};

size_t count(CaptureView& view) {
  size_t packets = 0;
  for (CaptureReader& reader : view.readers()) {
    CapturedPacket packet;
    while (reader.next(packet)) ++packets;
    reader.release();
  }
  return packets;
}

TEST(Captures, HandOverWhatWorkersWrite) {
  LiveSwitch live(2);
  const Asked asked = ask(live, kAll);
  ASSERT_TRUE(asked.answer.at("ok")) << asked.answer;
  EXPECT_TRUE(asked.handover.captures);
  const Json& said = asked.answer.at("result");
  EXPECT_EQ(said.at("rings"), 2);
  EXPECT_EQ(said.at("switch"), "leaf1");
  EXPECT_EQ(said.at("ports").at(1).at("name"), "host2");
  EXPECT_EQ(said.at("reasons").at(0), "runt");
  const auto view = asked.view();
  live.send(3);
  live.run(Duration::microseconds(10));
  EXPECT_EQ(count(*view), 6u);
  live.operations->end_capture();
  live.send(3);
  live.run(Duration::microseconds(10));
  EXPECT_EQ(count(*view), 0u);
}

TEST(Captures, StampsAreUnixTime) {
  LiveSwitch live;
  live.backend.clock = live.fabric.now();
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const Asked asked = ask(live, {{"command", "capture"}, {"port", "host1"}, {"direction", "in"}});
  ASSERT_TRUE(asked.answer.at("ok")) << asked.answer;
  const auto view = asked.view();
  live.send(1);
  live.run(Duration::microseconds(10));
  CapturedPacket packet;
  ASSERT_TRUE(view->readers()[0].next(packet));
  EXPECT_GE(std::chrono::nanoseconds(packet.head.stamp_ns), before);
  EXPECT_LT(std::chrono::nanoseconds(packet.head.stamp_ns), before + std::chrono::minutes(5));
  EXPECT_FALSE(view->readers()[0].next(packet));
}

TEST(Captures, OneAtATime) {
  LiveSwitch live;
  ASSERT_TRUE(ask(live, kAll).answer.at("ok"));
  const Asked second = ask(live, kAll);
  EXPECT_EQ(second.problem(),
            "packets of this switch are captured or traced already; one at a time");
  EXPECT_FALSE(second.handover.captures);
  live.operations->end_capture();
  EXPECT_TRUE(ask(live, kAll).answer.at("ok"));
}

TEST(Captures, WhatIsWrongIsSaidAllAtOnceAndNothingBegins) {
  LiveSwitch live;
  const Asked asked =
      ask(live, {{"command", "capture"}, {"port", "nope"}, {"direction", "sideways"}, {"snap", 0}});
  EXPECT_EQ(asked.answer.at("problems"), Json({"port \"nope\" unknown; valid are all, host1, host2",
                                               "direction unknown; valid are in, out, drop",
                                               "snap is no whole number from 1 to 9216"}));
  EXPECT_TRUE(asked.handover.descriptors.empty());
  EXPECT_EQ(ask(live, {{"command", "capture"}}).problem(),
            "port missing; valid are all, or the name of a port");
  EXPECT_EQ(ask(live, {{"command", "capture"}, {"port", "all"}, {"snap", "64"}}).problem(),
            "snap is no whole number from 1 to 9216");
  EXPECT_TRUE(ask(live, kAll).answer.at("ok"));
}

TEST(Captures, NobodyWithoutASocketGetsOne) {
  LiveSwitch live;
  EXPECT_EQ(live.ask(kAll).at("problems").at(0),
            "a capture is handed over on the control socket alone");
}

TEST(CaptureMemory, TheReaderCannotHurtTheWriter) {
  auto memory = CaptureMemory::create(1, 64 * 1024);
  ASSERT_TRUE(memory.ok());
  const std::vector<Fd> files = (*memory)->descriptors();
  const int records = files.at(0).get();
  EXPECT_EQ(::mmap(nullptr, 4'096, PROT_WRITE, MAP_SHARED, records, 0), MAP_FAILED);
  EXPECT_NE(::pwrite(records, "x", 1, 0), 1);
  EXPECT_NE(::fallocate(records, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4'096), 0);
  for (const Fd& file : files) {
    EXPECT_NE(::ftruncate(file.get(), 0), 0);
    EXPECT_NE(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  }
}

TEST(CaptureMemory, ViewsOnlyWhatIsAsLongAsItIsSaidToBe) {
  auto memory = CaptureMemory::create(1, 64 * 1024);
  ASSERT_TRUE(memory.ok());
  const std::vector<Fd> files = (*memory)->descriptors();
  EXPECT_TRUE(CaptureView::map(files, 1, 64 * 1024).ok());
  EXPECT_FALSE(CaptureView::map(files, 2, 64 * 1024).ok());
  EXPECT_FALSE(CaptureView::map(files, 1, 128 * 1024).ok());
  EXPECT_FALSE(CaptureView::map(files, 1, 64 * 1024 + 8).ok());
  EXPECT_FALSE(CaptureView::map(files, size_t{1} << 60, 64 * 1024).ok());
  EXPECT_FALSE(CaptureView::map({}, 1, 64 * 1024).ok());
}

// Control whole: a client that goes takes its capture along.
TEST(Captures, EndWithTheConnection) {
  LiveSwitch live;
  ControlOptions options;
  options.config_path = live.path();
  options.running = live.config;
  options.socket_path = live.directory.file("control.sock");
  options.telemetry = false;
  options.wait_for_shards = [&live] { live.fabric.poll(live.node); };
  Control control(live.object(), live.backend, std::move(options));
  ASSERT_EQ(control.start(), Problems{});
  const std::string path = live.directory.file("control.sock");
  for (int round = 0; round < 3; ++round) {
    Result<OpenAnswer> link = open_over_socket(path, kAll, {});
    ASSERT_TRUE(link.ok());
    ASSERT_TRUE(link->answer.at("ok")) << link->answer;
    EXPECT_EQ(link->descriptors.size(), 2u);
    Result<OpenAnswer> second = open_over_socket(path, kAll, {});
    ASSERT_TRUE(second.ok());
    EXPECT_FALSE(second->answer.at("ok"));
  }  // both are gone
  Result<OpenAnswer> last = open_over_socket(path, kAll, {});
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->answer.at("ok"));
  control.stop();  // with a client that has a capture
}

}  // namespace
}  // namespace eddy::control
