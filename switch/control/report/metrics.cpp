#include "switch/control/report/metrics.h"

#include <algorithm>
#include <span>

#include "pfc/buffer_plan.h"
#include "switch/dataplane/state/counters.h"

namespace eddy::control {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kPicosecondsASecond = 1e12;
constexpr double kNanosecondsASecond = 1e9;
constexpr std::string_view kPicoseconds = "_ps";
constexpr const char* kUserMark = "_user_watermark_bytes";
constexpr const char* kPersistentMark = "_persistent_watermark_bytes";
const std::string kMost = "the most since it was cleared: ";

class Families {
 public:
  explicit Families(const MetricsInput& input)
      : input_(input), plan_(pfc::plan_buffer(input.config)) {
    const size_t places = std::min(input.config.ports.size(), input.now.numbers.size());
    for (size_t p = 0; p < places; ++p)
      if (!input.config.ports[p].absent()) ports_.push_back(p);
  }

  std::vector<MetricFamily> make() {
    add_counters();
    add_drops();
    add_ports();
    add_queues();
    add_groups();
    add_buffer();
    add_workers();
    add_switch();
    return std::move(families_);
  }

 private:
  using Labels = std::vector<ClientMetric::Label>;

  MetricFamily& family(std::string name, std::string_view help, MetricType type) {
    return families_.emplace_back(MetricFamily{std::move(name), std::string(help), type, {}});
  }
  void put(MetricFamily& to, Labels labels, double value) const {
    labels.insert(labels.begin(), {"switch", input_.config.name});
    ClientMetric metric;
    metric.label = std::move(labels);
    if (to.type == MetricType::Counter)
      metric.counter.value = value;
    else
      metric.gauge.value = value;
    to.metric.push_back(std::move(metric));
  }
  Labels port_label(size_t port) const { return {{"port", input_.config.ports[port].name}}; }
  Labels labels(size_t port, const char* kind, size_t index) const {
    Labels both = port_label(port);
    both.push_back({kind, std::to_string(index)});
    return both;
  }

  // A family for each counter of a list; `read` gives its values of a port.
  template <class Read>
  void by_port(std::span<const CounterInfo> infos, Read read) {
    for (size_t i = 0; i < infos.size(); ++i) {
      MetricFamily& to = family(counter_metric(infos[i].name), infos[i].help, MetricType::Counter);
      const double unit = infos[i].name.ends_with(kPicoseconds) ? kPicosecondsASecond : 1;
      for (const size_t p : ports_)
        put(to, port_label(p), static_cast<double>(read(input_.now.numbers[p])[i]) / unit);
    }
  }
  template <class Read>
  void by_index(std::span<const CounterInfo> infos, const char* kind, Read read) {
    for (size_t i = 0; i < infos.size(); ++i) {
      MetricFamily& to = family(counter_metric(infos[i].name), infos[i].help, MetricType::Counter);
      const double unit = infos[i].name.ends_with(kPicoseconds) ? kPicosecondsASecond : 1;
      for (const size_t p : ports_)
        for (size_t index = 0; index < kPriorities; ++index)
          put(to, labels(p, kind, index),
              static_cast<double>(read(input_.now.numbers[p])[index][i]) / unit);
    }
  }

  void add_counters() {
    by_port(
        port_counter_infos(), [](const PortNumbers& n) -> const auto& { return n.port; });
    by_index(
        pfc_counter_infos(), "prio", [](const PortNumbers& n) -> const auto& { return n.pfc; });
    by_index(
        queue_counter_infos(), "queue",
        [](const PortNumbers& n) -> const auto& { return n.queue; });
    by_index(
        pg_counter_infos(), "pg", [](const PortNumbers& n) -> const auto& { return n.pg; });
  }

  void add_drops() {
    MetricFamily& to =
        family("eddy_dropped_packets_total", "packets dropped, by reason", MetricType::Counter);
    for (const size_t p : ports_)
      for (size_t i = 0; i < kDropReasons; ++i) {
        Labels both = port_label(p);
        both.push_back({"reason", std::string(drop_reason_infos()[i].name)});
        put(to, std::move(both), static_cast<double>(input_.now.numbers[p].drops[i]));
      }
  }

