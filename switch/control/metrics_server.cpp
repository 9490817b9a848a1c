#include "switch/control/metrics_server.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <exception>
#include <utility>

namespace eddy::control {
namespace {

constexpr const char* kThreads = "2";
constexpr const char* kRequestTimeoutMs = "5000";

class FromSource final : public prometheus::Collectable {
 public:
  explicit FromSource(MetricsServer::Source source) : source_(std::move(source)) {}
  std::vector<prometheus::MetricFamily> Collect() const override { return source_(); }

 private:
  MetricsServer::Source source_;
};

}  // namespace

MetricsServer::MetricsServer() = default;
MetricsServer::~MetricsServer() {
  exposer_.reset();
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address,
                                                           Source source) {
  std::unique_ptr<MetricsServer> server(new MetricsServer());
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
