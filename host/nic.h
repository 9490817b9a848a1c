// Nic: the RoCEv2 NIC of one host: its sending and receiving queue pairs, and who may use the line.
//
// The world hands in packets and the time, and asks for the next frame whenever the line is free;
// the NIC never allocates: transmit() writes into a blank packet of the world's, receive() keeps
// none. Frames carry real Ethernet, IP, UDP, BTH and extension headers; the payload is virtual
// (wire_len counts it, data_len ends before it). With icrc_check the four ICRC octets, computed
// over a zero payload, stand right behind the headers and data_len includes them; else they are
// virtual, too. Frames are as they are without a tag; received ones may have tags. Order on the
// line: ACK, NAK and CNP first, then round robin over the QPs that are ready (data, window, pacing,
// not paused). Owner: the world; thread: one. Bounds: fixed by NicOptions at construction. Cost: a
// few cache lines a packet, no search. Source: reference, section D; architecture, sections 2
// and 3.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "host/flow.h"
#include "host/nic_counters.h"
#include "host/nic_options.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy::host {

class Nic {
 public:
  explicit Nic(const NicOptions& options);
  ~Nic();

  // Opens the receiving side of a flow; returns its QPN. Before the sender starts.
  uint32_t expect(const ReceiveSpec& spec);
  // Reserves a sending QP and returns its QPN (for ReceiveSpec::source_qpn); start() then begins.
  uint32_t open(const SendSpec& spec);
  void start(uint32_t qpn, Instant now);

  // Reads a frame that has arrived; the world keeps the packet and may free it at once.
  void receive(const Packet& packet, Instant now);
  // Timers due by now: retransmission, reorder, pacing, ends of pauses. Call when
  // next_deadline() <= now; afterwards next_deadline() > now.
  void on_timers(Instant now);
  // The line is free: writes the next frame into `blank` and says true, or nothing may start now.
  // The frame's serialisation begins at `now`. After true, ask again when the line is free.
  [[nodiscard]] bool transmit(Packet& blank, Instant now);
  // The earliest time at which transmit() may have something that it has not now, or a timer is
  // due; never() when only receive() or start() can bring any.
  Instant next_deadline() const;
  // Calls come in a row, behind those of many other NICs: ask_for_lines() asks for the lines of the
  // object that they will touch, ask_for_queue_pairs() then for those of its queue pairs, where it
  // has few. They change nothing.
  void ask_for_lines() const;
  void ask_for_queue_pairs() const;

  // Those since the last clear, in order. Valid until the next call of the object.
  std::span<const Completion> completions() const;
  void clear_completions();

  SendStage stage_of_sender(uint32_t qpn) const;
  const SendOutcome& outcome_of_sender(uint32_t qpn) const;
  const ReceiveOutcome& outcome_of_receiver(uint32_t qpn) const;
  uint64_t counter(NicCounter which) const;
  // Out-of-order distances of received data packets: bucket i counts OOD = i packets, bucket 0
  // those in order and duplicates, the last one all from there on.
  static constexpr size_t kOodBuckets = host::kOodBuckets;
  std::span<const uint64_t> ood_histogram() const;
  bool paused(Priority priority, Instant now) const;
  Duration paused_time(Priority priority, Instant now) const;  // in all
  BitRate rate_of(uint32_t qpn, Instant now) const;            // in force for a sending QP

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eddy::host
