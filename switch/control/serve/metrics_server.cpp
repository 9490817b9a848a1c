#include "switch/control/serve/metrics_server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "config/host_port.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {
namespace {

constexpr int kBacklog = 128;
constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

// A socket that listens on "127.0.0.1:9477" or "[::1]:9477".
Result<Fd> listen_on(const std::string& address) {
  const auto failed = [&](const std::string& why) {
    return Problems{"telemetry.prometheus: cannot listen on " + address + ": " + why};
  };
  const auto [host, port] = split_host_port(address);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    return failed(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  if (!fd.valid() || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), kBacklog) != 0)
    return failed(std::strerror(errno));
  return fd;
}

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
  Result<Fd> listener = listen_on(address);
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
