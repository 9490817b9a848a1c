#include "lab/faults/slow_receiver.h"

#include "lab/faults/spoof.h"
#include "net/parse.h"
#include "net/pause_frame.h"

namespace eddy::lab {
namespace {

constexpr int64_t kFrameOverhead = 24;

}  // namespace

// A pause frame of its own may wait for one frame; the leaf finishes one, and what it sent fills
// the line both ways.
SlowReceiver::SlowReceiver(World& world, const Setup& setup)
    : world_(world),
      setup_(setup),
      refresh_(LineRate(setup.line_rate).time_of_quanta(kLongestPause) / 2),
      limit_(kXoff + bytes_in(setup.line_delay * 2, setup.line_rate).count() +
             3 * (setup.largest_frame + kFrameOverhead)) {}

void SlowReceiver::begin(BitRate drain) {
  drain_rate_ = LineRate(drain);
  if (on_) return;
  on_ = true;
  world_.set_intake(setup_.host, this);
}

void SlowReceiver::end() {
  if (!on_) return;
  on_ = false;
  world_.set_intake(setup_.host, nullptr);
  while (!waiting_.empty()) {
    world_.deliver(setup_.host, waiting_.front());
    waiting_.pop_front();
  }
  octets_ = 0;
  if (pausing_) send_pause(0);
  pausing_ = false;
}

bool SlowReceiver::is_data(const Packet& packet) const {
  ParsedFrame frame;
  return parse_frame(packet.data(), packet.data_len(), packet.wire_len, frame) ==
             ParseVerdict::ok &&
         (frame.flags & kPacketIp) != 0 && frame.dscp == setup_.config.dscp;
}

void SlowReceiver::take(Packet* packet) {
  if (!is_data(*packet)) return world_.deliver(setup_.host, packet);
  if (octets_ + packet->wire_len > limit_) {
    ++lost_;
    return world_.pool().put(packet);
  }
  octets_ += packet->wire_len;
  waiting_.push_back(packet);
  if (!draining_) plan_drain();
  if (octets_ > kXoff && !pausing_) {
    pausing_ = true;
    ++pauses_;
    ++episode_;
    hold_leaf();
  }
}

void SlowReceiver::plan_drain() {
  draining_ = true;
  const Duration needed = drain_rate_.time_of(Bytes(waiting_.front()->wire_len));
  world_.at_host(world_.now() + needed, [this](World&) { drain(); });
}

void SlowReceiver::drain() {
  draining_ = false;
  if (waiting_.empty()) return;
  Packet* packet = waiting_.front();
  waiting_.pop_front();
  octets_ -= packet->wire_len;
  world_.deliver(setup_.host, packet);
  if (pausing_ && octets_ <= kXon) {
    pausing_ = false;
    send_pause(0);
  }
  if (!waiting_.empty()) plan_drain();
}

void SlowReceiver::hold_leaf() {
  send_pause(kLongestPause);
  world_.at_host(world_.now() + refresh_, [this, episode = episode_](World&) {
    if (on_ && pausing_ && episode == episode_) hold_leaf();
  });
}

void SlowReceiver::send_pause(uint16_t quanta) {
  inject_pause(world_, world_.line_of_host(setup_.host), setup_.mac,
               {setup_.config.priority, quanta});
}

}  // namespace eddy::lab
