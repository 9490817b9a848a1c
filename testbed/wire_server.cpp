#include "testbed/wire_server.h"

#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "net/text/plain_name.h"
#include "system/log_lines.h"
#include "system/say.h"
#include "testbed/wire_messages.h"

namespace eddy::testbed {
namespace {

constexpr int kSmallestMtu = 68;  // of IPv4
constexpr int kLargestMtu = 65'535;
constexpr int kGlance = 500;  // ms: how long a signal that came before poll() may wait

void note(const std::string& text) {
  say("eddywire: ", {text}, LogLevel::info);
}

// False while the other side is there.
bool has_hung_up(int connection) {
  pollfd one{connection, POLLRDHUP, 0};
  return poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace

Result<WirePair> parse_wire_pair(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return Result<WirePair>::failure("--pair " + text + ": " + why +
                                     "; write HOST=DEVICE,mac=02:00:00:00:00:01,mtu=1500");
  };
  const size_t equals = text.find('=');
  const size_t mac = text.find(",mac=");
  const size_t mtu = text.find(",mtu=");
  if (equals == std::string::npos || mac == std::string::npos || mtu == std::string::npos ||
      equals > mac || mac > mtu)
    return wrong("a part is missing");
  constexpr size_t kKey = 5;  // ",mac="
  WirePair pair{.host = text.substr(0, equals),
                .device = text.substr(equals + 1, mac - equals - 1),
                .mac = {},
                .mtu = 0};
  if (!is_plain_name(pair.host) || !is_plain_name(pair.device) || pair.device.size() >= IFNAMSIZ)
    return wrong("no valid name");
  const auto address = parse_mac(std::string_view(text).substr(mac + kKey, mtu - mac - kKey));
  if (!address || address->is_multicast() || address->is_zero()) return wrong("no MAC of a host");
  pair.mac = *address;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data() + mtu + kKey, last, pair.mtu);
  if (error != std::errc() || end != last || pair.mtu < kSmallestMtu || pair.mtu > kLargestMtu)
    return wrong("an MTU is 68 to 65535");
  return pair;
}

WireServer::WireServer(WireLinks links, std::string path)
    : links_(std::move(links)), path_(std::move(path)) {}

WireServer::WireServer(WireServer&& other) noexcept
    : links_(std::move(other.links_)),
      path_(std::move(other.path_)),
      listener_(std::exchange(other.listener_, -1)),
      watcher_(std::exchange(other.watcher_, -1)),
      entries_(std::move(other.entries_)),
      connections_(std::move(other.connections_)),
      told_(std::move(other.told_)) {}

WireServer::~WireServer() {
  for (const int fd : connections_) close(fd);
  for (const int fd : {listener_, watcher_})
    if (fd >= 0) close(fd);
}

Result<WireServer> WireServer::open(const std::vector<WirePair>& pairs, const std::string& path) {
  if (pairs.empty() || pairs.size() > kMostPairs)
    return Result<WireServer>::failure("--pair: there are 1 to " + std::to_string(kMostPairs));
  auto links = WireLinks::open();
  if (!links) return links.problems();
  WireServer server(std::move(*links), path);
  for (const WirePair& pair : pairs) {
    for (const Entry& other : server.entries_)
      if (other.pair.host == pair.host || other.pair.device == pair.device)
        return Result<WireServer>::failure("--pair " + pair.host + "=" + pair.device +
                                           ": the host or the device stands twice");
    server.entries_.push_back({pair, "peer" + std::to_string(server.entries_.size()), -1});
  }
  server.watcher_ = watch_links();
  if (server.watcher_ < 0)
    return Result<WireServer>::failure(std::string("interfaces cannot be watched: ") +
                                       std::strerror(-server.watcher_));
  if (Problems problems = server.make_missing(); !problems.empty()) return problems;
  const auto listener = listen_on_wire(path);
  if (!listener) return listener.problems();
  server.listener_ = listener.value();
  return server;
}

// The switch's end is up from the beginning; it has a carrier once the host's is up, too.
Problems WireServer::make(const Entry& entry) {
  Problems problems = links_.make_pair({.device = entry.pair.device,
                                        .peer = entry.peer,
                                        .peer_mac = entry.pair.mac,
                                        .mtu = entry.pair.mtu});
  if (problems.empty()) problems = links_.set_up(entry.pair.device);
  return problems;
}

Problems WireServer::make_missing() {
  for (const Entry& entry : entries_)
    if (if_nametoindex(entry.pair.device.c_str()) == 0)
      if (Problems problems = make(entry); !problems.empty()) return problems;
  return {};
}

// Where that fails it is tried again, since without us nobody could join.
void WireServer::mend() {
  Problems problems = make_missing();
  if (problems != told_) say("eddywire: ", problems);
  told_ = std::move(problems);
}

Problems WireServer::serve(const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    std::vector<pollfd> watched = {{listener_, POLLIN, 0}, {watcher_, POLLIN, 0}};
    for (const int fd : connections_) watched.push_back({fd, POLLIN | POLLRDHUP, 0});
    const int count = poll(watched.data(), watched.size(), kGlance);
    if (count < 0 && errno != EINTR) return {std::string("waiting: ") + std::strerror(errno)};
    std::array<char, 8'192> unread;  // that something changed is all that matters
    while (recv(watcher_, unread.data(), unread.size(), MSG_DONTWAIT) > 0) continue;
    mend();
    if (count <= 0) continue;
    hear_hosts();
    if (watched.front().revents != 0) accept_host();
  }
  return {};
}

