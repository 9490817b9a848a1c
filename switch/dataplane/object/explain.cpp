#include "switch/dataplane/object/explain.h"

#include <utility>

#include "switch/dataplane/object/explainer.h"
#include "switch/dataplane/object/shard_impl.h"

namespace eddy {

bool explain_packet(Shard& shard, Explanation& explanation, Instant now) {
  auto& asked = static_cast<ShardImpl&>(shard);
  if (asked.selector() == nullptr) return false;
  asked.explain_at(explanation, now);
  return true;
}

void ShardImpl::explain_at(Explanation& explanation, Instant now) {
  const Instant then = std::exchange(context_.now, now);
  explain(explanation);
  context_.now = then;
}

// The packet's line is put back: a packet that has been received goes on as it came.
void ShardImpl::explain(Explanation& explanation) {
  const Packet line = *explanation.packet;
  Explainer(
      {context_, buffer_, egress_, adjacency_, peers_, shims_, stages_, isolation_, recirculation_},
      explanation)
      .run();
  *explanation.packet = line;
}

}  // namespace eddy
