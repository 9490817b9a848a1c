#include "lab/check/fabric_checker.h"

#include <algorithm>
#include <utility>

#include "net/parse.h"
#include "net/quantity.h"
#include "net/roce.h"

namespace eddy::lab {
namespace {

std::string text(uint64_t n) {
  return std::to_string(n);
}

std::string text_of(const Balance& balance) {
  return "rx " + text(balance.rx) + " + originated " + text(balance.originated) + ", tx " +
         text(balance.tx) + " + consumed " + text(balance.consumed) + " + dropped " +
         text(balance.dropped) + " + held " + text(balance.held);
}

constexpr uint16_t kMostQuanta = 65'535;

// Pause frames that the switch has read for the queue.
uint64_t pause_frames(Switch& object, PortId port, QueueId queue) {
  const PortCounters counters = object.counters(ShardId(0))[port];
  const auto& priorities = object.config().ports[port.index()].maps.pfc_to_queue;
  uint64_t frames = 0;
  for (size_t i = 0; i < kPriorities; ++i)
    if (priorities[i] == queue) frames += counters.pfc[i].read(PfcCounter::pfc_rx_xoff);
  return frames;
}

}  // namespace

Checker::DataKey Checker::data_key(const Packet& packet) {
  ParsedFrame frame;
  if (parse_frame(packet.data(), packet.data_len(), packet.wire_len, frame) != ParseVerdict::ok)
    return {};
  if ((frame.flags & kPacketRoce) == 0) return {};
  const auto opcode = static_cast<RoceOpcode>(frame.bth_opcode);
  const bool data = opcode >= RoceOpcode::write_first && opcode <= RoceOpcode::write_only_immediate;
  return data ? DataKey{frame.order_hash, frame.balance_hash} : DataKey{};
}

Checker::Checker(World& world, const Topology& topology, const CheckRules& rules,
                 std::string replay)
    : world_(world),
      topology_(topology),
      rules_(rules),
      replay_(std::move(replay)),
      nodes_(world.switch_count()),
      late_pauses_(world, rules.pause_in_time),
      losses_(world.lines().size()),
      in_flight_(world.lines().size()) {
  if (rules_.deadlock) circles_.emplace(world, topology, *rules_.deadlock);
  take_over();
  world_.set_watcher(this);
}

// What is under way already: a switch may have probed a path when it was made.
void Checker::take_over() {
  for (size_t i = 0; i < in_flight_.size(); ++i) {
    const auto line = static_cast<uint32_t>(i);
    in_flight_[i] = world_.entered(line) - world_.delivered(line) - world_.lost()[i];
    all_in_flight_ += in_flight_[i];
  }
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    Node& state = nodes_[node];
    state.holds = world_.switch_at(node).balance().held + world_.switch_node(node).io->waiting();
    all_held_ += state.holds;
  }
}

Checker::~Checker() {
  world_.set_watcher(nullptr);
}

void Checker::on_frame(uint32_t index, Step step, const Packet& packet) {
  const Line& line = world_.lines()[index];
  const bool enters = step == Step::entered;
  if (!enters && in_flight_[index] == 0)
    return fail(name_of(line.to), "a frame left line " + text(index) + " that had not entered it");
  in_flight_[index] += enters ? 1 : uint64_t{0} - 1;
  all_in_flight_ += enters ? 1 : uint64_t{0} - 1;
  const uint64_t entered = world_.entered(index);
  const uint64_t delivered = world_.delivered(index);
  const uint64_t lost = world_.lost()[index];
  if (entered != delivered + lost + in_flight_[index])
    fail(name_of(line.from), "line " + text(index) + ": entered " + text(entered) + ", delivered " +
                                 text(delivered) + " + lost " + text(lost) + " + in flight " +
                                 text(in_flight_[index]));
  if (enters && !is_switch(line.from) && rules_.in_order) note_sent(packet);
  if (step != Step::delivered) return;
  if (!is_switch(line.to)) return rules_.in_order ? check_order(index, packet) : void();
  ++nodes_[line.to].holds;  // it may wait for the switch's turn
  ++all_held_;
  PauseFrame pause;
  if (decode({packet.data(), packet.data_len()}, pause) != CodecVerdict::ok) return;
  late_pauses_.arrive(index, pause);
  watch_pauses(index, pause);
}

