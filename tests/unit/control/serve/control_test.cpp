// Control whole: its thread, its socket, our client.
#include "switch/control/serve/control.h"

#include <gtest/gtest.h>

#include <thread>

#include "switch/control/serve/client.h"
#include "switch/control/serve/log.h"
#include "tests/unit/control/report/live_switch.h"

namespace eddy::control {
namespace {

ControlOptions options_of(const LiveSwitch& live) {
  ControlOptions options;
  options.config_path = live.path();
  options.running = live.config;
  options.socket_path = live.directory.file("control.sock");
  options.telemetry = false;
  return options;
}

TEST(Control, AnswersOnItsSocketAndLeavesNothingBehind) {
  LiveSwitch live;
  Control control(live.object(), live.backend, options_of(live));
  ASSERT_EQ(control.start(), Problems{});
  const std::string path = live.directory.file("control.sock");
  const Result<Json> answer =
      request_over_socket(path, {{"command", "show"}, {"report", "routes"}}, {});
  ASSERT_TRUE(answer.ok()) << answer.problems().front();
  EXPECT_EQ(answer.value().at("result").at("switch"), "leaf1");
  Control second(live.object(), live.backend, options_of(live));
  EXPECT_FALSE(second.start().empty()) << "the socket is taken";
  control.stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Control, NonsenseIsAnswered) {
  LiveSwitch live;
  Control control(live.object(), live.backend, options_of(live));
  ASSERT_EQ(control.start(), Problems{});
  const Result<Json> answer =
      request_over_socket(live.directory.file("control.sock"), Json("words"), {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().at("ok"), false);
}

TEST(Control, LeavesTheSwitchToOneAtATime) {
  LiveSwitch live;
  Control control(live.object(), live.backend, options_of(live));
  bool ran = false;
  bool another = true;
  EXPECT_TRUE(control.try_alone([&] {
    ran = true;
    std::thread([&] { another = control.try_alone([] {}); }).join();
  }));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(another);
}

TEST(Control, AReloadRequestedByASignalIsDoneByTheThread) {
  LiveSwitch live;
  Control control(live.object(), live.backend, options_of(live));
  ASSERT_EQ(control.start(), Problems{});
  config::SwitchConfig next = live.config;
  next.buffer.wred["default"].kmin = Bytes(100'000);
  live.write(next);
  control.request_reload();
  // Whichever round answers the first request, the reload is done before the round of the second.
  uint64_t generation = 0;
  for (int i = 0; i < 2; ++i) {
    const Result<Json> answer = request_over_socket(
        live.directory.file("control.sock"), {{"command", "show"}, {"report", "buffers"}}, {});
    ASSERT_TRUE(answer.ok()) << answer.problems().front();
    generation = answer.value().at("result").at("generation").get<uint64_t>();
  }
  EXPECT_EQ(generation, 2u);
}

TEST(Log, LinesForPeopleAndForPrograms) {
  const LoggedEvent logged{
      {Instant::at(Duration::microseconds(2)), 7, PortId(0), Priority(3), EventKind::lossless_drop},
      1,
      12};
  EXPECT_EQ(
      event_line(logged, "host1", LogFormat::console),
      "lossless_drop port=host1 prio=3 value=7 at_ns=2000 suppressed=12: a packet was lost in "
      "a lossless priority group; value = drops");
  EXPECT_EQ(
      event_line(logged, "host1", LogFormat::json),
      R"("event":"lossless_drop","port":"host1","prio":3,"value":7,"at_ns":2000,"suppressed":12)");
}

}  // namespace
}  // namespace eddy::control
