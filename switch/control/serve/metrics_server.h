// /metrics over HTTP, for Prometheus: libmicrohttpd, with the text format of prometheus-cpp.
//
// One thread of its own waits for all clients at once (epoll), so that one which says nothing, or
// half of a request, keeps nobody else waiting; it is sent away after kIdleSeconds. The thread
// calls `source`; it is no worker. Owner: control. Bounds: kMostClients, a request of
// kRequestBytes. Cost: a scrape takes one sample.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/result.h"

struct MHD_Daemon;
namespace prometheus {
struct MetricFamily;
}  // namespace prometheus

namespace eddy::control {

class MetricsServer {
 public:
  using Source = std::function<std::vector<prometheus::MetricFamily>()>;
  static constexpr unsigned kMostClients = 512;
  static constexpr unsigned kIdleSeconds = 5;
  static constexpr size_t kRequestBytes = size_t{16} << 10;

  // `address`: telemetry.prometheus, "127.0.0.1:9477". The server's thread calls `source`.
  static Result<std::unique_ptr<MetricsServer>> open(const std::string& address, Source source);
  // Returns when the request that is being answered is.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // What is said to a scraper.
  std::string text() const;

 private:
  explicit MetricsServer(Source source) : source_(std::move(source)) {}

  const Source source_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace eddy::control
