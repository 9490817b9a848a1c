#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "switch/dpdk/eal.h"

namespace eddy {
namespace {

using namespace literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

EalRequest request_of(int workers, config::IdlePolicy idle) {
  EalRequest request;
  request.switch_name = "leaf1";
  request.workers = workers;
  request.idle = idle;
  request.memory = 64_MiB;
  return request;
}

Machine two_cpus() {
  Machine machine;
  machine.cpus = {4, 5};
  return machine;
}

TEST(EalArguments, WithoutHugepagesPlainMemoryIsUsed) {
  const auto line = eal_command_line(request_of(1, config::IdlePolicy::adaptive), two_cpus());
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line.value().words, Contains("--no-huge"));
  EXPECT_THAT(line.value().words, Not(Contains("--in-memory")));
  EXPECT_THAT(line.value().words, Contains("--no-pci"));
  EXPECT_THAT(line.value().words, Contains("--file-prefix=eddy-leaf1"));
  EXPECT_THAT(line.value().words, Contains("--lcores=0@(4,5),1@(4,5)"));
}

TEST(EalArguments, FreeHugepagesAreUsedWhenTheySuffice) {
  Machine machine = two_cpus();
  machine.may_use_hugepages = true;
  machine.free_hugepages = 96_MiB;
  const auto request = request_of(1, config::IdlePolicy::adaptive);
  EXPECT_THAT(eal_command_line(request, machine).value().words, Contains("--in-memory"));
  machine.free_hugepages = 94_MiB;
  EXPECT_THAT(eal_command_line(request, machine).value().words, Contains("--no-huge"));
}

TEST(EalArguments, HugepagesThatMayNotBePlacedAreLeftWithAWarning) {
  Machine machine = two_cpus();
  machine.may_use_hugepages = true;
  machine.free_hugepages = 96_MiB;
  machine.may_place_memory = false;
  const auto request = request_of(1, config::IdlePolicy::adaptive);
  const auto line = eal_command_line(request, machine);
  EXPECT_THAT(line.value().words, Contains("--no-huge"));
  EXPECT_THAT(line.value().warnings, ElementsAre(HasSubstr("CAP_SYS_NICE")));
  machine.free_hugepages = 94_MiB;  // too few in any case
  EXPECT_THAT(eal_command_line(request, machine).value().warnings, IsEmpty());
}

TEST(EalArguments, FreeHugepagesAreThoseOfTheDefaultSize) {
  std::istringstream x86(
      "MemFree:        23000000 kB\nHugePages_Total:     200\nHugePages_Free:       48\n"
      "HugePages_Rsvd:        0\nHugepagesize:       2048 kB\nHugetlb:          409600 kB\n");
  EXPECT_EQ(free_hugepages_in(x86), 96_MiB);
  std::istringstream large_pages("HugePages_Free:        3\nHugepagesize:     524288 kB\n");
  EXPECT_EQ(free_hugepages_in(large_pages), 1536_MiB);
  std::istringstream none("MemFree:        23000000 kB\n");
  EXPECT_EQ(free_hugepages_in(none), Bytes(0));
}

TEST(EalArguments, PciIsProbedOnlyWhenAsked) {
  EalRequest request = request_of(1, config::IdlePolicy::adaptive);
  request.pci = true;
  EXPECT_THAT(eal_command_line(request, two_cpus()).value().words, Not(Contains("--no-pci")));
}

TEST(EalArguments, BusyWorkersGetACpuEach) {
  const auto line = eal_command_line(request_of(2, config::IdlePolicy::busy), two_cpus());
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line.value().words, Contains("--lcores=0@(4,5),1@5,2@4"));
}

TEST(EalArguments, ControlKeepsOffTheCpusOfBusyWorkers) {
  const auto line = eal_command_line(request_of(1, config::IdlePolicy::busy), two_cpus());
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line.value().words, Contains("--lcores=0@(4),1@5"));
}

TEST(EalArguments, TwoBusyWorkersOnOneCpuAreRefused) {
  const auto line = eal_command_line(request_of(3, config::IdlePolicy::busy), two_cpus());
  ASSERT_FALSE(line.ok());
  EXPECT_THAT(line.problems(), Contains(HasSubstr("3 polling workers (idle: busy) but 2 usable")));
}

TEST(EalArguments, AdaptiveWorkersMayShareAndItIsSaid) {
  const auto line = eal_command_line(request_of(3, config::IdlePolicy::adaptive), two_cpus());
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line.value().notes, Contains(HasSubstr("3 workers share 2 CPUs")));
}

TEST(EalArguments, TheUsersArgumentsWin) {
  EalRequest request = request_of(1, config::IdlePolicy::busy);
  request.extra = {"-l", "0,1", "--file-prefix=mine", "-m", "512", "--log-level=8", "--no-huge"};
  const auto line = eal_command_line(request, two_cpus());
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line.value().words, Not(Contains(StartsWith("--lcores"))));
  EXPECT_THAT(line.value().words, Not(Contains(StartsWith("--file-prefix=eddy"))));
  EXPECT_EQ(std::count(line.value().words.begin(), line.value().words.end(), "--no-huge"), 1);
  EXPECT_EQ(std::count(line.value().words.begin(), line.value().words.end(), "-m"), 1);
}

// Each becomes the name of a folder that is removed.
TEST(EalArguments, AFilePrefixIsAPlainName) {
  for (const std::vector<std::string>& extra : {std::vector<std::string>{"--file-prefix=.."},
                                                {"--file-prefix", ".."},
                                                {"--file-prefix=../../etc"},
                                                {"--file-prefix="},
                                                {"--file-prefix"},
                                                {"--file-prefix=a", "--file-prefix=a/b"},
                                                {"--file-prefix=..", "--file-prefix=a"},
                                                {"--file=.."},
                                                {"--fi", ".."},
                                                {"-m", "64", "--file-prefi=-x"}}) {
    EXPECT_THAT(
        check_file_prefix(extra),
        testing::ElementsAre(AllOf(StartsWith("--file-prefix '"), HasSubstr("is no plain name"))))
        << extra.front();
    EalRequest request = request_of(1, config::IdlePolicy::adaptive);
    request.extra = extra;
    EXPECT_FALSE(eal_command_line(request, two_cpus()).ok()) << extra.front();
  }
  EXPECT_THAT(check_file_prefix({"--file-prefix=a", "--file-prefix", "b.c", "--force-max=.."}),
              testing::IsEmpty());
}

TEST(EalArguments, TheLastFilePrefixCounts) {
  EalRequest request = request_of(1, config::IdlePolicy::adaptive);
  EXPECT_EQ(file_prefix_of(request), "eddy-leaf1");
  request.extra = {"--file-prefix=a", "--file", "b", "-m", "64"};
  EXPECT_EQ(file_prefix_of(request), "b");
  EXPECT_THAT(eal_command_line(request, two_cpus()).value().words, Contains("--file-prefix=b"));
}

TEST(EalArguments, ASwitchsNameIsAPlainName) {
  EalRequest request = request_of(1, config::IdlePolicy::adaptive);
  for (const char* name : {"", "../x", "a/b", "-a", "a b"}) {
    request.switch_name = name;
    EXPECT_FALSE(eal_command_line(request, two_cpus()).ok()) << name;
  }
}

}  // namespace
}  // namespace eddy