void Checker::on_turn(uint32_t node) {
  if (!is_switch(node) || nodes_[node].touched) return;
  nodes_[node].touched = true;
  touched_.push_back(node);
}

void Checker::on_instant() {
  for (const uint32_t node : touched_) {
    nodes_[node].touched = false;
    check_switch(node);
  }
  touched_.clear();
  check_pool();
  if (!circles_) return;
  if (const std::string circle = circles_->look(); !circle.empty())
    fail("deadlock", "queues wait for each other and have sent nothing for " +
                         to_string(*rules_.deadlock) + ": " + circle);
}

void Checker::check_switch(uint32_t node) {
  Node& state = nodes_[node];
  Switch& object = world_.switch_at(node);
  const Balance balance = object.balance();
  ++checks_;
  if (!balance.holds()) fail(name_of(node), "conservation: " + text_of(balance));
  const uint64_t holds = balance.held + world_.switch_node(node).io->waiting();
  all_held_ += holds - state.holds;
  state.holds = holds;
  late_pauses_.look(node);
  if (balance.dropped != state.dropped) check_lossless(node);
  state.dropped = balance.dropped;
  if (!state.paused.empty()) check_paused(node);
  if (rules_.loop) check_loop(node);
  if (state.turns++ % kSumsEvery == 0) check_sums(node);
}

void Checker::check_pool() {
  const uint64_t known = all_held_ + all_in_flight_ + world_.frames_in_intakes();
  if (world_.pool().used() == known) return;
  fail("packets", "in use " + text(world_.pool().used()) + ", held " + text(all_held_) +
                      " + on lines " + text(all_in_flight_) + " + in intakes " +
                      text(world_.frames_in_intakes()));
}

// What the groups hold is the pool's use; what is not headroom fills the reserved octets first.
void Checker::check_sums(uint32_t node) {
  if (world_.switch_node(node).stalled_until > world_.now()) return;
  Switch& object = world_.switch_at(node);
  const config::SwitchConfig& config = object.config();
  int64_t shared = 0;
  int64_t headroom = 0;
  for (size_t port = 0; port < config.ports.size(); ++port) {
    for (size_t pg = 0; pg < kPriorities; ++pg) {
      const PgStatus status = object.pg_status(PortId(port), PriorityGroupId(pg));
      if (status.used == 0 && status.headroom == 0) continue;
      const auto& profile = config.buffer.profiles.at(config.ports[port].pg_profiles[pg]);
      shared += std::max<int64_t>(status.used - status.headroom - profile.reserved.count(), 0);
      headroom += status.headroom;
    }
  }
  const BufferStatus buffer = object.buffer_status();
  check_stages(node, buffer);
  if (shared == buffer.shared_used && headroom == buffer.headroom_used) return;
  fail(name_of(node), "buffer: groups hold " + std::to_string(shared) + " shared and " +
                          std::to_string(headroom) + " headroom octets, the pool has " +
                          std::to_string(buffer.shared_used) + " and " +
                          std::to_string(buffer.headroom_used));
}

// What is charged to flow stages fits their buffer, or did before a new configuration shrank it.
void Checker::check_stages(uint32_t node, const BufferStatus& buffer) {
  int64_t& most = nodes_[node].most_stages;
  most = std::max(most, buffer.stages_size);
  if (buffer.stages_used >= 0 && buffer.stages_used <= most) return;
  fail(name_of(node), "flow stages have " + std::to_string(buffer.stages_used) + " octets of " +
                          std::to_string(most));
}