void WireServer::accept_host() {
  const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return;
  if (connections_.size() < 2 * kMostPairs)
    connections_.push_back(connection);
  else
    close(connection);
}

// Those that have gone first: a host that was started again is not held up by what it was before.
void WireServer::hear_hosts() {
  for (const int connection : std::vector<int>(connections_))
    if (has_hung_up(connection)) forget(connection);
  for (const int connection : std::vector<int>(connections_)) {
    pollfd one{connection, POLLIN, 0};
    if (poll(&one, 1, 0) > 0) answer(connection);
  }
}

void WireServer::answer(int connection) {
  const auto message = receive_from_wire(connection);
  if (!message) return forget(connection);
  const Problems problems = join(connection, message->text, message->descriptor);
  if (message->descriptor >= 0) close(message->descriptor);
  if (!problems.empty()) say("eddywire: ", problems);
  if (!send_to_wire(connection, problems.empty() ? "" : problems.front())) forget(connection);
}

Problems WireServer::join(int connection, const std::string& request, int network) {
  const size_t blank = request.find(' ');
  const std::string host = request.substr(0, blank);
  const auto found =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.pair.host == host; });
  if (blank == std::string::npos || found == entries_.end())
    return {"no host of the name \"" + host + "\""};
  if (network < 0) return {"host " + host + ": no network namespace came with its request"};
  if (found->host >= 0 && found->host != connection)
    return {"host " + host + ": another container has joined as this host"};
  if (Problems problems = hand_over(*found, network, request.substr(blank + 1)); !problems.empty())
    return problems;
  found->host = connection;
  note("host " + host + " has joined, on " + found->pair.device);
  return {};
}

// Where the host's end is not here, a namespace that has lost its host still has it.
Problems WireServer::hand_over(Entry& entry, int network, const std::string& device) {
  if (if_nametoindex(entry.peer.c_str()) == 0) {
    Problems problems = links_.remove(entry.pair.device);
    if (problems.empty()) problems = make(entry);
    if (!problems.empty()) return problems;
  }
  return links_.move(entry.peer, network, device);
}

void WireServer::forget(int connection) {
  for (Entry& entry : entries_) {
    if (entry.host != connection) continue;
    entry.host = -1;
    note("host " + entry.pair.host + " has gone");
  }
  std::erase(connections_, connection);
  close(connection);
}

}  // namespace eddy::testbed
