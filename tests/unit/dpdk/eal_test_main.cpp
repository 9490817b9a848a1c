#include <gtest/gtest.h>
#include <rte_eal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "switch/dpdk/driver_guard.h"
#include "tests/unit/dpdk/eal_environment.h"

namespace eddy::testing_support {
namespace {

std::optional<PacketPools> shared_pools;

class EalEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    std::string prefix = "--file-prefix=eddy-test-" + std::to_string(getpid());
    std::array<std::string, 9> words{"test",           "--no-huge",   "--no-pci",
                                     "--no-telemetry", "--no-shconf", "--log-level=*:error",
                                     prefix,           "-m",          "64"};
    std::array<char*, words.size()> argv{};
    for (size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
    ASSERT_GE(rte_eal_init(static_cast<int>(argv.size()), argv.data()), 0);
    ASSERT_EQ(guard_drivers({}, running_dpdk()), "");
    auto made = PacketPools::create("test", {.data_packets = 2'047, .buffer_size = 1'700});
    ASSERT_TRUE(made.ok()) << made.problems().front();
    shared_pools.emplace(std::move(*made));
  }
  void TearDown() override {
    shared_pools.reset();
    std::filesystem::remove_all(rte_eal_get_runtime_dir());  // see Eal::~Eal
  }
};

}  // namespace

const PacketPools& pools() {
  return *shared_pools;
}

}  // namespace eddy::testing_support

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new eddy::testing_support::EalEnvironment);
  return RUN_ALL_TESTS();
}
