// A CNM about all leaves, as it comes by an uplink of a leaf from the switch there or from one
// behind it.
#pragma once

#include "net/cnm.h"
#include "tests/support/control_frame.h"

namespace eddy::test {

struct Warned {
  uint8_t severity = 20;
  uint32_t sequence = 0;
  size_t origin = 0;  // the switch that warns; 0: the peer
};
inline Frame warning_frame(const config::SwitchConfig& config, size_t uplink,
                           const Warned& warned) {
  const auto last = static_cast<uint8_t>(warned.origin != 0 ? warned.origin : uplink);
  Cnm message;
  message.feedback = warned.severity;
  message.congestion_point = {{{0x02, 0xed, 9, 9, 9, last}}, static_cast<uint16_t>(uplink)};
  message.priority = kLossless;
  message.warning = {.predicting_switch = SwitchId(40),
                     .destination_leaf = LeafId::none(),
                     .sequence = warned.sequence,
                     .expiry_ns = 900'000};
  return control_frame(kEtherTypeCnm, message, port_mac(config, uplink));
}

}  // namespace eddy::test