  // A gauge of each port.
  template <class Value>
  void port_gauge(const char* name, std::string_view help, Value value) {
    MetricFamily& to = family(name, help, MetricType::Gauge);
    for (const size_t p : ports_) put(to, port_label(p), static_cast<double>(value(p)));
  }
  // A gauge of each port and index.
  template <class Value>
  void indexed_gauge(const char* name, std::string_view help, const char* kind, Value value) {
    MetricFamily& to = family(name, help, MetricType::Gauge);
    for (const size_t p : ports_)
      for (size_t i = 0; i < kPriorities; ++i)
        put(to, labels(p, kind, i), static_cast<double>(value(p, i)));
  }
  void gauge(const char* name, std::string_view help, double value) {
    put(family(name, help, MetricType::Gauge), {}, value);
  }

  // The user watermark and the persistent one of something, for each port and index.
  template <class Mark>
  void indexed_marks(const std::string& name, const std::string& of, const char* kind, Mark mark) {
    indexed_gauge((name + kUserMark).c_str(), kMost + of, kind,
                  [&](size_t p, size_t i) { return mark(p, i).user; });
    indexed_gauge((name + kPersistentMark).c_str(), kMost + of, kind,
                  [&](size_t p, size_t i) { return mark(p, i).persistent; });
  }
  void marks(const std::string& name, const std::string& of, const Watermark& mark) {
    gauge((name + kUserMark).c_str(), kMost + of, static_cast<double>(mark.user));
    gauge((name + kPersistentMark).c_str(), kMost + of, static_cast<double>(mark.persistent));
  }

  const PortState& state(size_t port) const { return input_.now.ports[port]; }

  void add_ports() {
    port_gauge("eddy_port_up", "1: the port forwards", [&](size_t p) { return state(p).up; });
    port_gauge("eddy_port_link_up", "1: the device has a link",
               [&](size_t p) { return state(p).device.link_up; });
    port_gauge("eddy_port_tx_on", "0: stopped by set port",
               [&](size_t p) { return state(p).tx_on; });
    constexpr double kBitsAnOctet = 8;
    port_gauge("eddy_port_speed_bytes_per_second", "configured speed", [&](size_t p) {
      return static_cast<double>(input_.config.ports[p].speed.bps()) / kBitsAnOctet;
    });
    port_gauge("eddy_port_fabric", "1: towards another switch, 0: towards a host",
               [&](size_t p) { return input_.config.ports[p].role == config::PortRole::fabric; });
  }

  void add_queues() {
    indexed_gauge("eddy_queue_used_bytes", "octets that wait in the queue", "queue",
                  [&](size_t p, size_t i) {
                    return std::max<int64_t>(state(p).queues[i].used, state(p).queued_bytes[i]);
                  });
    indexed_marks("eddy_queue", "octets that waited in the queue", "queue",
                  [&](size_t p, size_t i) { return state(p).queues[i].watermark; });
    indexed_gauge("eddy_queue_paused", "1: PFC keeps the queue from sending", "queue",
                  [&](size_t p, size_t i) { return state(p).queues[i].paused; });
    indexed_gauge("eddy_queue_storm", "1: the PFC watchdog acts on the queue", "queue",
                  [&](size_t p, size_t i) { return state(p).queues[i].storm; });
  }

