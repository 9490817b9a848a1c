// FlowBook: the flows of a run at the NICs that carry them: their queue pairs, when each starts,
// and which have ended.
//
// A flow is spread over queue_pairs parts, one a sending and a receiving QP. QPs are numbered by
// the order of the flows alone, so whoever makes a book of the same flows finds the same numbers.
// Flows are in the order of their starts; behind them are those that wait (lab/traffic/waits.h),
// which have a start once it is known. Times are those of the flows. Where several ranks share a
// world each one's book hears of the ends at its own NICs alone; what the others have heard is told
// to it after the run. Owner: the world that has
// the NICs, which outlive the book. Bounds: what open() takes. Cost: a look-up a part and end.
// Source: reference D.5, D.6.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/nic.h"
#include "lab/traffic/traffic.h"
#include "lab/world/flow_waits.h"
#include "net/addresses.h"
#include "net/units.h"

namespace eddy::lab {

struct FlowRecord {
  Instant sender_done = Instant::never();
  Instant receiver_done = Instant::never();
};

// At its sender.
struct FlowTimes {
  Instant start;
  Instant done = Instant::never();
};

// What waits, and how long word of an item's end takes; the waits are copied.
struct Waiting {
  const Waits* waits = nullptr;  // null: nothing
  Duration word{};
  bool shared = false;  // by several ranks
};

class FlowBook {
 public:
  // The base RTT between two hosts.
  using RttOf = std::function<Duration(uint32_t source, uint32_t destination)>;

  FlowBook(std::span<const Flow> flows, int queue_pairs, const Waiting& waiting = {});

  struct Needs {  // QPs of a host's NIC
    size_t senders = 0;
    size_t receivers = 0;
  };
  std::vector<Needs> needs(size_t hosts) const;
  // Opens every QP; nics and addresses by host. A null NIC is another rank's.
  void open(std::span<host::Nic* const> nics, std::span<const IpAddress> addresses,
            const RttOf& rtt_of);

  // Calls start(host, qpn, flow's start) for each sending QP of flows that start by `now`, an
  // instant or more.
  template <class Start>
  void start_due(Instant now, Start start) {
    for (; next_start() <= now; ++start_instants_) {
      const Instant at = next_start();
      for (; next_timed() <= at; ++next_flow_) start_one(static_cast<uint32_t>(next_flow_), start);
      for (; next_release() <= at; ++next_release_) start_one(releases_[next_release_].flow, start);
    }
  }
  // The same for one flow, of which started() does not know.
  template <class Start>
  void start_one(uint32_t index, Start start) {
    const Flow& flow = flows_[index];
    if (waits_.departure_matters(index) && sends(index)) departing_[flow.source].push_back(index);
    for (const QueuePair& pair : pairs_of(index))
      if (pair.sender != host::kNoQp) start(flow.source, pair.sender, flow.start);
  }
  // The same for one that has waited, now.
  template <class Start>
  void start_late(uint32_t index, Instant now, Start start) {
    flows_[index].start = now;
    start_one(index, start);
  }
  // Others have started all flows up to `now`.
  void note_started(Instant now);
  // At so many instants, of start_due() and note_started().
  uint64_t start_instants() const { return start_instants_; }
  Instant next_start() const { return std::min(next_timed(), next_release()); }
  void finish(const host::Completion& completion);

  // Some flows wait. Whoever runs a host then says what arrives there and looks for what has left,
  // and gets the flows that may start.
  bool any_wait() const { return waits_.any(); }
  bool any_wait_for_items() const { return waits_.any_for_items(); }
  bool is_shared() const { return shared_; }  // other ranks tell of items, too
  void arrive(const host::Completion& completion, std::vector<uint32_t>& ready, ItemNews& news) {
    if (completion.end == host::Completion::End::receiver)
      waits_.arrive(queue_pairs_[completion.flow].flow, completion.at, ready, news);
  }
  // Someone waits for a flow of the host to leave.
  bool awaits_departure(size_t host) const { return any_wait() && !departing_[host].empty(); }
  void depart(size_t host, std::vector<uint32_t>& ready);
  // What has been told of items, by all that run hosts. Returns what begins by it, in the order of
  // time; next_start() knows of it, and releases_after() until then.
  std::vector<Release> hear(std::span<const ItemEnds> ends);
  bool may_hear(std::span<const ItemEnds> ends) const { return waits_.may_hear(ends); }
  std::vector<Release> releases_after(Instant now) const;

