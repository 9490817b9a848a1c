// Shard::line_free: a completion that needs no poll leaves the shard as a poll would have.
#include <gtest/gtest.h>

#include "switch/dataplane/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr Duration kFrameTime = 800_ps * 1024;  // 1,000 octets at 10 Gb/s

struct Rig {
  explicit Rig(const config::SwitchConfig& with, size_t shards = 1) : config(with) {
    auto made = Switch::create(config, {.shards = shards});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    for (size_t i = 0; i < config.ports.size(); ++i) io.links.push_back({PortId(i), true});
    poll(Instant());
  }
  Shard& shard() { return object->shard(ShardId(0)); }
  void poll(Instant at) { shard().poll(io, at); }
  void send(size_t from, uint8_t dscp) {
    UdpSpec spec = between(config, from, 2, dscp);
    spec.frame_len = 1000;
    spec.readable_len = 96;
    io.arrive(PortId(from), udp_frame(spec), 1000);
  }

  config::SwitchConfig config;
  PacketPool pool{4096, 256};
  ManualIo io{pool};
  std::unique_ptr<Switch> object;
};

TEST(LineFree, SettlesAFrameThatNothingFollows) {
  Rig rig(hosts_switch(3));
  rig.send(0, kLosslessDscp);
  rig.poll(Instant::at(1_us));
  EXPECT_NE(leftovers(*rig.object), "");
  EXPECT_FALSE(rig.shard().line_free(PortId(2), Instant::at(1_us) + kFrameTime - 1_ps)) << "early";
  EXPECT_TRUE(rig.shard().line_free(PortId(2), Instant::at(1_us) + kFrameTime));
  EXPECT_EQ(leftovers(*rig.object), "");
  EXPECT_FALSE(rig.shard().line_free(PortId(2), Instant::at(2_us))) << "no frame is on the line";
}

// A line that was reported free has been idle since: the next frame starts when it comes, not
// before.
TEST(LineFree, TheNextFrameStartsWhenItArrives) {
  Rig rig(hosts_switch(3));
  rig.send(0, kLosslessDscp);
  rig.poll(Instant::at(1_us));
  ASSERT_TRUE(rig.shard().line_free(PortId(2), Instant::at(1_us) + kFrameTime));
  rig.send(0, kLosslessDscp);
  rig.poll(Instant::at(5_us));
  ASSERT_EQ(rig.io.sent.size(), 2u);
  EXPECT_EQ(rig.io.sent[1].at, Instant::at(5_us) + kFrameTime);
}

TEST(LineFree, IsForAPollWhenAFrameWaits) {
  Rig rig(hosts_switch(3));
  rig.send(0, kLosslessDscp);
  rig.send(1, kLosslessDscp);
  rig.poll(Instant::at(1_us));
  ASSERT_EQ(rig.io.sent.size(), 1u);
  const Instant free = Instant::at(1_us) + kFrameTime;
  EXPECT_FALSE(rig.shard().line_free(PortId(2), free));
  rig.io.completed.push_back(PortId(2));
  rig.poll(free);
  ASSERT_EQ(rig.io.sent.size(), 2u);
  EXPECT_EQ(rig.io.sent[1].at, free + kFrameTime);
}

// Its octets may be what a resume waits for.
TEST(LineFree, IsForAPollWhenItsGroupPauses) {
  config::SwitchConfig config = hosts_switch(3);
  config.buffer.cell_bytes = 1;
  config::BufferProfile& profile = config.buffer.profiles["lossless"];
  profile.mode = config::BufferMode::fixed;
  profile.xoff = Bytes(500);
  profile.xon_offset = Bytes(100);
  Rig rig(config);
  rig.send(0, kLosslessDscp);
  rig.poll(Instant::at(1_us));
  ASSERT_TRUE(rig.object->pg_status(PortId(0), PriorityGroupId(3)).pausing);
  const Instant free = Instant::at(1_us) + kFrameTime;
  EXPECT_FALSE(rig.shard().line_free(PortId(2), free));
  rig.io.completed.push_back(PortId(2));
  rig.poll(free);
  EXPECT_FALSE(rig.object->pg_status(PortId(0), PriorityGroupId(3)).pausing);
}

TEST(LineFree, IsForAPollWhereShardsShareASwitch) {
  config::SwitchConfig config = hosts_switch(3);
  spread_over_workers(config, 1);
  Rig rig(config, 2);
  rig.send(0, kLosslessDscp);
  rig.poll(Instant::at(1_us));
  EXPECT_FALSE(rig.shard().line_free(PortId(2), Instant::at(1_us) + kFrameTime));
}

}  // namespace
}  // namespace eddy::test
