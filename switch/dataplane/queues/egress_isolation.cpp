// What a queue of a port does for isolation: docs/adr/0039, 0050.
#include "net/congestion/destination_tag.h"
#include "switch/dataplane/queues/egress.h"

namespace eddy {

// What is in the queue when it becomes gated came behind nothing that matters.
void Egress::follow_isolation(PortId id, Port& port, const IsolationPlan& plan) {
  const bool gates = plan.known && context_.settings(id).role == config::PortRole::fabric;
  const uint8_t gated =
      gates ? static_cast<uint8_t>(plan.classes.isolated.queue.index()) : kNoQueue;
  port.gate = gates ? static_cast<uint8_t>(plan.classes.normal.queue.index()) : kNoQueue;
  if (gated == port.gated) return;
  port.gated = gated;
  if (!gates) return;
  for (Packet* packet = context_.queue(id, gated).fifo.head(); packet != nullptr;
       packet = packet->next)
    packet->note = port.passed;
}

// Behind what is in the other queue, and what a row that is open there has taken; or one more
// packet to a host whose port is congested, or through a fabric port that is crowded.
[[gnu::noinline]] void Egress::attend(Port& port, Packet& packet) {
  const PortId id = packet.egress_port;
  const QueueSettings& settings = port.queues[packet.queue.index()];
  if (settings.gated) {
    const EgressQueue& gate = context_.queue(id, port.gate);
    const QueueRow& row = rows_[port.gate * ports_.size() + id.index()];
    packet.note = port.passed + gate.fifo.count() + (gate.row_open ? row.packets.count() : 0);
  }
  if (!packet.has(kPacketIp) || packet.has(kPacketOriginated)) return;
  if (port.gate == kNoQueue) {
    const uint8_t* const network = packet.data() + packet.l2_len;
    hot_ports_.note(id, destination_tag_of(network, !packet.has(kPacketIpv6)),
                    flow_tag(packet.order_hash), context_.now);
  } else if (is_crowded(id, port)) {
    const LongFlows::Rule rule{.enough = context_.snapshot->ports[id.index()].classes->long_flow,
                               .life = context_.snapshot->isolation.config->life};
    if (long_flows_.note(id, flow_tag(packet.order_hash), packet.wire_len, rule, context_.now))
      hot_ports_.look_again(id, context_.now);
  }
}

// By its own load: a port that is stopped is full of those who wait. And while packets to hosts
// that are congested go by isolated, long flows among the others are better off apart from them.
bool Egress::is_crowded(PortId id, const Port& port) const {
  const lb::PortSignals& signals = context_.signals(id);
  const auto queued = [&](uint8_t queue) {
    return int64_t{signals.queued_bytes[queue].load(std::memory_order_relaxed)};
  };
  const unsigned both = 1u << port.gate | 1u << port.gated;
  return queued(port.gate) + queued(port.gated) >
             context_.snapshot->ports[id.index()].classes->crowded &&
         (signals.paused_queues.load(std::memory_order_relaxed) & both) == 0 &&
         context_.now - context_.host_isolated_at > context_.snapshot->isolation.hosts_first();
}

}  // namespace eddy
