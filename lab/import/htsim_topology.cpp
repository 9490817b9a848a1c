#include "lab/import/htsim_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "lab/fabric/text_table.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

using Line = WordLines::Line;
using Word = WordLines::Word;

constexpr size_t kMostTiers = 3;
constexpr int64_t kMostNodes = 1'000'000;
constexpr int64_t kMostRadix = 4'096;

struct Tier {
  bool there = false;
  std::map<std::string, int64_t> values;
  int line = 1;
  int64_t at(const std::string& key, int64_t fallback = 0) const {
    const auto found = values.find(key);
    return found == values.end() ? fallback : found->second;
  }
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

struct Key {
  std::string_view name;
  int64_t least;
  int64_t most;
};
constexpr auto kOfTiers = std::to_array<Key>({{"downlink_speed_gbps", 1, 1'600},
                                              {"radix_up", 1, kMostRadix},
                                              {"radix_down", 1, kMostRadix},
                                              {"oversubscribed", 1, kMostRadix},
                                              {"bundle", 1, kMostRadix},
                                              {"switch_latency_ns", 0, 1'000'000'000},
                                              {"downlink_latency_ns", 1, 1'000'000'000}});

class Reader {
 public:
  Reader(WordLines& file, const std::string& name, ImportReport& report)
      : file_(file), name_(name), report_(report) {}

  std::optional<HtsimTopology> read() {
    for (const Line& line : file_.lines()) read_line(line);
    if (file_.problems().empty()) check_complete();
    if (file_.problems().empty()) check_shape();
    if (!file_.problems().empty()) return std::nullopt;
    build();
    return std::move(out_);
  }

 private:
  void read_line(const Line& line) {
    const std::string key = lower(line[0].text);
    if (key == "nodes") return take(line, 1, kMostNodes, nodes_);
    if (key == "tiers") return take(line, 2, static_cast<int64_t>(kMostTiers), tiers_);
    if (key == "podsize") return take(line, 1, kMostNodes, pod_);
    if (key == "tier") {
      int64_t number = -1;
      take(line, 0, static_cast<int64_t>(kMostTiers) - 1, number);
      tier_ = number < 0 ? nullptr : &parts_[static_cast<size_t>(number)];
      if (tier_ == nullptr) return;
      if (tier_->there) file_.problem(line[0], fmt::format("tier {} stands twice", number));
      tier_->there = true;
      tier_->line = line[0].line;
      return;
    }
    const auto* found = std::ranges::find(kOfTiers, key, &Key::name);
    if (found == kOfTiers.end())
      return report_.add({Treatment::ignored, name_, line[0].line, std::string(line[0].text),
                          "no key that htsim reads"});
    if (tier_ == nullptr)
      return file_.problem(line[0],
                           std::string(line[0].text) + " is of a tier, write 'Tier 0' above");
    int64_t value = 0;
    take(line, found->least, found->most, value);
    if (!tier_->values.emplace(key, value).second)
      file_.problem(line[0], std::string(line[0].text) + " stands twice in this tier");
  }

  void take(const Line& line, int64_t least, int64_t most, int64_t& to) {
    if (line.size() < 2)
      return file_.problem(line[0], "a number is missing behind " + in_quotes(line[0].text));
    if (const auto number = file_.number(line[1], least, most)) to = *number;
    const std::string key = lower(line[0].text);
    const bool follows = key == "oversubscribed";
    report_.add({follows ? Treatment::ignored : Treatment::taken, name_, line[0].line,
                 fmt::format("{} {}", std::string(line[0].text), std::string(line[1].text)),
                 follows                      ? "follows from the radixes and speeds"
                 : key == "switch_latency_ns" ? "half of it on each link of such a switch"
                                              : "topology.txt"});
  }

  void check_complete() {
    const int last = file_.last_line();
    if (nodes_ == 0) file_.problem(last, "'Nodes' is missing, the number of hosts");
    if (tiers_ == 0) file_.problem(last, "'Tiers' is missing, 2 or 3");
    if (pod_ == 0) file_.problem(last, "'Podsize' is missing, the hosts of a pod");
    for (size_t i = 0; i < static_cast<size_t>(tiers_); ++i) {
      if (!parts_[i].there) {
        file_.problem(last, fmt::format("'Tier {}' is missing", i));
        continue;
      }
      for (const char* key : {"downlink_speed_gbps", "downlink_latency_ns", "radix_down"})
        if (parts_[i].at(key) == 0)
          file_.problem(parts_[i].line, fmt::format("tier {} has no {}", i, key));
      if (i + 1 < static_cast<size_t>(tiers_) && parts_[i].at("radix_up") == 0)
        file_.problem(parts_[i].line, fmt::format("tier {} has no radix_up", i));
    }
  }

  // How many switches there are on each tier, and that their ports go out even.
  void check_shape() {
    const auto even = [&](int64_t what, int64_t by, size_t tier, const std::string& text) {
      if (by > 0 && what % by == 0) return true;
      file_.problem(parts_[tier].line, text);
      return false;
    };
    const int64_t down = parts_[0].at("radix_down");
    if (parts_[0].at("bundle", 1) != 1)
      file_.problem(parts_[0].line, "a host has one link, bundle 1 would be valid in tier 0");
    if (!even(nodes_, pod_, 0,
              fmt::format("{} hosts are no whole number of pods of {}", nodes_, pod_)) ||
        !even(pod_, down, 0,
              fmt::format("a pod of {} hosts is no whole number of switches with {}", pod_, down)))
      return;
    if (tiers_ == 2 && pod_ != nodes_)
      return file_.problem(parts_[0].line, "with two tiers there is one pod of all hosts");
    pods_ = nodes_ / pod_;
    lower_ = pod_ / down;
    const int64_t bundle = parts_[1].at("bundle", 1);
    const int64_t up = parts_[0].at("radix_up");
    if (!even(up, bundle, 1,
              fmt::format("radix_up {} of tier 0 is no whole number of bundles of {}", up, bundle)))
      return;
    upper_ = up / bundle;
    if (parts_[1].at("radix_down") != lower_ * bundle)
      file_.problem(parts_[1].line,
                    fmt::format("radix_down {} of tier 1, but a pod has {} switches below with {} "
                                "links each: {} would be valid",
                                parts_[1].at("radix_down"), lower_, bundle, lower_ * bundle));
    if (tiers_ == 2) return;
    const int64_t core_bundle = parts_[2].at("bundle", 1);
    const int64_t core_up = parts_[1].at("radix_up");
    if (!even(core_up, core_bundle, 2,
              fmt::format("radix_up {} of tier 1 is no whole number of bundles of {}", core_up,
                          core_bundle)))
      return;
    per_upper_ = core_up / core_bundle;
    if (parts_[2].at("radix_down") != pods_ * core_bundle)
      file_.problem(
          parts_[2].line,
          fmt::format("radix_down {} of tier 2, but there are {} pods with {} links each: "
                      "{} would be valid",
                      parts_[2].at("radix_down"), pods_, core_bundle, pods_ * core_bundle));
  }

  void build() {
    const int64_t lowers = pods_ * lower_;
    const int64_t uppers = pods_ * upper_;
    const int64_t cores = tiers_ == 3 ? upper_ * per_upper_ : 0;
    const int64_t first_upper = nodes_ + lowers;
    const int64_t first_core = first_upper + uppers;
    out_.hosts = nodes_;
    out_.switches = lowers + uppers + cores;
    for (int64_t host = 0; host < nodes_; ++host)
      link(host, nodes_ + host / parts_[0].at("radix_down"), 0);
    for (int64_t lower = 0; lower < lowers; ++lower)
      for (int64_t i = 0; i < upper_; ++i)
        link(nodes_ + lower, first_upper + lower / lower_ * upper_ + i, 1);
    for (int64_t upper = 0; upper < uppers && tiers_ == 3; ++upper)
      for (int64_t i = 0; i < per_upper_; ++i)
        link(first_upper + upper, first_core + upper % upper_ + upper_ * i, 2);
    std::string numbers;
    for (int64_t i = 0; i < out_.switches; ++i)
      numbers += (i == 0 ? "" : " ") + std::to_string(nodes_ + i);
    out_.text = fmt::format("{} {} {}\n{}\n{}", nodes_ + out_.switches, out_.switches, out_.links,
                            numbers, links_);
    for (const auto& [node, octets] : under_way_)
      if (node >= nodes_) out_.headroom = std::max(out_.headroom, Bytes(octets));
  }

  // All of the bundle.
  void link(int64_t a, int64_t b, size_t tier) {
    constexpr int64_t kPicosecondsANanosecond = 1'000;
    const int64_t switches = parts_[tier].at("switch_latency_ns") +
                             (tier == 0 ? 0 : parts_[tier - 1].at("switch_latency_ns"));
    const Duration delay =
        Duration::picoseconds(parts_[tier].at("downlink_latency_ns") * kPicosecondsANanosecond +
                              switches * kPicosecondsANanosecond / 2);
    const BitRate rate = BitRate::gbps(parts_[tier].at("downlink_speed_gbps"));
    for (int64_t i = 0; i < parts_[tier].at("bundle", 1); ++i) {
      links_ += fmt::format("{} {} {} {} 0\n", a, b, to_string(rate), to_string(delay));
      for (const int64_t end : {a, b}) under_way_[end] += bytes_in(delay * 2, rate).count();
      ++out_.links;
    }
  }

  WordLines& file_;
  const std::string& name_;
  ImportReport& report_;
  int64_t nodes_ = 0;
  int64_t tiers_ = 0;
  int64_t pod_ = 0;
  std::array<Tier, kMostTiers> parts_;
  Tier* tier_ = nullptr;
  int64_t pods_ = 1;
  int64_t lower_ = 0;      // switches next to hosts, a pod
  int64_t upper_ = 0;      // above them, a pod
  int64_t per_upper_ = 0;  // cores that one of those is joined to
  std::map<int64_t, int64_t> under_way_;
  std::string links_;
  HtsimTopology out_;
};

}  // namespace

std::optional<HtsimTopology> read_htsim_topology(WordLines& file, const std::string& name,
                                                 ImportReport& report) {
  return Reader(file, name, report).read();
}

}  // namespace eddy::lab
