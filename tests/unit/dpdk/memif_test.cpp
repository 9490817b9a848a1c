// Two processes joined by memif: this one, and itself again as the peer, which is killed and
// started again while frames run in a circle between them.
#include <gtest/gtest.h>
#include <poll.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/events.h"
#include "switch/dpdk/driver_guard.h"
#include "switch/dpdk/driver_thread.h"
#include "switch/dpdk/port_manager.h"
#include "switch/dpdk/worker.h"
#include "tests/support/temp_directory.h"

namespace eddy {
namespace {

using namespace literals;
using std::chrono::steady_clock;

constexpr int kFramesInTheCircle = 64;
constexpr uint16_t kFrameLength = 600;

// Sends every frame back where it came from; puts some into the circle when the link comes up. What
// the port does not take stays for the next poll, as in a switch: a server can send nothing until
// its client has polled once, since the client gives it the buffers.
class EchoShard final : public Shard {
 public:
  explicit EchoShard(rte_mempool* pool) : pool_(pool) {}

  PollStats poll(Io& io, Instant now) override {
    PollStats stats;
    for (const LinkChange& change : io.news().link_changes) {
      io.free(waiting_);
      waiting_.clear();
      if (change.up) start_circle();
      port_ = change.port;
    }
    std::array<Packet*, kBurst> packets;
    for (Received got = io.receive(packets); got.count > 0; got = io.receive(packets)) {
      stats.received += got.count;
      waiting_.insert(waiting_.end(), packets.begin(), packets.begin() + got.count);
    }
    echoed.fetch_add(stats.received, std::memory_order_relaxed);
    if (!waiting_.empty()) stats.transmitted = send(io, now);
    return stats;
  }
  Instant next_deadline() const override { return Instant::never(); }
  Counters& counters() override { return counters_; }
  void push_event(const Event&) override {}

  std::atomic<uint64_t> echoed{0};

 private:
  void start_circle() {
    for (int i = 0; i < kFramesInTheCircle; ++i) {
      rte_mbuf* mbuf = rte_pktmbuf_alloc(pool_);
      if (mbuf == nullptr) return;
      rte_pktmbuf_append(mbuf, kFrameLength);
      waiting_.push_back(Packet::of(mbuf));
    }
  }
  uint32_t send(Io& io, Instant now) {
    const uint16_t sent = io.transmit(port_, waiting_, now);
    waiting_.erase(waiting_.begin(), waiting_.begin() + sent);
    return sent;
  }

