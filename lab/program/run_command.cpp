#include "lab/program/run_command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "config/experiment_load.h"
#include "lab/figures/timeline.h"
#include "lab/program/interrupt.h"
#include "lab/program/one_run.h"
#include "lab/program/resolve.h"
#include "lab/real/needs.h"
#include "lab/results/chosen_runs.h"
#include "lab/results/flow_series.h"
#include "lab/results/packet_capture.h"
#include "lab/results/result_warnings.h"
#include "lab/results/results.h"
#include "lab/results/sweep_folder.h"
#include "lab/run/expected_cost.h"
#include "lab/run/experiment_files.h"
#include "lab/run/jobs.h"
#include "lab/run/progress.h"
#include "lab/run/run_identity.h"
#include "lab/run/sweep.h"
#include "plugin/plugins.h"
#include "system/free_memory.h"
#include "system/say.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

void note_signals() {
  watch_signals({SIGINT, SIGTERM});
  std::signal(SIGPIPE, SIG_IGN);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ItemProgress item_progress(const Progress& at) {
  constexpr double kPicosecondsAMillisecond = 1e9;
  const double of_flows =
      at.flows == 0 ? 1 : static_cast<double>(at.flows_ended) / static_cast<double>(at.flows);
  return {.share = of_flows,
          .simulated_ms = static_cast<double>(at.now.ps()) / kPicosecondsAMillisecond,
          .flows_ended = at.flows_ended,
          .flows = at.flows,
          .packet_hops = at.packet_hops};
}

std::string said_of(const OneRunEnd& end) {
  constexpr double kMillion = 1e6;
  std::string out =
      fmt::format("{:.3g} M hops in {:.1f} s of CPU, digest {:016x}",
                  static_cast<double>(end.packet_hops) / kMillion, end.cpu_seconds, end.digest);
  if (end.unfinished > 0) out += fmt::format(", {} flows unfinished", end.unfinished);
  if (end.interrupted) out += ", interrupted";
  return out;
}

class Sweep {
 public:
  Sweep(const RunArguments& arguments, config::LoadedExperiment loaded)
      : arguments_(arguments),
        loaded_(std::move(loaded)),
        folder_(fs::path(arguments.out) / loaded_.runs.front().experiment.id / loaded_.size),
        progress_(std::cerr, style(), now_seconds) {}

  int run();

 private:
  ProgressStyle style() const {
    if (arguments_.quiet || arguments_.report_fd >= 0) return ProgressStyle::quiet;
    if (isatty(STDERR_FILENO) != 0) return ProgressStyle::screen;
    return arguments_.progress ? ProgressStyle::lines : ProgressStyle::brief;
  }
  Problems choose_items();
  Problems leave_out_finished();
  void say_warnings() const;
  void say_cost();
  int run_here(const WorkItem& item);
  int run_children();
  void item_ended(size_t index, const JobEnd& end);
  int finish(int code);
  OneRunOptions options() const;
  // Runs that share the machine; a child is told of how many it is one.
  size_t at_once() const {
    return arguments_.report_fd >= 0 ? arguments_.jobs : std::min(arguments_.jobs, items_.size());
  }
  // What a finished run does not have of what is asked for; empty: nothing.
  std::string lack_of(const WorkItem& item, const FoundRun& found) const;

  const config::ExperimentRun& run_of(const WorkItem& item) const {
    return loaded_.runs[item.variant];
  }
  fs::path folder_of(const WorkItem& item) const {
    return run_folder(folder_, run_of(item).variant, item.seed);
  }
  std::string name_of(const WorkItem& item) const {
    const std::string& variant = run_of(item).variant;
    return fmt::format("{}{}seed {}", variant, variant.empty() ? "" : ", ", item.seed);
  }
  std::vector<std::string> replay(const std::string& program, const WorkItem& item) const;
  std::vector<std::string> child(const std::string& program, const WorkItem& item) const;
  void report(std::string_view line) const;

  const RunArguments& arguments_;
  const config::LoadedExperiment loaded_;
  const fs::path folder_;
  SweepProgress progress_;
  Rank rank_;
  std::vector<WorkItem> items_;
  std::vector<std::string> reports_;  // the last thing that each child said of its end
  size_t failed_ = 0;
  bool interrupted_ = false;
};

Problems Sweep::choose_items() {
  const auto all = chosen_items(loaded_, arguments_.variants, arguments_.seeds);
  if (!all) return all.problems();
  // A child does what it is told: the split is its parent's.
  Result<Rank> rank = Rank{};
  if (arguments_.report_fd < 0)
    rank = rank_of([](const char* name) -> std::optional<std::string> {
      const char* value = std::getenv(name);
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    });
  if (!rank) return rank.problems();
  rank_ = std::move(rank.value());
  items_ = share_of(all.value(), rank_);
  if (!rank_.from.empty() && !arguments_.quiet)
    progress_.say(fmt::format("process {} of {} ({}): {} of {} runs\n", rank_.index + 1,
                              rank_.count, rank_.from, items_.size(), all.value().size()));
  return {};
}

OneRunOptions Sweep::options() const {
  const bool automatic = arguments_.threads == 0;
  const size_t share = this_machine().cores / std::max<size_t>(at_once(), 1);
  return {.check = arguments_.check,
          .hpcc = arguments_.hpcc,
          .conweave = arguments_.conweave,
          .flow_series = arguments_.flow_series,
          .timeline = arguments_.timeline,
          .capture = arguments_.capture,
          .memory_limit = arguments_.memory_mib << 20,
          .threads = automatic ? std::max<size_t>(share, 1) : arguments_.threads,
          .threads_as_worthwhile = automatic};
}

std::string Sweep::lack_of(const WorkItem& item, const FoundRun& found) const {
  for (const std::string& asked : asked_for(options()))
    if (std::ranges::find(found.with, asked) == found.with.end()) return asked;
  std::error_code error;
  std::vector<const char*> files;
  if (arguments_.hpcc) files.insert(files.end(), {"fct.txt", "pfc.txt"});
  if (arguments_.conweave) files.insert(files.end(), {"out_fct.txt", "out_pfc.txt"});
  if (arguments_.flow_series)
    files.insert(files.end(), {kLinkFlowsFile.data(), kFlowTablesFile.data()});
  if (!arguments_.capture.empty()) files.push_back(kCaptureFile.data());
  for (const char* name : files)
    if (!fs::exists(folder_of(item) / name, error)) return name;
  const bool drawn = fs::exists(folder_of(item) / "timeline.json", error);
  return arguments_.timeline.empty() || drawn ? "" : "timeline.json";
}

// Refuses to mix results of different configurations. Runs that are there without what is asked for
// now are run again: the same events give the same results.
Problems Sweep::leave_out_finished() {
  Problems problems;
  size_t lacking = 0;
  std::string lack;
  const size_t before = items_.size();
  std::erase_if(items_, [&](const WorkItem& item) {
    const std::optional<FoundRun> found = find_run(folder_of(item));
    const Result<uint64_t> hash = config_hash(loaded_, run_of(item));
    if (!hash) problems.push_back(hash.problems().front());
    if (!found || !hash || !found->whole) return false;
    const std::string now = fmt::format("{:016x}", hash.value());
    if (found->config_hash != now)
      problems.push_back(fmt::format(
          "{}: made from another configuration ({}, now {}); --fresh runs it again, --out DIR "
          "keeps both",
          folder_of(item).string(), found->config_hash, now));
    const std::string lacks = lack_of(item, *found);
    if (lacks.empty()) return true;
    ++lacking;
    lack = lacks;
    return false;
  });
  if (problems.empty() && items_.size() < before && !arguments_.quiet)
    progress_.say(fmt::format("{} of {} runs are there already (--fresh runs them again)\n",
                              before - items_.size(), before));
  if (problems.empty() && lacking > 0 && !arguments_.quiet)
    progress_.say(fmt::format("{} of {} runs are there already, but without {}: run again\n",
                              lacking, before, lack));
  std::ranges::sort(problems);
  problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
  return problems;
}

std::vector<std::string> Sweep::replay(const std::string& program, const WorkItem& item) const {
  std::vector<std::string> words = {program, "run", loaded_.file, "--size", loaded_.size};
  for (const std::string& set : loaded_.sets) words.insert(words.end(), {"--set", set});
  if (!run_of(item).variant.empty()) words.insert(words.end(), {"--variant", run_of(item).variant});
  words.insert(words.end(), {"--seed", std::to_string(item.seed)});
  if (arguments_.check) words.emplace_back("--check");
  return words;
}

std::vector<std::string> Sweep::child(const std::string& program, const WorkItem& item) const {
  std::vector<std::string> words = replay(program, item);
  words.insert(words.end(), {"--out", arguments_.out, "--fresh"});
  if (arguments_.threads != 1) {
    const size_t threads = arguments_.threads;
    words.insert(words.end(), {"--threads", threads == 0 ? "auto" : std::to_string(threads)});
    words.insert(words.end(), {"--jobs", std::to_string(at_once())});
  }
  if (arguments_.hpcc) words.emplace_back("--hpcc");
  if (arguments_.conweave) words.emplace_back("--conweave");
  if (arguments_.flow_series) words.emplace_back("--flow-series");
  if (!arguments_.timeline.empty()) words.insert(words.end(), {"--timeline", arguments_.timeline});
  if (!arguments_.capture.empty()) words.insert(words.end(), {"--capture", arguments_.capture});
  uint64_t mib = arguments_.memory_mib;
  if (mib == 0 && arguments_.jobs > 1) {  // or each would count on all of it
    constexpr uint64_t kMib = 1 << 20;
    mib = free_memory() / arguments_.jobs / kMib;
  }
  if (mib > 0) words.insert(words.end(), {"--memory", std::to_string(mib)});
  return words;
}

void Sweep::report(std::string_view line) const {
  const std::string text = std::string(line) + "\n";
  // Who reads it may be gone; the run goes on.
  [[maybe_unused]] const ssize_t ignored = write(arguments_.report_fd, text.data(), text.size());
}

int Sweep::run_here(const WorkItem& item) {
  note_signals();
  progress_.started(0, name_of(item));
  OneRunOptions options = this->options();
  options.interrupt = &interrupted;
  options.progress = [this](const Progress& at) {
    if (arguments_.report_fd >= 0) report(to_line(item_progress(at)));
    progress_.reported(0, item_progress(at));
  };
  const Result<OneRunEnd> end = run_one({.loaded = loaded_,
                                         .run = run_of(item),
                                         .seed = item.seed,
                                         .replay = command_line(replay("eddylab", item)),
                                         .folder = folder_of(item)},
                                        options);
  if (!end) {
    progress_.ended(0, "failed");
    return complain(kFailed, end.problems());
  }
  if (!end.value().violations.empty()) {
    progress_.ended(0, "an invariant does not hold");
    return complain(kFailed, end.value().violations);
  }
  if (end.value().measured == 0 && !end.value().interrupted) {
    progress_.ended(0, "no flow was measured");
    return complain(kFailed, {name_of(item) + ": no flow was measured"});
  }
  if (arguments_.report_fd >= 0) report("ended " + said_of(end.value()));
  progress_.ended(0, said_of(end.value()));
  return end.value().interrupted ? kInterrupted : kDone;
}

void Sweep::item_ended(size_t index, const JobEnd& end) {
  const bool stopped = end.exit_code == kInterrupted;
  interrupted_ |= stopped;
  if (end.exit_code == kDone || stopped) {
    progress_.ended(index, reports_[index]);
    return;
  }
  ++failed_;
  progress_.ended(index, "FAILED: " + end.how);
  std::vector<std::string> again = replay("eddylab", items_[index]);
  if (arguments_.out != RunArguments{}.out) again.insert(again.end(), {"--out", arguments_.out});
  progress_.say(fmt::format("eddylab: {}: {}\n{}  again: {}\n", name_of(items_[index]), end.how,
                            end.errors, command_line(again)));
}

int Sweep::run_children() {
  std::error_code error;
  const std::string program = fs::read_symlink("/proc/self/exe", error);
  if (error) return complain(kFailed, {"/proc/self/exe: " + error.message()});
  std::vector<std::vector<std::string>> commands;
  for (const WorkItem& item : items_) commands.push_back(child(program, item));
  reports_.assign(items_.size(), "done");
  const JobEvents events{.started = [this](size_t i) { progress_.started(i, name_of(items_[i])); },
                         .reported =
                             [this](size_t i, std::string_view line) {
                               constexpr std::string_view kEnded = "ended ";
                               ItemProgress at;
                               if (line.starts_with(kEnded))
                                 reports_[i] = line.substr(kEnded.size());
                               if (from_line(line, at)) progress_.reported(i, at);
                             },
                         .ended = [this](size_t i, const JobEnd& end) { item_ended(i, end); }};
  const bool whole = run_jobs(commands, {.at_once = arguments_.jobs}, events);
  if (!whole || interrupted_) return kInterrupted;
  return failed_ == 0 ? kDone : kFailed;
}

// Merges what there is, also after failures.
int Sweep::finish(int code) {
  if (failed_ > 0) std::cerr << "eddylab: " << failed_ << " runs failed\n";
  if (code == kInterrupted)
    std::cerr << "eddylab: interrupted; the same command goes on from here\n";
  if (!has_runs(folder_)) return code;
  const Result<Json> merged = write_merged(folder_);
  if (!merged) return code == kDone ? complain(kFailed, merged.problems()) : code;
  if (!arguments_.quiet) say("eddylab: warning: ", result_warnings(merged.value()));
  if (!arguments_.quiet)
    std::cout << merged.value().at("runs").size() << " runs in "
              << (folder_ / "result.json").string() << "; eddylab show " << folder_.string()
              << "\n";
  return code;
}

// Of the file and of its fabrics: before hours go by.
void Sweep::say_warnings() const {
  say("eddylab: ", loaded_.warnings);
  say("eddylab: warning: ", fabric_warnings(loaded_, items_));
}

// What all of it will take, by the hops of its flows and by what a hop has taken so far.
void Sweep::say_cost() {
  if (items_.size() < 2) return;
  double hops = 0;
  double seconds = 0;
  if (has_runs(folder_))
    if (auto there = read_result(folder_); there)
      for (const Json& run : there->at("runs")) {
        hops += run.value("packet_hops", 0.0);
        seconds += run.value("cpu_seconds", 0.0);
      }
  const bool measured = hops > 0 && seconds > 0;
  const double rate = measured ? hops / seconds : kUsualHopsASecond;
  const auto expected = static_cast<double>(hops_of(loaded_, items_));
  constexpr double kMillion = 1e6;
  constexpr double kSecondsAnHour = 3'600;
  progress_.say(fmt::format(
      "{} runs: {:.3g} M packet hops or more, {:.2g} hours of CPU at {:.2g} M hops a second ({})\n",
      items_.size(), expected / kMillion, expected / rate / kSecondsAnHour, rate / kMillion,
      measured ? "of the runs that are there" : "the usual rate: no run is there yet"));
}

int Sweep::run() {
  if (Problems problems = choose_items(); !problems.empty()) return complain(kUsage, problems);
  const bool alone = items_.size() == 1;
  std::unique_ptr<SweepFolder> claimed;  // a child's parent has it
  if (arguments_.report_fd < 0) {
    auto folder = SweepFolder::claim(folder_, rank_);
    if (!folder) return complain(kFailed, folder.problems());
    claimed = std::move(*folder);
  }
  if (arguments_.resume)
    if (Problems problems = leave_out_finished(); !problems.empty())
      return complain(kFailed, problems);
  if (arguments_.report_fd < 0 && !arguments_.quiet) {
    say_warnings();
    say_cost();
  }
  progress_.expect(items_.size());
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0) progress_.set_width(size.ws_col);
  if (arguments_.report_fd >= 0) return items_.empty() ? kDone : run_here(items_.front());
  if (items_.empty()) return finish(kDone);
  return finish(alone ? run_here(items_.front()) : run_children());
}

}  // namespace

int complain(int code, const std::vector<std::string>& problems) {
  say("eddylab: ", problems);
  return code;
}

int run_command(const RunArguments& arguments) {
  if (arguments.report_fd >= 0) note_signals();  // its parent may be interrupted at once
  const Result<fs::path> file = experiment_file(arguments.experiment);
  if (!file) return complain(kUsage, file.problems());
  Result<config::LoadedExperiment> loaded = config::load_experiment(
      file.value(),
      {.size = arguments.size, .sets = arguments.sets, .plugins = &plugin::plugins_of_process()});
  if (!loaded) return complain(kUsage, loaded.problems());
  if (!arguments.timeline.empty())
    if (const auto spec = parse_timeline(arguments.timeline); !spec)
      return complain(kUsage, spec.problems());
  if (!arguments.capture.empty())
    if (const auto spec = parse_capture(arguments.capture); !spec)
      return complain(kUsage, spec.problems());
  return Sweep(arguments, std::move(*loaded)).run();
}

}  // namespace eddy::lab
