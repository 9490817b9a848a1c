#include "lab/results/result_keys.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>

#include "lab/results/size_bins.h"
#include "lab/results/tenants.h"

namespace eddy::lab {
namespace {

constexpr double kPicosecondsAMicrosecond = 1e6;

Json hex(uint64_t value) {
  return fmt::format("{:016x}", value);
}
// A percentile of nothing is no number.
Json of(const Statistics& statistics, double value) {
  return statistics.count == 0 ? Json() : Json(value);
}
double microseconds(Duration duration) {
  return static_cast<double>(duration.ps()) / kPicosecondsAMicrosecond;
}

Json bins_of(const RunRecord& run) {
  Json bins = Json::array();
  for (const SizeBin& bin : size_bins(run.result.flows, run.identity.bdp_bytes))
    bins.push_back({{"name", bin.name},
                    {"from_bytes", bin.from_bytes},
                    {"to_bytes", bin.to_bytes == 0 ? Json() : Json(bin.to_bytes)},
                    {"flows", bin.flows},
                    {"unfinished", bin.unfinished},
                    {"slowdown_mean", of(bin.slowdown, bin.slowdown.mean)},
                    {"slowdown_p50", of(bin.slowdown, bin.slowdown.p50)},
                    {"slowdown_p95", of(bin.slowdown, bin.slowdown.p95)},
                    {"slowdown_p99", of(bin.slowdown, bin.slowdown.p99)}});
  return bins;
}

Json traffic_of(const RunRecord& run) {
  Json items = Json::array();
  for (const TrafficSummary& item : run.result.traffic) {
    const bool curve = !item.cdf.empty();
    items.push_back({{"name", item.name},
                     {"flows", item.flows},
                     {"bytes", item.bytes.count()},
                     {"cdf", curve ? Json(item.cdf) : Json()},
                     {"cdf_digest", curve ? hex(item.cdf_digest) : Json()},
                     {"mean_size_bytes", curve ? Json(item.mean_size) : Json()},
                     {"mean_wire_size_bytes", curve ? Json(item.mean_wire_size) : Json()},
                     {"reference_bps", item.reference.bps()},
                     {"offered_bps", item.offered.bps()}});
  }
  return items;
}

Json faults_of(const RunRecord& run) {
  Json faults = Json::array();
  for (const FaultReport& fault : run.result.faults)
    faults.push_back({{"type", name_of(fault.type)},
                      {"begun", fault.begun},
                      {"frames", fault.frames},
                      {"lost", fault.lost}});
  return faults;
}

size_t measured_flows(const RunResult& result) {
  return static_cast<size_t>(std::ranges::count(result.flows, true, &FlowResult::measured));
}

template <class Member>
Json largest_sample(const RunRecord& run, Member member) {
  const auto& samples = run.result.samples;
  return samples.empty() ? Json() : Json((*std::ranges::max_element(samples, {}, member)).*member);
}

uint64_t counted(const RunRecord& run, const char* name) {
  const auto found = run.result.counters.find(name);
  return found == run.result.counters.end() ? 0 : found->second;
}

// Of `part` and `rest`; of nothing it is no number.
Json share(uint64_t part, uint64_t rest) {
  if (part + rest == 0) return {};
  return static_cast<double>(part) / static_cast<double>(part + rest);
}

Json mean_lead(const RunRecord& run) {
  const uint64_t right = counted(run, "pfc_predictions_right");
  if (right == 0) return {};
  return microseconds(run.result.prediction_lead) / static_cast<double>(right);
}

Json nanoseconds(const std::optional<Duration>& time) {
  return time ? Json(static_cast<uint64_t>(time->ns())) : Json();
}

Json notice_of(const RunRecord& record) {
  const RunResult& result = record.result;
  if (!result.heard.p50) return {};
  Json notice = {{"heard_p50", nanoseconds(result.heard.p50)},
                 {"heard_p99", nanoseconds(result.heard.p99)}};
  if (!result.isolated.p50) return notice;
  notice["isolated_p50"] = nanoseconds(result.isolated.p50);
  notice["isolated_p99"] = nanoseconds(result.isolated.p99);
  return notice;
}

static_assert(host::Nic::kOodBuckets == 1'024, "ood_p99 and ood_histogram say so");

using R = const RunRecord&;
using T = JsonType;
// clang-format off
// What was run.
constexpr auto kIdentityKeys = std::to_array<ResultKey>({
  {"variant", T::string, "", "the variant's name, made from the axes of `matrix`; empty: the experiment has but one", [](R r) { return Json(r.identity.variant); }},
  {"scheme", T::string, "", "path selection scheme", [](R r) { return Json(r.result.scheme); }},
  {"plugin", T::string, "", "the file that the scheme is of; null: the program has it", [](R r) { return r.identity.plugin ? Json(r.identity.plugin->file) : Json(); }, true},
  {"plugin_version", T::string, "", "of Eddy, whose headers that file was compiled with", [](R r) { return r.identity.plugin ? Json(r.identity.plugin->version) : Json(); }, true},
  {"plugin_sha256", T::string, "", "of that file, as sha256sum prints it", [](R r) { return r.identity.plugin ? Json(r.identity.plugin->sha256) : Json(); }, true},
  {"rlb", T::string, "", "preset of RLB; null: without RLB", [](R r) { return r.identity.rlb ? Json(*r.identity.rlb) : Json(); }, true},
  {"seed", T::integer, "", "what traffic and every random choice come from", [](R r) { return Json(r.result.seed); }},
  {"size", T::string, "", "of the experiment: ci, reduced or full", [](R r) { return Json(r.identity.size); }},
  {"commit", T::string, "", "of the program; \"-dirty\" behind it: with changes that are in no commit", [](R r) { return Json(r.identity.commit); }},
  {"config_hash", T::string, "", "FNV-1a of the printed configuration without its seeds and of the files it names, in hexadecimal; equal for all seeds of a variant", [](R r) { return hex(r.identity.config_hash); }},
  {"trace_digest", T::string, "", "of the flows that were offered; equal for every scheme of one seed", [](R r) { return hex(r.result.trace_digest); }},
  {"digest", T::string, "", "of everything that happened; the same run gives the same digest", [](R r) { return hex(r.result.digest); }},
  {"replay", T::string, "", "the command line that runs it again", [](R r) { return Json(r.identity.replay); }},
  {"with", T::array, "", "what was asked for beside the results: --check, --hpcc, --conweave, --flow-series, --timeline and its path, --capture and its place", [](R r) { return Json(r.identity.with); }},
  {"real", T::boolean, "", "by real processes over real links (eddyhost), not in virtual time", [](R r) { return Json(r.result.real); }},
  {"time_dilation", T::integer, "", "how much slower than the experiment's own time it ran; divided out of all times and rates here", [](R r) { return Json(r.result.time_dilation); }},
  {"flows", T::integer, "", "measured flows: those that start in [warmup, warmup + duration), of traffic items that are measured", [](R r) { return Json(measured_flows(r.result)); }},
  {"flows_total", T::integer, "", "all flows", [](R r) { return Json(r.result.flows.size()); }},
  {"unfinished", T::integer, "", "measured flows that had not ended when the run did; no percentile holds them", [](R r) { return Json(r.result.unfinished); }},
  {"censored", T::boolean, "", "the run hit its limit, or was interrupted, with flows unfinished", [](R r) { return Json(r.result.censored); }},
  {"interrupted", T::boolean, "", "the run was ended from outside; it is run again by the next sweep", [](R r) { return Json(r.result.interrupted); }},
  {"bdp_bytes", T::integer, "octets", "bandwidth-delay product: a host's rate times the longest base RTT", [](R r) { return Json(r.identity.bdp_bytes); }},
});
// What came out.
constexpr auto kOutcomeKeys = std::to_array<ResultKey>({
  {"fct_mean_us", T::number, "us", "flow completion time: from a flow's start to its last ACK at the sender; measured flows that finished; null: there is none", [](R r) { return of(r.result.fct_us, r.result.fct_us.mean); }, true},
  {"fct_p50_us", T::number, "us", "its median; percentiles are by nearest rank", [](R r) { return of(r.result.fct_us, r.result.fct_us.p50); }, true},
  {"fct_p95_us", T::number, "us", "its 95th percentile", [](R r) { return of(r.result.fct_us, r.result.fct_us.p95); }, true},
  {"fct_p99_us", T::number, "us", "its 99th percentile", [](R r) { return of(r.result.fct_us, r.result.fct_us.p99); }, true},
  {"fct_p999_us", T::number, "us", "its 99.9th percentile", [](R r) { return of(r.result.fct_us, r.result.fct_us.p999); }, true},
  {"fct_max_us", T::number, "us", "the longest", [](R r) { return of(r.result.fct_us, r.result.fct_us.max); }, true},
  {"slowdown_mean", T::number, "", "max(1, FCT / ideal FCT), the ideal being the flow alone on its path; flows as for the FCT", [](R r) { return of(r.result.slowdown, r.result.slowdown.mean); }, true},
  {"slowdown_p50", T::number, "", "its median", [](R r) { return of(r.result.slowdown, r.result.slowdown.p50); }, true},
  {"slowdown_p95", T::number, "", "its 95th percentile", [](R r) { return of(r.result.slowdown, r.result.slowdown.p95); }, true},
  {"slowdown_p99", T::number, "", "its 99th percentile", [](R r) { return of(r.result.slowdown, r.result.slowdown.p99); }, true},
  {"slowdown_p999", T::number, "", "its 99.9th percentile", [](R r) { return of(r.result.slowdown, r.result.slowdown.p999); }, true},
  {"slowdown_max", T::number, "", "the largest", [](R r) { return of(r.result.slowdown, r.result.slowdown.max); }, true},
  {"bins", T::array, "", "the same by flow size; their keys are in a table of their own", bins_of},
  {"tenants", T::array, "", "the same, and requests, collectives and fairness, of each traffic item that is measured; their keys are in a table of their own", tenants_of},
  {"ooo_ratio", T::number, "", "packets of measured flows that arrived out of order, of all their data packets received", [](R r) { return Json(r.result.ooo_ratio); }},
  {"ood_p99", T::number, "packets", "out-of-order distance: received PSN - expected PSN; 99th percentile over the packets of all flows that arrived out of order; 0: there was none; 1023: that or more", [](R r) { return Json(r.result.ood_p99); }},
  {"ood_max", T::integer, "packets", "the largest", [](R r) { return Json(r.result.ood_max); }},
  {"ood_histogram", T::array, "", "how many packets had each distance, from 0; the last: 1023 or more", [](R r) { return Json(r.result.ood_histogram); }},
  {"pfc_events", T::integer, "", "times that a priority group began to pause its sender", [](R r) { return Json(r.result.pfc_events); }},
  {"pfc_switch_events", T::integer, "", "of these, at ports to switches: another path may avoid them", [](R r) { return Json(r.result.pfc_events - r.result.pfc_host_events); }},
  {"pfc_host_events", T::integer, "", "of these, at ports to hosts, which have no other path", [](R r) { return Json(r.result.pfc_host_events); }},
  {"pfc_frames", T::integer, "", "XOFF frames sent, refreshes included", [](R r) { return Json(r.result.pfc_frames); }},
  {"pfc_paused_us", T::number, "us", "time paused, summed over the ports of switches and hosts", [](R r) { return Json(r.result.pfc_paused_us); }},
  {"pfc_pause_rate", T::number, "1/s", "events a second and switch port", [](R r) { return Json(r.result.pfc_pause_rate); }},
  {"pfc_paused_fraction", T::number, "", "of the time of all ports", [](R r) { return Json(r.result.pfc_paused_fraction); }},
  {"rlb_precision", T::number, "", "of the predictions of PFC that have ended, those that PFC followed; a warning that averts its pause is not among them; null: there were none", [](R r) { return share(counted(r, "pfc_predictions_right"), counted(r, "pfc_predictions_wrong")); }, true},
  {"rlb_recall", T::number, "", "of the pauses that began, those with a warning out; null: there were none, or nobody predicts", [](R r) { return share(counted(r, "pfc_foreseen"), counted(r, "pfc_unforeseen")); }, true},
  {"rlb_lead_us", T::number, "us", "from a right prediction to its pause, mean; null: there was none", mean_lead, true},
  {"rlb_wait_p50_ns", T::integer, "ns", "in the loop in all, of the packets that went round (counters rlb_rounds_1 and so on), not of those that waited behind them: median, rounded up by at most a quarter; null: none went round", [](R r) { return nanoseconds(r.result.wait_p50); }, true},
  {"rlb_wait_p99_ns", T::integer, "ns", "its 99th percentile", [](R r) { return nanoseconds(r.result.wait_p99); }, true},
  {"isolation_notice_ns", T::object, "ns", "from the moment at which a host port's queue passed isolation.threshold: heard_p50 and heard_p99, to each switch that heard of it; isolated_p50 and isolated_p99, to the first packet that each leaf isolated for it, of those that its own hosts sent; rounded up by at most a quarter; null: nobody was congested", notice_of, true},
  {"lossless_drops", T::integer, "packets", "dropped although lossless, whatever the reason; 0 in a sound configuration whose links hold", [](R r) { return Json(r.result.lossless_drops); }},
  {"goodput_gbps", T::number, "Gb/s", "payload of all flows that was delivered, over simulated_us", [](R r) { return Json(r.result.goodput_gbps); }},
  {"queue_max_bytes", T::integer, "octets", "the longest egress queue in any sample; null: no samples", [](R r) { return largest_sample(r, &QueueSample::max_queue); }, true},
  {"buffer_max_bytes", T::integer, "octets", "the fullest shared buffer in any sample; null: no samples", [](R r) { return largest_sample(r, &QueueSample::max_buffer); }, true},
  {"simulated_us", T::number, "us", "virtual time from the start to the run's end", [](R r) { return Json(microseconds(r.result.simulated)); }},
  {"packet_hops", T::integer, "", "frames delivered over one link", [](R r) { return Json(r.result.packet_hops); }},
  {"events", T::integer, "", "events of the world", [](R r) { return Json(r.result.events); }},
  {"ties", T::integer, "", "frames that reached a switch in the same instant as another, and were put in an order by lot", [](R r) { return Json(r.result.ties); }},
  {"polls", T::integer, "", "polls of switches and hosts", [](R r) { return Json(r.result.polls); }},
  {"cpu_seconds", T::number, "s", "processor time of the event loop; differs from run to run", [](R r) { return Json(r.result.cpu_seconds); }},
  {"peak_rss_bytes", T::integer, "octets", "most memory that the process had; differs from run to run", [](R r) { return Json(r.result.peak_rss_bytes); }},
  {"traffic", T::array, "", "of each traffic item: name, flows, bytes, cdf and its digest, mean sizes, the rate that its load is a share of, the offered rate (bits a second, on the line)", traffic_of},
  {"warnings", T::array, "", "what was worth saying about the configuration", [](R r) { return Json(r.result.warnings); }},
  {"faults", T::array, "", "of each fault, in the order of the file: its type; begun: how often it began; frames: lost, damaged, doubled or delayed ones, or pauses; lost: frames that did not fit a slow receiver", faults_of},
  {"violations", T::array, "", "with --check: invariants that did not hold; a reconfiguration that was refused", [](R r) { return Json(r.result.violations); }},
  {"exempt", T::array, "", "with --check: what is not promised in this configuration, and was not checked", [](R r) { return Json(r.result.exempt); }},
  {"counters", T::object, "", "by the daemon's names (counters.md), summed over the switches; those of hosts begin with nic_", [](R r) { return Json(r.result.counters); }},
});
// clang-format on

template <size_t kFirst, size_t kSecond>
constexpr std::array<ResultKey, kFirst + kSecond> joined(
    const std::array<ResultKey, kFirst>& first, const std::array<ResultKey, kSecond>& second) {
  std::array<ResultKey, kFirst + kSecond> all{};
  std::ranges::copy(first, all.begin());
  std::ranges::copy(second, all.begin() + kFirst);
  return all;
}
constexpr auto kKeys = joined(kIdentityKeys, kOutcomeKeys);
// clang-format off

void bind_number(sqlite3_stmt* s, int at, int64_t value) { sqlite3_bind_int64(s, at, value); }

using S = sqlite3_stmt*;
using F = const FlowResult&;
constexpr auto kColumns = std::to_array<FlowColumn>({
  {"source", "INTEGER NOT NULL", "", "host, by its number in the table hosts", [](S s, int at, F f) { bind_number(s, at, f.flow.source); }},
  {"destination", "INTEGER NOT NULL", "", "host, by its number in the table hosts", [](S s, int at, F f) { bind_number(s, at, f.flow.destination); }},
  {"traffic", "INTEGER NOT NULL", "", "traffic item, from 0", [](S s, int at, F f) { bind_number(s, at, f.flow.traffic); }},
  {"request", "INTEGER", "", "incast: number of the request within the item; collective: of the repetition; else NULL", [](S s, int at, F f) { if (f.flow.request != kNoRequest) bind_number(s, at, f.flow.request); }},
  {"source_port", "INTEGER NOT NULL", "", "UDP source port", [](S s, int at, F f) { bind_number(s, at, f.flow.source_port); }},
  {"size", "INTEGER NOT NULL", "octets", "payload", [](S s, int at, F f) { bind_number(s, at, f.flow.size.count()); }},
  {"start_ns", "INTEGER NOT NULL", "ns", "from the start of the run", [](S s, int at, F f) { bind_number(s, at, f.flow.start.since_zero().ns()); }},
  {"fct_ns", "INTEGER NOT NULL", "ns", "from start to the last ACK at the sender; unfinished: its age at the end", [](S s, int at, F f) { bind_number(s, at, f.fct.ns()); }},
  {"receiver_fct_ns", "INTEGER NOT NULL", "ns", "from start to the last octet at the receiver; unfinished: its age at the end", [](S s, int at, F f) { bind_number(s, at, f.receiver_fct.ns()); }},
  {"ideal_ns", "INTEGER NOT NULL", "ns", "FCT of the flow alone on its path", [](S s, int at, F f) { bind_number(s, at, f.ideal.ns()); }},
  {"slowdown", "REAL NOT NULL", "", "max(1, FCT / ideal FCT)", [](S s, int at, F f) { sqlite3_bind_double(s, at, f.slowdown); }},
  {"measured", "INTEGER NOT NULL", "", "1: started in the measurement window, and its traffic item is measured", [](S s, int at, F f) { bind_number(s, at, f.measured ? 1 : 0); }},
  {"finished", "INTEGER NOT NULL", "", "1: ended at sender and receiver", [](S s, int at, F f) { bind_number(s, at, f.finished ? 1 : 0); }},
  {"packets", "INTEGER NOT NULL", "packets", "data packets sent, again or for the first time", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.sent.sent_packets)); }},
  {"retransmitted", "INTEGER NOT NULL", "packets", "of those, sent again", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.sent.retransmitted_packets)); }},
  {"retransmitted_bytes", "INTEGER NOT NULL", "octets", "payload sent again", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.sent.retransmitted_bytes)); }},
  {"naks", "INTEGER NOT NULL", "", "NAKs that reached the sender", [](S s, int at, F f) { bind_number(s, at, f.sent.naks); }},
  {"timeouts", "INTEGER NOT NULL", "", "retransmission timeouts", [](S s, int at, F f) { bind_number(s, at, f.sent.timeouts); }},
  {"cnps", "INTEGER NOT NULL", "", "congestion notifications that reached the sender", [](S s, int at, F f) { bind_number(s, at, f.sent.cnps); }},
  {"delivered_bytes", "INTEGER NOT NULL", "octets", "payload delivered, each octet once", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.received.delivered_bytes)); }},
  {"received", "INTEGER NOT NULL", "packets", "data packets that arrived, kept or not", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.received.received_packets)); }},
  {"ooo", "INTEGER NOT NULL", "packets", "of those, with a PSN above the expected one", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.received.out_of_order_packets)); }},
  {"duplicates", "INTEGER NOT NULL", "packets", "of those, received before", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.received.duplicate_packets)); }},
  {"ecn_marked", "INTEGER NOT NULL", "packets", "of those, marked CE", [](S s, int at, F f) { bind_number(s, at, static_cast<int64_t>(f.received.ecn_marked_packets)); }},
  {"max_ood", "INTEGER NOT NULL", "packets", "largest received PSN - expected PSN", [](S s, int at, F f) { bind_number(s, at, f.received.max_ood); }},
});

constexpr auto kBinKeys = std::to_array<BinKey>({
  {"name", JsonType::string, "", "below or from one BDP, or a decade"},
  {"from_bytes", JsonType::integer, "octets", "smallest size"},
  {"to_bytes", JsonType::integer, "octets", "sizes are below it; null: no limit"},
  {"flows", JsonType::integer, "", "measured flows of these sizes"},
  {"unfinished", JsonType::integer, "", "of those, not ended"},
  {"slowdown_mean", JsonType::number, "", "of those that finished; null: there is none"},
  {"slowdown_p50", JsonType::number, "", "its median"},
  {"slowdown_p95", JsonType::number, "", "its 95th percentile"},
  {"slowdown_p99", JsonType::number, "", "its 99th percentile"},
});
// clang-format on

}  // namespace

std::span<const ResultKey> result_keys() {
  return kKeys;
}

std::span<const FlowColumn> flow_columns() {
  return kColumns;
}

std::span<const BinKey> bin_keys() {
  return kBinKeys;
}

Json run_values(const RunRecord& run) {
  Json values = Json::object();
  for (const ResultKey& key : kKeys) values[std::string(key.name)] = key.value(run);
  return values;
}

}  // namespace eddy::lab
