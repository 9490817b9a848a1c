// The RoCEv2 host NIC's configuration as plain values, defaults filled in.
//
// Units are in the types; nothing here is scaled (time_dilation is applied once, by scaled()).
// Owner: whoever loaded it; read by host/, lab/ and the YAML side. Sources of defaults: reference,
// sections D.2-D.4 and H.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "net/ids.h"
#include "net/units.h"

namespace eddy::config {

using namespace eddy::literals;

enum class DcqcnPreset : uint8_t { paper, vendor };
enum class DcqcnAlgorithm : uint8_t { paper, vendor };

// Reaction point and notification point of DCQCN (reference D.3).
struct DcqcnConfig {
  DcqcnAlgorithm algorithm = DcqcnAlgorithm::paper;
  int g_shift = 8;                     // g = 2^-g_shift
  Duration alpha_timer = 55_us;        // paper: without a CNP for this long; vendor: the alpha slot
  Duration decrease_interval = 50_us;  // paper: at most one cut in each; 0 = at every CNP. vendor:
                                       // the cut slot
  Duration cnp_interval = 50_us;       // receiver: at most one CNP a QP in each; 0 = every mark
  Duration increase_timer = 55_us;
  Bytes byte_counter{10'000'000};       // 0 = timer only
  int fast_recovery = 5;                // F: events before additive increase
  BitRate additive_increase = 40_Mbps;  // R_AI; 0 = auto: 5 Mb/s for each 25 Gb/s of the line
  BitRate hyper_increase = 100_Mbps;    // R_HAI; 0 = auto: ten times as much
  BitRate min_rate = 100_Mbps;
  bool cap_target = true;          // paper: RT never above the line rate; vendor: always so
  bool clamp_target_rate = false;  // vendor: every cut takes the target along
  double first_cnp_rate = 1;       // vendor: of the rate, at the first CNP
  bool operator==(const DcqcnConfig&) const = default;
};
DcqcnConfig dcqcn_preset(DcqcnPreset preset);
// With the increases that are auto filled in for a NIC of `line`.
DcqcnConfig for_line(DcqcnConfig config, BitRate line);

struct HostConfig {
  // Laws, by their names in the registry of host/.
  std::string recovery = "go_back_n";
  std::string congestion_control = "dcqcn";
  std::string entropy = "fixed";
  std::string pacing = "by_rate";
  DcqcnConfig dcqcn;
  int mtu = 1'024;      // payload octets a packet: 256 to 4,096; NICs know powers of two only
  Duration rto = 4_ms;  // go-back-N: without an ACK for this long, back to the lowest unacked
  Duration nak_timer = 500_us;        // a second NAK for the same gap no earlier; 0 = never
  bool nak_cuts_rate = false;         // a NAK counts as a CNP (ConWeave's simulator)
  int ack_every = 1;                  // packets
  bool window = true;                 // at most one BDP in flight
  bool variable_window = false;       // the window scaled by rate / line rate
  Bytes bdp{0};                       // 0 = line rate x base RTT of the flow
  bool reorder_buffer = false;        // go_back_n with it is the recovery reorder_buffer
  Duration reorder_timeout = 500_us;  // then the gap counts as a loss; 0 = never
  uint8_t dscp = 3;                   // of data
  uint8_t control_dscp = 48;          // of ACK, NAK and CNP
  Priority priority{3};               // PFC priority of data
  Priority control_priority{6};       // PFC priority of ACK, NAK and CNP
  int queue_pairs = 1;                // a flow is spread over so many
  bool icrc_check = false;            // compute and verify the ICRC over a zero payload; else skip
  bool pfc_honour = true;             // obey received PFC
  // "swift.beta": those that laws declare and that are not as declared, in the base unit of their
  // kind (net/text/parameters.h).
  std::map<std::string, int64_t, std::less<>> law_parameters;
  bool operator==(const HostConfig&) const = default;
};

}  // namespace eddy::config
