#include "lab/world/ranks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "net/assert.h"

namespace eddy::lab {

Ranks::Ranks(Exchange& exchange, Nodes& nodes, const Division& division)
    : exchange_(exchange),
      nodes_(nodes),
      window_(division.rank_window),
      to_each_(exchange.ranks()),
      frames_(exchange.ranks()),
      from_each_(exchange.ranks()) {
  ASSERT(window_ > Duration{});
  for (uint32_t node = 0; node < division.partition_of.size(); ++node)
    rank_of_.push_back(division.rank_of_node(node));
  for (Message& message : to_each_) begin_window(message);
}

void Ranks::pack(Instant at, uint32_t line, const Packet& packet) {
  const uint16_t to = rank_of_[nodes_.lines[line].to];
  add_frame(to_each_[to], at, line, packet);
  ++frames_[to];
}

const std::vector<Ranks::Arrived>& Ranks::trade(const Told& mine) {
  for (size_t to = 0; to < to_each_.size(); ++to) {
    if (to == rank()) continue;
    finish_window(to_each_[to], number_, frames_[to], mine);
    ++traffic_.messages;
    traffic_.frames += frames_[to];
    traffic_.octets += to_each_[to].size();
    traffic_.largest = std::max<uint64_t>(traffic_.largest, to_each_[to].size());
  }
  const auto began = std::chrono::steady_clock::now();
  exchange_.trade(to_each_, from_each_);
  traffic_.trade_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  ++traffic_.windows;
  all_ = mine;
  arrived_.clear();
  for (size_t from = 0; from < from_each_.size(); ++from)
    if (from != rank()) hear(from);
  ++number_;
  for (Message& message : to_each_) begin_window(message);
  std::ranges::fill(frames_, 0);
  return arrived_;
}

void Ranks::hear(size_t from) {
  Told told;
  if (const Problems problems = read_window(from_each_[from], number_, told, views_);
      !problems.empty())
    throw ExchangeError("rank " + std::to_string(from) + ": " + problems.front());
  all_.next = std::min(all_.next, told.next);
  all_.now = std::max(all_.now, told.now);
  all_.action = std::min(all_.action, told.action);
  all_.awaited += told.awaited;
  all_.unended += told.unended;
  all_.stopped |= told.stopped;
  all_.noted |= told.noted;
  all_.ends.insert(all_.ends.end(), told.ends.begin(), told.ends.end());
  for (const FrameView& frame : views_) arrived_.push_back({frame, static_cast<uint16_t>(from)});
}

Packet* Ranks::packet_of(const FrameView& frame, uint16_t from) {
  const auto refuse = [&](const char* why) {
    throw ExchangeError("rank " + std::to_string(from) + ": a frame of line " +
                        std::to_string(frame.line) + " " + why);
  };
  if (frame.line >= nodes_.lines.size()) refuse("that is none");
  Line& line = nodes_.lines[frame.line];
  if (rank_of_[line.from] != from || !is_here(line.to))
    refuse("that does not lead here from there");
  if (frame.at < all_.now) refuse("comes from the past");
  Packet* packet = nodes_.pool->get();
  if (packet == nullptr) refuse("finds no packet: the pool is empty");
  std::memcpy(packet->data(), frame.octets.data(), frame.octets.size());
  packet->set_length(frame.octets.size(), frame.wire_len);
  packet->flags = frame.flags;
  return packet;
}

}  // namespace eddy::lab
