#include "lab/figures/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "net/cnm.h"
#include "net/ethernet.h"
#include "net/pause_frame.h"
#include "net/quantity.h"
#include "switch/dataplane/paths/path_warnings.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kShape = "valid is a path such as leaf1:spine2:leaf3@1.5ms-1800us";

Problems refused(const std::string& what) {
  return {fmt::format("--timeline: {}; {}", what, kShape)};
}

const Topology::Link* link_between(const Topology& topology, size_t from, size_t to) {
  for (const Topology::Link& link : topology.links) {
    const bool there = link.a.switch_index == from && link.b.switch_index == to;
    const bool back = link.b.switch_index == from && link.a.switch_index == to;
    if (there || back) return &link;
  }
  return nullptr;
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

}  // namespace

Result<TimelineSpec> parse_timeline(std::string_view text) {
  TimelineSpec spec;
  const size_t at = text.find('@');
  for (std::string_view rest = text.substr(0, at);;) {
    const size_t colon = rest.find(':');
    spec.switches.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (spec.switches.size() < 2) return refused("'" + std::string(text) + "' has no two switches");
  if (at == std::string_view::npos) return spec;
  const std::string_view span = text.substr(at + 1);
  const size_t dash = span.find('-');
  if (dash == std::string_view::npos) return refused("'" + std::string(span) + "' is no span");
  const Result<Duration> from = parse_duration(span.substr(0, dash));
  const Result<Duration> to = parse_duration(span.substr(dash + 1));
  if (!from || !to || from.value() >= to.value())
    return refused("'" + std::string(span) + "' is no span");
  spec.from = from.value();
  spec.to = to.value();
  return spec;
}

std::string_view name_of(TimelineKind kind) {
  constexpr std::array<std::string_view, static_cast<size_t>(TimelineKind::kCount)> kNames = {
#define EDDY_TIMELINE_NAME(name, help) #name,
      EDDY_TIMELINE(EDDY_TIMELINE_NAME)
#undef EDDY_TIMELINE_NAME
  };
  return kNames[static_cast<size_t>(kind)];
}

std::string_view help_of(TimelineKind kind) {
  constexpr std::array<std::string_view, static_cast<size_t>(TimelineKind::kCount)> kHelp = {
#define EDDY_TIMELINE_HELP(name, help) help,
      EDDY_TIMELINE(EDDY_TIMELINE_HELP)
#undef EDDY_TIMELINE_HELP
  };
  return kHelp[static_cast<size_t>(kind)];
}

Result<Timeline> Timeline::create(const TimelineSpec& spec, const Topology& topology,
                                  const config::Experiment& experiment) {
  const int64_t dilation = experiment.run.time_dilation;
  Timeline timeline(dilation);
  timeline.priority_ = experiment.host.priority;
  timeline.from_ = Instant() + spec.from * dilation;
  const bool bounded = spec.to != Duration::max();
  timeline.to_ = bounded ? Instant() + spec.to * dilation : Instant::never();
  Problems problems;
  for (size_t i = 0; i + 1 < spec.switches.size() && problems.empty(); ++i)
    problems = timeline.add_hop(topology, spec.switches[i], spec.switches[i + 1]);
  if (!problems.empty()) return problems;
  return timeline;
}

Problems Timeline::add_hop(const Topology& topology, const std::string& from,
                           const std::string& to) {
  Hop hop;
  for (auto [name, index] : {std::pair(&from, &hop.from), std::pair(&to, &hop.to)}) {
    const auto found = std::ranges::find(topology.switches, *name, &config::SwitchConfig::name);
    if (found == topology.switches.end())
      return refused(fmt::format("there is no switch '{}', the first is '{}'", *name,
                                 topology.switches.front().name));
    *index = static_cast<size_t>(found - topology.switches.begin());
    bridges_.push_back(found->mac);
  }
  const Topology::Link* link = link_between(topology, hop.from, hop.to);
  if (link == nullptr) return refused(fmt::format("no link joins '{}' and '{}'", from, to));
  const bool forward = link->a.switch_index == hop.from;
  hop.out = forward ? link->a.port : link->b.port;
  hop.in = forward ? link->b.port : link->a.port;
  hops_.push_back(hop);
  data_.hops.push_back({from, to, link->delay});
  return {};
}

void Timeline::attach(World& world) {
  world_ = &world;
  for (Hop& hop : hops_) {
    hop.line = world.line_of(hop.from, hop.out);
    hop.back = world.reverse(hop.line);
  }
}

TimelineData Timeline::take() {
  const auto undilated = [&](Instant at) { return Instant() + at.since_zero() / time_dilation_; };
  data_.from = undilated(from_);
  data_.to = undilated(std::min(to_, seen_));
  return std::move(data_);
}

void Timeline::on_frame(uint32_t line, Step step, const Packet& packet) {
  if (step == Step::lost || !in_span()) return;
  for (uint32_t i = 0; i < hops_.size(); ++i) {
    if (line == hops_[i].line && step == Step::entered)
      record(i, TimelineKind::sent_bytes, packet.wire_len);
    if (line == hops_[i].back && step == Step::delivered) heard(i, packet);
  }
}

void Timeline::heard(uint32_t hop, const Packet& packet) {
  const ConstOctets frame{packet.data(), packet.data_len()};
  PauseFrame pause;
  if (decode(frame, pause) == CodecVerdict::ok) {
    if ((pause.enabled >> priority_.index() & 1) != 0)
      record(hop, TimelineKind::pfc, pause.quanta[priority_.index()] != 0 ? 1 : 0);
    return;
  }
  EthernetHeader header;
  Cnm message;
  if (decode(frame, header) != CodecVerdict::ok || header.ethertype != kEtherTypeCnm) return;
  if (decode(frame.subspan(header.size()), message) != CodecVerdict::ok) return;
  if (std::ranges::find(bridges_, message.congestion_point.bridge) == bridges_.end()) return;
  const bool relayed = (message.warning.flags & kCnmRelayed) != 0;
  record(hop, relayed ? TimelineKind::cnm_relayed : TimelineKind::cnm, message.feedback);
}

void Timeline::on_turn(uint32_t node) {
  if (!in_span()) return;
  for (uint32_t i = 0; i < hops_.size(); ++i) {
    if (node == hops_[i].from) look_at_sender(i);
    if (node == hops_[i].to) look_at_receiver(i);
  }
}

void Timeline::look_at_sender(uint32_t hop) {
  using enum TimelineKind;
  const Hop& of = hops_[hop];
  const Switch& at = world_->switch_at(of.from);
  const QueueStatus queue = at.queue_status(of.out, QueueId(priority_.index()));
  level(hop, queue_bytes, queue.used);
  level(hop, paused, queue.paused ? 1 : 0);
  const auto& ports = world_->switch_at(of.from).counters(ShardId(0))[of.out].port;
  level(hop, warned,
        static_cast<int64_t>(ports.read(PortCounter::path_warnings_begun) -
                             ports.read(PortCounter::path_warnings_cleared) -
                             ports.read(PortCounter::path_warnings_expired)));
  counter(hop, rerouted, sum(of.from, PortCounter::rlb_rerouted_packets));
  counter(hop, all_warned, sum(of.from, PortCounter::rlb_all_warned_packets));
  counter(hop, suspended, sum(of.from, PortCounter::rlb_suspended_packets));
}

void Timeline::look_at_receiver(uint32_t hop) {
  using enum TimelineKind;
  const Hop& of = hops_[hop];
  const PgStatus group =
      world_->switch_at(of.to).pg_status(of.in, PriorityGroupId(priority_.index()));
  level(hop, pg_bytes, group.used);
  level(hop, xoff_bytes, group.xoff);
  const auto& ports = world_->switch_at(of.to).counters(ShardId(0))[of.in].port;
  counter(hop, predicted, ports.read(PortCounter::pfc_predicted));
}

uint64_t Timeline::sum(size_t switch_index, PortCounter counter) const {
  const Counters& counters = world_->switch_at(switch_index).counters(ShardId(0));
  uint64_t total = 0;
  for (size_t port = 0; port < counters.port_count(); ++port)
    total += counters[PortId(port)].port.read(counter);
  return total;
}

void Timeline::level(uint32_t hop, TimelineKind kind, int64_t value) {
  int64_t& last = hops_[hop].last[static_cast<size_t>(kind)];
  if (value == last) return;
  last = value;
  record(hop, kind, value);
}

// What it stood at when the span began is no news.
void Timeline::counter(uint32_t hop, TimelineKind kind, uint64_t value) {
  int64_t& last = hops_[hop].last[static_cast<size_t>(kind)];
  const auto next = static_cast<int64_t>(value) + 1;  // 0: not seen yet
  if (last != 0 && next > last) record(hop, kind, next - last);
  last = next;
}

void Timeline::record(uint32_t hop, TimelineKind kind, int64_t value) {
  data_.records.push_back(
      {Instant() + world_->now().since_zero() / time_dilation_, hop, kind, value});
}

std::string timeline_json(const TimelineData& data) {
  std::string out = fmt::format("{{\n \"from_ns\": {},\n \"to_ns\": {},\n \"hops\": [",
                                data.from.since_zero().ns(), data.to.since_zero().ns());
  for (size_t i = 0; i < data.hops.size(); ++i)
    out += fmt::format("{}\n  {{\"from\": {}, \"to\": {}, \"delay_ns\": {}}}", i == 0 ? "" : ",",
                       json_text(data.hops[i].from), json_text(data.hops[i].to),
                       data.hops[i].delay.ns());
  out += "\n ],\n \"kinds\": {";
  for (size_t i = 0; i < static_cast<size_t>(TimelineKind::kCount); ++i)
    out +=
        fmt::format("{}\n  \"{}\": \"{}\"", i == 0 ? "" : ",",
                    name_of(static_cast<TimelineKind>(i)), help_of(static_cast<TimelineKind>(i)));
  out += "\n },\n \"records\": [";
  for (size_t i = 0; i < data.records.size(); ++i) {
    const TimelineRecord& record = data.records[i];
    out += fmt::format("{}\n  [{}, {}, \"{}\", {}]", i == 0 ? "" : ",", record.at.since_zero().ns(),
                       record.hop, name_of(record.kind), record.value);
  }
  return out + "\n ]\n}\n";
}

std::string timeline_csv(const TimelineData& data) {
  std::string out = "at_ns,from,to,kind,value\n";
  for (const TimelineRecord& record : data.records)
    out += fmt::format("{},{},{},{},{}\n", record.at.since_zero().ns(), data.hops[record.hop].from,
                       data.hops[record.hop].to, name_of(record.kind), record.value);
  return out;
}

}  // namespace eddy::lab
