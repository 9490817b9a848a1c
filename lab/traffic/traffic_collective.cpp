// What ranks do together: all-reduce by a ring or a tree, all to all, all-gather.
//
// Data is divided by rank, and each part into chunks; a chunk is a flow. A rank sends on what it
// was waiting for when that has arrived. Its flows to one peer (all to all: its flows to all of
// them) leave one after the other, from one port, as the messages of one connection do.
#include <map>
#include <utility>

#include "lab/traffic/traffic_item.h"

namespace eddy::lab {
namespace {

using config::CollectiveOp;

// The i-th of `parts` that differ by one octet at most.
Bytes part_of(Bytes whole, size_t parts, size_t i) {
  const auto count = static_cast<int64_t>(parts);
  return Bytes(whole.count() / count + (static_cast<int64_t>(i) < whole.count() % count ? 1 : 0));
}

class Collective {
 public:
  explicit Collective(TrafficItem& item)
      : item_(item),
        ranks_(item.ranks.size()),
        chunks_(static_cast<size_t>(item.config().chunks)),
        lines_(3 * ranks_),
        arrived_(ranks_),
        arrived_before_(ranks_) {}

  size_t flows_each() const {
    switch (item_.config().op) {
      case CollectiveOp::all_reduce_ring:
        return 2 * (ranks_ - 1) * ranks_ * chunks_;
      case CollectiveOp::all_reduce_tree:
        return 2 * (ranks_ - 1) * chunks_;
      case CollectiveOp::all_to_all:
      case CollectiveOp::all_gather:
        return (ranks_ - 1) * ranks_ * chunks_;
    }
    return 0;
  }
  // Of the data, that every flow have an octet.
  size_t octets_needed() const {
    return item_.config().op == CollectiveOp::all_reduce_tree ? chunks_ : ranks_ * chunks_;
  }

