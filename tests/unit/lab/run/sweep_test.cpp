#include "lab/run/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "config/experiment.h"
#include "lab/run/jobs.h"
#include "lab/run/progress.h"

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Environment environment(const std::map<std::string, std::string>& values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Sweep, SharesAreDisjointAndMakeTheWhole) {
  const auto items = work_items(3, {7, 8, 9, 10});
  ASSERT_EQ(items.size(), 12u);
  EXPECT_EQ(items[4], (WorkItem{1, 7}));
  std::set<std::pair<size_t, uint64_t>> seen;
  for (uint32_t rank = 0; rank < 5; ++rank)
    for (const WorkItem& item : share_of(items, {.index = rank, .count = 5}))
      EXPECT_TRUE(seen.emplace(item.variant, item.seed).second);
  EXPECT_EQ(seen.size(), items.size());
}

TEST(Sweep, RankComesFromMpirunOrSlurm) {
  const auto rank = [](const std::map<std::string, std::string>& values) {
    const auto found = rank_of(environment(values));
    return found ? std::pair(found.value().index, found.value().count) : std::pair(99u, 99u);
  };
  EXPECT_EQ(rank({}), std::pair(0u, 1u));
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            std::pair(2u, 4u));
  EXPECT_EQ(rank({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}), std::pair(1u, 3u));
  EXPECT_EQ(rank({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}), std::pair(1u, 2u));
  EXPECT_EQ(rank({{"SLURM_ARRAY_TASK_ID", "11"},
                  {"SLURM_ARRAY_TASK_MIN", "10"},
                  {"SLURM_ARRAY_TASK_COUNT", "4"},
                  {"SLURM_PROCID", "0"},
                  {"SLURM_NTASKS", "1"}}),
            std::pair(1u, 4u));
  EXPECT_EQ(rank({{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "2"}}),
            std::pair(0u, 2u))
      << "an array whose least index is not told begins at 0";
}

// Outside of srun there is one process, though the job has many tasks: it must run everything.
TEST(Sweep, TheScriptOfASlurmJobIsOneProcess) {
  const auto script =
      environment({{"SLURM_JOB_ID", "5"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}});
  EXPECT_EQ(rank_of(script).value().count, 1u);
  const auto step = environment({{"SLURM_JOB_ID", "5"},
                                 {"SLURM_STEP_ID", "0"},
                                 {"SLURM_PROCID", "3"},
                                 {"SLURM_NTASKS", "8"}});
  EXPECT_EQ(rank_of(step).value().index, 3u);
}

TEST(Sweep, AnEnvironmentThatMakesNoSenseIsRefused) {
  for (const auto& [index, count] : std::map<std::string, std::string>{
           {"4", "4"}, {"x", "2"}, {"0", "0"}, {"-1", "2"}, {"1", "99999999999"}})
    EXPECT_FALSE(rank_of(environment({{"PMI_RANK", index}, {"PMI_SIZE", count}})).ok())
        << index << " of " << count;
  const auto alone = rank_of(environment({{"PMI_RANK", "0"}}));
  ASSERT_FALSE(alone.ok());
  EXPECT_THAT(alone.problems().front(), HasSubstr("PMI_SIZE=(not set)"));
}

TEST(Sweep, SeedsAreNumbersAndRanges) {
  EXPECT_THAT(parse_seeds("3").value(), ElementsAre(3));
  EXPECT_THAT(parse_seeds("1,2,5-8").value(), ElementsAre(1, 2, 5, 6, 7, 8));
  EXPECT_THAT(parse_seeds("0,9223372036854775807").value(), ElementsAre(0, config::kLargestSeed));
  EXPECT_THAT(parse_seeds("9223372036854775808").problems(),
              ElementsAre("seed 9223372036854775808 is too large, valid is 0 to "
                          "9223372036854775807"));
  for (const char* wrong : {"", "1,", ",1", "a", "-1", "5-3", "1-", "1,1", "1-3,2", "0-99999999",
                            "18446744073709551615", "18446744073709551616", "1 2"})
    EXPECT_FALSE(parse_seeds(wrong).ok()) << wrong;
}

