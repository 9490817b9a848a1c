// A message between switches (CNM, CIM) as a frame on a line: tagged, with the highest priority.
#pragma once

#include "net/ethernet.h"
#include "tests/support/one_switch.h"

namespace eddy::test {

template <class Message>
Frame control_frame(uint16_t ethertype, const Message& message,
                    const MacAddress& to = host_mac(1, 1)) {
  const EthernetHeader header{.destination = to,
                              .source = host_mac(9, 9),
                              .ethertype = ethertype,
                              .tag_count = 1,
                              .tags = {VlanTag{.pcp = 7}}};
  Frame frame(128);
  const size_t length = encode(header, frame);
  frame.resize(length + encode(message, Octets(frame).subspan(length)));
  return frame;
}

}  // namespace eddy::test
