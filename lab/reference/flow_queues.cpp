#include "lab/reference/flow_queues.h"

namespace eddy::lab {

FlowQueues::Flow& FlowQueues::push(uint64_t key, PortId from, Packet* packet) {
  Flow& flow = flows_[key];
  flow.key = key;
  flow.from = from;
  flow.octets += packet->wire_len;
  octets_ += packet->wire_len;
  flow.packets.push(packet);
  list(flow);
  return flow;
}

FlowQueues::Turn FlowQueues::pop() {
  while (head_ != nullptr) {
    Flow& flow = *head_;
    head_ = flow.next;
    if (head_ == nullptr) tail_ = nullptr;
    flow.listed = false;
    if (flow.stopped) continue;  // go_on() lists it again
    Packet* packet = flow.packets.pop();
    flow.octets -= packet->wire_len;
    octets_ -= packet->wire_len;
    list(flow);
    return {&flow, packet};
  }
  return {};
}

void FlowQueues::settle(const Flow& flow) {
  if (flow.packets.empty() && !flow.stopped && !flow.stops_sender) flows_.erase(flow.key);
}

void FlowQueues::go_on(uint64_t key) {
  const auto found = flows_.find(key);
  if (found == flows_.end()) return;
  found->second.stopped = false;
  list(found->second);
  settle(found->second);
}

void FlowQueues::list(Flow& flow) {
  if (flow.listed || flow.stopped || flow.packets.empty()) return;
  flow.listed = true;
  flow.next = nullptr;
  (head_ == nullptr ? head_ : tail_->next) = &flow;
  tail_ = &flow;
}

}  // namespace eddy::lab
