// Explainer: takes one packet through the steps of the pipeline, asking what each would do, and
// writes that down. Nothing of the switch changes: no draw is taken, no flow touched, no counter
// moved, nothing charged or sent.
//
// It asks the same functions as the pipeline where they have no effect, and their counterparts for
// reports (foresee, preview) where they have. Owner: the shard, in a poll or between two. Source:
// docs/adr/0044; docs/packet_walk.md.
#pragma once

#include "switch/dataplane/neighbors/adjacency.h"
#include "switch/dataplane/paths/fabric_peers.h"
#include "switch/dataplane/paths/shim_dresser.h"
#include "switch/dataplane/pipeline/isolation.h"
#include "switch/dataplane/pipeline/recirculation.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/flow_stages.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class Explainer {
 public:
  struct Parts {
    ShardContext& context;
    IngressBuffer& buffer;
    Egress& egress;
    Adjacency& adjacency;
    const FabricPeers& peers;
    const ShimDresser& shims;
    const FlowStages& stages;
    const Isolation& isolation;
    const Recirculation& loop;
  };
  Explainer(const Parts& parts, Explanation& out)
      : parts_(parts), context_(parts.context), out_(out), packet_(*out.packet) {}

  void run();

 private:
  using Step = Explanation::Step;
  // Each: false, it ends there.
  bool parse();
  void read_addresses();
  bool serve();
  bool classify();
  bool accept();
  bool lead();
  bool admit();
  bool stage();
  bool choose();
  bool keep_channel();
  bool depart();
  bool resolve();
  void enqueue();

  void at(Step step) { out_.last = step; }
  bool drop(DropReason reason);
  bool end(Fate fate);
  PathOption option_of(uint16_t set, lb::MemberIndex member) const;
  void describe_queue();

  Parts parts_;
  ShardContext& context_;
  Explanation& out_;
  Packet& packet_;
};

}  // namespace eddy
