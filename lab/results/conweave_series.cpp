#include "lab/results/conweave_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr Duration kCnpPeriod = Duration::microseconds(100);

}  // namespace

Problems ConweaveSeries::open(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  Problems problems;
  for (const auto& [file, name] :
       {std::pair(&uplink_file_, "out_uplink.txt"), std::pair(&pair_file_, "out_conn.txt"),
        std::pair(&cnp_file_, "out_cnp.txt")}) {
    file->path = folder / name;
    file->stream.open(file->path, std::ios::binary | std::ios::trunc);
    if (!file->stream) problems.push_back(file->path.string() + ": cannot be written");
  }
  return problems;
}

void ConweaveSeries::attach(const BuiltRun& run) {
  world_ = &run.world;
  origin_ = run.file_origin;
  std::vector<bool> has_hosts(run.topology.switches.size());
  for (const Topology::Host& host : run.topology.hosts) {
    has_hosts[host.switch_index] = true;
    hosts_.push_back({.node = host.node});
  }
  for (const Topology::Link& link : run.topology.links)
    for (const Topology::End& end : {link.a, link.b})
      if (has_hosts[end.switch_index])
        uplinks_.push_back(
            {run.topology.switch_nodes[end.switch_index], end.switch_index, end.port});
  const FlowBook& book = world_->book();  // who waits may begin at any time
  for (size_t i = book.timed(); i < book.flows().size(); ++i)
    open_.push_back(static_cast<uint32_t>(i));
  std::ranges::sort(uplinks_, {}, [](const Uplink& uplink) {
    return std::tuple(uplink.node, uplink.port.index());
  });
}

void ConweaveSeries::sample(RunOptions::Sample which, Instant at) {
  const Duration now = at.since_zero() / options_.time_dilation;
  const int64_t at_ns = (origin_ + now).ns();
  if (which == RunOptions::Sample::last) return write_cnps(at_ns);
  write_uplinks(at_ns);
  write_pairs(at_ns);
  if (now - last_cnps_ < kCnpPeriod) return;
  last_cnps_ = now;
  write_cnps(at_ns);
}

void ConweaveSeries::write_uplinks(int64_t at_ns) {
  for (const Uplink& uplink : uplinks_) {
    const Counters& counters = world_->switch_at(uplink.switch_index).counters(ShardId(0));
    uplink_file_.stream << fmt::format("{},{},{},{}\n", at_ns, uplink.node, uplink.port.index() + 1,
                                       counters[uplink.port].port.read(PortCounter::tx_bytes));
  }
}

void ConweaveSeries::write_pairs(int64_t at_ns) {
  const FlowBook& book = world_->book();
  for (; started_ < book.timed_started(); ++started_)
    open_.push_back(static_cast<uint32_t>(started_));
  for (HostCounts& host : hosts_) host.pairs = host.active = 0;
  std::erase_if(open_, [&](uint32_t flow) {
    if (book.flows()[flow].start > world_->now()) return false;
    if (book.records()[flow].sender_done != Instant::never()) return true;
    HostCounts& host = hosts_[book.flows()[flow].source];
    book.for_each_sender(flow, [&](host::SendStage stage) {
      host.pairs += stage != host::SendStage::acknowledged ? 1 : 0;
      host.active += stage == host::SendStage::sending ? 1 : 0;
    });
    return false;
  });
  for (const HostCounts& host : hosts_)
    pair_file_.stream << fmt::format("{},{},{},{}\n", at_ns, host.node, host.pairs, host.active);
}

void ConweaveSeries::write_cnps(int64_t at_ns) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    HostCounts& host = hosts_[i];
    const uint64_t cnps = world_->nic(i).counter(host::NicCounter::tx_cnp_packets);
    const uint64_t naks =
        options_.naks_are_cnps ? world_->nic(i).counter(host::NicCounter::tx_nak_packets) : 0;
    const uint64_t by_ecn = cnps - host.cnps;
    const uint64_t by_order = naks - host.naks;
    host.cnps = cnps;
    host.naks = naks;
    if (by_ecn + by_order == 0) continue;
    cnp_file_.stream << fmt::format("{} {} {} {} {}\n", at_ns, host.node, by_ecn, by_order,
                                    by_ecn + by_order);
  }
}

Problems ConweaveSeries::close() {
  Problems problems;
  for (File* file : {&uplink_file_, &pair_file_, &cnp_file_}) {
    file->stream.close();
    if (!file->stream) problems.push_back(file->path.string() + ": cannot be written");
  }
  return problems;
}

}  // namespace eddy::lab
