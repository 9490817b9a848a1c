// A poll for one thing that has happened (Shard::poll_alone) ends as a poll that hears of it does,
// and refuses where that would do more.
#include <gtest/gtest.h>

#include <vector>

#include "net/random.h"
#include "switch/dataplane/object/shard.h"
#include "tests/support/manual_io.h"
#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

using Lone = Shard::Lone;

// Of shard 0: everything that it has counted.
std::vector<uint64_t> counted(Switch& object) {
  std::vector<uint64_t> all;
  const Counters& counters = object.shard(ShardId(0)).counters();
  for (size_t i = 0; i < counters.port_count(); ++i) {
    const PortCounters port = counters[PortId(i)];
    for (size_t which = 0; which < kPortCounters; ++which) all.push_back(port.port.read(which));
    for (size_t which = 0; which < kDropReasons; ++which) all.push_back(port.drops.read(which));
    for (size_t p = 0; p < kPriorities; ++p) {
      for (size_t which = 0; which < kQueueCounters; ++which)
        all.push_back(port.queue[p].read(which));
      for (size_t which = 0; which < kPgCounters; ++which) all.push_back(port.pg[p].read(which));
      for (size_t which = 0; which < kPfcCounters; ++which) all.push_back(port.pfc[p].read(which));
    }
  }
  return all;
}

struct Rig {
  explicit Rig(const config::SwitchConfig& with) : config(with) {
    auto made = Switch::create(config, {.shards = 1});
    EXPECT_TRUE(made.ok());
    object = std::move(*made);
    io.by_clock = true;
    for (size_t i = 0; i < config.ports.size(); ++i) io.links.push_back({PortId(i), true});
    shard().poll(io, Instant());
  }
  Shard& shard() { return object->shard(ShardId(0)); }
  // Of one thing, as a world does it; without `alone` by a poll.
  void tell(Instant now, PortId port, const Frame* frame, size_t wire_len, bool alone) {
    Packet* const packet = frame != nullptr ? pool.get(*frame, wire_len) : nullptr;
    const Instant deadline = shard().next_deadline();
    if (alone) {
      const Lone polled =
          shard().poll_alone(io, now, {.port = port, .lines_by_clock = true, .packet = packet});
      ++polls[static_cast<size_t>(polled)];
      if (polled == Lone::quiet) {
        EXPECT_EQ(shard().next_deadline(), deadline);
      }
      if (polled != Lone::refused) return;
    }
    if (packet != nullptr)
      io.arrived.emplace_back(port, packet);
    else
      io.completed.push_back(port);
    shard().poll(io, now);
  }
  Lone refuses(Instant now) {
    return shard().poll_alone(io, now, {.port = PortId(0), .lines_by_clock = true});
  }

  config::SwitchConfig config;
  PacketPool pool{4096, 256};
  ManualIo io{pool};
  std::unique_ptr<Switch> object;
  std::array<size_t, 3> polls{};  // by Lone
};

// The same happens to both, to one of them by polls alone.
struct Twins {
  explicit Twins(const config::SwitchConfig& config) : alone(config), polled(config) {}

