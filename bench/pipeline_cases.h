// The switches that pipeline_bench measures: a leaf whose hosts' frames go up to other leaves or
// across to other hosts, and the frames themselves.
//
// Lines are never the bottleneck: queues stay short, nothing is marked, no PFC is sent.
// What is measured is a switch that works, not one that is stuck. All PGs in use are
// lossless: reserved, shared and headroom are accounted for each packet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/replay_io.h"
#include "config/config.h"
#include "net/units.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::bench {

// What a poll of 32 packets takes, on the switch's clock.
inline constexpr Duration kPollGap = Duration::nanoseconds(1'500);

struct Case {
  std::string name;
  std::string scheme = "letflow";
  uint32_t flows = 10'000;
  size_t hosts = 2;
  size_t uplinks = 4;
  size_t members = 0;     // of each path set; 0: one an uplink. More than uplinks share them
  size_t bursts = 1;      // ready at each poll, each from another host port
  size_t idle_hosts = 0;  // ports beside those, without traffic
  config::ShimUse shim = config::ShimUse::automatic;
  bool ipv6 = false;
  bool connected = false;  // to hosts of this leaf instead of up
  bool isolation = false;  // on, and nobody is congested
  bool sums_good = false;  // checksums of IPv4 headers are left to the NIC
  size_t prefixes = 16;    // destination leaves, one path set each; or destination hosts
};

std::vector<Case> pipeline_cases();
config::SwitchConfig config_of(const Case& spec);
ReplaySpec replay_of(const Case& spec, const config::SwitchConfig& config);

// A switch of one shard and its driver.
class Bench {
 public:
  explicit Bench(const Case& spec);

  // Polls `polls` times; returns cycles a packet.
  double run(Shard& shard, size_t polls);
  // A slice that a result is made of: enough polls that every flow has been seen before.
  double run_slice();
  double run_empty() { return run(empty_, kPolls); }
  // Polls that bring nothing; returns cycles a poll.
  double run_idle();

  Shard& shard() { return object_->shard(ShardId(0)); }
  const Case& spec() const { return spec_; }
  bool lost_packets() const;

 private:
  static constexpr size_t kPolls = 320;

  void count_sends();

  Case spec_;
  config::SwitchConfig config_;
  ReplayIo io_;
  EmptyShard empty_;
  std::unique_ptr<Switch> object_;
  Instant now_ = Instant::at(Duration::microseconds(1'000));
};

std::unique_ptr<Switch> make_switch(const config::SwitchConfig& config, size_t shards);

}  // namespace eddy::bench
