#include "lab/world/windows.h"

#include <algorithm>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr Bytes kUsualFrame{512};  // there is room for as many as a line then carries

bool is_joined(const Line& line) {
  return line.rate.time_of(kUsualFrame) > Duration{};
}

size_t frames_on(const Line& line) {
  return static_cast<size_t>(line.delay / line.rate.time_of(kUsualFrame)) + 2;
}

// How far ahead usual events lie: a full frame of the slowest line, and the longest delay.
Duration horizon(std::span<const Line> lines, Duration window) {
  constexpr Bytes kFullFrame{1'600};
  Duration flight, frame;
  for (const Line& line : lines) {
    if (!is_joined(line)) continue;
    flight = std::max(flight, line.delay);
    frame = std::max(frame, line.rate.time_of(kFullFrame));
  }
  return window + flight + frame;
}

}  // namespace

Windows::Windows(Nodes& nodes, FlowBook& book, const Division& division)
    : nodes_(nodes),
      book_(book),
      partition_of_(division.partition_of),
      length_(division.window),
      post_(division.partitions) {
  ASSERT(length_ > Duration{} && length_ < Duration::max());
  make_parts(division.partitions);
  for (uint32_t flow = 0; flow < book_.flows().size(); ++flow)
    part_of(nodes_.first_host + book_.flows()[flow].source).add_flow(flow);
  book_.divide({partition_of_.begin() + nodes_.first_host, partition_of_.end()});
}

void Windows::make_parts(size_t partitions) {
  std::vector<std::vector<uint32_t>> members(partitions);
  nodes_.places.resize(partition_of_.size());
  for (uint32_t node = 0; node < partition_of_.size(); ++node) {
    std::vector<uint32_t>& of = members[partition_of_[node]];
    nodes_.places[node] = static_cast<uint32_t>(of.size());
    of.push_back(node);
  }
  std::vector<size_t> events(partitions), posted(partitions);
  for (Line& line : nodes_.lines) {
    line.to_partition = partition_of_[line.to];
    if (!is_joined(line)) continue;
    ++events[partition_of_[line.from]];
    events[line.to_partition] += frames_on(line);
    if (partition_of_[line.from] != line.to_partition) posted[line.to_partition] += frames_on(line);
  }
  const Duration far = horizon(nodes_.lines, length_);
  for (size_t i = 0; i < partitions; ++i) {
    post_.reserve(i, posted[i]);
    parts_.push_back(std::make_unique<Part>(Part::Setup{.nodes = nodes_,
                                                        .book = book_,
                                                        .post = &post_,
                                                        .number = static_cast<uint16_t>(i),
                                                        .members = std::move(members[i])},
                                            far, events[i]));
  }
}

void Windows::run(Instant end, bool to_completion) {
  while (next_ < end && !(to_completion && book_.may_end_soon())) {
    const Instant start = next_;
    const Instant stop = end - start > length_ ? start + length_ : end;
    Instant next = Instant::never();
    for (const auto& part : parts_) {
      next = std::min(next, part->run_window(start, stop));
      if (part->completions().empty()) [[likely]]
        continue;
      for (const host::Completion& completion : part->completions()) book_.finish(completion);
      part->clear_completions();
    }
    next_ = std::min(next, post_.turn());
    ++count_;
  }
}

Instant Windows::now() const {
  Instant now;
  for (const auto& part : parts_) now = std::max(now, part->now());
  return now;
}

void Windows::add_counts(WorldCounts& counts) const {
  for (const auto& part : parts_) {
    counts.events += part->counts().events;
    counts.packet_hops += part->counts().packet_hops;
    counts.polls += part->counts().polls;
    counts.host_turns += part->counts().host_turns;
    counts.blank_missing += part->counts().blank_missing;
  }
}

// A frame that has not left belongs to its sender, one that flies to its receiver.
void Windows::take_over(Whole& whole) {
  for (const auto& part : parts_) part->take_over(whole.now());
  whole.hand_over([this](const Event& event) {
    const Line& line = nodes_.lines[event.target];
    part_of(Whole::is_flying(event) ? line.to : line.from).take_frame(event);
  });
  next_ = Instant::never();
  for (const auto& part : parts_) next_ = std::min(next_, part->next());
}

void Windows::hand_over(Whole& whole) {
  whole.take_over(
      std::max(now(), whole.now()));  // first: of one instant, actions come before frames
  for (const auto& part : parts_)
    part->hand_over([&whole](const Event& event) { whole.take_frame(event); });
  next_ = Instant::never();
}

}  // namespace eddy::lab