  void add_groups() {
    indexed_gauge("eddy_pg_used_bytes", "octets charged to the priority group", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].used; });
    indexed_gauge("eddy_pg_headroom_used_bytes", "of these, in headroom", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].headroom; });
    indexed_marks("eddy_pg_shared", "octets of the group outside headroom", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].shared_watermark; });
    indexed_marks("eddy_pg_headroom", "octets of the group in headroom", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].headroom_watermark; });
    indexed_gauge("eddy_pg_xoff_bytes", "above this the group pauses its sender now", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].xoff; });
    indexed_gauge("eddy_pg_pausing", "1: XOFF is sent and not withdrawn", "pg",
                  [&](size_t p, size_t i) { return state(p).pgs[i].pausing; });
    if (!plan_) return;  // it is in force, so it could be planned
    indexed_gauge("eddy_pg_headroom_size_bytes", "headroom of the group", "pg",
                  [&](size_t p, size_t i) { return plan_->ports[p].pgs[i].headroom; });
    indexed_gauge("eddy_pg_lossless", "1: the group is lossless", "pg",
                  [&](size_t p, size_t i) { return plan_->ports[p].lossless_pgs >> i & 1; });
  }

  void add_buffer() {
    const BufferStatus& buffer = input_.now.buffer;
    gauge("eddy_buffer_size_bytes", "the whole buffer", static_cast<double>(buffer.size));
    gauge("eddy_buffer_reserved_bytes", "set aside: reserved and headroom",
          static_cast<double>(buffer.reserved));
    gauge("eddy_buffer_shared_size_bytes", "the shared pool",
          static_cast<double>(buffer.shared_size));
    gauge("eddy_buffer_shared_used_bytes", "of it, in use",
          static_cast<double>(buffer.shared_used));
    gauge("eddy_buffer_headroom_used_bytes", "headroom in use, of all groups",
          static_cast<double>(buffer.headroom_used));
    gauge("eddy_buffer_stages_size_bytes", "set aside for what flow stages hold",
          static_cast<double>(buffer.stages_size));
    gauge("eddy_buffer_stages_used_bytes", "of it, in use",
          static_cast<double>(buffer.stages_used));
    marks("eddy_buffer_stages", "octets of the stages' buffer in use", buffer.stages_watermark);
    marks("eddy_buffer_shared", "octets of the shared pool in use", buffer.shared_watermark);
    marks("eddy_buffer_headroom", "octets of headroom in use", buffer.headroom_watermark);
  }

  template <class Value>
  void by_worker(const char* name, std::string_view help, MetricType type, Value value) {
    MetricFamily& to = family(name, help, type);
    for (const WorkerStats& worker : input_.now.workers)
      put(to, {{"worker", std::to_string(worker.worker)}}, static_cast<double>(value(worker)));
  }
  void add_workers() {
    using enum MetricType;
    by_worker("eddy_worker_polls_total", "polls", Counter,
              [](const WorkerStats& w) { return w.polls; });
    by_worker("eddy_worker_empty_polls_total", "of these, that found nothing to do", Counter,
              [](const WorkerStats& w) { return w.empty_polls; });
    by_worker("eddy_worker_packets_total", "packets received by the worker", Counter,
              [](const WorkerStats& w) { return w.packets; });
    by_worker("eddy_worker_busy_cycles_total", "TSC cycles in polls that did work", Counter,
              [](const WorkerStats& w) { return w.busy_cycles; });
    by_worker("eddy_worker_cycles_total", "TSC cycles since the start", Counter,
              [](const WorkerStats& w) { return w.total_cycles; });
    by_worker("eddy_worker_poll_gap_p999_seconds", "99.9 % of the last second's gaps are below",
              Gauge, [](const WorkerStats& w) {
                return static_cast<double>(w.poll_gap_p999_ns) / kNanosecondsASecond;
              });
    by_worker("eddy_worker_poll_gap_max_seconds", "the longest gap of the last second", Gauge,
              [](const WorkerStats& w) {
                return static_cast<double>(w.poll_gap_max_ns) / kNanosecondsASecond;
              });
  }

  void add_switch() {
    gauge("eddy_uptime_seconds", "since the start",
          static_cast<double>(input_.now.at_ns - input_.started_at_ns) / kNanosecondsASecond);
    gauge("eddy_configuration_generation", "configurations that were in force, this one included",
          static_cast<double>(input_.generation));
    gauge("eddy_poll_gap_limit_seconds", "what headroom is planned for",
          static_cast<double>(input_.config.effective_poll_gap().ns()) / kNanosecondsASecond);
  }

  const MetricsInput& input_;
  std::vector<size_t> ports_;
  Result<pfc::BufferPlan> plan_;
  std::vector<MetricFamily> families_;
};

}  // namespace

std::vector<prometheus::MetricFamily> metrics_of(const MetricsInput& input) {
  return Families(input).make();
}

std::string counter_metric(std::string_view counter) {
  constexpr std::string_view kTotal = "_total";
  std::string name = "eddy_" + std::string(counter);
  if (name.ends_with(kTotal)) return name;
  if (name.ends_with(kPicoseconds))
    name = name.substr(0, name.size() - kPicoseconds.size()) + "_seconds";
  return name + std::string(kTotal);
}

}  // namespace eddy::control
