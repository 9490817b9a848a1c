#include "lab/results/result_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lab/results/variants.h"

namespace eddy::lab {
namespace {

// The runs of which something is true, and how much of it there was in one of them.
class Runs {
 public:
  explicit Runs(const Json& all) : all_(&all) {}

  void add(const Json& run, uint64_t amount = 0) {
    if (count_++ == 0) first_ = &run;
    most_ = std::max(most_, amount);
  }
  bool any() const { return count_ > 0; }
  uint64_t most() const { return most_; }
  // "2 of 4 runs (the first is [scheme=ecmp], seed 1)".
  std::string said() const {
    const std::string variant = first_->value("variant", "");
    return fmt::format("{} of {} run{}{}", count_, all_->size(), all_->size() == 1 ? "" : "s",
                       all_->size() == 1
                           ? ""
                           : fmt::format(" (the first is {}seed {})",
                                         variant.empty() ? "" : fmt::format("[{}], ", variant),
                                         first_->value("seed", uint64_t{0})));
  }

 private:
  const Json* all_;
  const Json* first_ = nullptr;
  size_t count_ = 0;
  uint64_t most_ = 0;
};

// A table or buffer of bounded size, what it means that it was full, and the key to make it larger;
// or what else a run should have had none of.
struct Bounded {
  std::string_view counter;
  std::string_view what;
  std::string_view key;
};
constexpr auto kBounded = std::to_array<Bounded>({
    {"resequence_placeless_packets",
     "packets found no place in the table of flows that are put back in order", "resequence.flows"},
    {"resequence_forced_flows",
     "times there was no room to hold more packets of a flow that is put back in order",
     "resequence.packets and resequence.cap"},
    {"selector_fallback_packets",
     "packets went by ecmp, because the scheme of a plugin failed (docs/plugins.md)", ""},
    {"guard_placeless_packets", "packets found no place in the table of RLB's order guard",
     "rlb.guard.flows"},
    {"agent_frames_unspoken",
     "frames of a scheme came to switches that do not speak it: the fabric is mixed, and flows "
     "from and to these switches go by less than their scheme would know",
     ""},
    {"path_reports_evicted", "times a leaf had more paths to another than are measured", ""},
    {"drops_neighbor_table_full", "packets were dropped for want of a place for their neighbor",
     "control.neighbor_quota"},
    {"nic_control_backlog_drops", "ACKs, NAKs and CNPs of hosts were not sent: too many waited",
     ""},
});

uint64_t number_of(const Json& run, std::string_view key) {
  const auto found = run.find(key);
  return found != run.end() && found->is_number_integer() ? found->get<uint64_t>() : 0;
}

bool is_true(const Json& run, std::string_view key) {
  const auto found = run.find(key);
  return found != run.end() && found->is_boolean() && found->get<bool>();
}

// One that was interrupted may not have come that far.
bool is_empty_run(const Json& run) {
  return run.contains("flows") && number_of(run, "flows") == 0 && !is_true(run, "interrupted");
}

class Warnings {
 public:
  explicit Warnings(const Json& result) : result_(result), runs_(result.at("runs")) {}

  std::vector<std::string> take() {
    add_measured();
    add_losses();
    add_tables();
    add_configuration();
    add_mixtures();
    return std::move(said_);
  }

 private:
  template <class Amount>
  Runs runs_with(Amount amount) const {
    Runs found(runs_);
    for (const Json& run : runs_)
      if (const uint64_t how_much = amount(run); how_much > 0) found.add(run, how_much);
    return found;
  }
  void say(std::string text) { said_.push_back(std::move(text)); }

