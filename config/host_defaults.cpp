#include "config/host.h"

namespace eddy::config {
namespace {

// The vendor's increases are stated for 25 Gb/s and grow with the speed.
BitRate for_speed(BitRate at_25_gbps, BitRate speed) {
  constexpr int64_t kStated = 25'000'000'000;
  return BitRate::bits_per_second(
      static_cast<int64_t>(__int128{at_25_gbps.bps()} * speed.bps() / kStated));
}

}  // namespace

// Reference D.3, the columns of the DCQCN paper and of the HPCC simulator.
DcqcnConfig dcqcn_preset(DcqcnPreset preset) {
  DcqcnConfig config;
  switch (preset) {
    case DcqcnPreset::paper:
      config.min_rate = 10_Mbps;
      break;
    case DcqcnPreset::vendor:
      config.algorithm = DcqcnAlgorithm::vendor;
      config.alpha_timer = 1_us;
      config.decrease_interval = 4_us;
      config.cnp_interval = 0_us;
      config.increase_timer = 300_us;
      config.byte_counter = Bytes(0);
      config.fast_recovery = 1;
      config.additive_increase = BitRate();  // auto
      config.hyper_increase = BitRate();
      config.min_rate = 1_Gbps;
      break;
  }
  return config;
}

DcqcnConfig for_line(DcqcnConfig config, BitRate line) {
  if (config.additive_increase.bps() == 0) config.additive_increase = for_speed(5_Mbps, line);
  if (config.hyper_increase.bps() == 0) config.hyper_increase = for_speed(50_Mbps, line);
  return config;
}

}  // namespace eddy::config