void Checker::check_lossless(uint32_t node) {
  if (!rules_.lossless) return;
  Switch& object = world_.switch_at(node);
  for (size_t port = 0; port < object.port_count(); ++port) {
    const PortCounters counters = object.counters(ShardId(0))[PortId(port)];
    const uint64_t lost = count_losses(node, PortId(port));
    const Losses& losses = losses_[world_.line_of(node, PortId(port))];
    const uint64_t discarded = counters.drops.read(DropReason::watchdog);  // it is there to
    if (lost > discarded + losses.excused || losses.no_headroom > losses.excused)
      return fail(name_of(node), "port " + object.config().ports[port].name + ": " + text(lost) +
                                     " packets lost in a lossless group");
  }
}

// All that the port has lost. What found no headroom under a late pause is excused.
uint64_t Checker::count_losses(uint32_t node, PortId port) {
  const PortCounters counters = world_.switch_at(node).counters(ShardId(0))[port];
  const auto& priorities = topology_.switches[node].ports[port.index()].maps.pg_to_pfc;
  Losses& seen = losses_[world_.line_of(node, port)];
  uint64_t all = 0;
  bool late = false;
  for (size_t pg = 0; pg < kPriorities; ++pg) {
    const uint64_t lost = counters.pg[pg].read(PgCounter::lossless_dropped_packets);
    if (lost != seen.lossless[pg]) late |= late_pauses_.late(node, port, priorities[pg]);
    seen.lossless[pg] = lost;
    all += lost;
  }
  const uint64_t no_headroom = counters.drops.read(DropReason::headroom_full);
  if (late) seen.excused += no_headroom - seen.no_headroom;
  seen.no_headroom = no_headroom;
  return all;
}

uint64_t Checker::excused() const {
  uint64_t all = 0;
  for (const Losses& port : losses_) all += port.excused;
  return all;
}

void Checker::check_loop(uint32_t node) {
  const LoopUse use = world_.switch_at(node).loop_use(ShardId(0));
  const int64_t most = rules_.loop->octets != 0 ? rules_.loop->octets : use.most_octets;
  const auto above = [&](const char* what, int64_t is, int64_t cap) {
    if (is > cap)
      fail(name_of(node), "loop: " + std::string(what) + " " + std::to_string(is) + ", " +
                              std::to_string(cap) + " at most");
  };
  above("octets held", use.octets, most);
  above("octets held of one port", use.port_octets, rules_.loop->port_octets);
  above("rounds of a packet", use.rounds, rules_.loop->rounds);
}

void Checker::watch_pauses(uint32_t index, const PauseFrame& pause) {
  if (!rules_.watchdog) return;
  const Line& line = world_.lines()[index];
  std::vector<PausedQueue>& paused = nodes_[line.to].paused;
  const config::PortConfig& port = topology_.switches[line.to].ports[line.to_port.index()];
  for (size_t i = 0; i < kPriorities; ++i) {
    if ((pause.enabled >> i & 1) == 0 || pause.quanta[i] == 0) continue;
    const QueueId queue = port.maps.pfc_to_queue[i];
    const bool known = std::ranges::any_of(paused, [&](const PausedQueue& each) {
      return each.port == line.to_port && each.queue == queue;
    });
    if (known) continue;
    paused.push_back({.port = line.to_port,
                      .queue = queue,
                      .since = world_.now(),
                      .frames = pause_frames(world_.switch_at(line.to), line.to_port, queue),
                      .last_frame = world_.now(),
                      .renewed = world_.now()});
  }
}

void Checker::check_paused(uint32_t node) {
  Switch& object = world_.switch_at(node);
  std::erase_if(nodes_[node].paused, [&](PausedQueue& each) {
    const QueueStatus status = object.queue_status(each.port, each.queue);
    if (!status.paused) return true;
    note_progress(object, status, each);
    judge_pause(node, each);
    return false;
  });
}

