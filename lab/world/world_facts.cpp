// How ranks tell rank 0, after a run, what their part of a World has counted.
#include <algorithm>
#include <string>
#include <utility>

#include "lab/world/message.h"
#include "lab/world/world.h"
#include "net/assert.h"

namespace eddy::lab {
namespace {

// Calls each(counter) for every counter of a port, in one order for all.
template <class C, class Each>
void for_each_counter(const CountersOfPort<C>& port, Each each) {
  const auto all = [&](const auto& row, size_t count) {
    for (size_t i = 0; i < count; ++i) each(row, i);
  };
  all(port.port, kPortCounters);
  for (size_t i = 0; i < kPriorities; ++i) {
    all(port.queue[i], kQueueCounters);
    all(port.pg[i], kPgCounters);
    all(port.pfc[i], kPfcCounters);
  }
  all(port.drops, kDropReasons);
}

// Most counters are zero: each other one is told with how many of those are before it.
class SparseWriter {
 public:
  explicit SparseWriter(MessageWriter& to) : to_(to) {}
  void add(uint64_t value) {
    if (value == 0) {
      ++zeros_;
      return;
    }
    to_.compact(std::exchange(zeros_, 0) + 1);
    to_.compact(value);
  }
  void end() { to_.compact(0); }

 private:
  MessageWriter& to_;
  uint64_t zeros_ = 0;
};

class SparseReader {
 public:
  explicit SparseReader(MessageReader& from) : from_(from) { step(); }
  uint64_t next() {
    if (ended_ || zeros_-- != 0) return 0;
    const uint64_t value = from_.compact();
    step();
    return value;
  }
  // All numbers were read.
  void end() {
    if (!ended_) from_.spoil();
  }

 private:
  void step() {
    const uint64_t told = from_.compact();
    ended_ = told == 0;
    zeros_ = told - 1;
  }

