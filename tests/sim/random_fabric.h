// A random fabric of switches, its traffic and its faults, all from one seed.
//
// Two leaves and one spine, or one leaf alone: sizes, shards, speeds, thresholds, schemes and maps
// are drawn. Every event is followed by the conservation check; at the end all accounts must be
// zero. What was seen is folded into a digest, so that two runs of a seed can be compared.
// Owner: one test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/fault_sites.h"
#include "net/random.h"
#include "tests/support/one_switch.h"

namespace eddy::test {

struct SimResult {
  uint64_t digest = 0;
  uint64_t delivered = 0;
  uint64_t dropped = 0;
  uint64_t lossless_lost = 0;  // for want of headroom
  std::string trouble;         // empty: every invariant held
};

class RandomFabric {
 public:
  // `sites`: fault sites in the code are on, as drawn from the seed, and RLB in every other fabric.
  // `rebase_every`: as in Fabric; the digest is the same for all.
  explicit RandomFabric(uint64_t seed, bool sites = false, uint64_t rebase_every = 0);
  // In the middle of the run the switches get older by 5.3 days and so many periods of a rebase, an
  // even number. The digest is the same for all, because what recurs in switches does so in parts
  // of twice that period.
  void grow_old(int periods) { periods_ = periods; }
  SimResult run();
  const FaultSites& sites() const { return sites_; }
  // Links fail, devices refuse frames, spoofed pauses cut true ones short, watchdogs send against
  // pauses: headroom cannot promise anything.
  bool harsh() const { return seed_ % 2 == 0; }
  // Fault sites that are on keep pauses from being sent.
  bool may_lose() const {
    return harsh() || sites_.on(FaultSite::pool_empty) || sites_.on(FaultSite::device_full);
  }

 private:
  config::SwitchConfig random_switch(config::SwitchConfig config);
  void connect_all();
  void start_traffic(size_t host);
  void disturb();
  void age();
  static void choose_scheme(config::SwitchConfig& config, std::string_view name);
  void flap(size_t node);
  void storm(size_t node);
  void refuse(size_t node);
  void reload(size_t node);
  void run_down();
  void fold(uint64_t value);
  void fold_everything(bool with_times = true);
  std::string check_empty();

  static constexpr size_t kHosts = 3;  // a leaf
  static constexpr int kSteps = 40;

  uint64_t seed_;
  RandomStream random_;
  FaultSites sites_;
  std::optional<int> periods_;
  LeafSpine spec_;
  Fabric fabric_{8192, 256};
  std::vector<size_t> nodes_;
  std::vector<config::SwitchConfig*> configs_;  // of the nodes
  std::vector<FabricHost*> hosts_;
  SimResult result_;
};

}  // namespace eddy::test
