// /metrics of a switch under a manual clock, over HTTP on loopback, and promtool's word on it.
#include "switch/control/serve/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "switch/control/report/metrics.h"
#include "switch/control/serve/client.h"
#include "switch/control/serve/control.h"
#include "tests/unit/control/report/live_switch.h"
#include "tests/unit/control/serve/loopback_client.h"

namespace eddy::control {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string get(uint16_t port, const std::string& path) {
  return said_to(port, "GET " + path + " HTTP/1.0\r\n\r\n");
}

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

struct Served {
  explicit Served(LiveSwitch& live, uint16_t at)
      : port(at), control(live.object(), live.backend, options(live, at)) {}
  static ControlOptions options(const LiveSwitch& live, uint16_t at) {
    ControlOptions options;
    options.config_path = live.path();
    options.running = live.config;
    options.running.telemetry.prometheus = "127.0.0.1:" + std::to_string(at);
    options.socket_path = live.directory.file("control" + std::to_string(at) + ".sock");
    options.telemetry = false;
    return options;
  }
  uint16_t port;
  Control control;
};

// On a port that nobody took between its choice and its use.
std::unique_ptr<Served> serve(LiveSwitch& live) {
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    auto served = std::make_unique<Served>(live, free_port());
    if (served->control.start().empty()) return served;
  }
  return nullptr;
}

TEST(MetricsServer, AnswersWithTheNumbersOfTheReports) {
  LiveSwitch live;
  live.send(5);
  live.run(Duration::microseconds(100));
  const std::unique_ptr<Served> served = serve(live);
  ASSERT_NE(served, nullptr);
  const std::string answer = get(served->port, "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(
      answer,
      HasSubstr("# HELP eddy_rx_packets_total frames received, without PFC and PAUSE frames\n"));
  EXPECT_THAT(answer, HasSubstr("# TYPE eddy_rx_packets_total counter\n"));
  const Json ports = served->control.handle({{"command", "show"}, {"report", "ports"}});
  EXPECT_GE(ports.at("result").at("rows").at(0).at("rx_packets"), 5);
  for (const Json& row : ports.at("result").at("rows"))
    EXPECT_THAT(answer, HasSubstr("eddy_rx_packets_total{switch=\"leaf1\",port=\"" +
                                  row.at("port").get<std::string>() + "\"} " +
                                  row.at("rx_packets").dump() + "\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(get(served->port, "/else"), HasSubstr(" 404 "));
  EXPECT_THAT(said_to(served->port, "POST /metrics HTTP/1.0\r\nContent-Length: 2\r\n\r\nxx"),
              HasSubstr(" 405 "));
  EXPECT_THAT(said_to(served->port, "\x1b[2J\r\n\r\n"), Not(HasSubstr(" 200 ")));
  served->control.stop();
  EXPECT_EQ(get(served->port, "/metrics"), "");
}

TEST(MetricsServer, PromtoolHasNothingToSay) {
  LiveSwitch live;
  const std::unique_ptr<Served> served = serve(live);
  ASSERT_NE(served, nullptr);
  const std::string file = live.directory.file("metrics.txt");
  std::ofstream(file) << body_of(get(served->port, "/metrics"));
  const std::string command = "promtool check metrics <" + file + " 2>&1";
  FILE* promtool = popen(command.c_str(), "r");
  ASSERT_NE(promtool, nullptr);
  std::string said;
  char line[512];
  while (fgets(line, sizeof(line), promtool) != nullptr) said += line;
  EXPECT_EQ(pclose(promtool), 0) << said;
  EXPECT_EQ(said, "");
}

TEST(MetricsServer, APortThatIsTakenIsAProblem) {
  LiveSwitch live;
  const uint16_t port = free_port();
  const int taken = loopback_socket(port, bind);
  ASSERT_EQ(listen(taken, 1), 0);
  Served served(live, port);
  EXPECT_THAT(served.control.start(),
              testing::ElementsAre(HasSubstr("cannot listen on 127.0.0.1:")));
  close(taken);
}

// Each has said nothing or half of a request.
TEST(MetricsServer, TwoHundredHalfOpenClientsKeepNobodyWaiting) {
  LiveSwitch live;
  const std::unique_ptr<Served> served = serve(live);
  ASSERT_NE(served, nullptr);
  constexpr std::array<std::string_view, 3> kSaid = {"", "GET", "GET /metrics HTTP/1.1\r\nHost: x"};
  std::vector<int> half_open;
  for (size_t i = 0; i < 200; ++i) {
    half_open.push_back(loopback_socket(served->port, connect));
    ASSERT_GE(half_open.back(), 0);
    const std::string_view said = kSaid[i % kSaid.size()];
    ASSERT_EQ(send(half_open.back(), said.data(), said.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(said.size()));
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(get(served->port, "/metrics"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(served->control.handle({{"command", "show"}, {"report", "ports"}}).at("ok"), true);
  served->control.stop();
  for (const int each : half_open) close(each);
}

}  // namespace
}  // namespace eddy::control