TEST(Sweep, AShellReadsTheReplayLineBack) {
  EXPECT_EQ(command_line({"eddylab", "run", "a.yaml", "--set", "traffic.0.load=0.6"}),
            "eddylab run a.yaml --set traffic.0.load=0.6");
  EXPECT_EQ(shell_quoted("scheme=letflow load=0.6"), "'scheme=letflow load=0.6'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("$(x)"), "'$(x)'");
}

struct Ended {
  std::map<size_t, JobEnd> ends;
  std::map<size_t, std::vector<std::string>> lines;
  size_t most = 0;  // at a time
  size_t running = 0;
};
Ended run_shell(const std::vector<std::string>& scripts, size_t at_once) {
  std::vector<std::vector<std::string>> commands;
  commands.reserve(scripts.size());
  for (const std::string& script : scripts)  // $1 is "fd=N"
    commands.push_back(
        {"/bin/sh", "-c", "report() { eval \"echo $* >&${fd#fd=}\"; }; fd=$1; " + script, "sh"});
  Ended out;
  const JobEvents events{
      .started = [&](size_t) { out.most = std::max(out.most, ++out.running); },
      .reported = [&](size_t job, std::string_view line) { out.lines[job].emplace_back(line); },
      .ended =
          [&](size_t job, const JobEnd& end) {
            --out.running;
            out.ends[job] = end;
          }};
  EXPECT_TRUE(run_jobs(commands, {.at_once = at_once, .report_option = "fd="}, events));
  return out;
}

TEST(Jobs, EveryJobRunsAndItsEndIsTold) {
  const Ended ended =
      run_shell({"report one; report two", "echo wrong >&2; exit 3", "kill -9 $$", ":"}, 2);
  ASSERT_EQ(ended.ends.size(), 4u);
  EXPECT_EQ(ended.ends.at(0).exit_code, 0);
  EXPECT_THAT(ended.lines.at(0), ElementsAre("one", "two"));
  EXPECT_EQ(ended.ends.at(1).exit_code, 3);
  EXPECT_EQ(ended.ends.at(1).how, "exit code 3");
  EXPECT_EQ(ended.ends.at(1).errors, "wrong\n");
  EXPECT_EQ(ended.ends.at(2).exit_code, -1);
  EXPECT_THAT(ended.ends.at(2).how, HasSubstr("killed by signal 9"));
  EXPECT_EQ(ended.ends.at(3).exit_code, 0);
  EXPECT_LE(ended.most, 2u);
}

TEST(Jobs, AProgramThatIsNotThereIsAFailure) {
  JobEnd end;
  EXPECT_TRUE(run_jobs(
      {{"/nonexistent/program"}}, {},
      {.started = {}, .reported = {}, .ended = [&](size_t, const JobEnd& e) { end = e; }}));
  EXPECT_NE(end.exit_code, 0);
}

TEST(Jobs, OnlyTheEndOfLongComplaintsIsKept) {
  const Ended ended =
      run_shell({"i=0; while [ $i -lt 5000 ]; do echo 'line of text' >&2; i=$((i+1)); done; "
                 "echo last >&2; exit 1"},
                1);
  EXPECT_LE(ended.ends.at(0).errors.size(), kKeptErrors);
  EXPECT_TRUE(ended.ends.at(0).errors.ends_with("last\n"));
}

TEST(Progress, ALineIsReadBack) {
  const ItemProgress sent{
      .share = 0.25, .simulated_ms = 1.5, .flows_ended = 3, .flows = 12, .packet_hops = 99};
  ItemProgress read;
  ASSERT_TRUE(from_line(to_line(sent), read));
  EXPECT_DOUBLE_EQ(read.share, 0.25);
  EXPECT_DOUBLE_EQ(read.simulated_ms, 1.5);
  EXPECT_EQ(read.flows_ended, 3u);
  EXPECT_EQ(read.flows, 12u);
  EXPECT_EQ(read.packet_hops, 99u);
  EXPECT_FALSE(from_line("progress 1", read));
  EXPECT_FALSE(from_line("other 1 2 3 4 5", read));
}

TEST(Progress, ClocksReadLikeClocks) {
  EXPECT_EQ(clock_text(12.4), "12s");
  EXPECT_EQ(clock_text(200), "3m20s");
  EXPECT_EQ(clock_text(3'720), "1h02m");
  EXPECT_EQ(clock_text(-1), "0s");
}

TEST(Progress, LinesTellHowMuchIsLeft) {
  std::ostringstream out;
  double now = 0;
  SweepProgress progress(out, ProgressStyle::lines, [&now] { return now; });
  progress.expect(2);
  progress.started(0, "a, seed 1");
  now = 20;
  progress.reported(
      0,
      {.share = 0.5, .simulated_ms = 2, .flows_ended = 5, .flows = 10, .packet_hops = 2'000'000});
  now = 21;
  progress.reported(0, {.share = 0.6});  // too soon to be told
  now = 40;
  progress.ended(0, "done");
  EXPECT_EQ(out.str(),
            "a, seed 1: started\n"
            "a, seed 1: 50 %, 2 ms, 5 of 10 flows, 2 M hops, 20s left\n"
            "a, seed 1: done (1 of 2 done, 40s left)\n");
}

TEST(Progress, NamesAndWhatIsSaidAreTexts) {
  std::ostringstream out;
  SweepProgress progress(out, ProgressStyle::brief, [] { return 0.0; });
  progress.expect(1);
  progress.started(0, "a\x1b[2J\nb");
  progress.say("it said\n\x1b[0m\n");
  progress.ended(0, "FAILED:\r\x1b[2K");
  EXPECT_EQ(out.str(),
            "a\\x1b[2J\\nb: started\nit said\n\\x1b[0m\n"
            "a\\x1b[2J\\nb: FAILED:\\x0d\\x1b[2K (1 of 1 done)\n");
}

TEST(Progress, AScreenIsDrawnAgainInPlace) {
  std::ostringstream out;
  SweepProgress progress(out, ProgressStyle::screen, [] { return 0.0; });
  progress.expect(1);
  progress.started(0, "a");
  EXPECT_EQ(out.str(), "a: 0 %, 0 ms, 0 of 0 flows, 0 M hops\n0 of 1 done\n");
  out.str("");
  progress.reported(0, {.share = 0.5, .flows_ended = 1, .flows = 2});
  EXPECT_EQ(out.str(), "\033[2A\033[Ja: 50 %, 0 ms, 1 of 2 flows, 0 M hops\n0 of 1 done\n");
  out.str("");
  progress.set_width(7);
  progress.reported(0, {.share = 0.5, .flows_ended = 1, .flows = 2});
  EXPECT_EQ(out.str(), "\033[2A\033[Ja: 50 %\n0 of 1 done\n") << "cut, not wrapped";
  out.str("");
  progress.ended(0, "done");
  EXPECT_EQ(out.str(), "\033[2A\033[Ja: done\n");
}

TEST(Progress, QuietSaysOnlyWhatMustBeSaid) {
  std::ostringstream out;
  SweepProgress progress(out, ProgressStyle::quiet, [] { return 0.0; });
  progress.expect(1);
  progress.started(0, "a");
  progress.reported(0, {.share = 0.5});
  progress.ended(0, "done");
  EXPECT_EQ(out.str(), "");
  progress.say("it failed\n");
  EXPECT_EQ(out.str(), "it failed\n");
}

}  // namespace
}  // namespace eddy::lab
