#include "switch/dpdk/pcap_run.h"

#include <algorithm>
#include <array>

#include "net/assert.h"
#include "net/pcap.h"
#include "switch/dataplane/object/shard.h"

namespace eddy {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// Polls at one instant before a deadline that does not move counts as a fault of the switch.
constexpr int kMostPollsAnInstant = 1'000'000;
constexpr uint64_t kLongestSpanNs = 100 * 86'400 * kSecond;  // an Instant lasts 106 days

void append(std::vector<uint8_t>& file, std::span<const uint8_t> octets) {
  file.insert(file.end(), octets.begin(), octets.end());
}

void append_record(std::vector<uint8_t>& file, const PcapRecord& record) {
  const size_t at = file.size();
  file.resize(at + kPcapRecordHeader + record.frame.size());
  encode(record, Octets(file).subspan(at));
}

}  // namespace

PcapRun::PcapRun(Switch& object, size_t packets, size_t data_room)
    : shard_(object.shard(ShardId(0))), packets_(packets, data_room) {
  ASSERT(object.shard_count() == 1);
  std::array<uint8_t, kPcapFileHeader> header{};
  encode_pcap_header(header);
  sent_.resize(object.port_count());
  for (std::vector<uint8_t>& file : sent_) append(file, header);
  completed_.resize(object.port_count());
  for (size_t port = 0; port < object.port_count(); ++port)
    changes_.push_back({PortId(port), true});
}

Problems PcapRun::add_capture(PortId port, std::span<const uint8_t> file) {
  PcapReader reader;
  CodecVerdict verdict = reader.open(file);
  PcapRecord record;
  size_t count = 0;
  while (verdict == CodecVerdict::ok && !reader.at_end()) {
    verdict = reader.next(record);
    ++count;
    if (verdict == CodecVerdict::ok)
      arrivals_.push_back({record.stamp_ns, port, record.frame, record.wire_len});
  }
  if (verdict == CodecVerdict::ok) return {};
  return {"record " + std::to_string(count) +
          " of the capture: " + std::string(to_string(verdict))};
}

Problems PcapRun::run(Duration drain_time) {
  sort_arrivals();
  poll(Instant{});
  for (; arrived_ < arrivals_.size(); poll(now_)) {
    const Arrival& arrival = arrivals_[arrived_];
    if (arrival.stamp_ns - zero_ns_ > kLongestSpanNs)
      return {"the captures span more than 100 days"};
    Problems problems = run_until(time_of(arrival));
    if (!problems.empty()) return problems;
    ++arrived_;
  }
  return run_until(now_ + drain_time);
}

// All deadlines and completions up to `end`, each at its time.
Problems PcapRun::run_until(Instant end) {
  int polls_now = 0;
  for (Instant next = next_moment(); next <= end; next = next_moment()) {
    polls_now = next > now_ ? 0 : polls_now + 1;
    if (polls_now > kMostPollsAnInstant)
      return {"time stands still at " + std::to_string(now_.ps()) +
              " ps: a deadline does not move"};
    poll(std::max(next, now_));
  }
  now_ = end;
  return {};
}

void PcapRun::sort_arrivals() {
  std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
    return a.stamp_ns != b.stamp_ns ? a.stamp_ns < b.stamp_ns : a.port < b.port;
  });
  if (!arrivals_.empty() && arrivals_.back().stamp_ns > kLongestSpanNs)
    zero_ns_ = arrivals_.front().stamp_ns / kSecond * kSecond;
}

Instant PcapRun::time_of(const Arrival& arrival) const {
  return Instant::at(Duration::nanoseconds(static_cast<int64_t>(arrival.stamp_ns - zero_ns_)));
}

Instant PcapRun::next_moment() const {
  return std::min(shard_.next_deadline(), calendar_.next());
}

void PcapRun::poll(Instant now) {
  now_ = now;
  completed_count_ = calendar_.take_due(now, completed_);
  shard_.poll(*this, now);
  changes_.clear();
  if (after_poll) after_poll();
}

Received PcapRun::receive(std::span<Packet*> out) {
  Received got;
  while (got.count < std::min(out.size(), kBurst) && next_arrival_ < arrived_) {
    const Arrival& arrival = arrivals_[next_arrival_];
    if (got.count > 0 && arrival.port != got.port) break;
    ++next_arrival_;
    Packet* packet = arrival.frame.size() <= packets_.data_room() ? packets_.get() : nullptr;
    if (packet == nullptr) {
      ++lost_;
      continue;
    }
    std::copy(arrival.frame.begin(), arrival.frame.end(), packet->data());
    packet->set_length(arrival.frame.size(), std::min<uint32_t>(arrival.wire_len, UINT16_MAX));
    got.port = arrival.port;
    out[got.count++] = packet;
  }
  return got;
}

const News& PcapRun::news() {
  news_ = {.completions = {completed_.data(), completed_count_}, .link_changes = changes_};
  return news_;
}

uint16_t PcapRun::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  for (Packet* packet : packets) {
    PcapRecord record;
    record.stamp_ns = zero_ns_ + static_cast<uint64_t>(packet->sent_at.since_zero().ns());
    record.wire_len = packet->wire_len;
    record.frame = {packet->data(), packet->data_len()};
    append_record(sent_[port.index()], record);
    packets_.put(packet);
  }
  calendar_.set(port, done);
  return static_cast<uint16_t>(packets.size());
}

Packet* PcapRun::allocate() {
  return packets_.get();
}

void PcapRun::free(std::span<Packet* const> packets) {
  for (Packet* packet : packets) packets_.put(packet);
}

}  // namespace eddy
