#include "switch/dataplane/paths/fabric_peers.h"

#include "net/lldp.h"
#include "switch/dataplane/queues/own_frame.h"

namespace eddy {

FabricPeers::FabricPeers(ShardContext& context, IngressBuffer& buffer, Egress& egress, size_t ports)
    : context_(context),
      buffer_(buffer),
      egress_(egress),
      macs_(ports),
      heard_(ports),
      timers_(2 * ports, context.due_of(Timers::peers)) {}

Deadlines::Id FabricPeers::next_advertisement(PortId port) const {
  return static_cast<Deadlines::Id>(port.index());
}
Deadlines::Id FabricPeers::expiry(PortId port) const {
  return static_cast<Deadlines::Id>(macs_.size() + port.index());
}

bool FabricPeers::speaks_lldp(PortId port) const {
  const PortSettings& settings = context_.settings(port);
  return settings.role == config::PortRole::fabric && context_.plans(port).lldp;
}
bool FabricPeers::learns(PortId port) const {
  return speaks_lldp(port) && !context_.plans(port).peer_mac;
}

// A time to live of 0 says that the peer is about to leave (802.1AB).
void FabricPeers::lldp(Packet* packet) {
  const PortId port = packet->ingress_port;
  const int64_t rate = context_.snapshot->config.control.lldp_frames_per_second;
  if (!heard_[port.index()].take(context_.now, rate, rate))
    return buffer_.drop(packet, DropReason::control_policed);
  LldpFrame message;
  if (decode({packet->data(), packet->data_len()}, message) != CodecVerdict::ok)
    return buffer_.drop(packet, DropReason::control_malformed);
  if (learns(port)) {
    const bool is_new = message.source != mac(port);
    const bool says_goodbye = message.ttl_seconds == 0;
    use(port, says_goodbye ? MacAddress{} : message.source);
    timers_.set(expiry(port), says_goodbye ? Instant::never()
                                           : context_.now + Duration::seconds(message.ttl_seconds));
    if (is_new && !says_goodbye) advertise(port);
  }
  context_.count(port, PortCounter::consumed_packets);
  context_.free(packet);
}

void FabricPeers::use(PortId port, const MacAddress& mac) {
  if (macs_[port.index()] == mac) return;
  const bool replaced = known(port) && !mac.is_zero();
  macs_[port.index()] = mac;
  ++context_.way_changes;
  context_.common.peer_macs[port.index()].write(mac);
  if (!mac.is_zero()) context_.event(EventKind::peer_learned, port);
  publish_usable(port);
  if (replaced) context_.common.changes.change_links();  // other shards write it into frames
}

void FabricPeers::publish_usable(PortId port) {
  const bool is_host = context_.settings(port).role == config::PortRole::host;
  const auto usable = static_cast<uint8_t>(egress_.up(port) && (is_host || known(port)));
  std::atomic<uint8_t>& published = context_.signals(port).up;
  if (published.load(std::memory_order_relaxed) == usable) return;
  published.store(usable, std::memory_order_relaxed);
  context_.common.changes.change_links();
}

void FabricPeers::link_changed(PortId port, bool up) {
  timers_.cancel(expiry(port));
  timers_.cancel(next_advertisement(port));
  if (learns(port)) use(port, MacAddress{});
  publish_usable(port);
  if (up && speaks_lldp(port)) advertise(port);
}

void FabricPeers::forget(PortId port) {
  timers_.cancel(expiry(port));
  timers_.cancel(next_advertisement(port));
  use(port, MacAddress{});
  heard_[port.index()] = {};
}

void FabricPeers::adopt(const Snapshot& now) {
  for (size_t i = 0; i < now.ports.size(); ++i) {
    const PortId port(i);
    if (!context_.owns(port)) continue;
    if (now.plans[i].peer_mac) {
      timers_.cancel(expiry(port));  // of what LLDP said before
      use(port, *now.plans[i].peer_mac);
    } else if (known(port) && !timers_.pending(expiry(port))) {  // was configured until now
      timers_.set(expiry(port), context_.now + Duration::seconds(kTimeToLiveSeconds));
    }
    if (egress_.up(port) && speaks_lldp(port) && !timers_.pending(next_advertisement(port)))
      advertise(port);
    publish_usable(port);
  }
}

void FabricPeers::on_timers() {
  while (const auto id = timers_.pop_due(context_.now)) {
    if (*id < macs_.size()) {
      const PortId port(*id);
      if (egress_.up(port) && speaks_lldp(port)) advertise(port);
    } else {
      use(PortId(*id - macs_.size()), MacAddress{});
    }
  }
}

void FabricPeers::advertise(PortId port) {
  timers_.set(next_advertisement(port), context_.now + kInterval);
  Packet* frame = new_frame(context_);
  if (frame == nullptr) return context_.count(port, PortCounter::no_control_buffer);
  const config::SwitchConfig& config = context_.snapshot->config;
  const LldpFrame advertisement{.source = context_.settings(port).mac,
                                .chassis = config.mac,
                                .port = config.ports[port.index()].name,
                                .ttl_seconds = kTimeToLiveSeconds,
                                .system_name = config.name};
  set_frame_length(*frame, encode(advertisement, frame_space(*frame)));
  egress_.originate(port, frame);
}

void FabricPeers::rebase(const Rebase& rebase) {
  for (RateLimit& heard : heard_) heard.rebase(rebase);
  timers_.rebase(rebase);
}

}  // namespace eddy
