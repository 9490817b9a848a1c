// The real telemetry of DPDK in this process, read as a collector reads it.
#include "switch/control/serve/telemetry.h"

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "switch/control/serve/client.h"
#include "tests/unit/control/serve/telemetry_reader.h"

namespace eddy::control {
namespace {

std::string switch_name() {
  return "telemetrytest-" + std::to_string(::getpid());
}
std::string socket_path() {
  return std::string(rte_eal_get_runtime_dir()) + "/" + std::string(kTelemetrySocket);
}

Json big_report(Report report, const ReportOptions& options) {
  Json rows = Json::array();
  for (uint64_t i = 0; i < 1'000; ++i)
    rows.push_back({{"port", options.port.value_or("p") + std::to_string(i)},
                    {"n", ~uint64_t{0} - i},
                    {"text", "quote \" backslash \\ end"}});
  return Json{{"report", std::string(to_string(report))},
              {"switch", "leaf1"},
              {"generation", 1},
              {"rows", rows}};
}

TEST(Telemetry, ReportsOfManyPagesArriveWhole) {
  ASSERT_EQ(set_telemetry_source(big_report), Problems{});
  const Result<Json> got = report_over_telemetry(socket_path(), Report::queues, {});
  ASSERT_TRUE(got.ok()) << got.problems().front();
  EXPECT_EQ(got.value(), big_report(Report::queues, {}));
}

TEST(Telemetry, OptionsReachTheSource) {
  ASSERT_EQ(set_telemetry_source([](Report, const ReportOptions& options) {
              return Json{{"rows",
                           {{{"port", *options.port},
                             {"n", options.all ? 1u : 0u},
                             {"leaf", *options.leaf},
                             {"top", *options.top}}}}};
            }),
            Problems{});
  const Result<Json> got = report_over_telemetry(socket_path(), Report::drops, {true, "p7", 3, 8});
  ASSERT_TRUE(got.ok()) << got.problems().front();
  EXPECT_EQ(got.value().at("rows").dump(), R"([{"port":"p7","n":1,"leaf":3,"top":8}])");
}

TEST(Telemetry, ErrorsOfTheSourceAreProblems) {
  ASSERT_EQ(set_telemetry_source([](Report, const ReportOptions&) {
              return Json{{"error", "port \"x\" unknown"}};
            }),
            Problems{});
  const Result<Json> got = report_over_telemetry(socket_path(), Report::ports, {});
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.problems().front().find("port \"x\" unknown"), std::string::npos);
}

TEST(Telemetry, WithoutASourceItSaysSo) {
  ASSERT_EQ(set_telemetry_source({}), Problems{});
  EXPECT_FALSE(report_over_telemetry(socket_path(), Report::ports, {}).ok());
}

TEST(Telemetry, SwitchesAreFoundByTheirFilePrefix) {
  const auto runtime = std::filesystem::path(rte_eal_get_runtime_dir()).parent_path();
  const auto found = telemetry_sockets(runtime.string());
  ASSERT_TRUE(found.contains(switch_name()));
  EXPECT_EQ(found.at(switch_name()), socket_path());
  EXPECT_EQ(try_socket(socket_path() + "x", SOCK_SEQPACKET),
            Problems{socket_path() + "x: there is no such socket"});
}

}  // namespace
}  // namespace eddy::control

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const std::string prefix = "--file-prefix=eddy-" + eddy::control::switch_name();
  std::vector<std::string> words{
      "control_telemetry_test", "--no-huge", "--no-pci", "--no-shconf", "-m", "16", "--lcores=0",
      "--log-level=*:error",    prefix};
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 1;
  const std::string runtime = rte_eal_get_runtime_dir();
  const int code = RUN_ALL_TESTS();
  rte_eal_cleanup();
  std::filesystem::remove_all(runtime);
  return code;
}
