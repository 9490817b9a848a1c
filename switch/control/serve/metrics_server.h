// /metrics over HTTP, for Prometheus: prometheus-cpp's exposer, which is civetweb.
//
// Two threads of its own serve requests, and call `source` on one of them; neither is a worker, and
// a client that sends slowly holds a thread for kRequestTimeoutMs at most. Owner: control. Cost: a
// scrape takes one sample.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/result.h"

namespace prometheus {
class Collectable;
class Exposer;
struct MetricFamily;
}  // namespace prometheus

namespace eddy::control {

class MetricsServer {
 public:
  using Source = std::function<std::vector<prometheus::MetricFamily>()>;

  // `address`: telemetry.prometheus, "127.0.0.1:9477". Any thread of the server calls `source`.
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& address, Source source);
  // Returns when no request is being answered any more: at once, but for a client that is in the
  // middle of one (civetweb looks every two seconds).
  ~MetricsServer();

 private:
  explicit MetricsServer(std::string address);

  const std::string address_;
  std::shared_ptr<prometheus::Collectable> collectable_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace eddy::control
