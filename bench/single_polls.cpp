#include "bench/single_polls.h"

#include <malloc.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "net/protocols.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"
#include "tests/support/topologies.h"

namespace eddy::bench {
namespace {

using namespace eddy::literals;

constexpr size_t kPorts = 16;            // of each switch, half of them hosts
constexpr size_t kFleet = 320;           // switches
constexpr size_t kPolls = 3'200;         // a sample
constexpr size_t kFrame = 1'086;         // RoCEv2 with 1,024 octets of payload
constexpr size_t kHeaders = 74;          // what of it is there; the payload is virtual
constexpr size_t kFarLeaves = 31;        // path sets of a switch
constexpr uint8_t kDscp = 3;             // a lossless class
constexpr uint8_t kEct = 2;              // ECN
constexpr Duration kGap = 200_ns;        // between polls: a frame at 100 Gb/s takes 89 ns
constexpr size_t kMeasuredObjects = 32;  // whose memory is taken together

// A switch as a fabric has them: half the ports hosts, the others up, every other leaf a path set
// over all of those.
config::SwitchConfig fabric_switch(size_t id, size_t ports) {
  constexpr BitRate kSpeed = BitRate::gbps(100);
  config::SwitchConfig config = test::bare_switch("leaf", 1);
  config.id = SwitchId(id + 1);
  config.leaf = LeafId(1);
  config.load_balancer.scheme = "ecmp";
  config::BufferProfile& lossless = config.buffer.profiles.at("lossless");
  lossless.mode = config::BufferMode::dynamic;  // of a 12 MiB buffer
  lossless.dynamic_th = 0;
  lossless.headroom = 40_KiB;
  for (size_t h = 1; h <= ports / 2; ++h) test::add_host_port(config, 1, h, kSpeed);
  for (size_t u = 1; u <= ports / 2; ++u) {
    test::add_fabric_port(config, "spine" + std::to_string(u), kSpeed);
    config.ports.back().peer_mac = MacAddress{{2, 0xed, 0, 9, 0, static_cast<uint8_t>(u)}};
  }
  for (config::PortConfig& port : config.ports) {
    port.cable_delay = 100_ns;
    port.mtu = 1'500;
  }
  for (size_t far = 2; far < 2 + kFarLeaves; ++far) {
    config::LeafConfig leaf{LeafId(far), {}};
    for (size_t u = 1; u <= ports / 2; ++u)
      leaf.paths.push_back({"spine" + std::to_string(u), 1, {}});
    config.leaves.push_back(leaf);
    config.routes.push_back(
        {test::prefix("10." + std::to_string(far) + ".0.0/16"), LeafId(far), {}});
  }
  return config;
}

// The whole fabric's prefixes in one table, as a world with many switches has it.
std::shared_ptr<const RouteTable> shared_routes(const config::SwitchConfig& config) {
  std::vector<Route> routes;
  for (size_t port = 0; port < config.ports.size(); ++port)
    for (const IpPrefix& address : config.ports[port].addresses)
      routes.push_back({address.network(), {config.leaf, PortId(port), false}});
  for (const config::RouteConfig& route : config.routes)
    routes.push_back({route.prefix, {*route.leaf, PortId::none(), false}});
  return *RouteTable::build(routes, RouteEngine::ranges);
}

// One packet in, one packet out, one completion.
class SingleIo final : public Io {
 public:
  void bring(PortId port, Packet* packet) {
    ingress_ = port;
    arriving_ = packet;
  }
  void finish(PortId port) {
    completed_ = port;
    completions_ = 1;
  }
  void raise_links(size_t ports) {
    for (size_t i = 0; i < ports; ++i) links_.push_back({PortId(i), true});
  }
  void forget_links() { links_.clear(); }
  // The packet of the last poll, and the port it left by; null when none was sent.
  Packet* take_sent() { return std::exchange(sent_, nullptr); }
  PortId sent_by() const { return egress_; }

  Received receive(std::span<Packet*> out) override {
    if (arriving_ == nullptr) return {};
    out[0] = std::exchange(arriving_, nullptr);
    return {ingress_, 1, Bytes(0)};
  }
  const News& news() override {
    news_ = {.completions = {&completed_, std::exchange(completions_, 0)},
             .link_changes = links_,
             .packets = arriving_ != nullptr};
    return news_;
  }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant) override {
    egress_ = port;
    sent_ = packets.back();
    return static_cast<uint16_t>(packets.size());
  }
  Packet* allocate() override { return nullptr; }
  void free(std::span<Packet* const>) override {}

