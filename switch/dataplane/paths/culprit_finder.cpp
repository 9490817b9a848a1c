#include "switch/dataplane/paths/culprit_finder.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "lb/warning_table.h"
#include "net/congestion/destination_tag.h"

namespace eddy {

// What waits for whom. Of more than kPlaces the later ones are not told apart.
class CulpritFinder::Tally {
 public:
  void add_total(int64_t octets) { total_ += octets; }
  void add(LeafId leaf, uint32_t tag, int64_t octets) {
    Place* const end = places_.data() + used_;
    Place* const found = std::find_if(places_.data(), end, [&](const Place& place) {
      return place.tag == tag && place.leaf == leaf;
    });
    if (found == end && used_ == kPlaces) return;
    if (found == end) {
      *found = {leaf, tag, 0};
      ++used_;
    }
    found->octets += octets;
  }
  // Those with `least` octets and a fair part of all, the most first; of equals the lesser tag.
  CulpritList worst(int64_t least) {
    const auto comes_first = [](const Place& a, const Place& b) {
      return a.octets != b.octets ? a.octets > b.octets : a.tag < b.tag;
    };
    std::sort(places_.begin(), places_.begin() + used_, comes_first);
    CulpritList list{};
    for (size_t i = 0; i < std::min(used_, kMostCulprits); ++i) {
      const Place& place = places_[i];
      if (place.octets < std::max(least, total_ / kLeastPart)) break;
      list[i] = {place.leaf, share_of(place.octets, total_), place.tag};
    }
    return list;
  }

 private:
  static constexpr size_t kPlaces = 32;
  struct Place {
    LeafId leaf;
    uint32_t tag = 0;
    int64_t octets = 0;
  };
  std::array<Place, kPlaces> places_{};
  size_t used_ = 0;
  int64_t total_ = 0;
};

CulpritList CulpritFinder::find(const Endangered& group) const {
  Tally tally;
  for (size_t i = 0; i < context_.common.signals.size(); ++i) look_at_port(group, PortId(i), tally);
  return tally.worst(std::max<int64_t>(group.held / kLeastPart, 1));
}

void CulpritFinder::look_at_port(const Endangered& group, PortId egress, Tally& tally) const {
  const lb::PortSignals& signals = context_.signals(egress);
  if (signals.backlog_from(QueueId(0)) == 0) return;
  const Duration ago = context_.common.feeds.since(egress, group.port, context_.now);
  if (ago > group.contribution * kStays) return;
  for (size_t queue = 0; queue < kPriorities; ++queue)
    if (signals.queued_bytes[queue].load(std::memory_order_relaxed) != 0)
      look_at_queue(group, egress, QueueId(queue), tally);
}

void CulpritFinder::look_at_queue(const Endangered& group, PortId egress, QueueId queue,
                                  Tally& tally) const {
  if (!context_.owns(egress)) return;
  const Packet* const head = context_.queue(egress, queue.index()).fifo.head();
  if (head == nullptr || head->pg != group.pg) return;
  const int64_t waits =
      context_.signals(egress).queued_bytes[queue.index()].load(std::memory_order_relaxed);
  tally.add_total(waits);
  if (context_.settings(egress).role == config::PortRole::host) {
    if (const uint32_t tag = destination_tag_of(*head); tag != 0)
      tally.add(context_.snapshot->leaf, tag, waits);
    return;
  }
  const CulpritList named = context_.warnings->culprits(egress, queue);
  int64_t shares = 0;
  for (const Culprit& culprit : named) shares += culprit.share;
  const int64_t whole = std::max(shares, kWholeShare);  // of a list that claims too much
  for (const Culprit& culprit : named)
    if (culprit.share != 0) tally.add(culprit.leaf, culprit.tag, waits * culprit.share / whole);
}

}  // namespace eddy
