#include "switch/control/web/web_server.h"

#include <microhttpd.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "config/host_port.h"
#include "switch/control/serve/tcp_listener.h"
#include "switch/control/web/own_host.h"
#include "switch/control/web/web_assets.h"

namespace eddy::control {
namespace {

constexpr const char* kTextType = "text/plain; charset=utf-8";
constexpr const char* kJsonType = "application/json";
constexpr const char* kStreamType = "text/event-stream";
constexpr size_t kStreamPiece = size_t{16} << 10;

// Nothing but what is served here runs, is loaded or is asked; no text becomes elements.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

struct Asset {
  std::string_view path;
  const char* type;
  std::string_view text;
};

std::span<const Asset> assets() {
  static const std::string style = std::string(kLookStyle) + std::string(kLiveStyle);
  static const std::string script = std::string(kLookScript) + std::string(kLiveTimeline) +
                                    std::string(kLiveDrawing) + std::string(kLiveScript);
  static const std::array<Asset, 3> all{{{"/", "text/html; charset=utf-8", kLivePage},
                                         {"/page.css", "text/css; charset=utf-8", style},
                                         {"/page.js", "text/javascript; charset=utf-8", script}}};
  return all;
}

void put_headers(MHD_Response* response, const char* type) {
  const std::pair<const char*, const char*> headers[] = {
      {"Content-Type", type},
      {"Content-Security-Policy", kPolicy},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"}};
  for (const auto& [name, value] : headers) MHD_add_response_header(response, name, value);
}

MHD_Result reply(MHD_Connection* connection, unsigned status, const char* type,
                 std::string_view body) {
  MHD_Response* const response = MHD_create_response_from_buffer(
      body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  put_headers(response, type);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, "Allow", "GET, HEAD");
  const MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return text == nullptr ? std::string_view() : text;
}

std::string argument(MHD_Connection* connection, const char* name) {
  const char* text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
  return text == nullptr ? "" : text;
}

// Of a machine whose address others reach; empty: loopback alone is listened on.
std::string machine_name(const std::string& address) {
  const std::optional<IpAddress> listens = parse_ip(split_host_port(address).host);
  std::array<char, 256> name{};
  if (!listens || is_loopback(*listens) || ::gethostname(name.data(), name.size() - 1) != 0)
    return "";
  return name.data();
}

}  // namespace

// One client that watches. `connection` is suspended while there is nothing new for it.
struct WebServer::Stream {
  WebServer& server;
  MHD_Connection* connection;
  std::shared_ptr<const Picture> shown = nullptr;
  uint64_t shape = 0;  // that it knows
  std::string text = {};
  size_t sent = 0;  // of text
  bool waits = false;
};

// One client that has asked for tables, and waits suspended until it is answered.
struct WebServer::Question {
  MHD_Connection* connection;
  std::string name;
  std::string port;
  Answer answer = {};
  bool answered = false;
};

// What the library calls, on its thread.
struct WebCallbacks {
  static MHD_Result request(WebServer& server, MHD_Connection* connection, std::string_view path,
                            std::string_view method, void** kept);
  static MHD_Result watch(WebServer& server, MHD_Connection* connection);
  static MHD_Result ask(WebServer& server, MHD_Connection* connection, void** kept);
  static ssize_t piece(void* stream, uint64_t position, char* room, size_t size);
  static void stream_ends(void* stream);
  static void request_ends(void* server, MHD_Connection* connection, void** kept,
                           MHD_RequestTerminationCode why);
};

MHD_Result WebCallbacks::request(WebServer& server, MHD_Connection* connection,
                                 std::string_view path, std::string_view method, void** kept) {
  const auto refuse = [&](unsigned status, std::string_view why) {
    return reply(connection, status, kTextType, why);
  };
  if (*kept != nullptr) return ask(server, connection, kept);
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "this page is read by GET\n");
  if (!is_own_host(header(connection, MHD_HTTP_HEADER_HOST), server.machine_))
    return refuse(MHD_HTTP_MISDIRECTED_REQUEST,
                  "this server has another name: use its address, or localhost\n");
  const auto asset = std::ranges::find(assets(), path, &Asset::path);
  if (asset != assets().end()) return reply(connection, MHD_HTTP_OK, asset->type, asset->text);
  if (path != "/live" && path != "/port")
    return refuse(MHD_HTTP_NOT_FOUND, "there is nothing here; the page is at /\n");
  if (!is_own_page(header(connection, "Sec-Fetch-Site")))
    return refuse(MHD_HTTP_FORBIDDEN, "another page may not ask this\n");
  return path == "/live" ? watch(server, connection) : ask(server, connection, kept);
}

MHD_Result WebCallbacks::watch(WebServer& server, MHD_Connection* connection) {
  auto stream = std::make_unique<WebServer::Stream>(WebServer::Stream{server, connection});
  {
    const std::lock_guard lock(server.mutex_);
    if (server.streams_.size() >= WebServer::kMostWatchers)
      return reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kTextType, "too many watch already\n");
    server.streams_.push_back(stream.get());
  }
  MHD_Response* const response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kStreamPiece, piece, stream.get(), stream_ends);
  if (response == nullptr) {
    stream_ends(stream.release());
    return MHD_NO;
  }
  (void)stream.release();  // it is the response's, which ends it
  put_headers(response, kStreamType);
  const MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
  MHD_destroy_response(response);
  eventfd_write(server.wake_.get(), 1);
  return result;
}

