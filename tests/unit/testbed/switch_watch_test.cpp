#include "testbed/switch_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "switch/control/serve/socket_server.h"
#include "tests/support/temp_directory.h"

namespace eddy::testbed {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A switch of one port that answers every report, but for one that it refuses.
class FakeSwitch {
 public:
  FakeSwitch(const std::string& path, const std::string& refused)
      : server_(std::move(*control::SocketServer::open(
            path, [refused](std::string_view line) { return answer(line, refused); },
            [](std::string_view) { return "{}"; }, {}))),
        thread_([this] {
          while (!server_->serve(-1, 0)) continue;
        }) {}
  ~FakeSwitch() {
    server_->wake();
    thread_.join();
  }

 private:
  static std::string answer(std::string_view line, const std::string& refused) {
    const std::string report = Json::parse(line).value("report", "");
    if (report == refused) return R"({"ok": false, "problems": ["busy"]})";
    Json row = {{"port", "p1"}, {"oper", "up"}};
    if (report == "ports") row["rx_packets"] = 7;
    if (report == "drops") row = {{"reason", "no_route"}, {"dropped_packets", 3}};
    return Json({{"ok", true}, {"result", {{"rows", {row}}}}}).dump();
  }

  std::unique_ptr<control::SocketServer> server_;
  std::thread thread_;
};

class SwitchWatchTest : public ::testing::Test {
 protected:
  std::string socket(const char* name) const { return folder_.file(name); }
  SwitchWatch watch() const {
    return SwitchWatch(topology_, {{"leaf1", socket("leaf1")}, {"leaf2", socket("leaf2")}});
  }

  test::TempDirectory folder_;
  const lab::Topology topology_{};
};

TEST_F(SwitchWatchTest, CountersOfAllSwitchesAreAdded) {
  const FakeSwitch leaf1(socket("leaf1"), "");
  const FakeSwitch leaf2(socket("leaf2"), "");
  lab::RunResult result;
  const auto scope = watch().collect(1, result);
  ASSERT_TRUE(scope.ok()) << scope.problems().front();
  EXPECT_EQ(result.counters["rx_packets"], 14u);
  EXPECT_EQ(result.counters["drops_no_route"], 6u);
  EXPECT_EQ(scope.value().switch_ports, 2u);
  EXPECT_THAT(watch().ports_down()->ports, IsEmpty());
}

// Sums over some switches look like sums over all of them.
TEST_F(SwitchWatchTest, WhereOneDoesNotAnswerNothingIsAdded) {
  const FakeSwitch leaf1(socket("leaf1"), "");
  const FakeSwitch leaf2(socket("leaf2"), "drops");
  lab::RunResult result;
  const auto scope = watch().collect(1, result);
  ASSERT_FALSE(scope.ok());
  EXPECT_THAT(scope.problems().front(), HasSubstr("switch leaf2: it refused"));
  EXPECT_THAT(result.counters, IsEmpty());
}

}  // namespace
}  // namespace eddy::testbed
