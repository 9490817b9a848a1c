#include "lab/mpi/shared_sweep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "config/experiment_load.h"
#include "lab/program/interrupt.h"
#include "lab/program/one_run.h"
#include "lab/results/chosen_runs.h"
#include "lab/results/result_warnings.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/agreement.h"
#include "lab/run/experiment_files.h"
#include "lab/run/progress.h"
#include "lab/run/run_identity.h"
#include "lab/world/message.h"
#include "net/fnv.h"
#include "net/version.h"
#include "plugin/plugins.h"
#include "system/free_memory.h"
#include "system/say.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kInterrupted = 130;  // as a shell has it
constexpr const char* kName = "eddylab-mpi: ";

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<config::LoadedExperiment> load(const SharedArguments& arguments) {
  const Result<fs::path> file = experiment_file(arguments.experiment);
  if (!file) return file.problems();
  return config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
}

// Of all runs that the command line means, and of what else all ranks must have alike.
Result<uint64_t> fingerprint(const config::LoadedExperiment& loaded,
                             const std::vector<WorkItem>& items) {
  Fnv64 hash;
  for (const WorkItem& item : items) {
    const Result<uint64_t> of_run = config_hash(loaded, loaded.runs[item.variant]);
    if (!of_run) return of_run.problems();
    hash.add(of_run.value());
    hash.add(item.seed);
  }
  return hash.value();
}

std::string table_of(const std::vector<RankUse>& ranks) {
  std::string out = fmt::format("{:>5} {:>9} {:>9} {:>11} {:>12} {:>9} {:>9} {:>8} {:>7} {:>8}\n",
                                "rank", "windows", "messages", "frames", "octets", "a message",
                                "largest", "trade s", "CPU s", "RSS MiB");
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankTraffic& of = ranks[rank].traffic;
    out += fmt::format("{:>5} {:>9} {:>9} {:>11} {:>12} {:>9} {:>9} {:>8.2f} {:>7.2f} {:>8}\n",
                       rank, of.windows, of.messages, of.frames, of.octets,
                       of.octets / std::max<uint64_t>(of.messages, 1), of.largest, of.trade_seconds,
                       ranks[rank].cpu_seconds, ranks[rank].peak_rss_bytes >> 20);
  }
  return out;
}

class SharedSweep {
 public:
  SharedSweep(const SharedArguments& arguments, Exchange& exchange)
      : arguments_(arguments), exchange_(exchange), progress_(std::cerr, style(), now_seconds) {}

  int run();

 private:
  bool leads() const { return exchange_.rank() == 0; }
  ProgressStyle style() const {
    if (!leads() || arguments_.quiet) return ProgressStyle::quiet;
    if (isatty(STDERR_FILENO) != 0) return ProgressStyle::screen;
    return arguments_.progress ? ProgressStyle::lines : ProgressStyle::brief;
  }
  // All ranks return the same code; rank 0 has said why.
  int complain(int code, const Problems& problems) const {
    if (leads()) say(kName, problems);
    return code;
  }
  Problems choose();
  Problems prepare_folder();
  Problems leave_out_finished();
  int run_all();
  int run_item(const WorkItem& item);
  int end_of(const OneRunEnd& end) const;
  int finish(int code);
  std::optional<size_t> next_item(std::optional<size_t> mine);
  std::vector<std::string> replay(const WorkItem& item) const;
  const config::ExperimentRun& run_of(const WorkItem& item) const {
    return loaded_->runs[item.variant];
  }
  std::string name_of(const WorkItem& item) const {
    const std::string& variant = run_of(item).variant;
    return fmt::format("{}{}seed {}", variant, variant.empty() ? "" : ", ", item.seed);
  }
  fs::path folder_of(const WorkItem& item) const {
    return run_folder(folder_, run_of(item).variant, item.seed);
  }

  const SharedArguments& arguments_;
  Exchange& exchange_;
  SweepProgress progress_;
  std::optional<config::LoadedExperiment> loaded_;
  std::vector<WorkItem> items_;
  std::vector<size_t> left_;  // rank 0: of items_
  fs::path folder_;
  std::unique_ptr<SweepFolder> claimed_;
};

// Reads the files. What the ranks found is compared by agree().
Problems SharedSweep::choose() {
  Statement mine{.program = version_line("eddylab-mpi")};
  Result<config::LoadedExperiment> loaded = load(arguments_);
  if (loaded) {
    loaded_.emplace(std::move(*loaded));
    auto items = chosen_items(*loaded_, arguments_.variants, arguments_.seeds);
    if (items) items_ = std::move(*items);
    const Result<uint64_t> hash = items ? fingerprint(*loaded_, items_) : items.problems();
    if (hash)
      mine.configuration = hash.value();
    else
      mine.problems = hash.problems();
  } else {
    mine.problems = loaded.problems();
  }
  return agree(exchange_, mine);
}

// Rank 0's alone; the others learn whether it went well.
Problems SharedSweep::prepare_folder() {
  Statement mine;
  if (leads()) {
    folder_ = fs::path(arguments_.out) / loaded_->runs.front().experiment.id / loaded_->size;
    auto folder = SweepFolder::claim(folder_);
    if (folder)
      claimed_ = std::move(*folder);
    else
      mine.problems = folder.problems();
    for (size_t i = 0; i < items_.size(); ++i) left_.push_back(i);
    if (folder && arguments_.resume) mine.problems = leave_out_finished();
  }
  Problems problems = agree(exchange_, mine);
  return mine.problems.empty() ? problems : mine.problems;  // without "rank 0: "
}

