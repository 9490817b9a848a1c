#include "lab/world/shares.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace eddy::lab {
namespace {

// What is less uneven stays as it is, as does what could hardly be less so: what changes hands is
// in no cache of its new core, and looks see the noise of the machine, too.
constexpr double kUneven = 1.02;
constexpr double kMended = 0.01;
// Of what a look knew of a thread, how much is left at the next one.
constexpr double kMemory = 0.75;

double total_of(std::span<const double> speeds) {
  return std::accumulate(speeds.begin(), speeds.end(), 0.0);
}

// Of one tier, shared out.
class Tier {
 public:
  Tier(std::vector<size_t> members, const SharedOut& of, std::span<const double> speeds,
       std::vector<uint16_t>& share_of)
      : members_(std::move(members)),
        weights_(of.weights),
        speeds_(speeds),
        share_of_(share_of),
        has_(speeds.size()) {
    for (const size_t i : members_) has_[share_of_[i]] += weight(i);
  }

  void even_out() {
    for (size_t tries = 0; tries < members_.size() && exchange(); ++tries) {
    }
  }

 private:
  static constexpr size_t kNothing = SIZE_MAX;  // in return for what is given
  // Below it an exchange is not worth that others than neighbours meet.
  static constexpr double kWorthwhile = 0.01;

  double weight(size_t i) const { return i == kNothing ? 0 : static_cast<double>(weights_[i]); }
  double time_of(size_t share) const { return has_[share] / speeds_[share]; }

  // Whoever works longest gives one to whoever is ready first, for a lighter one or for nothing.
  // False: none is of use.
  bool exchange() {
    size_t last = 0, first = 0;
    for (size_t share = 1; share < has_.size(); ++share) {
      if (time_of(share) > time_of(last)) last = share;
      if (time_of(share) < time_of(first)) first = share;
    }
    size_t given = kNothing, taken = kNothing;
    double longest = time_of(last) * (1 - kWorthwhile);
    for (const size_t give : members_) {
      if (share_of_[give] != last) continue;
      const auto look = [&](size_t take) {
        const double more = weight(give) - weight(take);
        const double time =
            std::max((has_[last] - more) / speeds_[last], (has_[first] + more) / speeds_[first]);
        if (time >= longest) return;
        longest = time;
        given = give;
        taken = take;
      };
      look(kNothing);
      for (const size_t take : members_)
        if (share_of_[take] == first) look(take);
    }
    if (given == kNothing) return false;
    share_of_[given] = static_cast<uint16_t>(first);
    if (taken != kNothing) share_of_[taken] = static_cast<uint16_t>(last);
    has_[last] -= weight(given) - weight(taken);
    has_[first] += weight(given) - weight(taken);
    return true;
  }

  const std::vector<size_t> members_;
  std::span<const int64_t> weights_;
  std::span<const double> speeds_;
  std::vector<uint16_t>& share_of_;
  std::vector<double> has_;  // weight, by share
};

std::vector<std::vector<size_t>> members_of(const std::vector<size_t>& tiers) {
  std::vector<std::vector<size_t>> members;
  for (size_t i = 0; i < tiers.size(); ++i) {
    members.resize(std::max(members.size(), tiers[i] + 1));
    members[tiers[i]].push_back(i);
  }
  return members;
}

}  // namespace

// Each goes to the share in which its middle is.
std::vector<uint16_t> stretches_of(const SharedOut& of, std::span<const double> speeds) {
  std::vector<uint16_t> share_of(of.weights.size());
  const double all_speeds = total_of(speeds);
  for (const std::vector<size_t>& members : members_of(of.tiers)) {
    double total = 0, before = 0;
    for (const size_t i : members) total += static_cast<double>(of.weights[i]);
    size_t share = 0;
    double speed = speeds[0];  // of the shares up to this one
    for (const size_t i : members) {
      const double weight = static_cast<double>(of.weights[i]);
      const double middle = (before + weight / 2) * all_speeds;
      while (share + 1 < speeds.size() && middle >= speed * total) speed += speeds[++share];
      share_of[i] = static_cast<uint16_t>(share);
      before += weight;
    }
  }
  return share_of;
}

std::vector<uint16_t> even_shares_of(const SharedOut& of, std::span<const double> speeds) {
  std::vector<uint16_t> share_of = stretches_of(of, speeds);
  for (std::vector<size_t>& members : members_of(of.tiers))
    if (members.size() <= kFew) Tier(std::move(members), of, speeds, share_of).even_out();
  return share_of;
}

void Sharing::add(const Partition& partition) {
  of_.tiers.push_back(partition.tier);
  of_.weights.push_back(1);
  turns_.push_back(partition.turn);
  thread_of_.push_back(partition.thread);
}

bool Sharing::look(std::span<const uint64_t> events, std::span<const uint64_t> worked) {
  for (size_t i = 0; i < events.size(); ++i) of_.weights[i] = static_cast<int64_t>(events[i]) + 1;
  note(worked);
  const std::vector<double> speeds = this->speeds();
  std::vector<uint16_t> next = even_shares_of(of_, speeds);
  const double now = unevenness(thread_of_, speeds);
  if (now < kUneven || unevenness(next, speeds) > now - kMended) return false;
  for (size_t i = 0; i < next.size(); ++i) moves_ += next[i] != thread_of_[i] ? 1 : 0;
  thread_of_ = std::move(next);
  return true;
}

// A thread that has had nothing to do is forgotten: it may be as fast as the others by now.
void Sharing::note(std::span<const uint64_t> worked) {
  std::vector<double> done(paces_.size());
  for (size_t i = 0; i < thread_of_.size(); ++i)
    done[thread_of_[i]] += static_cast<double>(of_.weights[i]);
  for (size_t i = 0; i < paces_.size(); ++i) {
    Pace& pace = paces_[i];
    pace = {pace.done * kMemory + done[i], pace.worked * kMemory + static_cast<double>(worked[i])};
    if (done[i] == 0) pace = {};
  }
}

// In weight a unit of time. One that is not known is as the others.
std::vector<double> Sharing::speeds() const {
  Pace all;
  const auto is_known = [](const Pace& pace) { return pace.done != 0 && pace.worked != 0; };
  for (const Pace& pace : paces_) {
    if (!is_known(pace)) continue;
    all.done += pace.done;
    all.worked += pace.worked;
  }
  if (!is_known(all)) all = {1, 1};
  std::vector<double> speeds;
  for (const Pace& pace : paces_) {
    const Pace& of = is_known(pace) ? pace : all;
    speeds.push_back(of.done / of.worked);
  }
  return speeds;
}

// How long the last thread works, turn by turn, over how long all would if they ended together.
double Sharing::unevenness(std::span<const uint16_t> thread_of,
                           std::span<const double> speeds) const {
  double all = 0, longest = 0;
  const uint8_t last = turns_.empty() ? uint8_t{0} : *std::ranges::max_element(turns_);
  for (unsigned turn = 0; turn <= last; ++turn) {
    std::vector<double> has(paces_.size());
    for (size_t i = 0; i < turns_.size(); ++i)
      if (turns_[i] == turn) has[thread_of[i]] += static_cast<double>(of_.weights[i]);
    double time = 0;
    for (size_t i = 0; i < has.size(); ++i) {
      all += has[i];
      time = std::max(time, has[i] / speeds[i]);
    }
    longest += time;
  }
  return all == 0 ? 1 : longest * total_of(speeds) / all;
}

}  // namespace eddy::lab
