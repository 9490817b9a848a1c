#include "lab/results/packet_capture.h"

#include <algorithm>
#include <utility>

#include "net/quantity.h"
#include "switch/dataplane/object/capture.h"
#include "switch/dataplane/object/switch.h"

namespace eddy::lab {
namespace {

constexpr size_t kRing = 1u << 20;
constexpr size_t kPiece = 64 * 1024;  // written at once
constexpr size_t kNamed = 6;          // of what could be captured

using Spec = Result<CaptureSpec>;

std::string names_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kNamed ? text + ", ..." : text;
}

// Both ends of a link between switches; of a host's link the switch's.
std::vector<Topology::End> ends_of_link(const Topology& topology, std::string_view name) {
  for (const Topology::Link& link : topology.links)
    if (link.name == name) return {link.a, link.b};
  for (const Topology::Host& host : topology.hosts)
    if (host.name == name) return {{host.switch_index, host.port}};
  return {};
}

Result<std::vector<Topology::End>> ends_of_port(const Topology& topology, std::string_view text) {
  using Ends = Result<std::vector<Topology::End>>;
  const size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const std::string port(text.substr(colon + 1));
  std::vector<std::string> switches;
  for (size_t i = 0; i < topology.switches.size(); ++i) {
    const config::SwitchConfig& config = topology.switches[i];
    switches.push_back(config.name);
    if (config.name != name) continue;
    std::vector<std::string> ports;
    for (size_t p = 0; p < config.ports.size(); ++p) {
      ports.push_back(config.ports[p].name);
      if (config.ports[p].name == port) return std::vector<Topology::End>{{i, PortId(p)}};
    }
    return Ends::failure("--capture: " + name + " has no port \"" + port + "\"; it has " +
                         names_of(ports));
  }
  return Ends::failure("--capture: there is no switch \"" + name + "\"; there are " +
                       names_of(switches));
}

Result<std::vector<Topology::End>> find_ends(const Topology& topology, std::string_view text) {
  if (text.find(':') != std::string_view::npos) return ends_of_port(topology, text);
  std::vector<Topology::End> ends = ends_of_link(topology, text);
  if (!ends.empty()) return ends;
  std::vector<std::string> links;
  for (const Topology::Link& link : topology.links) links.push_back(link.name);
  for (const Topology::Host& host : topology.hosts) links.push_back(host.name);
  return Result<std::vector<Topology::End>>::failure("--capture: there is no link \"" +
                                                     std::string(text) + "\"; there are " +
                                                     names_of(links) + ", or SWITCH:PORT");
}

}  // namespace

Result<CaptureSpec> parse_capture(std::string_view text) {
  CaptureSpec spec;
  const size_t at = text.find('@');
  spec.what = text.substr(0, at);
  if (spec.what.empty())
    return Spec::failure("--capture: '" + std::string(text) + "' names neither link nor port");
  if (at == std::string_view::npos) return spec;
  const std::string_view span = text.substr(at + 1);
  const size_t dash = span.find('-');
  const Result<Duration> from = parse_duration(span.substr(0, dash));
  const Result<Duration> to =
      parse_duration(dash == std::string_view::npos ? "" : span.substr(dash + 1));
  if (!from || !to || from.value() >= to.value())
    return Spec::failure("--capture: '" + std::string(span) + "' is no span, such as 1ms-1500us");
  spec.from = from.value();
  spec.to = to.value();
  return spec;
}

Result<std::unique_ptr<PacketCapture>> PacketCapture::create(const CaptureSpec& spec,
                                                             const Topology& topology,
                                                             int64_t time_dilation) {
  Result<std::vector<Topology::End>> ends = find_ends(topology, spec.what);
  if (!ends) return ends.problems();
  std::unique_ptr<PacketCapture> capture(new PacketCapture(spec, time_dilation));
  for (const Topology::End& end : ends.value()) capture->add(topology, end);
  return capture;
}

