// ShimDresser: gives packets to other leaves their shim, and changes it on their way.
//
// A source leaf writes where the packet comes from and goes, a stamp where one is due
// (PathService), an echo that waits, and what the agents add in the fields that they declared
// (AgentHost). Where each packet gets a shim or an agent writes in them, a burst is dressed at
// once, before its packets are handed to their queues; else packet by packet. A switch on the way
// counts the hop, notes the load of its port, and obeys a pinned path's second choice; where it
// chose by itself it takes the mark "has kept to its path" off. Owner: the shard of the egress
// port. Cost: a bit of PathEchoes::attention() for a packet that gets no shim; for one that does, a
// copy of the 32 octets that all have in common, and six of its own; less where a burst gets its
// shims on the way to its queues (shim_stencil.h). Source: reference 1.4, 1.6, 1.9.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "lb/agent.h"
#include "lb/members.h"
#include "net/packet.h"
#include "net/shim.h"
#include "switch/dataplane/paths/agent_host.h"
#include "switch/dataplane/paths/path_service.h"
#include "switch/dataplane/paths/shim_stencil.h"
#include "switch/dataplane/state/path_plan.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class ShimDresser {
 public:
  ShimDresser(ShardContext& context, PathService& paths, AgentHost& agents)
      : context_(context), paths_(paths), agents_(agents) {}

  // Where a burst of packets whose egress ports are chosen comes from.
  enum class From : uint8_t {
    choice,       // of this poll, by the snapshot in force
    other_shard,  // which may have had another snapshot
  };
  // At most kBurst, before they are delivered. Those for other shards' ports are left to these.
  // Agents hear of RoCE replies among them.
  void dress(std::span<Packet* const> packets, From from) {
    if (looks_at_bursts_) [[unlikely]]
      look_at_burst(packets, from);
  }
  bool looks_at_bursts() const { return looks_at_bursts_; }

  // Packets from one port without headers of their own between Ethernet and IP, chosen in this poll
  // among `sets`, at most kBurst. True: they need not be dressed before they are handed over, but
  // get their shims on the way, one after another: by the stencil where that fits and the port
  // takes them, else by dress_apart().
  bool begin_passing(std::span<Packet* const> packets, std::span<const uint16_t> sets) {
    return passes_ && begin_passing_burst(packets, sets);
  }
  const ShimStencil& stencil() const { return stencil_; }
  // What a packet takes along whose shim was put by the stencil, which says that there may be.
  void add_errand(const Packet& packet, uint8_t* shim, uint16_t set);
  // The packet at the place in the burst.
  void dress_apart(Packet& packet, size_t place);

  // False: neither that nor dress(packet) does anything to a packet that came without a shim.
  bool looks() const { return looks_at_bursts_ || attention_ != nullptr; }
  // One of them on its way to a fabric port, with no tags: a shim if it is to have one, and what a
  // switch on the way has to say.
  void dress(Packet& packet) {
    if (packet.has(kPacketShim)) [[unlikely]] {
      // A host sends none: what comes from one has been dressed here.
      if (context_.settings(packet.ingress_port).role != config::PortRole::host) pass(packet);
      return;
    }
    if (attention_ == nullptr || packet.next_hop >= next_hop_count_) return;
    const NextHop& next_hop = context_.next_hops[packet.next_hop];
    if (next_hop.kind != NextHop::Kind::path_set) return;
    if (lb::contains(attention_[next_hop.set], packet.member)) [[unlikely]]
      consider(packet, next_hop.set);
  }
  // The same of one that attention() names, of this poll, with nothing between Ethernet and IP.
  void dress_bare(Packet& packet) {
    const NextHop& next_hop = context_.next_hops[packet.next_hop];
    if (next_hop.kind == NextHop::Kind::path_set) [[likely]]
      consider(packet, next_hop.set);
  }
  // By path set of this snapshot: members by which a packet that came without a shim may have
  // something to take along, so that dress(packet) has to see it; null: it need see none. There is
  // a set 0, which next hops that are none say they lead to.
  const lb::MemberMask* attention() const { return attention_; }
  // Of a packet with a shim and a set to choose from: true when its path id has chosen.
  bool steer(Packet& packet, uint16_t set);
  // The member that it would take so; kWait: none. For reports.
  lb::MemberIndex steered(const Packet& packet, uint16_t set) const;
  void adopt(const Snapshot& now);

 private:
  static constexpr uint16_t kNoSet = PathPlan::kNoSet;

  struct Common {  // of all shims of a poll
    const uint8_t* shim;
    const LeafId* leaf_of_set;
    uint32_t octets;  // that a packet grows by
    uint16_t flags;   // that it gets
  };
  struct Dressed {          // a packet that has got a shim
    uint16_t set = kNoSet;  // none: it has not
    uint8_t echo = 0;       // the place of the path whose echo it carries, or none
  };
  struct Errand {                      // what a packet takes along beside its shim
    lb::PathRecord* stamps = nullptr;  // the path
    bool echoes = false;
  };

  bool begin_passing_burst(std::span<Packet* const> packets, std::span<const uint16_t> sets);
  void look_at_burst(std::span<Packet* const> packets, From from);
  void dress_burst(std::span<Packet* const> packets, From from);
  uint16_t set_to_dress(const Packet& packet, From from) const;
  bool is_member(const Packet& packet, uint16_t set) const;
  bool is_from_host(const Packet& packet) const;
  void consider(Packet& packet, uint16_t set);
  void ask_agents(size_t count);
  bool write_usual(lb::Dressing& dressing) const;
  static void write_epoch(uint8_t* shim, const lb::ShimFields& fields);
  void write_delay(Packet& packet, uint8_t* shim, const lb::ShimFields& fields) const;
  void write_fields(lb::Dressing& dressing, uint8_t echo_place);
  uint8_t flags_of_poll() const;
  void begin_shims();
  Common common() const;
  bool is_plain(const Packet& packet, const NextHop* next_hop, uint32_t longest) const;
  void note_dressed(Packet& packet, const Dressed& dressed, size_t place);
  Dressed dress_one(Packet& packet, From from);
  uint8_t* put_shim(Packet& packet, uint16_t set, const Common& common);
  uint8_t add_shim(Packet& packet, uint16_t set, Errand errand);
  Errand errand_of(const Packet& packet, uint16_t set);
  void add_stamp(const Packet& packet, uint8_t* shim, uint16_t set, lb::PathRecord& path);
  uint8_t add_echo(uint8_t* shim, uint16_t set);
  void report(uint8_t* shim, uint16_t set);
  static void write_report(uint8_t* shim, const PathService::Telling& told, PathId path,
                           uint8_t load);
  void pass(Packet& packet);
  void note_wait(Packet& packet, const uint8_t* shim);
  static bool is_free(const uint8_t* shim);
  lb::MemberIndex named_by(const uint8_t* shim, uint16_t set) const;

  ShardContext& context_;
  PathService& paths_;
  AgentHost& agents_;
  const PathPlan* plan_ = nullptr;  // of the snapshot, as is what follows
  size_t next_hop_count_ = 0;
  bool every_ = false;                         // packet has a shim
  const lb::MemberMask* noted_ = nullptr;      // PathEchoes::attention(); null: nothing is measured
  const lb::MemberMask* attention_ = nullptr;  // null: packets are not dressed one by one
  uint16_t packet_flags_ = kPacketShim;        // of one that has got a shim
  uint32_t shortest_mtu_ = 0;                  // of the fabric ports
  bool in_bursts_ = false;
  bool looks_at_bursts_ = false;
  bool passes_ = false;  // bursts may get their shims on the way
  uint64_t source_ = 0;  // of octets 0 to 7 of each shim what is always so
  ShimStencil stencil_;  // of the burst in hand, as are these
  std::array<uint32_t, kBurst> briefs_{};
  std::array<uint8_t, kShimHeader> shim_{};       // as every packet of a poll gets it in bursts
  std::array<lb::Dressing, kBurst> dressings_{};  // of the burst in hand
  std::array<uint8_t, kBurst> echoes_{};          // that they took
};

}  // namespace eddy
