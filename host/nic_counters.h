// The counters of a NIC: names and what they count.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace eddy::host {

// name, help
#define EDDY_NIC_COUNTERS(X)                                                             \
  X(rx_packets, "frames received")                                                       \
  X(rx_bytes, "octets received, without FCS")                                            \
  X(tx_packets, "frames given to the line")                                              \
  X(tx_bytes, "octets given to the line, without FCS")                                   \
  X(rx_data_packets, "RoCEv2 data packets received")                                     \
  X(rx_ack_packets, "ACKs received")                                                     \
  X(rx_nak_packets, "NAKs received")                                                     \
  X(rx_cnp_packets, "congestion notifications received")                                 \
  X(rx_pfc_packets, "PFC frames received")                                               \
  X(tx_data_packets, "RoCEv2 data packets sent, retransmissions included")               \
  X(tx_ack_packets, "ACKs sent")                                                         \
  X(tx_nak_packets, "NAKs sent")                                                         \
  X(tx_cnp_packets, "congestion notifications sent")                                     \
  X(retransmitted_packets, "data packets sent again")                                    \
  X(timeouts, "retransmission timeouts")                                                 \
  X(control_backlog_drops, "ACKs, NAKs and CNPs not sent: too many waited for the line") \
  X(malformed_packets, "not a frame that we speak, or its ICRC is wrong")                \
  X(not_for_us_packets, "another MAC or address, an unknown QP or one of another peer")  \
  X(invalid_ack_packets, "ACK of a PSN that was never sent, or a NAK of another kind")   \
  X(held_packets, "data packets that the pacing held so that a gap ends a flowlet")      \
  X(flowlets, "gaps within a flow that end a flowlet, where the pacing knows of them")   \
  X(rx_flow_stop_packets, "frames of the switch received that stop or resume one flow")  \
  X(flow_stopped_ns, "for how long flows were stopped, ns, summed over flows")           \
  X(flow_drains, "flows that the NIC itself stopped until all of them had arrived")

#define EDDY_NIC_ENTRY(name, help) name,
enum class NicCounter : uint8_t { EDDY_NIC_COUNTERS(EDDY_NIC_ENTRY) kCount };
#undef EDDY_NIC_ENTRY

struct NicCounterInfo {
  std::string_view name;
  std::string_view help;
};
std::span<const NicCounterInfo> nic_counter_infos();

}  // namespace eddy::host