 private:
  PortId ingress_, egress_, completed_;
  Packet* arriving_ = nullptr;
  Packet* sent_ = nullptr;
  size_t completions_ = 0;
  std::vector<LinkChange> links_;
};

}  // namespace

// Switches that are polled in turn with a packet each, then in turn with its completion.
class SinglePolls {
 public:
  explicit SinglePolls(size_t switches) : pool_(switches, kHeaders), states_(switches) {
    const auto routes = shared_routes(fabric_switch(0, kPorts));
    for (size_t i = 0; i < switches; ++i) {
      const config::SwitchConfig config = fabric_switch(i, kPorts);
      objects_.push_back(std::move(*Switch::create(config, {.shared_routes = routes})));
      shards_.push_back(&objects_.back()->shard(ShardId(0)));
      io_.raise_links(kPorts);
      now_ = now_ + kGap;
      shards_.back()->poll(io_, now_);
      io_.forget_links();
      if (i == 0) make_frames(config);
    }
    for (size_t i = 0; i < kWarmUp; ++i) round();
  }

  // What the parts of a round took, in cycles.
  struct Cycles {
    uint64_t packets = 0;
    uint64_t completions = 0;
  };

  // Each switch: a packet; then each switch: its completion.
  Cycles round() {
    draw_all();
    now_ = now_ + kGap;
    const uint64_t began = rte_rdtsc();
    send_all();
    const uint64_t sent = rte_rdtsc();
    now_ = now_ + kGap;
    complete_all();
    return {sent - began, rte_rdtsc() - sent};
  }

  // The driver's part of a round.
  Cycles empty_round() {
    draw_all();
    const uint64_t began = rte_rdtsc();
    for (State& state : states_) {
      io_.bring(state.ingress, state.packet);
      empty_.poll(io_, now_);
      io_.take_sent();
    }
    const uint64_t sent = rte_rdtsc();
    for (State& state : states_) {
      io_.finish(state.egress);
      empty_.poll(io_, now_);
    }
    const uint64_t done = rte_rdtsc();
    for (State& state : states_) pool_.put(state.packet);
    return {sent - began, done - sent};
  }

  size_t size() const { return objects_.size(); }
  // Whether every packet left in the poll that brought it.
  bool sound() const { return sound_; }

 private:
  static constexpr size_t kWarmUp = 64;
  static constexpr size_t kFramesAPort = 64;

  struct State {  // of a switch, this round
    size_t index;
    PortId ingress, egress;
    Packet* packet;
  };

