// What switches give their ports by rate: thresholds of ECN and, in HPCC's simulator, of PFC.
//
// Ports of the rate that most links of hosts have go by the profiles "default" and "lossless";
// those of another rate whose values differ by profiles of their own, "of_400Gbps".
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "lab/fabric/text_table.h"
#include "lab/import/ns3_translation.h"
#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

struct Map {
  std::string_view key;
  std::string_view setting;
  std::string_view unit;
  double most;
};
constexpr double kMostKb = 1'000'000;
constexpr auto kMaps = std::to_array<Map>({{"KMIN_MAP", "kmin", "kB", kMostKb},
                                           {"KMAX_MAP", "kmax", "kB", kMostKb},
                                           {"PMAX_MAP", "pmax", "", 1}});
using Values = std::array<std::string, kMaps.size()>;  // as they stand in the experiment

// Thousands of octets; a probability.
std::string text_of(const Map& map, double value) {
  if (map.unit.empty()) {
    std::string share = fmt::format("{:.9f}", value);
    share.erase(share.find_last_not_of('0') + 1);
    return share.ends_with('.') ? share + "0" : share;
  }
  constexpr double kThousand = 1'000;
  if (value == std::floor(value)) return fmt::format("{:.0f}kB", value);
  return fmt::format("{:.0f}B", std::round(value * kThousand));
}

std::string profile_of(BitRate rate) {
  return "of_" + to_string(rate);
}

// That program halves what is left of a faster port's rate until it is the hosts', and doubles its
// share of the free buffer as often.
int dynamic_th_of(BitRate rate, BitRate of_hosts) {
  constexpr int kUsual = -3;
  int shift = kUsual;
  for (int64_t left = rate.bps(); left > of_hosts.bps() && shift < 0; left /= 2) ++shift;
  return shift;
}

}  // namespace

void Ns3Translation::ecn() {
  constexpr int64_t kUsualRate = 100'000'000'000;
  const bool marks = flag("ENABLE_QCN", true);
  take("ENABLE_QCN", "wred.default.ecn", marks ? "true" : "false");
  always("wred.default.mark", "dequeue", "a packet is marked when it leaves");
  const BitRate usual = topology_.host_link_rate;
  std::set<BitRate> rates;
  if (topology_.is_read) rates.insert(usual);
  for (const BitRate rate : topology_.rates()) rates.insert(rate);
  std::map<BitRate, Values> values;
  std::map<BitRate, double> begin;  // of marking
  for (size_t i = 0; i < kMaps.size(); ++i) {
    const std::string_view key = kMaps[i].key;
    const auto map = config_.by_rate(key);
    if (!map && config_.find(key) == nullptr)
      config_.problem(key, fmt::format("{} is missing, such as '{} 1 {} ...'", key, key,
                                       topology_.is_read ? usual.bps() : kUsualRate));
    if (!map) continue;
    for (const BitRate rate : rates) {
      const auto found = map->find(rate.bps());
      if (found == map->end())
        config_.problem(key, fmt::format("{} has no value for {}, the rate of {}links", key,
                                         to_string(rate), rate == usual ? "hosts' " : ""));
      else if (const auto value = config_.file().quantity(found->second, &parse_real)) {
        if (*value < 0 || *value > kMaps[i].most)
          config_.file().problem(found->second,
                                 fmt::format("{} {} is no number from 0 to {}", key,
                                             in_quotes(found->second.text), kMaps[i].most));
        values[rate][i] = text_of(kMaps[i], *value);
        if (i == 0) begin[rate] = *value;
        if (i == 1 && begin.contains(rate) && begin[rate] > *value)
          config_.file().problem(found->second, fmt::format("{} {} of {} is below KMIN_MAP's {}",
                                                            key, in_quotes(found->second.text),
                                                            to_string(rate), begin[rate]));
      }
    }
  }
  for (size_t i = 0; i < kMaps.size(); ++i) {
    std::string text = values[usual][i];
    if (text.empty()) continue;  // a problem has been told
    set(kMaps[i].key, fmt::format("wred.default.{}", kMaps[i].setting), text);
    for (const auto& [rate, own] : values)
      if (own != values[usual]) {
        set(kMaps[i].key, fmt::format("wred.{}.{}", profile_of(rate), kMaps[i].setting), own[i]);
        if (own[i] != values[usual][i])
          text += fmt::format(", of ports of {} {}", to_string(rate), own[i]);
      }
    finding(Treatment::taken, kMaps[i].key,
            fmt::format("wred.default.{}: {}", kMaps[i].setting, text));
  }
  for (const auto& [rate, own] : values) {
    if (own == values[usual]) continue;
    settings_.set(fmt::format("wred.{}.ecn", profile_of(rate)), marks ? "true" : "false");
    settings_.set(fmt::format("wred.{}.mark", profile_of(rate)), "dequeue");
    marked_apart_.insert(rate);
  }
}

void Ns3Translation::ports_by_rate() {
  std::string list;
  for (const BitRate rate : topology_.rates()) {
    constexpr int kUsual = -3;
    const int dynamic_th = conweave_ ? kUsual : dynamic_th_of(rate, topology_.host_link_rate);
    const bool pauses_apart = dynamic_th != kUsual;
    if (pauses_apart) lossless_of(rate, dynamic_th);
    if (!pauses_apart && !marked_apart_.contains(rate)) continue;
    list += fmt::format("\n    - {{rate: {}", to_string(rate));
    if (marked_apart_.contains(rate)) list += ", wred: " + profile_of(rate);
    if (pauses_apart) list += ", lossless: " + profile_of(rate);
    list += "}";
    if (topology_.joins_to(rate))
      report_.add({Treatment::approximated,
                   {},
                   0,
                   fmt::format("ports of {} to hosts with several links", to_string(rate)),
                   "have the thresholds of such links, that program has those of each"});
  }
  if (!list.empty()) settings_.set("switches.by_rate", list);
}

void Ns3Translation::lossless_of(BitRate rate, int dynamic_th) {
  const std::string profile = fmt::format("buffer.profiles.{}.", profile_of(rate));
  settings_.set(profile + "lossless", "true");
  settings_.set(profile + "mode", "dynamic");
  settings_.set(profile + "dynamic_th", std::to_string(dynamic_th),
                "doubled with the rate of ports faster than hosts'");
  settings_.set(profile + "reserved", kOwnOfAGroup);
  settings_.set(profile + "xon_offset", kXonOffset);
  report_.add({Treatment::taken,
               {},
               0,
               fmt::format("PFC of ports of {}, faster than hosts'", to_string(rate)),
               fmt::format("buffer.profiles.{}.dynamic_th: {}, doubled with the rate",
                           profile_of(rate), dynamic_th)});
}

}  // namespace eddy::lab