void PacketCapture::add(const Topology& topology, const Topology::End& end) {
  for (const auto& tap : taps_)  // a link may join two ports of one switch
    if (tap->switch_index == end.switch_index) return void(tap->order.ports.set(end.port.index()));
  const config::SwitchConfig& config = topology.switches[end.switch_index];
  auto tap = std::make_unique<Tap>();
  tap->switch_index = end.switch_index;
  tap->first_port = names_.ports.size();
  tap->octets.resize(kRing);
  tap->reader = CaptureReader(tap->state, tap->tail, tap->octets);
  tap->order.ports.set(end.port.index());
  tap->order.directions = (1u << kCaptureDirections) - 1;
  tap->order.ring = CaptureWriter(tap->state, tap->tail, tap->octets);
  for (const config::PortConfig& port : config.ports)
    names_.ports.push_back(
        {config.name + ":" + port.name, static_cast<uint64_t>(port.speed.bps() * time_dilation_)});
  taps_.push_back(std::move(tap));
}

Problems PacketCapture::open(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  path_ = folder / kCaptureFile;
  stream_.open(path_, std::ios::binary | std::ios::trunc);
  if (!stream_) return {path_.string() + ": cannot be written"};
  names_.application = "eddylab";
  names_.owner = spec_.what;
  for (const CounterInfo& info : drop_reason_infos()) names_.reasons.emplace_back(info.name);
  section_.emplace(out_, names_);
  section_->begin(kCaptureMostSnap, 0);
  return {};
}

void PacketCapture::attach(World& world) {
  world_ = &world;
  for (const auto& tap : taps_)
    capture(world.switch_at(tap->switch_index).shard(ShardId(0)), &tap->order);
}

void PacketCapture::read_all() {
  bool any = false;
  for (const auto& tap : taps_) {
    CapturedPacket packet;
    while (tap->reader.next(packet)) {
      keep(*tap, packet);
      any = true;
    }
    tap->reader.release();
  }
  if (any) write_up_to(static_cast<uint64_t>(world_->now().ps() / time_dilation_ / 1'000));
}

// A frame's stamp is when it has left, which may be later than now.
void PacketCapture::keep(const Tap& tap, const CapturedPacket& packet) {
  CaptureRecord head = packet.head;
  head.stamp_ns /= static_cast<uint64_t>(time_dilation_);
  const Duration at = Duration::nanoseconds(static_cast<int64_t>(head.stamp_ns));
  if (at < spec_.from || at >= spec_.to) return;
  head.port = static_cast<uint16_t>(head.port + tap.first_port);
  if (head.from != kCaptureNoPort) head.from = static_cast<uint16_t>(head.from + tap.first_port);
  waiting_.emplace(head.stamp_ns, Waiting{head, {packet.frame.begin(), packet.frame.end()}});
}

void PacketCapture::write_up_to(uint64_t stamp_ns) {
  const auto end = waiting_.lower_bound(stamp_ns);
  for (auto at = waiting_.begin(); at != end; at = waiting_.erase(at)) {
    section_->add({at->second.head, at->second.frame}, kCaptureMostSnap);
    last_ns_ = at->first;
  }
  if (out_.size() >= kPiece) flush();
}

void PacketCapture::flush() {
  stream_.write(reinterpret_cast<const char*>(out_.data()),
                static_cast<std::streamsize>(out_.size()));
  out_.clear();
}

Problems PacketCapture::close() {
  write_up_to(~uint64_t{0});
  uint64_t lost = 0;
  for (const auto& tap : taps_)
    for (size_t port = 0; port < kMaxPorts; ++port) lost += tap->reader.lost(port);
  section_->end(last_ns_);
  flush();
  stream_.close();
  if (!stream_) return {path_.string() + ": cannot be written"};
  if (lost != 0)
    return {path_.string() + ": " + std::to_string(lost) +
            " packets are missing: too many at once"};
  return {};
}

}  // namespace eddy::lab