  void make_frames(const config::SwitchConfig& config) {
    for (size_t port = 0; port < kPorts / 2; ++port)
      for (size_t i = 0; i < kFramesAPort; ++i)
        frames_.push_back(
            test::udp_frame({.destination_mac = port_mac(config, port),
                             .source = test::host_ip(1, port + 1),
                             .destination = test::host_ip(2 + (port + i) % kFarLeaves, 1),
                             .source_port = static_cast<uint16_t>(1'000 + 7 * i),
                             .destination_port = kRocePort,
                             .dscp = kDscp,
                             .ecn = kEct,
                             .frame_len = kFrame,
                             .readable_len = kHeaders}));
  }

  // A host port and a frame for each switch, and another order of the switches.
  void draw_all() {
    constexpr size_t kStride = 113;  // prime, so all are visited
    start_ = (start_ + 1) % size();
    for (size_t i = 0; i < size(); ++i) {
      const size_t frame = next_draw() % frames_.size();
      states_[i] = {(start_ + i * kStride) % size(),
                    PortId(frame / kFramesAPort),
                    {},
                    pool_.get(frames_[frame], kFrame)};
    }
  }
  uint32_t next_draw() {
    draw_ = draw_ * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
    return static_cast<uint32_t>(draw_ >> 32);
  }

  [[gnu::noinline]] void send_all() {
    for (State& state : states_) {
      io_.bring(state.ingress, state.packet);
      shards_[state.index]->poll(io_, now_);
      state.egress = io_.sent_by();
      sound_ = sound_ && io_.take_sent() == state.packet;
    }
  }
  [[gnu::noinline]] void complete_all() {
    for (State& state : states_) {
      io_.finish(state.egress);
      shards_[state.index]->poll(io_, now_);
      pool_.put(state.packet);
    }
  }

  test::PacketPool pool_;
  SingleIo io_;
  EmptyShard empty_;
  std::vector<std::unique_ptr<Switch>> objects_;
  std::vector<Shard*> shards_;       // of each
  std::vector<test::Frame> frames_;  // kFramesAPort of each host port
  std::vector<State> states_;
  Instant now_ = Instant::at(1_ms);
  uint64_t draw_ = 1;
  size_t start_ = 0;
  bool sound_ = true;
};

namespace {

// Cycles a poll of a sample less the driver's, with a packet and with a completion.
struct Sample {
  double packet;
  double completion;
};

Sample sample(SinglePolls& polls) {
  const size_t rounds = kPolls / polls.size();
  SinglePolls::Cycles sum, driver;
  for (size_t i = 0; i < rounds; ++i) {
    const SinglePolls::Cycles empty = polls.empty_round();
    const SinglePolls::Cycles full = polls.round();
    driver.packets += empty.packets;
    driver.completions += empty.completions;
    sum.packets += full.packets;
    sum.completions += full.completions;
  }
  const auto each = static_cast<double>(rounds * polls.size());
  return {(static_cast<double>(sum.packets) - static_cast<double>(driver.packets)) / each,
          (static_cast<double>(sum.completions) - static_cast<double>(driver.completions)) / each};
}

void measure(size_t switches, const std::string& suffix, int rounds, std::vector<Result>& results) {
  SinglePolls polls(switches);
  std::vector<double> packets, completions;
  for (int i = 0; i < rounds; ++i) {
    Sample taken{};
    undisturbed([&] { return (taken = sample(polls)).packet; });
    packets.push_back(taken.packet);
    completions.push_back(taken.completion);
  }
  if (!polls.sound()) {
    std::fprintf(stderr, "a packet of poll.one_packet%s did not leave at once\n", suffix.c_str());
    std::exit(1);
  }
  results.push_back(summarize("poll.one_packet" + suffix, packets, "cycles/poll"));
  results.push_back(summarize("poll.completion" + suffix, completions, "cycles/poll"));
}

// Resident memory of this process.
double resident_octets() {
  std::FILE* statm = std::fopen("/proc/self/statm", "r");
  unsigned long size = 0, resident = 0;
  if (statm == nullptr || std::fscanf(statm, "%lu %lu", &size, &resident) != 2) std::abort();
  std::fclose(statm);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double octets_a_switch(size_t ports) {
  std::vector<std::unique_ptr<Switch>> objects;
  objects.reserve(kMeasuredObjects);
  SingleIo io;
  io.raise_links(ports);
  const config::SwitchConfig config = fabric_switch(0, ports);
  malloc_trim(0);
  const double before = resident_octets();
  for (size_t i = 0; i < kMeasuredObjects; ++i) {
    objects.push_back(make_switch(config, 1));
    objects.back()->shard(ShardId(0)).poll(io, Instant::at(1_ms));
  }
  return (resident_octets() - before) / kMeasuredObjects;
}

}  // namespace

std::vector<Result> measure_single_polls(int rounds) {
  std::vector<Result> results;
  measure(1, "", rounds, results);
  measure(kFleet, "." + std::to_string(kFleet), rounds, results);
  return results;
}

std::vector<Result> measure_switch_memory(int) {
  std::vector<Result> results;
  for (const size_t ports : {16, 36, 64})
    results.push_back(summarize("memory.switch." + std::to_string(ports) + "ports",
                                {octets_a_switch(ports) / 1024}, "KiB"));
  return results;
}

bool run_single_polls(const std::string& name, size_t polls) {
  constexpr std::string_view kName = "poll.single";
  if (!name.starts_with(kName)) return false;
  size_t switches = 1;
  if (name.size() > kName.size()) {
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + kName.size() + 1, end, switches).ptr != end || switches == 0)
      return false;
  }
  SinglePolls single(switches);
  for (size_t i = 0; i < polls / switches; ++i) single.round();
  return single.sound();
}

}  // namespace eddy::bench
