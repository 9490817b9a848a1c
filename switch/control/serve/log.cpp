#include "switch/control/serve/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "net/text/printable.h"

namespace eddy::control {
namespace {

// %*: the text as printable(); JSON lines carry time and level themselves.
constexpr const char* kConsolePattern = "%Y-%m-%d %H:%M:%S.%e %^%l%$ %*";
constexpr const char* kDefaultPattern = "[%Y-%m-%d %H:%M:%S.%e] [%^%l%$] %*";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";

spdlog::level::level_enum level_of(EventKind kind) {
  switch (kind) {
    case EventKind::lossless_drop:
    case EventKind::scheme_failed:
      return spdlog::level::err;
    case EventKind::link_down:
    case EventKind::pfcwd_storm:
    case EventKind::path_failed:
    case EventKind::pfc_budget_exceeded:
    case EventKind::rx_loss:
    case EventKind::poll_gap_exceeded:
      return spdlog::level::warn;
    case EventKind::link_up:
    case EventKind::path_returned:
    case EventKind::pfcwd_restored:
    case EventKind::neighbor_learned:
    case EventKind::neighbor_lost:
    case EventKind::peer_learned:
    case EventKind::snapshot_adopted:
      return spdlog::level::info;
    case EventKind::pfc_sent:
    case EventKind::pfc_received:
    case EventKind::pfc_predicted:
    case EventKind::path_warned:
    case EventKind::host_hot:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

class PrintableText final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableText>();
  }
};

std::unique_ptr<spdlog::formatter> printable_formatter(const char* pattern) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableText>('*').set_pattern(pattern);
  return formatter;
}

// The members of an object, without its braces: the logger's pattern opens and closes the line.
std::string inner(const Json& object) {
  const std::string text = object.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.substr(1, text.size() - 2);
}

}  // namespace

std::string event_line(const LoggedEvent& logged, const std::string& port, LogFormat format) {
  const Event& event = logged.event;
  Json members{{"event", std::string(to_string(event.kind))}};
  if (!port.empty()) members["port"] = port;
  members["prio"] = event.priority.index();
  if (const std::string path = path_text_of(event); !path.empty()) members["path"] = path;
  members["value"] = event.value;
  members["at_ns"] = event.at_ns();
  if (logged.suppressed > 0) members["suppressed"] = logged.suppressed;
  if (format == LogFormat::json) return inner(members);
  std::string line = members["event"].get<std::string>();
  for (const auto& [key, value] : members.items())
    if (key != "event")
      line += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return line + ": " + std::string(help_of(event.kind));
}

Log::Log(LogFormat format, PortName port_name)
    : format_(format),
      port_name_(std::move(port_name)),
      logger_(std::make_shared<spdlog::logger>(
          "control", std::make_shared<spdlog::sinks::stderr_color_sink_mt>())) {
  if (format == LogFormat::json)
    logger_->set_pattern(kJsonPattern);
  else
    logger_->set_formatter(printable_formatter(kConsolePattern));
  logger_->flush_on(spdlog::level::info);
}

void make_default_log_printable() {
  spdlog::default_logger()->set_formatter(printable_formatter(kDefaultPattern));
}

void Log::event(const LoggedEvent& logged) const {
  const PortId port = logged.event.port;
  const std::string name = !logged.port.empty() ? logged.port
                           : port.is_none()     ? ""
                                                : port_name_(port);
  logger_->log(level_of(logged.event.kind), "{}", event_line(logged, name, format_));
}

void Log::info(const std::string& text) const {
  logger_->info("{}", format_ == LogFormat::json ? inner(Json{{"message", text}}) : text);
}

void Log::error(const std::string& text) const {
  logger_->error("{}", format_ == LogFormat::json ? inner(Json{{"message", text}}) : text);
}

}  // namespace eddy::control