Problems SharedSweep::leave_out_finished() {
  Problems problems;
  std::erase_if(left_, [&](size_t i) {
    const std::optional<FoundRun> found = find_run(folder_of(items_[i]));
    const Result<uint64_t> hash = config_hash(*loaded_, run_of(items_[i]));
    if (!found || !hash || !found->whole) return false;
    if (found->config_hash == fmt::format("{:016x}", hash.value())) return true;
    problems.push_back(folder_of(items_[i]).string() +
                       ": made from another configuration; --fresh runs it again, --out DIR keeps "
                       "both");
    return false;
  });
  if (problems.empty() && left_.size() < items_.size() && !arguments_.quiet)
    progress_.say(fmt::format("{} of {} runs are there already (--fresh runs them again)\n",
                              items_.size() - left_.size(), items_.size()));
  return problems;
}

// Rank 0 says which run is next; none: that was all.
std::optional<size_t> SharedSweep::next_item(std::optional<size_t> mine) {
  Message message;
  MessageWriter(message).compact(mine ? *mine + 1 : 0);
  std::vector<Message> to_each(exchange_.ranks()), from_each(exchange_.ranks());
  if (leads()) to_each.assign(exchange_.ranks(), message);
  exchange_.trade(to_each, from_each);
  if (leads()) return mine;
  MessageReader read(from_each[0]);
  const size_t next = read.index(items_.size() + 1);
  if (!read.done()) throw ExchangeError("rank 0: which run is next cannot be read");
  return next == 0 ? std::nullopt : std::optional<size_t>(next - 1);
}

std::vector<std::string> SharedSweep::replay(const WorkItem& item) const {
  std::vector<std::string> words = {"eddylab", "run", loaded_->file, "--size", loaded_->size};
  for (const std::string& set : loaded_->sets) words.insert(words.end(), {"--set", set});
  if (!run_of(item).variant.empty()) words.insert(words.end(), {"--variant", run_of(item).variant});
  words.insert(words.end(), {"--seed", std::to_string(item.seed)});
  return words;
}

int SharedSweep::run_item(const WorkItem& item) {
  progress_.started(item.seed, name_of(item));
  const uint64_t memory = arguments_.memory_mib != 0
                              ? arguments_.memory_mib << 20
                              : free_memory() / std::max<size_t>(arguments_.neighbors, 1);
  const auto progress = [&](const Progress& at) {
    constexpr double kPicosecondsAMillisecond = 1e9;
    progress_.reported(item.seed,
                       {.share = at.flows == 0 ? 1
                                               : static_cast<double>(at.flows_ended) /
                                                     static_cast<double>(at.flows),
                        .simulated_ms = static_cast<double>(at.now.ps()) / kPicosecondsAMillisecond,
                        .flows_ended = at.flows_ended,
                        .flows = at.flows,
                        .packet_hops = at.packet_hops});
  };
  const Result<OneRunEnd> end = run_one({.loaded = *loaded_,
                                         .run = run_of(item),
                                         .seed = item.seed,
                                         .replay = command_line(replay(item)),
                                         .folder = folder_of(item)},
                                        {.memory_limit = memory,
                                         .threads = arguments_.threads,
                                         .progress = progress,
                                         .interrupt = &interrupted,
                                         .exchange = &exchange_});
  if (!end) {
    progress_.ended(item.seed, "failed");
    return complain(kFailed, end.problems());
  }
  progress_.ended(item.seed, fmt::format("{:.3g} M hops in {:.1f} s of CPU, digest {:016x}{}",
                                         static_cast<double>(end.value().packet_hops) / 1e6,
                                         end.value().cpu_seconds, end.value().digest,
                                         end.value().interrupted ? ", interrupted" : ""));
  if (leads() && arguments_.stats && !end.value().ranks.empty())
    std::cout << table_of(end.value().ranks) << std::flush;
  return end_of(end.value());
}

int SharedSweep::end_of(const OneRunEnd& end) const {
  if (end.interrupted) return kInterrupted;
  return complain(end.violations.empty() ? kDone : kFailed, end.violations);
}

int SharedSweep::run_all() {
  int code = kDone;
  size_t at = 0;
  for (;;) {
    const bool more = leads() && at < left_.size() && code != kInterrupted;
    const std::optional<size_t> item = next_item(more ? std::optional(left_[at++]) : std::nullopt);
    if (!item) return code;
    code = std::max(code, run_item(items_[*item]));
  }
}

int SharedSweep::finish(int code) {
  if (!leads()) return code;
  if (code == kInterrupted) say(kName, {"interrupted; the same command goes on from here"});
  if (!has_runs(folder_)) return code;
  const Result<Json> merged = write_merged(folder_);
  if (!merged) return code == kDone ? complain(kFailed, merged.problems()) : code;
  if (arguments_.quiet) return code;
  say("eddylab-mpi: warning: ", result_warnings(merged.value()));
  std::cout << merged.value().at("runs").size() << " runs in " << (folder_ / "result.json").string()
            << "; eddylab show " << folder_.string() << "\n";
  return code;
}

int SharedSweep::run() {
  watch_signals({SIGINT, SIGTERM});
  if (const Problems problems = choose(); !problems.empty()) return complain(kUsage, problems);
  if (leads() && !arguments_.quiet) say(kName, loaded_->warnings);
  if (const Problems problems = prepare_folder(); !problems.empty())
    return complain(kFailed, problems);
  progress_.expect(left_.size());
  return finish(run_all());
}

}  // namespace

int shared_sweep(const SharedArguments& arguments, Exchange& exchange) {
  return SharedSweep(arguments, exchange).run();
}

}  // namespace eddy::lab
