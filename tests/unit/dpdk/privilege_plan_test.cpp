#include "switch/dpdk/privilege_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/capabilities.h"

namespace eddy {
namespace {

using namespace literals;
using config::Capability;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint64_t bit(Capability capability) {
  return uint64_t{1} << static_cast<unsigned>(capability);
}
constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kIds = uint64_t{1} << 6 | uint64_t{1} << 7;  // CAP_SETGID, CAP_SETUID

class PrivilegePlanTest : public testing::Test {
 protected:
  PrivilegePlanTest() {
    view_.rights = {.capabilities = kAll, .uid = 0, .lockable = 8 << 20};
    view_.find_user = [this](const std::string& name) {
      return name == user_.name ? std::optional(user_) : std::nullopt;
    };
    view_.own_group = user_.gid;
    view_.check_files = [this](const User&) { return files_; };
  }
  void add(const std::string& device) {
    config_.ports.push_back(config::default_port("p" + std::to_string(config_.ports.size())));
    config_.ports.back().device = device;
  }
  Result<PrivilegePlan> plan() const {
    return plan_privileges(config_, plan_daemon(config_).value(), view_);
  }
  Problems problems() const {
    const auto made = plan();
    return made ? Problems{} : made.problems();
  }
  uint64_t kept() const { return plan()->narrowing.keep; }

  config::SwitchConfig config_ = config::default_switch("s");
  PrivilegeView view_;
  const User user_{"eddy", 6'480, 6'480};
  Problems files_;
};

TEST_F(PrivilegePlanTest, KeepsWhatThePortsAskAndNothingElse) {
  add("net_memif0");
  EXPECT_EQ(kept(), 0u);
  add("net_af_packet0,iface=a");
  EXPECT_EQ(kept(),
            bit(Capability::net_admin) | bit(Capability::net_raw) | bit(Capability::ipc_lock));
}

TEST_F(PrivilegePlanTest, KindsToComeAreKeptAndMustBeHeld) {
  add("net_memif0");
  config_.privileges.ports = {config::PortKind::tap};
  EXPECT_EQ(kept(), bit(Capability::net_admin));
  view_.rights.capabilities = 0;
  EXPECT_THAT(problems(), ElementsAre("privileges.ports: tap needs the capability CAP_NET_ADMIN"));
}

TEST_F(PrivilegePlanTest, BecomesItsOwnUserWhereThePortsAllow) {
  add("net_memif0");
  ASSERT_TRUE(plan()->narrowing.user.has_value());
  EXPECT_EQ(plan()->narrowing.user->uid, user_.uid);
  EXPECT_FALSE(plan()->narrowing.group.has_value());
  add("0000:01:00.0");
  EXPECT_FALSE(plan()->narrowing.user.has_value());
  EXPECT_EQ(plan()->narrowing.group, user_.gid);
}

TEST_F(PrivilegePlanTest, StaysWhatItIsWhereItCannotBecomeAnother) {
  add("net_memif0");
  view_.rights.capabilities = kAll & ~kIds;  // a container
  EXPECT_FALSE(plan()->narrowing.user.has_value());
  EXPECT_FALSE(plan()->narrowing.group.has_value());
  EXPECT_THAT(plan()->notes, IsEmpty());
  view_.rights = {.capabilities = 0, .uid = user_.uid, .lockable = 0};
  EXPECT_FALSE(plan()->narrowing.user.has_value());
  view_.rights.uid = 1'000;
  EXPECT_FALSE(plan()->narrowing.user.has_value());
}

TEST_F(PrivilegePlanTest, StaysRootWhereTheUserLacksAFileAndSaysSo) {
  add("net_memif0");
  files_ = {"user eddy cannot read /root/a.yaml"};
  EXPECT_FALSE(plan()->narrowing.user.has_value());
  EXPECT_THAT(plan()->notes,
              ElementsAre("the user stays root: user eddy cannot read /root/a.yaml"));
}

TEST_F(PrivilegePlanTest, AUserThatIsNamedIsBecomeOrThereIsAProblem) {
  add("net_memif0");
  config_.privileges.user = "nobody-here";
  EXPECT_THAT(problems(), ElementsAre("privileges.user: there is no user nobody-here"));
  config_.privileges.user = "eddy";
  files_ = {"user eddy cannot read /root/a.yaml"};
  EXPECT_THAT(problems(), ElementsAre("privileges.user: user eddy cannot read /root/a.yaml"));
  files_.clear();
  EXPECT_TRUE(plan()->narrowing.user.has_value());
  view_.rights.capabilities = kAll & ~kIds;
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("needs the capabilities CAP_SETUID, CAP_SETGID")));
  view_.rights.uid = user_.uid;  // which it is already
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PrivilegePlanTest, GivesUpNothingWithADriverThatNobodyKnows) {
  add("net_softnic0");
  EXPECT_FALSE(plan()->narrows);
  EXPECT_THAT(plan()->warnings, ElementsAre(HasSubstr("not in the table")));
}

