#include "switch/control/serve/metrics_server.h"

#include <microhttpd.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <string_view>
#include <utility>

#include "switch/control/serve/tcp_listener.h"

namespace eddy::control {
namespace {

constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

MHD_Result reply(MHD_Connection* connection, unsigned status, std::string body) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                          status == MHD_HTTP_OK ? kTextFormat : "text/plain; charset=utf-8");
  const MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result answer(const MetricsServer& server, MHD_Connection* connection, std::string_view url,
                  std::string_view method) {
  if (url != "/metrics") return reply(connection, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "metrics are read by GET\n");
  return reply(connection, MHD_HTTP_OK, server.text());
}

// The library's own signature has eight parameters; of the rest it is the body, which is not read.
constexpr auto kOnRequest = [](void* server, MHD_Connection* connection, const char* url,
                               const char* method, auto...) {
  return answer(*static_cast<const MetricsServer*>(server), connection, url, method);
};

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address,
                                                           Source source) {
  using Opened = Result<std::unique_ptr<MetricsServer>>;
  Result<Fd> listener = listen_on("telemetry.prometheus", address);
  if (!listener) return listener.problems();
  std::unique_ptr<MetricsServer> server(new MetricsServer(std::move(source)));
  server->daemon_ =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, kOnRequest, server.get(),
                       MHD_OPTION_LISTEN_SOCKET, listener->get(), MHD_OPTION_CONNECTION_LIMIT,
                       kMostClients, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, kRequestBytes, MHD_OPTION_END);
  if (server->daemon_ == nullptr)
    return Opened::failure("telemetry.prometheus: the server on " + address + " did not start");
  listener->release();  // it is the library's
  return server;
}

MetricsServer::~MetricsServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

std::string MetricsServer::text() const {
  return prometheus::TextSerializer().Serialize(source_());
}

}  // namespace eddy::control
