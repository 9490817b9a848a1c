#include "switch/control/ctl/fabric_watch.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "switch/control/ctl/ask.h"
#include "system/hostile_json.h"

namespace eddy::control {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookAgain = std::chrono::milliseconds(5);

uint64_t nanoseconds_since(Clock::time_point then) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - then).count());
}

}  // namespace

// One switch: what it said last, and the thread that asks it.
class FabricWatch::Reader {
 public:
  Reader(std::string name, std::string socket, int stop_fd)
      : socket_(std::move(socket)),
        patience_{.stop_fd = stop_fd},
        reading_{.name = std::move(name)},
        thread_([this] { run(); }) {}
  ~Reader() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const std::string& name() const { return reading_.name; }

  void ask(Report report) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = report;
      ++asked_;
    }
    wake_.notify_one();
  }
  // The last question is answered, or the switch has been silent before.
  bool done() const {
    const std::lock_guard lock(mutex_);
    return answered_ == asked_ || (answered_ > 0 && reading_.presence != Presence::answers);
  }
  // False: it is no switch's socket.
  bool take(Report report, SwitchReading& reading, Json& other) const {
    const std::lock_guard lock(mutex_);
    reading = reading_;
    reading.answered_ns_ago = nanoseconds_since(answered_at_);
    if (answered_ == 0) reading.problem = "it has not answered yet";
    other = report == Report::ports ? reading_.ports : other_;
    if (other.value("report", "") != to_string(report)) other = Json::object();
    return !is_other_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || answered_ != asked_; });
      if (stopping_) return;
      const uint64_t asked = asked_;
      const Report wanted = wanted_;
      lock.unlock();
      read(wanted);
      lock.lock();
      answered_ = asked;
    }
  }

  void read(Report wanted) {
    try {
      Result<Json> ports = fetch(Report::ports);
      Result<Json> other = ports.ok() && wanted != Report::ports ? fetch(wanted) : Json::object();
      if (!ports.ok()) return note(ports.problems().front());
      if (!other.ok()) return note(other.problems().front());
      keep(std::move(*ports), std::move(*other));
    } catch (const std::exception& error) {  // of JSON: whoever answered is no switch
      note(socket_ + ": the answer is not as expected: " + error.what());
    }
  }

  Result<Json> fetch(Report report) const {
    Result<Json> answer = ask_report(socket_, report, {}, patience_);
    if (!answer.ok()) return answer;
    return with_printable_texts(answer.value());
  }

  void keep(Json ports, Json other) {
    SwitchReading fresh{
        .name = reading_.name, .presence = Presence::answers, .ports = std::move(ports)};
    remember_peers(reading_.ports, fresh.ports);
    const std::span one(&fresh, 1);
    (void)links_report("", one);  // throws what others would meet
    (void)switches_report("", one);
    const std::lock_guard lock(mutex_);
    reading_ = std::move(fresh);
    other_ = std::move(other);
    answered_at_ = Clock::now();
    is_other_ = false;
  }

  void note(const std::string& problem) {
    std::error_code error;
    const bool is_there = std::filesystem::exists(socket_, error);
    const bool is_other = is_there && is_of_another_type(socket_, SOCK_STREAM);
    const std::lock_guard lock(mutex_);
    reading_.presence = is_there ? Presence::silent : Presence::gone;
    reading_.problem = problem;
    is_other_ = is_other;
  }

  const std::string socket_;
  const Patience patience_;
  mutable std::mutex mutex_;  // guards all below but the thread's own reading of reading_
  std::condition_variable wake_;
  SwitchReading reading_;
  Json other_ = Json::object();
  Clock::time_point answered_at_ = Clock::now();
  Report wanted_ = Report::ports;
  uint64_t asked_ = 0;
  uint64_t answered_ = 0;
  bool is_other_ = false;  // somebody else's socket
  bool stopping_ = false;
  std::thread thread_;
};

FabricWatch::FabricWatch(std::string folder)
    : folder_(std::move(folder)), stop_fd_(eventfd(0, EFD_CLOEXEC)) {}

FabricWatch::FabricWatch(const Target& only) : FabricWatch(std::string()) {
  readers_.push_back(std::make_unique<Reader>(only.name, only.socket, stop_fd_));
}

FabricWatch::~FabricWatch() {
  eventfd_write(stop_fd_, 1);
  readers_.clear();
  close(stop_fd_);
}

void FabricWatch::look(Report report, std::chrono::milliseconds patience) {
  find_new();
  for (const auto& reader : readers_) reader->ask(report);
  const Clock::time_point until = Clock::now() + patience;
  while (!all_done() && Clock::now() < until) std::this_thread::sleep_for(kLookAgain);
  collect(report);
}

void FabricWatch::find_new() {
  if (folder_.empty()) return;
  for (const auto& [name, socket] : socket_files(folder_)) {
    const auto at = std::ranges::lower_bound(readers_, name, {}, &Reader::name);
    if (at == readers_.end() || (*at)->name() != name)
      readers_.insert(at, std::make_unique<Reader>(name, socket, stop_fd_));
  }
}

bool FabricWatch::all_done() const {
  return std::ranges::all_of(readers_, [](const auto& reader) { return reader->done(); });
}

void FabricWatch::collect(Report report) {
  switches_.clear();
  reports_.clear();
  for (const auto& reader : readers_) {
    SwitchReading reading;
    Json other;
    if (!reader->take(report, reading, other)) continue;
    switches_.push_back(std::move(reading));
    reports_.push_back(std::move(other));
  }
}

}  // namespace eddy::control