TEST_F(PrivilegePlanTest, RingsOfPacketSocketsAreLockedMemory) {
  add("net_af_packet0,iface=a");
  const auto plan_of_memory = plan_daemon(config_).value();
  EXPECT_EQ(locked_memory_of(config_.ports[0], plan_of_memory), Bytes(2 * 1'792 * 1'024));
  config_.ports[0].mtu = 9'000;
  EXPECT_EQ(locked_memory_of(config_.ports[0], plan_of_memory), 32_MiB);
  config_.ports[0].device = "net_memif0";
  EXPECT_EQ(locked_memory_of(config_.ports[0], plan_of_memory), 0_B);
}

// 3.5 MiB a port: two fit below 8 MiB, three do not.
TEST_F(PrivilegePlanTest, WithoutIpcLockTheLimitDecides) {
  view_.rights.capabilities = kAll & ~bit(Capability::ipc_lock);
  add("net_af_packet0,iface=a");
  add("net_af_packet1,iface=b");
  add("net_memif0");
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(plan()->warnings,
              ElementsAre("port p0, p1: without the capability CAP_IPC_LOCK (eddyd --capabilities "
                          "says what for)"));
  add("net_af_packet2,iface=c");
  EXPECT_THAT(problems(),
              ElementsAre(testing::StartsWith("port p0, p1, p3: 11 MiB of packet memory "
                                              "must be locked, the limit is 8 MiB: "
                                              "needs the capability CAP_IPC_LOCK")));
  view_.rights.lockable = kNoLimit;
  EXPECT_THAT(problems(), IsEmpty());
  view_.rights = {.capabilities = kAll, .uid = 0, .lockable = 0};
  EXPECT_THAT(plan()->warnings, IsEmpty());
}

TEST_F(PrivilegePlanTest, FilesAreThoseOfConfigurationSocketsAndCaptures) {
  add("net_memif0,role=server,socket=/run/a/m.sock,socket-abstract=no");
  add("net_memif1,role=client,socket=/run/b/m.sock,socket-abstract=no");
  add("net_vhost0,iface=/run/c/v.sock");
  add("net_pcap0,rx_pcap=/var/in.pcap,tx_pcap=/var/out/x.pcap");
  add("net_virtio_user0,path=/run/d/v.sock,server=1");
  std::vector<std::string> shown;
  for (const FileNeed& need : files_of(config_, "/etc/eddy/a.yaml", "/run/eddy"))
    shown.push_back((need.write ? "w " : "r ") + need.path);
  EXPECT_THAT(shown, UnorderedElementsAre("r /etc/eddy/a.yaml", "w /run/eddy", "w /run/a",
                                          "w /run/c", "r /var/in.pcap", "w /var/out", "w /run/d"));
}

}  // namespace
}  // namespace eddy