  void run(uint32_t number) {
    number_ = number;
    arrived_before_.swap(arrived_);
    for (auto& flows : arrived_) flows.clear();
    switch (item_.config().op) {
      case CollectiveOp::all_reduce_ring:
        return ring(2 * (ranks_ - 1));
      case CollectiveOp::all_reduce_tree:
        return tree();
      case CollectiveOp::all_to_all:
        return all_to_all();
      case CollectiveOp::all_gather:
        return ring(ranks_ - 1);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Flows of a rank that leave one after the other.
  struct Queue {
    uint32_t last = kNone;    // flow
    uint32_t number = kNone;  // the last one's
  };
  Queue& line(size_t rank, size_t which = 0) { return lines_[which * ranks_ + rank]; }

  struct Send {
    size_t from = 0;  // ranks
    size_t to = 0;
    Bytes size{0};
    std::vector<uint32_t> needs{};  // flows that have arrived
  };
  uint32_t send(Queue& line, const Send& what);
  void ring(size_t steps);
  void all_to_all();
  void tree();

  TrafficItem& item_;
  const size_t ranks_;
  const size_t chunks_;
  uint32_t number_ = 0;
  std::vector<Queue> lines_;
  std::vector<std::vector<uint32_t>> arrived_;         // by rank: flows of this repetition
  std::vector<std::vector<uint32_t>> arrived_before_;  // of the one before
  std::map<std::pair<size_t, size_t>, uint16_t> ports_;
};

uint32_t Collective::send(Queue& line, const Send& what) {
  const auto flow = static_cast<uint32_t>(item_.flows.size());
  const auto wait = [&](uint32_t on, FlowWait::For reason) {
    item_.waits.push_back({.flow = flow, .on = on, .what = reason});
  };
  const size_t before = item_.waits.size();
  for (const uint32_t on : what.needs) wait(on, FlowWait::For::arrival);
  if (line.last != kNone) wait(line.last, FlowWait::For::departure);
  if (line.number != number_)  // what the rank gets in the repetition before
    for (const uint32_t on : arrived_before_[what.from]) wait(on, FlowWait::For::arrival);
  const bool waits = item_.waits.size() > before || !item_.config().after.empty();
  line = {.last = flow, .number = number_};
  arrived_[what.to].push_back(flow);
  const auto [port, is_new] = ports_.try_emplace({what.from, what.to});
  if (is_new) port->second = item_.draw_port();
  item_.add({.source = item_.ranks[what.from],
             .destination = item_.ranks[what.to],
             .size = what.size,
             .start = waits ? Instant::never() : item_.begin(),
             .source_port = port->second,
             .request = number_});
  return flow;
}

// In step s rank r sends part r - s to the next rank: what has come to it in the step before.
void Collective::ring(size_t steps) {
  std::vector<std::vector<uint32_t>> last(chunks_, std::vector<uint32_t>(ranks_));
  std::vector<uint32_t> now(ranks_);
  for (size_t step = 0; step < steps; ++step)
    for (size_t chunk = 0; chunk < chunks_; ++chunk) {
      for (size_t rank = 0; rank < ranks_; ++rank) {
        const size_t part = (rank + 2 * ranks_ - step) % ranks_;
        Send what{.from = rank,
                  .to = (rank + 1) % ranks_,
                  .size = part_of(part_of(item_.config().size, ranks_, part), chunks_, chunk)};
        if (step > 0) what.needs = {last[chunk][(rank + ranks_ - 1) % ranks_]};
        now[rank] = send(line(rank), what);
      }
      last[chunk] = now;
    }
}

// Each begins with its next neighbour, so nobody is everybody's first.
void Collective::all_to_all() {
  for (size_t chunk = 0; chunk < chunks_; ++chunk)
    for (size_t round = 1; round < ranks_; ++round)
      for (size_t rank = 0; rank < ranks_; ++rank) {
        const size_t to = (rank + round) % ranks_;
        send(line(rank),
             {.from = rank,
              .to = to,
              .size = part_of(part_of(item_.config().size, ranks_, to), chunks_, chunk)});
      }
}

// A binary tree by number: the parent of rank r is (r - 1) / 2. Each chunk goes up, where a rank
// waits for its children, and down again.
void Collective::tree() {
  const auto parent = [](size_t rank) { return (rank - 1) / 2; };
  for (size_t chunk = 0; chunk < chunks_; ++chunk) {
    const Bytes size = part_of(item_.config().size, chunks_, chunk);
    std::vector<std::vector<uint32_t>> from_children(ranks_);
    for (size_t rank = ranks_ - 1; rank > 0; --rank)
      from_children[parent(rank)].push_back(
          send(line(rank),
               {.from = rank, .to = parent(rank), .size = size, .needs = from_children[rank]}));
    std::vector<std::vector<uint32_t>> from_parent(ranks_);
    from_parent[0] = from_children[0];
    for (size_t rank = 1; rank < ranks_; ++rank) {
      const size_t above = parent(rank);
      from_parent[rank] = {
          send(line(above, 1 + rank % 2),
               {.from = above, .to = rank, .size = size, .needs = from_parent[above]})};
    }
  }
}

}  // namespace

void add_collective(TrafficItem& item) {
  const config::TrafficConfig& config = item.config();
  if (item.ranks.size() < 2)
    return item.problem(".ranks", "a collective has at least 2 ranks, name more hosts");
  Collective collective(item);
  if (static_cast<uint64_t>(config.size.count()) < collective.octets_needed())
    return item.problem(".size", "less than 1 octet for each flow, with " +
                                     std::to_string(item.ranks.size()) + " ranks and " +
                                     std::to_string(config.chunks) + " chunks it is at least " +
                                     std::to_string(collective.octets_needed()) + " octets");
  const auto times = static_cast<uint32_t>(std::max(config.repeat, 1));
  if (!item.fits_whole(static_cast<__int128>(collective.flows_each()) * times)) return;
  if (config.after.empty() && item.begin() >= item.end()) return;
  for (uint32_t number = 0; number < times; ++number) collective.run(number);
}

}  // namespace eddy::lab