  void add_measured() {
    if (const Runs empty = runs_with(is_empty_run); empty.any())
      say(
          fmt::format("No flow was measured in {}: such a run has no numbers. Flows are measured "
                      "that start in [run.warmup, run.warmup + run.duration), of traffic with "
                      "measured: true.",
                      empty.said()));
    const Runs stopped = runs_with([](const Json& run) { return is_true(run, "interrupted"); });
    if (stopped.any()) say(fmt::format("{} were interrupted.", stopped.said()));
    const Runs censored = runs_with([](const Json& run) {
      return std::max<uint64_t>(number_of(run, "unfinished"), is_true(run, "censored") ? 1 : 0);
    });
    if (censored.any())
      say(
          fmt::format("{} are censored: flows were unfinished at the end, up to {} in one, and no "
                      "mean or percentile holds them.",
                      censored.said(), censored.most()));
    const Runs violated = runs_with([](const Json& run) {
      return run.contains("violations") ? run.at("violations").size() : size_t{0};
    });
    if (violated.any()) say(fmt::format("{} violated an invariant.", violated.said()));
  }

  void add_losses() {
    const Runs lossy = runs_with([](const Json& run) { return number_of(run, "lossless_drops"); });
    if (lossy.any())
      say(
          fmt::format("Lossless packets were dropped in {}, up to {} in one: the configuration is "
                      "not sound, or links failed.",
                      lossy.said(), lossy.most()));
  }

  void add_tables() {
    for (const Bounded& table : kBounded) {
      const Runs full = runs_with([&](const Json& run) {
        return run.contains("counters") ? number_of(run.at("counters"), table.counter) : 0;
      });
      if (!full.any()) continue;
      if (!table.key.empty()) said_keys_.push_back(std::string(table.key) + ": ");
      say(fmt::format("{} {} in one of the runs; it happened in {} ({}{}).", full.most(),
                      table.what, full.said(), table.counter,
                      table.key.empty() ? "" : fmt::format("; larger: {}", table.key)));
    }
  }

  // What the runs said of their fabric and their flows, each text once.
  void add_configuration() {
    std::vector<std::pair<std::string, Runs>> found;
    for (const Json& run : runs_) {
      if (!run.contains("warnings")) continue;
      for (const Json& text : run.at("warnings")) {
        if (is_said(text.get<std::string>())) continue;
        auto at = std::ranges::find(found, text.get<std::string>(),
                                    [](const auto& each) { return each.first; });
        if (at == found.end())
          at = found.insert(found.end(), {text.get<std::string>(), Runs(runs_)});
        at->second.add(run);
      }
    }
    for (size_t i = 0; i < std::min(found.size(), kMost); ++i)
      say(fmt::format("{} (in {})", found[i].first, found[i].second.said()));
    if (found.size() > kMost)
      say(fmt::format("{} other warnings stand under \"warnings\" of the runs.",
                      found.size() - kMost));
  }

  void add_mixtures() {
    if (result_.value("commit", "") == "mixed") say("The runs are of different commits.");
    const Json hashes = result_.value("config_hashes", Json::object());
    for (const auto& [variant, hash] : hashes.items())
      if (hash == "mixed")
        say(fmt::format("The seeds of \"{}\" had different configurations.", variant));
    const std::vector<VariantRuns> variants = by_variant(result_);
    const auto same = [&](const VariantRuns& v) {
      return v.runs.size() == variants[0].runs.size();
    };
    if (!variants.empty() && !std::ranges::all_of(variants, same))
      say("The variants have different numbers of seeds.");
  }

  // Some runs say of a table themselves what has been said of all of them.
  bool is_said(const std::string& text) const {
    return std::ranges::any_of(said_keys_,
                               [&](const std::string& key) { return text.starts_with(key); });
  }

  static constexpr size_t kMost = 8;  // texts of the configuration
  const Json& result_;
  const Json& runs_;
  std::vector<std::string> said_;
  std::vector<std::string> said_keys_;  // of tables, each with ": "
};

}  // namespace

std::vector<std::string> result_warnings(const Json& result) {
  return Warnings(result).take();
}

bool measured_nothing(const Json& result) {
  return std::ranges::any_of(result.at("runs"), is_empty_run);
}

std::string warning_lines(const Json& result, const std::string& prefix) {
  std::string out;
  for (const std::string& said : result_warnings(result)) out += prefix + said + "\n";
  return out;
}

}  // namespace eddy::lab
