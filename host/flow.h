// A flow: one RDMA WRITE message from one host to another, and what became of it.
//
// Hosts are numbered by their world. A flow's identity on the wire: (source address, destination
// address, source port, destination QPN). Sending and receiving QPs of a NIC are numbered each from
// 0, in the order of their opening, and never reused. Owner: the world; the NICs fill the outcome.
// Source: reference D.5, D.6.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/addresses.h"
#include "net/units.h"

namespace eddy::host {

inline constexpr uint32_t kNoQp = 0xffffffff;

// What a sending QP needs to know.
struct SendSpec {
  uint32_t flow = 0;  // the world's number, handed back in completions
  Bytes size{0};      // payload octets, at least 1
  IpAddress destination;
  uint32_t destination_qpn = 0;  // 24 bits: the receiving QP's number on the peer
  uint16_t source_port = 0;      // entropy, 49,152..65,535
  uint32_t first_psn = 0;        // 24 bits; the receiver's must be the same
  Duration base_rtt;             // of its path: the BDP window; no RTO is below twice of it
};

// What a receiving QP needs to know.
struct ReceiveSpec {
  uint32_t flow = 0;
  Bytes size{0};
  IpAddress source;
  uint32_t source_qpn = 0;   // 24 bits: where ACK, NAK and CNP go
  uint16_t source_port = 0;  // of those; entropy
  uint32_t first_psn = 0;    // 24 bits
};

// How far a sending QP is. What it has gone back to is to be sent again.
enum class SendStage : uint8_t { sending, awaits_acks, acknowledged };

struct SendOutcome {
  uint64_t sent_packets = 0;  // all data packets, first transmissions and others
  uint64_t retransmitted_packets = 0;
  uint64_t retransmitted_bytes = 0;  // payload
  uint32_t naks = 0;
  uint32_t timeouts = 0;
  uint32_t cnps = 0;
};

// Of a NIC's histogram of out-of-order distances: bucket i counts OOD = i packets, the last one all
// from there on.
inline constexpr size_t kOodBuckets = 1'024;

struct ReceiveOutcome {
  uint64_t delivered_bytes = 0;       // payload, each octet once; may lie behind a gap
  uint64_t received_packets = 0;      // data packets that arrived, kept or not
  uint64_t out_of_order_packets = 0;  // of those, with PSN > expected
  uint64_t duplicate_packets = 0;
  uint64_t ecn_marked_packets = 0;
  uint32_t max_ood = 0;  // largest PSN - expected PSN, in packets
};

struct Completion {
  enum class End : uint8_t { sender, receiver };
  End end{};
  uint32_t flow = 0;
  Instant at;  // sender: last ACK; receiver: last octet in order
};

}  // namespace eddy::host
