#include "switch/control/serve/metrics_server.h"

#include <netdb.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "config/host_port.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {
namespace {

constexpr const char* kThreads = "2";
constexpr const char* kRequestTimeoutMs = "5000";
constexpr auto kKnockInterval = std::chrono::milliseconds(2);

// Connects to "127.0.0.1:9477" or "[::1]:9477", says nothing and leaves.
void knock(const std::string& address) {
  const auto [host, port] = split_host_port(address);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
  const Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  (void)::connect(fd.get(), found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
}

class FromSource final : public prometheus::Collectable {
 public:
  explicit FromSource(MetricsServer::Source source) : source_(std::move(source)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return source_(); }

 private:
  MetricsServer::Source source_;
};

}  // namespace

MetricsServer::MetricsServer(std::string address) : address_(std::move(address)) {}

// civetweb's thread looks whether it is to end every two seconds and when somebody connects, and no
// option changes that. We cannot see when it has been told, so we knock until it is gone.
MetricsServer::~MetricsServer() {
  if (exposer_ == nullptr) return;  // the address is somebody else's
  std::atomic<bool> gone{false};
  std::thread knocking([&] {
    while (!gone) {
      knock(address_);
      std::this_thread::sleep_for(kKnockInterval);
    }
  });
  exposer_.reset();
  gone = true;
  knocking.join();
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address,
                                                           Source source) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(address));
  server->collectable_ = std::make_shared<FromSource>(std::move(source));
  try {
    server->exposer_ = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", address, "num_threads", kThreads,
                                 "request_timeout_ms", kRequestTimeoutMs});
  } catch (const std::exception&) {  // it does not say why
    return Result<std::unique_ptr<MetricsServer>>::failure(
        "telemetry.prometheus: cannot listen on " + address +
        ": another process has it, or it is no address of this machine");
  }
  server->exposer_->RegisterCollectable(server->collectable_);
  return server;
}

}  // namespace eddy::control