  MessageReader& from_;
  uint64_t zeros_ = 0;
  bool ended_ = false;
};

void tell(MessageWriter& write, const host::SendOutcome& outcome) {
  for (const uint64_t each :
       {outcome.sent_packets, outcome.retransmitted_packets, outcome.retransmitted_bytes,
        uint64_t{outcome.naks}, uint64_t{outcome.timeouts}, uint64_t{outcome.cnps}})
    write.compact(each);
}

host::SendOutcome send_outcome(MessageReader& read) {
  return {.sent_packets = read.compact(),
          .retransmitted_packets = read.compact(),
          .retransmitted_bytes = read.compact(),
          .naks = static_cast<uint32_t>(read.compact()),
          .timeouts = static_cast<uint32_t>(read.compact()),
          .cnps = static_cast<uint32_t>(read.compact())};
}

void tell(MessageWriter& write, const host::ReceiveOutcome& outcome) {
  for (const uint64_t each :
       {outcome.delivered_bytes, outcome.received_packets, outcome.out_of_order_packets,
        outcome.duplicate_packets, outcome.ecn_marked_packets, uint64_t{outcome.max_ood}})
    write.compact(each);
}

host::ReceiveOutcome receive_outcome(MessageReader& read) {
  return {.delivered_bytes = read.compact(),
          .received_packets = read.compact(),
          .out_of_order_packets = read.compact(),
          .duplicate_packets = read.compact(),
          .ecn_marked_packets = read.compact(),
          .max_ood = static_cast<uint32_t>(read.compact())};
}

void tell(MessageWriter& write, const FlowBook& book) {
  size_t senders = 0, receivers = 0;
  for (size_t i = 0; i < book.flows().size(); ++i) {
    senders += book.sends(i) ? 1 : 0;
    receivers += book.receives(i) ? 1 : 0;
  }
  write.compact(senders);
  for (size_t i = 0; i < book.flows().size(); ++i) {
    if (!book.sends(i)) continue;
    write.compact(i);
    write.instant(book.flows()[i].start);
    write.instant(book.records()[i].sender_done);
    tell(write, book.send_outcome(i));
  }
  write.compact(receivers);
  for (size_t i = 0; i < book.flows().size(); ++i) {
    if (!book.receives(i)) continue;
    write.compact(i);
    write.instant(book.records()[i].receiver_done);
    tell(write, book.receive_outcome(i));
  }
}

void hear(MessageReader& read, FlowBook& book) {
  constexpr size_t kLeast = 15;  // octets of an end
  for (size_t left = read.count(kLeast); left > 0 && read.ok(); --left) {
    const size_t flow = read.index(book.flows().size());
    const FlowTimes times{.start = read.instant(), .done = read.instant()};
    book.note_sender(flow, times, send_outcome(read));
  }
  for (size_t left = read.count(kLeast); left > 0 && read.ok(); --left) {
    const size_t flow = read.index(book.flows().size());
    const Instant done = read.instant();
    book.note_receiver(flow, done, receive_outcome(read));
  }
}

void tell(MessageWriter& write, const host::Nic& nic) {
  SparseWriter sparse(write);
  for (size_t i = 0; i < static_cast<size_t>(host::NicCounter::kCount); ++i)
    sparse.add(nic.counter(static_cast<host::NicCounter>(i)));
  for (const uint64_t bucket : nic.ood_histogram()) sparse.add(bucket);
  sparse.end();
}

void hear(MessageReader& read, ToldFacts::Host& host, NicTotals& totals) {
  SparseReader sparse(read);
  ++totals.nics;
  for (size_t i = 0; i < host.counters.size(); ++i)
    totals.counters[i] += host.counters[i] = sparse.next();
  for (size_t i = 0; i < totals.ood_histogram.size(); ++i)
    if (const uint64_t count = sparse.next(); count != 0) {
      host.ood.emplace_back(static_cast<uint16_t>(i), count);
      totals.ood_histogram[i] += count;
    }
  sparse.end();
}

void tell(MessageWriter& write, const WorldCounts& counts) {
  for (const uint64_t each : {counts.events, counts.packet_hops, counts.ties, counts.polls,
                              counts.host_turns, counts.blank_missing})
    write.compact(each);
}

void hear(MessageReader& read, WorldCounts& counts) {
  for (uint64_t* each : {&counts.events, &counts.packet_hops, &counts.ties, &counts.polls,
                         &counts.host_turns, &counts.blank_missing})
    *each += read.compact();
}

}  // namespace

void World::gather_facts() {
  if (ranks_ == nullptr) return;
  std::vector<Message> to_each(ranks_->count()), from_each(ranks_->count());
  if (ranks_->rank() != 0) tell_facts(to_each[0]);
  ranks_->exchange().trade(to_each, from_each);
  if (ranks_->rank() != 0) return;
  told_ = std::make_unique<ToldFacts>();
  told_->hosts.resize(nodes_.hosts.size());
  for (const SwitchNode& node : nodes_.switches)
    told_->switches.push_back(node.object == nullptr ? std::make_unique<Counters>(size_t{0})
                                                     : nullptr);
  for (size_t from = 1; from < from_each.size(); ++from) {
    try {
      hear_facts(from_each[from]);
    } catch (const ExchangeError& error) {
      throw ExchangeError("rank " + std::to_string(from) + ": " + error.what());
    }
  }
}

void World::tell_facts(Message& message) const {
  MessageWriter write(message);
  WorldCounts counts = this->counts();
  // What every rank does counts once: rank 0 has counted it.
  counts.events -= agenda_.shared_run() + book_.start_instants();
  tell(write, counts);
  tell(write, book_);
  const FabricFacts facts = this->facts();
  write.compact(static_cast<uint64_t>(facts.nics.paused.ps()));
  write.compact(facts.pausing);
  write.compact(facts.pausing_hosts);
  write.compact(static_cast<uint64_t>(facts.in_force.ps()));
  for (const FabricFacts::Delays& delays : {facts.waits, facts.heard, facts.isolated}) {
    SparseWriter steps(write);
    for (const uint64_t count : delays) steps.add(count);
    steps.end();
  }
  for (size_t i = 0; i < nodes_.hosts.size(); ++i) {
    if (nodes_.hosts[i].nic == nullptr) continue;
    write.compact(i + 1);
    tell(write, *nodes_.hosts[i].nic);
  }
  write.compact(0);
  for (size_t i = 0; i < nodes_.switches.size(); ++i) {
    if (nodes_.switches[i].object == nullptr) continue;
    const Counters& counters = counters_of(i);
    write.compact(i + 1);
    SparseWriter sparse(write);
    for (size_t port = 0; port < counters.port_count(); ++port)
      for_each_counter(counters[PortId(port)],
                       [&sparse](const auto& row, size_t which) { sparse.add(row.read(which)); });
    sparse.end();
  }
  write.compact(0);
  SparseWriter lines(write);
  for (uint32_t line = 0; line < nodes_.lines.size(); ++line) {
    lines.add(nodes_.delivered(line));
    lines.add(nodes_.lost[line]);
  }
  lines.end();
}

void World::hear_facts(const Message& message) {
  MessageReader read(message);
  hear(read, told_->counts);
  hear(read, book_);
  told_->sums.nics.paused += Duration::picoseconds(static_cast<int64_t>(read.compact()));
  told_->sums.pausing += read.compact();
  told_->sums.pausing_hosts += read.compact();
  told_->sums.in_force += Duration::picoseconds(static_cast<int64_t>(read.compact()));
  FabricFacts& sums = told_->sums;
  for (FabricFacts::Delays* delays : {&sums.waits, &sums.heard, &sums.isolated}) {
    SparseReader steps(read);
    for (uint64_t& count : *delays) count += steps.next();
    steps.end();
  }
  for (size_t i = read.index(nodes_.hosts.size() + 1); i != 0 && read.ok();
       i = read.index(nodes_.hosts.size() + 1))
    hear(read, told_->hosts[i - 1], told_->sums.nics);
  for (size_t i = read.index(nodes_.switches.size() + 1); i != 0 && read.ok();
       i = read.index(nodes_.switches.size() + 1)) {
    if (nodes_.switches[i - 1].object != nullptr)
      throw ExchangeError("it told of a switch of ours");
    const size_t ports =
        (i < first_line_.size() ? first_line_[i] : line_of_host(0)) - first_line_[i - 1];
    auto counters = std::make_unique<Counters>(ports);
    SparseReader sparse(read);
    for (size_t port = 0; port < ports; ++port)
      for_each_counter((*counters)[PortId(port)],
                       [&sparse]<class Enum, size_t kCount, size_t kBusy>(
                           const CounterRow<Counter, Enum, kCount, kBusy>& row, size_t which) {
                         row[static_cast<Enum>(which)].add(sparse.next());
                       });
    sparse.end();
    told_->switches[i - 1] = std::move(counters);
  }
  SparseReader lines(read);
  for (uint32_t line = 0; line < nodes_.lines.size(); ++line) {
    nodes_.delivered(line) += lines.next();
    nodes_.lost[line] += lines.next();
  }
  lines.end();
  if (!read.done()) throw ExchangeError("what it has counted cannot be read");
}

}  // namespace eddy::lab
