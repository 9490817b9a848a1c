#include "lab/world/flow_book.h"

#include <algorithm>
#include <utility>

#include "net/assert.h"

namespace eddy::lab {

FlowBook::FlowBook(std::span<const Flow> flows, int queue_pairs, const Waiting& waiting)
    : pairs_(static_cast<size_t>(queue_pairs)),
      flows_(flows.begin(), flows.end()),
      timed_(static_cast<size_t>(std::ranges::find(flows, Instant::never(), &Flow::start) -
                                 flows.begin())),
      shared_(waiting.shared),
      waits_(flows, waiting.waits == nullptr ? Waits{} : *waiting.waits, pairs_, waiting.word),
      records_(flows.size()) {
  if (waits_.any()) hear({});  // items without a flow have ended
}

std::vector<FlowBook::Needs> FlowBook::needs(size_t hosts) const {
  std::vector<Needs> needs(hosts);
  for (const Flow& flow : flows_) {
    needs[flow.source].senders += pairs_;
    needs[flow.destination].receivers += pairs_;
  }
  return needs;
}

// A part of a flow for each queue pair, the first ones one octet longer where it does not divide.
void FlowBook::open(std::span<host::Nic* const> nics, std::span<const IpAddress> addresses,
                    const RttOf& rtt_of) {
  nics_.assign(nics.begin(), nics.end());
  addresses_.assign(addresses.begin(), addresses.end());
  departing_.resize(nics_.size());
  queue_pairs_.reserve(flows_.size() * pairs_);
  ends_left_.reserve(flows_.size());
  std::vector<Opened> opened(nics_.size());
  for (uint32_t i = 0; i < flows_.size(); ++i) {
    const Flow& flow = flows_[i];
    const Duration rtt = rtt_of(flow.source, flow.destination);
    const auto parts =
        static_cast<uint32_t>(std::min(static_cast<int64_t>(pairs_), flow.size.count()));
    const uint32_t ends = (sends(i) ? 1 : 0) + (receives(i) ? 1 : 0);
    ends_left_.push_back(static_cast<uint16_t>(ends * parts));
    ended_ += ends == 0 ? 1 : 0;
    for (uint32_t part = 0; part < pairs_; ++part) {
      QueuePair pair{i, host::kNoQp, host::kNoQp};
      const auto number = static_cast<uint32_t>(queue_pairs_.size());
      if (part < parts) open_part(flow, {number, part, parts}, rtt, opened, pair);
      queue_pairs_.push_back(pair);
    }
  }
}

void FlowBook::open_part(const Flow& flow, const Part& part, Duration rtt, std::span<Opened> opened,
                         QueuePair& pair) {
  pair.sender = opened[flow.source].senders++;
  pair.receiver = opened[flow.destination].receivers++;
  const int64_t size = flow.size.count() / part.count +
                       (part.index < static_cast<uint64_t>(flow.size.count() % part.count) ? 1 : 0);
  constexpr uint16_t kFirstPort = 49'152;
  constexpr uint16_t kPorts = 16'384;
  const auto source_port =
      static_cast<uint16_t>(kFirstPort + (flow.source_port - kFirstPort + part.index) % kPorts);
  if (host::Nic* nic = nics_[flow.destination]) {
    const uint32_t qpn = nic->expect({.flow = part.number,
                                      .size = Bytes(size),
                                      .source = addresses_[flow.source],
                                      .source_qpn = pair.sender,
                                      .source_port = source_port});
    ASSERT(qpn == pair.receiver);
  }
  if (host::Nic* nic = nics_[flow.source]) {
    const uint32_t qpn = nic->open({.flow = part.number,
                                    .size = Bytes(size),
                                    .destination = addresses_[flow.destination],
                                    .destination_qpn = pair.receiver,
                                    .source_port = source_port,
                                    .base_rtt = rtt});
    ASSERT(qpn == pair.sender);
  }
}

void FlowBook::finish(const host::Completion& completion) {
  const uint32_t flow = queue_pairs_[completion.flow].flow;
  FlowRecord& record = records_[flow];
  Instant& done =
      completion.end == host::Completion::End::sender ? record.sender_done : record.receiver_done;
  done = done == Instant::never() ? completion.at : std::max(done, completion.at);
  if (awaits(completion)) --awaited_;
  if (--ends_left_[flow] == 0) ++ended_;
}

void FlowBook::note_started(Instant now) {
  for (; next_start() <= now; ++start_instants_) {
    const Instant at = next_start();
    while (next_timed() <= at) ++next_flow_;
    while (next_release() <= at) ++next_release_;
  }
}

// All of its queue pairs have sent their last packet.
bool FlowBook::has_left(uint32_t flow) const {
  bool left = true;
  for_each_sender(flow, [&](host::SendStage stage) { left &= stage != host::SendStage::sending; });
  return left;
}

void FlowBook::depart(size_t host, std::vector<uint32_t>& ready) {
  std::erase_if(departing_[host], [&](uint32_t flow) {
    if (!has_left(flow)) return false;
    waits_.depart(flow, ready);
    return true;
  });
}

std::vector<Release> FlowBook::hear(std::span<const ItemEnds> ends) {
  std::vector<Release> news = waits_.hear(ends);
  std::ranges::sort(news);
  for (const Release& each : news) flows_[each.flow].start = each.at;
  releases_.insert(releases_.end(), news.begin(), news.end());
  std::sort(releases_.begin() + static_cast<std::ptrdiff_t>(next_release_), releases_.end());
  return news;
}

std::vector<Release> FlowBook::releases_after(Instant now) const {
  std::vector<Release> later;
  for (size_t i = next_release_; i < releases_.size(); ++i)
    if (releases_[i].at > now) later.push_back(releases_[i]);
  return later;
}

// Before the first flow starts.
void FlowBook::divide(std::vector<uint16_t> group_of) {
  group_of_ = std::move(group_of);
  awaited_ = 0;
  for (const QueuePair& pair : queue_pairs_)
    if (pair.receiver != host::kNoQp && receives(pair.flow) && leaves_its_group(flows_[pair.flow]))
      ++awaited_;
}

void FlowBook::note_sender(size_t flow, const FlowTimes& times, const host::SendOutcome& outcome) {
  told_senders_.resize(flows_.size());
  told_senders_[flow] = outcome;
  flows_[flow].start = times.start;
  records_[flow].sender_done = times.done;
}

void FlowBook::note_receiver(size_t flow, Instant done, const host::ReceiveOutcome& outcome) {
  told_receivers_.resize(flows_.size());
  told_receivers_[flow] = outcome;
  records_[flow].receiver_done = done;
}

host::SendOutcome FlowBook::send_outcome(size_t flow) const {
  if (!sends(flow)) return told_senders_.empty() ? host::SendOutcome{} : told_senders_[flow];
  host::SendOutcome sum;
  for (const QueuePair& pair : pairs_of(flow)) {
    if (pair.sender == host::kNoQp) continue;
    const host::SendOutcome& one = nics_[flows_[flow].source]->outcome_of_sender(pair.sender);
    sum.sent_packets += one.sent_packets;
    sum.retransmitted_packets += one.retransmitted_packets;
    sum.retransmitted_bytes += one.retransmitted_bytes;
    sum.naks += one.naks;
    sum.timeouts += one.timeouts;
    sum.cnps += one.cnps;
  }
  return sum;
}

host::ReceiveOutcome FlowBook::receive_outcome(size_t flow) const {
  if (!receives(flow))
    return told_receivers_.empty() ? host::ReceiveOutcome{} : told_receivers_[flow];
  host::ReceiveOutcome sum;
  for (const QueuePair& pair : pairs_of(flow)) {
    if (pair.receiver == host::kNoQp) continue;
    const host::ReceiveOutcome& one =
        nics_[flows_[flow].destination]->outcome_of_receiver(pair.receiver);
    sum.delivered_bytes += one.delivered_bytes;
    sum.received_packets += one.received_packets;
    sum.out_of_order_packets += one.out_of_order_packets;
    sum.duplicate_packets += one.duplicate_packets;
    sum.ecn_marked_packets += one.ecn_marked_packets;
    sum.max_ood = std::max(sum.max_ood, one.max_ood);
  }
  return sum;
}

}  // namespace eddy::lab