  // Timers and lines that are due by `now`, each at its instant.
  void catch_up(Instant now) {
    for (;;) {
      const Instant deadline = polled.shard().next_deadline();
      ASSERT_EQ(alone.shard().next_deadline(), deadline);
      Instant at = deadline;
      for (const auto& line : polled.io.line_free) at = std::min(at, line.first);
      if (at > now) return;
      if (deadline == at) {
        alone.shard().poll(alone.io, at);
        polled.shard().poll(polled.io, at);
      }
      ASSERT_EQ(alone.io.line_free, polled.io.line_free);
      std::vector<PortId> ports;
      std::erase_if(polled.io.line_free, [&](const auto& line) {
        if (line.first == at) ports.push_back(line.second);
        return line.first == at;
      });
      std::erase_if(alone.io.line_free, [&](const auto& line) { return line.first == at; });
      for (const PortId port : ports) tell(at, port, nullptr, 0);
    }
  }
  void tell(Instant now, PortId port, const Frame* frame, size_t wire_len) {
    alone.tell(now, port, frame, wire_len, true);
    polled.tell(now, port, frame, wire_len, false);
  }
  void expect_alike() {
    ASSERT_EQ(alone.io.sent.size(), polled.io.sent.size());
    for (size_t i = 0; i < alone.io.sent.size(); ++i) {
      EXPECT_EQ(alone.io.sent[i].port, polled.io.sent[i].port) << i;
      EXPECT_EQ(alone.io.sent[i].at, polled.io.sent[i].at) << i;
      EXPECT_EQ(alone.io.sent[i].frame, polled.io.sent[i].frame) << i;
    }
    EXPECT_EQ(counted(*alone.object), counted(*polled.object));
    EXPECT_EQ(alone.shard().next_deadline(), polled.shard().next_deadline());
  }

  Rig alone;
  Rig polled;
};

// Small buffers, so that groups pause their senders, lossy queues are full and packets are marked.
config::SwitchConfig narrow_switch() {
  config::SwitchConfig config = hosts_switch(4);
  config.buffer.profiles["lossless"].xoff = 12'000_B;
  return config;
}

Frame draw_frame(const config::SwitchConfig& config, RandomStream& random, size_t from,
                 size_t wire_len) {
  constexpr std::array<uint8_t, 3> kDscps = {kLosslessDscp, kOtherLosslessDscp, kLossyDscp};
  const uint32_t kind = random.next() % 64;
  if (kind == 0) return pause_frame(bit(kLossless), static_cast<uint16_t>(random.next() % 200));
  const size_t to = random.next() % 2;
  UdpSpec spec = between(config, from, to, kDscps[kind % 3]);
  spec.frame_len = wire_len;
  spec.readable_len = 96;
  spec.ecn = static_cast<uint8_t>(kind / 3 % 2 * 2);
  if (kind == 1) spec.ttl = 1;
  return udp_frame(spec);
}

TEST(LoneNews, EndAsAPollThatHearsOfThem) {
  Twins twins(narrow_switch());
  RandomStream random(7, 1, 1);
  Instant now;
  for (int i = 0; i < 20'000; ++i) {
    now = now + Duration::nanoseconds(50 + random.next() % 400);  // more than two lines carry
    ASSERT_NO_FATAL_FAILURE(twins.catch_up(now));
    const size_t from = random.next() % twins.alone.config.ports.size();
    const size_t wire_len = 100 + random.next() % 1'400;
    const Frame frame = draw_frame(twins.alone.config, random, from, wire_len);
    const bool is_pause = frame.size() == 64;
    twins.tell(now, PortId(from), &frame, is_pause ? 0 : wire_len);
  }
  twins.expect_alike();
  const auto& counters = twins.alone.shard().counters();
  uint64_t paused = 0;
  for (size_t i = 0; i < counters.port_count(); ++i)
    paused += counters[PortId(i)].pfc[kLossless.index()].read(PfcCounter::pfc_tx_xoff);
  EXPECT_GT(paused, 0u);
  for (const Lone each : {Lone::refused, Lone::quiet, Lone::done})
    EXPECT_GT(twins.alone.polls[static_cast<size_t>(each)], 0u) << static_cast<int>(each);
}

TEST(LoneNews, WaitForAPollThatHasMoreToDo) {
  Rig rig(hosts_switch(2));
  const Instant now = Instant::at(1_us);
  rig.shard().poll(rig.io, now);  // what the first has set
  EXPECT_EQ(rig.refuses(now), Lone::quiet);
  Command command;
  command.kind = Command::Kind::set_port_tx;
  command.port = PortId(0);
  command.on = true;
  ASSERT_TRUE(rig.object->post(ShardId(0), command));
  EXPECT_EQ(rig.refuses(now), Lone::refused);
}

}  // namespace
}  // namespace eddy::test
