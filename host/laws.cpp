// What laws do that do not say otherwise: nothing.
#include "host/entropy.h"
#include "host/pacing.h"
#include "host/rate_control.h"
#include "host/recovery.h"
#include "net/assert.h"

namespace eddy::host {

void RateControl::pace_all(size_t queue_pairs, BitRate line) {
  paces_.assign(queue_pairs, {.rate_bps = line.bps()});
}
void RateControl::open(uint32_t, const RateOpening&, SendState&) {}
bool RateControl::on_ack(uint32_t, const Ack&, SendState&) {
  return false;
}
void RateControl::on_round(uint32_t, const Round&, SendState&) {}
bool RateControl::on_nak(uint32_t, const Ack&, SendState&) {
  return false;
}
bool RateControl::on_cnp(uint32_t, SendState&, Instant) {
  return false;
}
bool RateControl::on_timeout(uint32_t, SendState&, Instant) {
  return false;
}
void RateControl::on_due(uint32_t, SendState&, Instant) {}

uint32_t SendRecovery::full_window(uint32_t wanted, uint32_t) const {
  return wanted;
}
void SendRecovery::open(uint32_t, SendState&) {}
void SendRecovery::on_ack(uint32_t, const Ack&, SendState&) {}
uint64_t SendRecovery::next_send(uint32_t, SendState&) {
  ASSERT(false);  // a recovery that says `pending` has one
  return 0;
}

void ReceiveRecovery::on_filled(uint32_t, ReceiveState&, Instant) {
  ASSERT(false);  // a recovery that holds packets has one
}
Bitmap ReceiveRecovery::bitmap(uint32_t, uint64_t, const ReceiveState& state) const {
  return {.base = state.expected};
}
Reply ReceiveRecovery::on_timer(uint32_t, ReceiveState&, Instant) {
  return Reply::none;
}

uint16_t Entropy::open(uint32_t, const EntropyOpening&, const SendState&) {
  return kSamePort;
}
uint16_t Entropy::on_ack(uint32_t, const Ack&, const SendState&) {
  return kSamePort;
}
uint16_t Entropy::on_round(uint32_t, const Round&, const SendState&) {
  return kSamePort;
}
uint16_t Entropy::on_nak(uint32_t, const Ack&, const SendState&) {
  return kSamePort;
}
uint16_t Entropy::on_cnp(uint32_t, const SendState&, Instant) {
  return kSamePort;
}
uint16_t Entropy::on_timeout(uint32_t, const SendState&, Instant) {
  return kSamePort;
}
uint16_t Entropy::next_send(uint32_t, const SendState&, Instant) {
  return kSamePort;
}

PacedPacket Pacing::on_sent(uint32_t, const Pace&, const SendState&) {
  return {};
}

}  // namespace eddy::host
