#include "lab/run/rank_report.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "lab/world/message.h"

namespace eddy::lab {
namespace {

void tell(MessageWriter& write, const RankUse& use) {
  for (const uint64_t each : {use.traffic.windows, use.traffic.messages, use.traffic.frames,
                              use.traffic.octets, use.traffic.largest, use.peak_rss_bytes})
    write.compact(each);
  for (const double each : {use.traffic.trade_seconds, use.cpu_seconds})
    write.number(std::bit_cast<uint64_t>(each));
}

RankUse rank_use(MessageReader& read) {
  RankUse use;
  for (uint64_t* each : {&use.traffic.windows, &use.traffic.messages, &use.traffic.frames,
                         &use.traffic.octets, &use.traffic.largest, &use.peak_rss_bytes})
    *each = read.compact();
  for (double* each : {&use.traffic.trade_seconds, &use.cpu_seconds})
    *each = std::bit_cast<double>(read.number<uint64_t>());
  return use;
}

void tell(MessageWriter& write, const RunResult& result) {
  for (const QueueSample& sample : result.samples) {
    write.compact(static_cast<uint64_t>(sample.max_queue));
    write.compact(static_cast<uint64_t>(sample.max_buffer));
    write.compact(sample.paused_queues);
  }
  for (const FaultReport& fault : result.faults) {
    write.compact(fault.frames);
    write.compact(fault.lost);
  }
  write.compact(result.violations.size());
  for (const std::string& violation : result.violations) write.text(violation);
}

// Of one rank; runs of all ranks have as many samples and faults.
void hear(MessageReader& read, RunResult& result) {
  for (QueueSample& sample : result.samples) {
    sample.max_queue = std::max(sample.max_queue, static_cast<int64_t>(read.compact()));
    sample.max_buffer = std::max(sample.max_buffer, static_cast<int64_t>(read.compact()));
    sample.paused_queues += static_cast<uint32_t>(read.compact());
  }
  for (FaultReport& fault : result.faults) {
    fault.frames += read.compact();
    fault.lost += read.compact();
  }
  for (size_t left = read.count(1); left > 0; --left) result.violations.push_back(read.text());
}

}  // namespace

void gather_reports(Exchange& exchange, const RankTraffic& traffic, RunResult& result) {
  const RankUse mine{traffic, result.cpu_seconds, result.peak_rss_bytes};
  std::vector<Message> to_each(exchange.ranks()), from_each(exchange.ranks());
  if (exchange.rank() != 0) {
    MessageWriter write(to_each[0]);
    tell(write, mine);
    tell(write, result);
  }
  exchange.trade(to_each, from_each);
  if (exchange.rank() != 0) return;
  result.ranks = {mine};
  for (size_t from = 1; from < from_each.size(); ++from) {
    MessageReader read(from_each[from]);
    result.ranks.push_back(rank_use(read));
    hear(read, result);
    if (!read.done())
      throw ExchangeError("rank " + std::to_string(from) + ": its report cannot be read");
    result.cpu_seconds += result.ranks.back().cpu_seconds;
    result.peak_rss_bytes = std::max(result.peak_rss_bytes, result.ranks.back().peak_rss_bytes);
  }
}

}  // namespace eddy::lab