ssize_t WebCallbacks::piece(void* stream_of, uint64_t /*position*/, char* room, size_t size) {
  auto& stream = *static_cast<WebServer::Stream*>(stream_of);
  WebServer& server = stream.server;
  const std::lock_guard lock(server.mutex_);
  if (server.ending_) return MHD_CONTENT_READER_END_OF_STREAM;
  if (stream.sent == stream.text.size()) {
    if (server.picture_ == stream.shown) {
      stream.waits = true;
      MHD_suspend_connection(stream.connection);
      return 0;
    }
    stream.shown = server.picture_;
    stream.text = stream.shape == stream.shown->shape ? std::string() : stream.shown->shape_event;
    stream.text += stream.shown->values_event;
    stream.shape = stream.shown->shape;
    stream.sent = 0;
  }
  const size_t length = std::min(size, stream.text.size() - stream.sent);
  stream.text.copy(room, length, stream.sent);
  stream.sent += length;
  return static_cast<ssize_t>(length);
}

void WebCallbacks::stream_ends(void* stream_of) {
  const std::unique_ptr<WebServer::Stream> stream(static_cast<WebServer::Stream*>(stream_of));
  const std::lock_guard lock(stream->server.mutex_);
  stream->server.streams_.remove(stream.get());
}

// Called a second time when the answer is there.
MHD_Result WebCallbacks::ask(WebServer& server, MHD_Connection* connection, void** kept) {
  const std::lock_guard lock(server.mutex_);
  if (*kept != nullptr) {
    const auto& question = *static_cast<const WebServer::Question*>(*kept);
    return question.answered
               ? reply(connection, question.answer.status, kJsonType, question.answer.json)
               : MHD_NO;  // the server ends
  }
  if (server.ending_) return MHD_NO;
  if (server.questions_.size() >= WebServer::kMostQuestions)
    return reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kTextType, "too many ask already\n");
  auto question = std::make_unique<WebServer::Question>(WebServer::Question{
      connection, argument(connection, "switch"), argument(connection, "port")});
  server.questions_.push_back(question.get());
  *kept = question.release();  // request_ends() has it
  MHD_suspend_connection(connection);
  server.asked_.notify_one();
  return MHD_YES;
}

// A connection that is suspended does not end, so nobody else has the question any more.
void WebCallbacks::request_ends(void* /*server*/, MHD_Connection* /*connection*/, void** kept,
                                MHD_RequestTerminationCode /*why*/) {
  delete static_cast<WebServer::Question*>(*kept);
  *kept = nullptr;
}

namespace {

// The library's own signature has eight parameters: the last four are the version, a body, which
// nobody reads, and its size, and what is kept with the request.
constexpr auto kOnRequest = [](void* server, MHD_Connection* connection, const char* path,
                               const char* method, auto... more) {
  void** const kept = std::get<sizeof...(more) - 1>(std::tuple(more...));
  return WebCallbacks::request(*static_cast<WebServer*>(server), connection, path, method, kept);
};

}  // namespace

Result<std::unique_ptr<WebServer>> WebServer::open(const std::string& address, Tables tables) {
  Result<Fd> listener = listen_on("--listen", address);
  if (!listener) return listener.problems();
  std::unique_ptr<WebServer> server(new WebServer(address_of(*listener), std::move(tables)));
  if (Problems problems = server->start(std::move(*listener)); !problems.empty()) return problems;
  return server;
}

WebServer::WebServer(std::string address, Tables tables)
    : address_(std::move(address)),
      machine_(machine_name(address_)),
      tables_(std::move(tables)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Problems WebServer::start(Fd listener) {
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, kOnRequest,
      this, MHD_OPTION_LISTEN_SOCKET, listener.get(), MHD_OPTION_CONNECTION_LIMIT, kMostClients,
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      kRequestBytes, MHD_OPTION_NOTIFY_COMPLETED, &WebCallbacks::request_ends, this,
      MHD_OPTION_END);
  if (daemon_ == nullptr) return {"--listen: the server on " + address_ + " did not start"};
  listener.release();  // it is the library's
  asker_ = std::thread([this] { answer_questions(); });
  return {};
}

WebServer::~WebServer() {
  if (daemon_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Stream* stream : streams_)
      if (std::exchange(stream->waits, false)) MHD_resume_connection(stream->connection);
    for (const Question* question : questions_) MHD_resume_connection(question->connection);
    questions_.clear();
  }
  asked_.notify_one();
  asker_.join();
  MHD_stop_daemon(daemon_);
}

void WebServer::publish(Picture picture) {
  const std::lock_guard lock(mutex_);
  picture_ = std::make_shared<const Picture>(std::move(picture));
  for (Stream* stream : streams_)
    if (std::exchange(stream->waits, false)) MHD_resume_connection(stream->connection);
}

size_t WebServer::watchers() const {
  const std::lock_guard lock(mutex_);
  return streams_.size();
}

void WebServer::answer_questions() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return ending_ || !questions_.empty(); });
    if (ending_) return;
    Question& question = *questions_.front();
    questions_.pop_front();
    lock.unlock();
    Answer answer = tables_(question.name, question.port);
    lock.lock();
    question.answer = std::move(answer);
    question.answered = true;
    MHD_resume_connection(question.connection);
  }
}

}  // namespace eddy::control
