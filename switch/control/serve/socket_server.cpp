#include "switch/control/serve/socket_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "net/assert.h"
#include "system/unix_socket.h"

namespace eddy::control {
namespace {

constexpr mode_t kSocketMode = 0660;
constexpr int kListenBacklog = 64;
constexpr size_t kRequestBytes = 16 * 1024;
constexpr int kAcceptRetryMs = 100;

std::string system_error(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

// Makes way for a socket at `path`: its directory exists, nothing of a dead process is there.
Problems clear_path(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return {"control socket " + path + ": " + error.message()};
  Problems problems = clear_socket_path(path);
  for (std::string& problem : problems) problem.insert(0, "control ");
  return problems;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

struct SocketServer::Client {
  Fd fd;
  std::string input;   // not yet answered; at most a line and one read
  std::string output;  // not yet sent, from `sent` on
  size_t sent = 0;
  std::vector<Fd> descriptors;  // go with the output's first octets
  std::shared_ptr<void> lease;
  int64_t active_at_ns = 0;
  bool end_of_input = false;  // the peer says no more
  bool closing = false;       // close once the output is out
  bool dead = false;

  bool has_output() const { return sent < output.size(); }
  bool has_line() const { return input.find('\n') != std::string::npos; }
  void queue(std::string line) {
    output = std::move(line);
    output += '\n';
    sent = 0;
  }
  void read_some();
  void write_some();
  ssize_t send_rest();
};

void SocketServer::Client::read_some() {
  char buffer[kRequestBytes];
  const ssize_t got = ::recv(fd.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (got > 0) input.append(buffer, static_cast<size_t>(got));
  if (got == 0) end_of_input = true;
  if (got < 0 && errno != EAGAIN && errno != EINTR) dead = true;
}

void SocketServer::Client::write_some() {
  const ssize_t done = send_rest();
  if (done > 0) {
    sent += static_cast<size_t>(done);
    descriptors.clear();
  }
  if (done < 0 && errno != EAGAIN && errno != EINTR) dead = true;
  if (has_output()) return;
  output.clear();
  sent = 0;
}

ssize_t SocketServer::Client::send_rest() {
  iovec rest{output.data() + sent, output.size() - sent};
  msghdr message{};
  message.msg_iov = &rest;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  if (!descriptors.empty()) {
    const size_t octets = sizeof(int) * descriptors.size();
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(octets);
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(octets);
    for (size_t i = 0; i < descriptors.size(); ++i) {
      const int each = descriptors[i].get();
      std::memcpy(CMSG_DATA(rights) + i * sizeof each, &each, sizeof each);
    }
  }
  return ::sendmsg(fd.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Result<std::unique_ptr<SocketServer>> SocketServer::open(std::string path, Handler handler,
                                                         Refusal refusal, Limits limits) {
  std::unique_ptr<SocketServer> server(
      new SocketServer(std::move(path), std::move(handler), std::move(refusal), limits));
  Problems problems = server->listen_on_path();
  if (!problems.empty()) return problems;
  return server;
}

SocketServer::SocketServer(std::string path, Handler handler, Refusal refusal, Limits limits)
    : path_(std::move(path)),
      handler_(std::move(handler)),
      refusal_(std::move(refusal)),
      limits_(limits) {}

SocketServer::~SocketServer() {
  listener_.reset();
  if (bound_) (void)clear_socket_path(path_);  // stays when it is another's by now
}

Problems SocketServer::listen_on_path() {
  sockaddr_un address;
  if (!fill_unix_address(path_, address))
    return {"control socket " + path_ + ": the path is longer than " +
            std::to_string(sizeof(address.sun_path) - 1) + " octets"};
  if (Problems problems = clear_path(path_); !problems.empty()) return problems;
  listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  wake_ = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!listener_.valid() || !wake_.valid()) return {system_error("control socket " + path_)};
  // On Linux the new inode takes the socket's own mode, so it is never wider than meant.
  if (::fchmod(listener_.get(), kSocketMode) != 0 ||
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return {system_error("control socket " + path_)};
  bound_ = true;
  if (::chmod(path_.c_str(), kSocketMode) != 0 || ::listen(listener_.get(), kListenBacklog) != 0)
    return {system_error("control socket " + path_)};
  return {};
}

void SocketServer::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(wake_.get(), &one, sizeof(one));
}

bool SocketServer::serve(int timeout_ms, int64_t now_ns) {
  std::vector<pollfd> polled;
  polled.push_back({wake_.get(), POLLIN, 0});
  polled.push_back({listener_.get(), static_cast<short>(accept_paused_ ? 0 : POLLIN), 0});
  if (accept_paused_) timeout_ms = std::min(timeout_ms, kAcceptRetryMs);
  for (const auto& client : clients_) {
    const bool answering = client->has_output();
    if (!answering && client->has_line()) timeout_ms = 0;
    polled.push_back({client->fd.get(), static_cast<short>(answering ? POLLOUT : POLLIN), 0});
  }
  const int ready = ::poll(polled.data(), polled.size(), timeout_ms);
  accept_paused_ = false;
  if (ready < 0) return false;  // a signal; the next round sees the same
  for (size_t i = 0; i < clients_.size(); ++i)
    serve_client(*clients_[i], polled[i + 2].revents, now_ns);
  std::erase_if(clients_, [](const auto& client) { return client->dead; });
  if ((polled[1].revents & POLLIN) != 0) accept_clients(now_ns);
  uint64_t count = 0;
  return (polled[0].revents & POLLIN) != 0 && ::read(wake_.get(), &count, sizeof(count)) > 0;
}

void SocketServer::accept_clients(int64_t now_ns) {
  for (int i = 0; i < kListenBacklog; ++i) {
    Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      admit(std::move(fd), now_ns);
      continue;
    }
    // Without descriptors the listener stays readable; pausing keeps that from becoming a busy
    // loop.
    accept_paused_ = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
    return;
  }
}

void SocketServer::admit(Fd fd, int64_t now_ns) {
  if (clients_.size() >= limits_.clients && !evict_idle(now_ns)) {
    const std::string line =
        refusal_("all " + std::to_string(limits_.clients) + " client places are taken") + '\n';
    ::send(fd.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  auto client = std::make_unique<Client>();
  client->fd = std::move(fd);
  client->active_at_ns = now_ns;
  clients_.push_back(std::move(client));
}

bool SocketServer::evict_idle(int64_t now_ns) {
  const auto idlest =
      std::min_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
        return std::pair(a->lease != nullptr, a->active_at_ns) <
               std::pair(b->lease != nullptr, b->active_at_ns);
      });
  if (idlest == clients_.end() || (*idlest)->lease != nullptr ||
      now_ns - (*idlest)->active_at_ns < limits_.evict_idle_ns)
    return false;
  clients_.erase(idlest);
  return true;
}

void SocketServer::serve_client(Client& client, short events, int64_t now_ns) {
  if ((events & (POLLERR | POLLNVAL)) != 0) client.dead = true;
  if ((events & POLLHUP) != 0 && (events & POLLIN) == 0) client.dead = true;
  if (client.dead) return;
  if ((events & POLLOUT) != 0) client.write_some();
  if (client.has_output() || client.dead) return;
  if ((events & POLLIN) != 0 && !client.has_line()) client.read_some();
  if (!client.closing) answer_one_line(client, now_ns);
  if (!client.has_output() && (client.closing || (client.end_of_input && !client.has_line())))
    client.dead = true;
}

void SocketServer::answer_one_line(Client& client, int64_t now_ns) {
  const size_t end = client.input.find('\n');
  const size_t length = std::min(end, client.input.size());
  if (length > limits_.line_bytes) {
    client.queue(
        refusal_("a request is longer than " + std::to_string(limits_.line_bytes) + " octets"));
    client.closing = true;
  } else if (end != std::string::npos) {
    client.active_at_ns = now_ns;
    Answer answer = handler_(std::string_view(client.input).substr(0, end));
    ASSERT(answer.descriptors.size() <= kMostDescriptors);
    client.queue(std::move(answer.line));
    client.descriptors = std::move(answer.descriptors);
    if (answer.lease != nullptr) client.lease = std::move(answer.lease);
    client.input.erase(0, end + 1);
  }
  if (client.has_output()) client.write_some();
}

}  // namespace eddy::control
