#include "host/nic.h"

#include <algorithm>
#include <cstddef>

#include "host/frames.h"
#include "host/ledger.h"
#include "host/pause_clock.h"
#include "host/receiver.h"
#include "host/registry.h"
#include "host/sender.h"
#include "net/assert.h"
#include "net/memory/lines.h"

namespace eddy::host {

struct Nic::State {
  explicit State(const NicOptions& options) : State(options, laws_of(options.config)) {}
  State(const NicOptions& options, const Laws& laws)
      : config(options.config),
        framer(options),
        ledger(options.senders + options.receivers),
        pauses(options.speed),
        senders(options, laws, framer, ledger),
        receivers(options, laws, framer, ledger) {}

  bool control_may_go() const {
    return receivers.has_control() && !pauses.blocked(config.control_priority);
  }
  void receive_other(const Packet& packet, Instant now);
  void receive_rare(const Received& received, Instant now);
  void receive_roce(const Received& received, Instant now);

  const config::HostConfig config;
  const Framer framer;
  Ledger ledger;
  PauseClock pauses;
  Senders senders;
  Receivers receivers;
};

Nic::Nic(const NicOptions& options) : state_(std::make_unique<State>(options)) {}
Nic::~Nic() = default;

uint32_t Nic::expect(const ReceiveSpec& spec) {
  return state_->receivers.expect(spec);
}
uint32_t Nic::open(const SendSpec& spec) {
  return state_->senders.open(spec);
}
void Nic::start(uint32_t qpn, Instant now) {
  state_->senders.start(qpn, now);
}

inline void Nic::State::receive_roce(const Received& received, Instant now) {
  if (received.opcode() == RoceOpcode::acknowledge) return senders.on_acknowledge(received, now);
  // Above all opcodes of data.
  if (received.opcode() >= RoceOpcode::cnp) return receive_rare(received, now);
  receivers.on_data(received, now);
}

void Nic::State::receive_rare(const Received& received, Instant now) {
  if (received.opcode() == RoceOpcode::selective_acknowledge)
    return senders.on_selective_ack(received, now);
  senders.on_cnp(received, now);
}

void Nic::receive(const Packet& packet, Instant now) {
  State& nic = *state_;
  nic.ledger.count(NicCounter::rx_packets);
  nic.ledger.count(NicCounter::rx_bytes, packet.wire_len);
  Received received;
  if (nic.framer.read_plain(packet, received)) [[likely]]
    return nic.receive_roce(received, now);
  nic.receive_other(packet, now);
}

// Any frame but the plain ones.
void Nic::State::receive_other(const Packet& packet, Instant now) {
  Received received;
  PauseFrame pause;
  switch (framer.read(packet, received, pause)) {
    case Reading::roce:
      return receive_roce(received, now);
    case Reading::pause:
      ledger.count(NicCounter::rx_pfc_packets);
      if (config.pfc_honour) pauses.apply(pause, now);
      return;
    case Reading::flow_stop:
      ledger.count(NicCounter::rx_flow_stop_packets);
      return senders.on_flow_stop(Framer::flow_stop_of(packet), now);
    case Reading::not_for_us:
      return ledger.count(NicCounter::not_for_us_packets);
    case Reading::malformed:
      return ledger.count(NicCounter::malformed_packets);
  }
}

void Nic::on_timers(Instant now) {
  state_->pauses.expire(now);
  state_->senders.on_timers(now);
  state_->receivers.on_timers(now);
}

bool Nic::transmit(Packet& blank, Instant now) {
  State& nic = *state_;
  nic.pauses.expire(now);
  if (nic.control_may_go())
    nic.receivers.transmit_control(blank);
  else if (nic.pauses.blocked(nic.config.priority) || !nic.senders.transmit(blank, now))
    return false;
  nic.ledger.count(NicCounter::tx_packets);
  nic.ledger.count(NicCounter::tx_bytes, blank.wire_len);
  return true;
}

Instant Nic::next_deadline() const {
  const State& nic = *state_;
  Instant next = std::min(nic.senders.next_timer(), nic.receivers.next_timer());
  if (nic.senders.has_ready() && nic.pauses.blocked(nic.config.priority))
    next = std::min(next, nic.pauses.end_of(nic.config.priority));
  if (nic.receivers.has_control() && nic.pauses.blocked(nic.config.control_priority))
    next = std::min(next, nic.pauses.end_of(nic.config.control_priority));
  return next;
}

void Nic::ask_for_lines() const {
  ask_for(state_.get(), sizeof(State));
}
void Nic::ask_for_queue_pairs() const {
  state_->senders.ask_for_queue_pairs();
  state_->receivers.ask_for_queue_pairs();
}

std::span<const Completion> Nic::completions() const {
  return state_->ledger.completions;
}
void Nic::clear_completions() {
  state_->ledger.completions.clear();
}
SendStage Nic::stage_of_sender(uint32_t qpn) const {
  return state_->senders.stage(qpn);
}
const SendOutcome& Nic::outcome_of_sender(uint32_t qpn) const {
  return state_->senders.outcome(qpn);
}
const ReceiveOutcome& Nic::outcome_of_receiver(uint32_t qpn) const {
  return state_->receivers.outcome(qpn);
}
uint64_t Nic::counter(NicCounter which) const {
  return state_->ledger.counters[static_cast<size_t>(which)];
}
std::span<const uint64_t> Nic::ood_histogram() const {
  return state_->receivers.ood_histogram();
}
bool Nic::paused(Priority priority, Instant now) const {
  return state_->pauses.paused(priority, now);
}
Duration Nic::paused_time(Priority priority, Instant now) const {
  return state_->pauses.paused_time(priority, now);
}
BitRate Nic::rate_of(uint32_t qpn, Instant now) const {
  return state_->senders.rate(qpn, now);
}

}  // namespace eddy::host
