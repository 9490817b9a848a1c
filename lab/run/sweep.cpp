#include "lab/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "config/experiment.h"

namespace eddy::lab {
namespace {

constexpr uint64_t kMostSeeds = 10'000;

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

struct Variables {
  const char* index;
  const char* count;
  const char* first;  // the lowest index; null: 0
};
// mpirun of Open MPI, then of MPICH and others; srun; a Slurm array.
constexpr std::array<Variables, 4> kVariables = {
    {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
     {"PMI_RANK", "PMI_SIZE", nullptr},
     {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
     {"SLURM_PROCID", "SLURM_NTASKS", nullptr}}};

Result<Rank> read_rank(const Variables& names, const Environment& environment) {
  constexpr uint64_t kWrong = UINT64_MAX;
  const auto number = [&](const char* name, uint64_t unset) {
    const std::optional<std::string> text = environment(name);
    return text ? parse_number(*text).value_or(kWrong) : unset;
  };
  const uint64_t index = number(names.index, kWrong);
  const uint64_t count = number(names.count, kWrong);
  const uint64_t first = names.first != nullptr ? number(names.first, 0) : 0;
  const bool valid =
      index != kWrong && count <= UINT32_MAX && first <= index && index - first < count;
  if (!valid)
    return Result<Rank>::failure(fmt::format(
        "the environment has {}={} and {}={}: which process of how many is this?", names.index,
        *environment(names.index), names.count, environment(names.count).value_or("(not set)")));
  return Rank{.index = static_cast<uint32_t>(index - first),
              .count = static_cast<uint32_t>(count),
              .from = names.index};
}

// The script of a Slurm job, outside of srun, is one process, whatever the number of tasks.
bool is_batch_script(const Environment& environment) {
  return environment("SLURM_JOB_ID") && !environment("SLURM_STEP_ID");
}

}  // namespace

std::vector<WorkItem> work_items(size_t variants, const std::vector<uint64_t>& seeds) {
  std::vector<WorkItem> items;
  for (size_t variant = 0; variant < variants; ++variant)
    for (const uint64_t seed : seeds) items.push_back({variant, seed});
  return items;
}

Result<Rank> rank_of(const Environment& environment) {
  for (const Variables& names : kVariables) {
    if (!environment(names.index)) continue;
    const bool of_srun = std::string_view(names.index) == "SLURM_PROCID";
    if (!of_srun || !is_batch_script(environment)) return read_rank(names, environment);
  }
  return Rank{};
}

std::vector<WorkItem> share_of(const std::vector<WorkItem>& items, const Rank& rank) {
  std::vector<WorkItem> share;
  for (size_t i = rank.index; i < items.size(); i += rank.count) share.push_back(items[i]);
  return share;
}

Result<std::vector<uint64_t>> parse_seeds(std::string_view text) {
  using Seeds = Result<std::vector<uint64_t>>;
  std::vector<uint64_t> seeds;
  for (size_t from = 0; from <= text.size();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    const std::string_view part = text.substr(from, comma - from);
    const size_t dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *last < *first)
      return Seeds::failure(
          fmt::format("\"{}\" is no seed; valid are numbers from 0 to {} and ranges such as "
                      "1,2,5-8",
                      part, config::kLargestSeed));
    if (*last > config::kLargestSeed)
      return Seeds::failure(
          fmt::format("seed {} is too large, valid is 0 to {}", *last, config::kLargestSeed));
    if (*last - *first >= kMostSeeds || seeds.size() + (*last - *first) >= kMostSeeds)
      return Seeds::failure(fmt::format("more than {} seeds", kMostSeeds));
    for (uint64_t seed = *first;; ++seed) {
      if (std::ranges::find(seeds, seed) != seeds.end())
        return Seeds::failure(fmt::format("seed {} stands twice", seed));
      seeds.push_back(seed);
      if (seed == *last) break;
    }
    from = comma + 1;
  }
  return seeds;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + shell_quoted(word);
  return out;
}

}  // namespace eddy::lab
