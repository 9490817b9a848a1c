#include "testbed/host_port.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <cstring>

#include "net/assert.h"
#include "net/byte_order.h"
#include "net/ethernet.h"
#include "net/protocols.h"

namespace eddy::testbed {
namespace {

constexpr size_t kReth = 16;

}  // namespace

HostPort::HostPort(const HostPortOptions& options, HostWire& wire)
    : options_(options),
      wire_(wire),
      nic_(options.nic),
      rate_(options.nic.speed),
      leaving_(options.in_flight),
      arriving_(options.in_flight) {
  if (options.announce && options.nic.address.is_v4()) announcements_left_ = kAnnouncements;
}

HostPort::~HostPort() {
  for (DelayLine* line : {&leaving_, &arriving_})
    for (; !line->empty(); line->pop(1)) {
      Packet* frame = line->due(0, Instant::never());
      wire_.free({&frame, 1});
    }
  wire_.free({stock_.data(), stocked_});
}

HostPort::Turn HostPort::poll(Instant now) {
  Turn turn;
  if (!announced() && announce_at_ <= now) [[unlikely]]
    announce(now);
  run_until(now);
  turn.received = receive(now);
  if (turn.received != 0) run_until(now);
  turn.transmitted = hand_over(now);
  return turn;
}

void HostPort::start(uint32_t qpn, Instant at) {
  run_until(at);
  nic_.start(qpn, at);
  may_send_ = true;
}

// Everything that the NIC and its line do by `now` without hearing anything new.
void HostPort::run_until(Instant now) {
  clock_ = std::max(clock_, now - options_.catch_up);
  for (;;) {
    const Instant line = std::max(line_free_, clock_);
    const bool line_next = may_send_ && line <= now;
    const Instant timer = nic_.next_deadline();
    if (timer <= now && (!line_next || timer <= line)) {
      clock_ = std::max(clock_, timer);
      nic_.on_timers(clock_);
      may_send_ = true;
      continue;
    }
    if (!line_next || !send_one(line)) break;
  }
  clock_ = std::max(clock_, now);
}

// False: nothing more leaves in this turn.
bool HostPort::send_one(Instant at) {
  if (leaving_.room() == 0) {
    count(HostPortCounter::host_tx_full);
    return false;
  }
  Packet* frame = blank();
  if (frame == nullptr) {
    count(HostPortCounter::host_blank_missing);
    retry_at_ = std::max(retry_at_, at + kRetry);
    return false;
  }
  clock_ = at;
  may_send_ = nic_.transmit(*frame, at);
  if (!may_send_) {
    stock_[stocked_++] = frame;
    return true;  // a timer may be due behind it
  }
  make_whole(*frame);
  emit(frame, at);
  return true;
}

void HostPort::emit(Packet* frame, Instant at) {
  line_free_ = at + rate_.time_of(Bytes(frame->wire_len + options_.nic.line_overhead));
  leaving_.push(frame, line_free_ + options_.delay);
}

Packet* HostPort::blank() {
  if (stocked_ == 0) stocked_ = wire_.blanks(stock_);
  return stocked_ == 0 ? nullptr : stock_[--stocked_];
}

// The NIC has written headers, and with icrc_check the ICRC right behind them; what lies behind may
// be of an earlier frame: its RETH, or its ICRC.
void HostPort::make_whole(Packet& frame) const {
  uint8_t* octets = frame.data();
  ASSERT(frame.data_off + size_t{frame.wire_len} <= frame.mbuf()->buf_len);
  if (options_.nic.config.icrc_check) {
    const size_t headers = frame.data_len() - kIcrc;
    const auto icrc = load_raw<uint32_t>(octets + headers);
    std::memset(octets + headers, 0, frame.wire_len - kIcrc - headers);
    std::memcpy(octets + frame.wire_len - kIcrc, &icrc, kIcrc);
  } else {
    std::memset(octets + frame.data_len(), 0,
                std::min<size_t>(kReth, frame.wire_len - frame.data_len()));
  }
  frame.held_len = frame.wire_len;
}

size_t HostPort::receive(Instant now) {
  std::array<Packet*, HostWire::kBurst> frames;
  if (options_.delay == Duration{}) {
    const size_t count = wire_.receive(frames);
    for (size_t i = 0; i < count; ++i) rte_prefetch0(frames[i]->data());
    for (size_t i = 0; i < count; ++i) take(frames[i], now);
    if (count != 0) wire_.free({frames.data(), count});
    return count;
  }
  const size_t room = std::min(arriving_.room(), frames.size());
  if (room == 0) count(HostPortCounter::host_rx_full);
  const size_t arrived = room == 0 ? 0 : wire_.receive({frames.data(), room});
  for (size_t i = 0; i < arrived; ++i) arriving_.push(frames[i], now + options_.delay);
  size_t taken = 0;
  for (; Packet* frame = arriving_.due(taken, now); ++taken) {
    take(frame, now);
    wire_.free({&frame, 1});
  }
  arriving_.pop(taken);
  return std::max(arrived, taken);
}

inline void HostPort::take(Packet* frame, Instant now) {
  may_send_ = true;
  constexpr uint32_t kType = 12;
  const bool arp =
      frame->data_len() > kType + 1 && load_be16(frame->data() + kType) == kEtherTypeArp;
  if (arp) [[unlikely]]
    if (take_arp(*frame, now)) return;
  nic_.receive(*frame, now);
}

// Whether that was all there is to do about it.
bool HostPort::take_arp(const Packet& frame, Instant now) {
  ArpMessage heard;
  const ConstOctets octets(frame.data(), frame.data_len());
  if (decode(octets.subspan(kEthernetHeader), heard) != CodecVerdict::ok) return false;
  const bool ours = options_.nic.address.is_v4() && heard.target_ip == options_.nic.address.v4();
  if (heard.operation == ArpOperation::request && ours) answer(heard, now);
  return true;
}

void HostPort::answer(const ArpMessage& question, Instant now) {
  count(HostPortCounter::host_arp_requests);
  const ArpMessage answer{.operation = ArpOperation::reply,
                          .sender_mac = options_.nic.mac,
                          .sender_ip = question.target_ip,
                          .target_mac = question.sender_mac,
                          .target_ip = question.sender_ip};
  if (send_arp(question.sender_mac, answer, now)) count(HostPortCounter::host_arp_replies);
}

// While the wire takes nothing, the last announcement is still here and there is no need of
// another.
void HostPort::announce(Instant now) {
  announce_at_ = now + kAnnouncementGap;
  if (!leaving_.empty()) return;
  if (announcements_left_ == 0) {
    announcements_left_ = -1;
    return;
  }
  const Ipv4Address own = options_.nic.address.v4();
  const ArpMessage message{.operation = ArpOperation::request,
                           .sender_mac = options_.nic.mac,
                           .sender_ip = own,
                           .target_mac = {},
                           .target_ip = own};
  if (!send_arp(MacAddress::broadcast(), message, now)) return;
  --announcements_left_;
  count(HostPortCounter::host_arp_announcements);
}

// False: there is no room or no buffer; it is tried again, or asked for again.
bool HostPort::send_arp(const MacAddress& to, const ArpMessage& message, Instant now) {
  Packet* frame = leaving_.room() != 0 ? blank() : nullptr;
  if (frame == nullptr) return false;
  uint8_t* out = frame->data();
  rewrite_macs(out, to, options_.nic.mac);
  store_be16(out + 12, kEtherTypeArp);
  const size_t room = frame->mbuf()->buf_len - frame->data_off;
  const size_t length =
      kEthernetHeader + encode(message, Octets(out, room).subspan(kEthernetHeader));
  const size_t padded = pad_frame(Octets(out, room), length);
  frame->set_length(padded, padded);
  emit(frame, std::max(line_free_, now));
  return true;
}

// What has reached the other end goes into the wire; what that does not take stays at the head.
size_t HostPort::hand_over(Instant now) {
  size_t sent = 0;
  for (;;) {
    std::array<Packet*, HostWire::kBurst> frames;
    size_t count_due = 0;
    while (count_due < frames.size() &&
           (frames[count_due] = leaving_.due(count_due, now)) != nullptr)
      ++count_due;
    if (count_due == 0) return sent;
    const size_t taken = wire_.transmit({frames.data(), count_due});
    leaving_.pop(taken);
    sent += taken;
    if (taken == count_due) continue;
    count(HostPortCounter::host_tx_refused);
    retry_at_ = now + kRetry;
    return sent;
  }
}

Instant HostPort::next_deadline() const {
  Instant next = std::min({nic_.next_deadline(), leaving_.next(), arriving_.next()});
  if (may_send_) next = std::min(next, line_free_);
  if (!announced()) next = std::min(next, announce_at_);
  return std::max(next, retry_at_);
}

std::span<const HostPortCounterInfo> host_port_counter_infos() {
#define EDDY_HOST_PORT_ENTRY(name, help) {#name, help},
  static constexpr HostPortCounterInfo kInfos[] = {EDDY_HOST_PORT_COUNTERS(EDDY_HOST_PORT_ENTRY)};
#undef EDDY_HOST_PORT_ENTRY
  return kInfos;
}

}  // namespace eddy::testbed