void Checker::note_progress(Switch& object, const QueueStatus& status, PausedQueue& paused) const {
  const PortCounters counters = object.counters(ShardId(0))[paused.port];
  const uint64_t sent = counters.queue[paused.queue.index()].read(QueueCounter::queue_tx_packets);
  if (status.used == 0 || status.storm || sent != paused.sent) paused.since = world_.now();
  paused.sent = sent;
  const uint64_t frames = pause_frames(object, paused.port, paused.queue);
  if (frames == paused.frames) return;
  if (world_.now() - paused.last_frame >= rules_.watchdog->detection) paused.renewed = world_.now();
  paused.frames = frames;
  paused.last_frame = world_.now();
}

void Checker::judge_pause(uint32_t node, const PausedQueue& paused) {
  const auto& [detection, late] = *rules_.watchdog;
  const config::PortConfig& port = topology_.switches[node].ports[paused.port.index()];
  const auto since = [this](Instant when) { return world_.now() - when; };
  const auto report = [&](Duration time, const char* what) {
    fail(name_of(node), "port " + port.name + ", queue " + text(paused.queue.index()) +
                            ": paused for " + to_string(time) + what);
  };
  const bool renewed = since(paused.last_frame) < detection && since(paused.renewed) > late;
  if (renewed && since(paused.since) > detection + late)
    report(since(paused.since), " with packets, and the watchdog does not act");
  if (since(paused.last_frame) > LineRate(port.speed).time_of_quanta(kMostQuanta) + late)
    report(since(paused.last_frame), " after its last pause frame");
}

void Checker::note_sent(const Packet& packet) {
  const DataKey key = data_key(packet);
  if (key.order != 0) sent_[&packet] = {key, ++flows_[key.order].sent};
}

// A packet is known by where it is in memory, which no switch changes. One that was damaged on its
// way has another key or another path.
void Checker::check_order(uint32_t index, const Packet& packet) {
  const DataKey key = data_key(packet);
  const auto found = sent_.find(&packet);
  if (key.order == 0 || found == sent_.end() || found->second.key != key) return;
  FlowOrder& flow = flows_[key.order];
  const uint64_t number = found->second.number;
  if (number < flow.arrived)
    fail(name_of(world_.lines()[index].to),
         "data packet " + text(number) + " of a queue pair arrived after " + text(flow.arrived));
  flow.arrived = std::max(flow.arrived, number);
  sent_.erase(found);
}

void Checker::finish() {
  if (!problems_.empty()) return;
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    check_switch(node);
    check_sums(node);
  }
  check_pool();
  const size_t flows = world_.flows().size();
  const bool idle = world_.idle();
  if (idle && world_.flows_ended() != flows)
    fail("flows", text(flows - world_.flows_ended()) + " of " + text(flows) +
                      " will never end: nothing is left to happen");
  if (idle && world_.pool().used() != 0)
    fail("packets", text(world_.pool().used()) + " are in use and nothing is left to happen");
  if (world_.pool().used() != 0) return;
  for (uint32_t node = 0; node < nodes_.size(); ++node) check_empty(node);
}

// No packet is anywhere. A switch that does not know yet that its line is free still has the octets
// of the last frame there: by its own polling grid it may hear of that after the peer has taken the
// frame.
void Checker::check_empty(uint32_t node) {
  if (world_.switch_node(node).io->has_unread_news()) return;
  const BufferStatus buffer = world_.switch_at(node).buffer_status();
  if (buffer.shared_used == 0 && buffer.headroom_used == 0 && buffer.stages_used == 0) return;
  fail(name_of(node), "it holds nothing and its buffer has " + std::to_string(buffer.shared_used) +
                          " shared, " + std::to_string(buffer.headroom_used) +
                          " headroom octets and " + std::to_string(buffer.stages_used) +
                          " of flow stages in use");
}

std::string Checker::name_of(uint32_t node) const {
  return is_switch(node) ? topology_.switches[node].name
                         : topology_.hosts[node - nodes_.size()].name;
}

void Checker::fail(const std::string& place, const std::string& what) {
  if (!problems_.empty()) return;
  problems_.push_back(to_string(world_.now().since_zero()) + " " + place + ": " + what +
                      "; again: " + replay_);
  world_.stop();
}

}  // namespace eddy::lab
