#include "net/capture/capture_section.h"

#include <algorithm>
#include <utility>

namespace eddy {
namespace {

constexpr std::array<std::string_view, kCaptureDirections> kDirections = {"in", "out", "drop"};

}  // namespace

CaptureSection::CaptureSection(std::vector<uint8_t>& out, Names names)
    : out_(out), names_(std::move(names)), counts_(names_.ports.size()) {}

void CaptureSection::begin(uint32_t snap, uint64_t now_ns) {
  began_ns_ = now_ns;
  PcapngWriter writer(out_);
  writer.begin_section(names_.application);
  for (const CapturedPort& port : names_.ports)
    writer.add(PcapngInterface{.name = port.name,
                               .description = "port " + port.name + " of " + names_.owner,
                               .speed_bps = port.speed_bps,
                               .snap = snap});
}

bool CaptureSection::add(const CapturedPacket& packet, uint32_t snap) {
  const CaptureRecord& record = packet.head;
  if (record.port >= names_.ports.size()) return false;
  Count& count = counts_[record.port];
  ++count.written;
  ++written_;
  say(record);
  PcapngWriter(out_).add(
      PcapngPacket{.interface = record.port,
                   .stamp_ns = record.stamp_ns,
                   .wire_len = record.wire_len,
                   .frame = packet.frame.first(std::min<size_t>(packet.frame.size(), snap)),
                   .outbound = record.direction == CaptureDirection::out,
                   .lost_before = count.lost - std::exchange(count.told, count.lost),
                   .comment = comment_});
  return true;
}

void CaptureSection::skip(size_t port) {
  if (port >= names_.ports.size()) return;
  ++counts_[port].skipped;
  ++skipped_;
}

void CaptureSection::end(uint64_t now_ns) {
  for (size_t port = 0; port < names_.ports.size(); ++port) {
    const Count& count = counts_[port];
    PcapngWriter(out_).add(PcapngStatistics{.interface = static_cast<uint32_t>(port),
                                            .stamp_ns = now_ns,
                                            .start_ns = began_ns_,
                                            .end_ns = now_ns,
                                            .seen = count.written + count.skipped + count.lost,
                                            .lost = count.lost,
                                            .matched = count.written});
  }
}

uint64_t CaptureSection::lost() const {
  uint64_t lost = 0;
  for (const Count& count : counts_) lost += count.lost;
  return lost;
}

void CaptureSection::say(const CaptureRecord& record) {
  comment_ = "eddy";
  word("dir", kDirections[static_cast<size_t>(record.direction)]);
  word("port", names_.ports[record.port].name);
  if (record.queue != kCaptureNone) number("queue", record.queue);
  if (record.pg != kCaptureNone) number("pg", record.pg);
  if (record.reason < names_.reasons.size())
    word("reason", names_.reasons[record.reason]);
  else if (record.reason != kCaptureNone)
    number("reason", record.reason);
  if (record.from < names_.ports.size()) word("from", names_.ports[record.from].name);
  if (record.decisions != 0) {
    std::string decisions;
    for (size_t i = 0; i < kCaptureDecisionWords.size(); ++i)
      if ((record.decisions >> i & 1) != 0)
        decisions += (decisions.empty() ? "" : "+") + std::string(kCaptureDecisionWords[i]);
    word("rlb", decisions);
  }
  if (record.rounds != 0) number("rounds", record.rounds);
}

void CaptureSection::word(std::string_view key, std::string_view value) {
  comment_ += ' ';
  comment_ += key;
  comment_ += '=';
  comment_ += value;
}

void CaptureSection::number(std::string_view key, uint64_t value) {
  word(key, std::to_string(value));
}

}  // namespace eddy