  rte_mempool* pool_;
  PortId port_;
  std::vector<Packet*> waiting_;  // to be sent to `port_`
  Counters counters_{1};
};

// One memif port, its worker thread and its control thread, as in eddyd.
class Node {
 public:
  static std::unique_ptr<Node> start(const std::string& device) {
    auto pools = PacketPools::create("node", {.data_packets = 2'047, .buffer_size = 2'048});
    if (!pools) return nullptr;
    std::unique_ptr<Node> node(new Node(std::move(*pools)));
    config::SwitchConfig config = config::default_switch("node");
    config.ports.push_back(config::default_port("link"));
    config.ports[0].device = device;
    EXPECT_EQ(guard_drivers(config.ports, running_dpdk()), "");
    auto ports = PortManager::open(config, node->pools_, [] {});
    if (!ports) return nullptr;
    node->run(std::move(*ports));
    return node;
  }
  ~Node() { stop(); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The worker ends, then the port stops, as where a process is about to end.
  void stop() {
    if (!worker_thread_.joinable()) return;
    worker_->stop();
    worker_thread_.join();
    guard_.reset();
    ports_->stop_all();
  }

  void tick() { ports_->tick(clock_.at(TscClock::cycles())); }
  uint64_t echoed() const { return shard_.echoed.load(std::memory_order_relaxed); }
  bool up() const { return ports_->cell(PortId(0)).in_use.load(std::memory_order_acquire); }
  // Whether the driver has a peer, also while the port is stopped.
  bool connected() const {
    rte_eth_link link{};
    const uint16_t device = ports_->cell(PortId(0)).device.load(std::memory_order_relaxed);
    return rte_eth_link_get_nowait(device, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  }

 private:
  explicit Node(PacketPools pools) : pools_(std::move(pools)) {}

  void run(std::unique_ptr<PortManager> ports) {
    ports_ = std::move(ports);
    clock_.calibrate();
    const std::array<IoPort, 1> mine{{{PortId(0), &ports_->cell(PortId(0))}}};
    io_.emplace(mine, pools_.control(), ports_->bell(0), shard_);
    worker_.emplace(shard_, *io_, clock_, config::IdlePolicy::adaptive, 1_ms);
    guard_.emplace([this] { worker_->wait_for_turn(); });
    worker_thread_ = std::thread([this] { worker_->run(); });
  }

  PacketPools pools_;
  TscClock clock_;
  EchoShard shard_{pools_.data()};
  std::unique_ptr<PortManager> ports_;
  std::optional<DpdkIo> io_;
  std::optional<Worker> worker_;
  std::optional<DriverGuard> guard_;
  std::thread worker_thread_;
};

bool start_eal(const std::string& prefix) {
  std::string file_prefix = "--file-prefix=" + prefix;
  std::array<std::string, 9> words{
      "memif",     "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "--log-level=*:error",
      file_prefix, "-m",        "64"};
  std::array<char*, words.size()> argv{};
  for (size_t i = 0; i < words.size(); ++i) argv[i] = words[i].data();
  return rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
}

void end_eal() {
  std::filesystem::remove_all(rte_eal_get_runtime_dir());  // see Eal::~Eal
}

bool tick_until(Node& node, const std::function<bool()>& done) {
  const auto give_up = steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (steady_clock::now() > give_up) return false;
    node.tick();
    std::this_thread::yield();
  }
  return true;
}

// This program again, as the other end of the link.
class Peer {
 public:
  explicit Peer(const std::string& device) : pid_(fork()) {
    if (pid_ != 0) return;
    execl("/proc/self/exe", "memif_peer", "--peer", device.c_str(), nullptr);
    _exit(1);
  }
  ~Peer() { kill_now(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all("/var/run/dpdk/eddy-memif-peer-" + std::to_string(pid_));
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

int run_peer(const std::string& device) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!start_eal("eddy-memif-peer-" + std::to_string(getpid()))) return 1;
  const auto node = Node::start(device);
  if (!node) return 1;
  while (true) {
    node->tick();
    poll(nullptr, 0, 10);
  }
}

class MemifTest : public testing::Test {
 protected:
  // A server's device stays until this process ends, so that each has a name of its own.
  std::string device(const std::string& role) const {
    static int made = 0;
    return "net_memif" + std::to_string(made++) + ",role=" + role + ",socket=" + socket_;
  }
  // Frames go round through both processes.
  static bool frames_run(Node& node) {
    const uint64_t before = node.echoed();
    return tick_until(node, [&] { return node.up() && node.echoed() > before + 1'000; });
  }
  void survive_deaths_of_peer(const std::string& own_role, const std::string& peer_role) {
    const auto node = Node::start(device(own_role));
    ASSERT_NE(node, nullptr);
    for (int death = 0; death < 5; ++death) {
      Peer peer(device(peer_role));
      ASSERT_TRUE(frames_run(*node)) << "after " << death << " deaths";
      peer.kill_now();
      ASSERT_TRUE(tick_until(*node, [&] { return !node->up(); })) << "death " << death;
    }
  }
  test::TempDirectory directory_;
  std::string socket_ = directory_.file("link.sock");
};

TEST_F(MemifTest, AClientSurvivesItsServersDeaths) {
  survive_deaths_of_peer("client", "server");
}

TEST_F(MemifTest, AServerSurvivesItsClientsDeaths) {
  survive_deaths_of_peer("server", "client");
}

// A client comes back to a server that has stopped and whose process is about to end, and dies
// after the server's port is gone: the driver's thread, which still runs, sees that.
TEST_F(MemifTest, AClientMayComeBackToAServerThatIsEnding) {
  auto node = Node::start(device("server"));
  ASSERT_NE(node, nullptr);
  Peer peer(device("client"));
  ASSERT_TRUE(frames_run(*node));
  node->stop();
  const auto give_up = steady_clock::now() + std::chrono::seconds(30);
  while (!node->connected() && steady_clock::now() < give_up) std::this_thread::yield();
  ASSERT_TRUE(node->connected());
  node.reset();
  EXPECT_FALSE(std::filesystem::exists(socket_)) << "who comes later is not answered any more";
  peer.kill_now();
  for (int turn = 0; turn < 3; ++turn) run_on_driver_thread([] {});
}

}  // namespace
}  // namespace eddy

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--peer") return eddy::run_peer(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  if (!eddy::start_eal("eddy-memif-test-" + std::to_string(getpid()))) return 1;
  const int result = RUN_ALL_TESTS();
  eddy::end_eal();
  return result;
}