  // Hosts are in groups, by host. Between two groups no frame takes less than some time.
  void divide(std::vector<uint16_t> group_of);
  // All flows may have ended before that time has passed. They cannot where one of two groups lacks
  // data, since its sender has to hear of its end.
  bool may_end_soon() const { return awaited_ == 0; }
  size_t awaited() const {
    return awaited_;
  }  // ends of such receivers that finish() has not heard of
  bool awaits(const host::Completion& completion) const {
    return completion.end == host::Completion::End::receiver &&
           leaves_its_group(flows_[queue_pairs_[completion.flow].flow]);
  }

  std::span<const Flow> flows() const { return flows_; }
  std::span<const FlowRecord> records() const { return records_; }
  // But for those that waited for flows.
  size_t started() const { return next_flow_ + next_release_; }
  // Those that have a time of their own come first; so many of them have started.
  size_t timed() const { return timed_; }
  size_t timed_started() const { return next_flow_; }
  size_t ended() const { return ended_; }  // at sender and receiver; ranks: those of the two here
  bool has_ended(size_t flow) const { return ends_left_[flow] == 0; }
  bool all_ended() const { return ended_ == flows_.size(); }
  // Calls each(stage) for the sending QPs of the flow.
  template <class Each>
  void for_each_sender(size_t flow, Each each) const {
    for (const QueuePair& pair : pairs_of(flow))
      if (pair.sender != host::kNoQp)
        each(nics_[flows_[flow].source]->stage_of_sender(pair.sender));
  }
  // What another rank knows of the flow. Both ends may be told.
  void note_sender(size_t flow, const FlowTimes& times, const host::SendOutcome& outcome);
  void note_receiver(size_t flow, Instant done, const host::ReceiveOutcome& outcome);
  bool sends(size_t flow) const { return nics_[flows_[flow].source] != nullptr; }
  bool receives(size_t flow) const { return nics_[flows_[flow].destination] != nullptr; }
  host::SendOutcome send_outcome(size_t flow) const;  // summed over its queue pairs
  host::ReceiveOutcome receive_outcome(size_t flow) const;

 private:
  struct QueuePair {  // of a flow's part
    uint32_t flow = 0;
    uint32_t sender = 0;
    uint32_t receiver = 0;
  };
  struct Part {  // of a flow, for one queue pair
    uint32_t number = 0;
    uint32_t index = 0;
    uint32_t count = 0;
  };

  std::span<const QueuePair> pairs_of(size_t flow) const {
    return std::span(queue_pairs_).subspan(flow * pairs_, pairs_);
  }
  bool leaves_its_group(const Flow& flow) const {
    return !group_of_.empty() && group_of_[flow.source] != group_of_[flow.destination];
  }
  Instant next_timed() const {
    return next_flow_ < timed_ ? flows_[next_flow_].start : Instant::never();
  }
  Instant next_release() const {
    return next_release_ < releases_.size() ? releases_[next_release_].at : Instant::never();
  }
  bool has_left(uint32_t flow) const;
  struct Opened {  // QPs of a host so far
    uint32_t senders = 0;
    uint32_t receivers = 0;
  };
  void open_part(const Flow& flow, const Part& part, Duration rtt, std::span<Opened> opened,
                 QueuePair& pair);

  size_t pairs_;  // of a flow
  std::vector<Flow> flows_;
  size_t timed_;
  bool shared_;
  FlowWaits waits_;
  std::vector<Release> releases_;  // what begins by the end of an item, by time
  size_t next_release_ = 0;
  std::vector<std::vector<uint32_t>> departing_;  // by host: flows that somebody waits for
  uint64_t start_instants_ = 0;
  std::vector<FlowRecord> records_;
  std::vector<uint16_t> ends_left_;     // of each flow: sides times queue pairs that go on
  std::vector<QueuePair> queue_pairs_;  // queue_pairs of each flow, in flow order
  std::vector<host::Nic*> nics_;
  std::vector<IpAddress> addresses_;
  std::vector<uint16_t> group_of_;  // by host; empty: all are one
  size_t awaited_ = 0;              // receivers that lack data of another group
  size_t next_flow_ = 0;
  size_t ended_ = 0;
  std::vector<host::SendOutcome> told_senders_;  // by flow; empty: no other rank told any
  std::vector<host::ReceiveOutcome> told_receivers_;
};

}  // namespace eddy::lab
