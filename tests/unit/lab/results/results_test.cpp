#include "lab/results/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "lab/results/flow_store.h"
#include "lab/results/hpcc_files.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// In a database of pages of 512 octets: every entry of an inner page leads to the next inner page,
// so that each multiplies the rows.
void lead_each_to_the_next(const fs::path& file) {
  constexpr size_t kPage = 512;
  constexpr size_t kCells = 12;        // of an inner page: where its cells stand
  constexpr size_t kInnerOfTable = 5;  // the type of such a page
  std::string text = text_of(file);
  const auto big_endian = [&](size_t at) {
    return static_cast<size_t>(static_cast<uint8_t>(text[at]) << 8 |
                               static_cast<uint8_t>(text[at + 1]));
  };
  std::vector<size_t> inner;
  for (size_t at = kPage; at < text.size(); at += kPage)
    if (text[at] == kInnerOfTable) inner.push_back(at);
  for (size_t i = 0; i + 1 < inner.size() && i < 10; ++i) {
    const size_t next = inner[i + 1] / kPage + 1;
    for (size_t cell = 0; cell < big_endian(inner[i] + 3); ++cell) {
      const size_t pointer = inner[i] + big_endian(inner[i] + kCells + 2 * cell);
      for (size_t octet = 0; octet < 4; ++octet)
        text[pointer + octet] = static_cast<char>(next >> (24 - 8 * octet));
    }
  }
  ASSERT_GT(inner.size(), 5u);
  std::ofstream(file, std::ios::binary) << text;
}

class ResultsTest : public testing::Test {
 public:
  ~ResultsTest() override { fs::remove_all(folder_); }

 protected:
  ResultsTest() {
    std::string name = (fs::temp_directory_path() / "eddy-results-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }

  void write(const RunRecord& run) {
    ASSERT_EQ(write_run(run_folder(folder_, run.identity.variant, run.result.seed), run),
              Problems{});
  }

  fs::path folder_;
};

TEST_F(ResultsTest, AWrittenRunIsFoundAndAnUnwrittenOneIsNot) {
  EXPECT_FALSE(find_run(run_folder(folder_, "a", 1)));
  write(sample_run("a", 1));
  const auto found = find_run(run_folder(folder_, "a", 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->config_hash, "0000000000001234");
  EXPECT_EQ(found->digest, "000000000000feee");
  EXPECT_TRUE(found->whole);
  EXPECT_EQ(found->measured, 10u);
  EXPECT_TRUE(found->with.empty());
  RunRecord checked = sample_run("a", 5);
  checked.identity.with = {"--check", "--timeline leaf1:spine1"};
  write(checked);
  EXPECT_EQ(find_run(run_folder(folder_, "a", 5))->with, checked.identity.with);
  RunRecord empty = sample_run("a", 4);
  for (FlowResult& flow : empty.result.flows) flow.measured = false;
  write(empty);
  EXPECT_FALSE(find_run(run_folder(folder_, "a", 4))->whole);
  RunRecord broken = sample_run("a", 2);
  broken.result.violations = {"something is lost"};
  write(broken);
  EXPECT_FALSE(find_run(run_folder(folder_, "a", 2))->whole);
  EXPECT_FALSE(find_run(run_folder(folder_, "a", 3)));
}

TEST_F(ResultsTest, ATornRunFileIsNoRun) {
  const fs::path folder = run_folder(folder_, "a", 1);
  write(sample_run("a", 1));
  const std::string whole = text_of(folder / "run.json");
  std::ofstream(folder / "run.json") << whole.substr(0, whole.size() / 2);
  EXPECT_FALSE(find_run(folder));
  std::ofstream(folder / "run.json") << "{\"schema_version\": 999, \"run\": {}}";
  EXPECT_FALSE(find_run(folder));
  std::ofstream(folder / "run.json") << R"({"schema_version": 1, "run": 5})";
  EXPECT_FALSE(find_run(folder));
}

TEST_F(ResultsTest, NothingTemporaryIsLeft) {
  write(sample_run("a", 1));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run_folder(folder_, "a", 1)))
    names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("run.json", "flows.sqlite"));
}

TEST_F(ResultsTest, ARunHasEveryKeyOfTheListAndItsNumbers) {
  const Json run = run_values(sample_run("a b", 2));
  ASSERT_EQ(run.size(), result_keys().size());
  EXPECT_EQ(run["variant"], "a b");
  EXPECT_TRUE(run["rlb"].is_null());
  EXPECT_EQ(run["flows"], 10);
  EXPECT_EQ(run["flows_total"], 11);
  EXPECT_EQ(run["unfinished"], 1);
  EXPECT_EQ(run["censored"], true);
  EXPECT_DOUBLE_EQ(run["fct_mean_us"], 70);  // of flows 1 to 9: 10 us times i + 2
  EXPECT_DOUBLE_EQ(run["slowdown_p50"], 7);
  EXPECT_DOUBLE_EQ(run["slowdown_p99"], 11);
  EXPECT_EQ(run["queue_max_bytes"], 4'096);
  EXPECT_EQ(run["counters"]["rx_packets"], 5);
  EXPECT_EQ(run["digest"], "000000000000feef");
}

TEST_F(ResultsTest, PercentilesOfNothingAreNull) {
  RunRecord run = sample_run("a", 1);
  run.result.fct_us = {};
  run.result.samples.clear();
  const Json values = run_values(run);
  EXPECT_TRUE(values["fct_mean_us"].is_null());
  EXPECT_TRUE(values["fct_p99_us"].is_null());
  EXPECT_TRUE(values["queue_max_bytes"].is_null());
}

TEST_F(ResultsTest, BinsSplitAtTheBandwidthDelayProductAndAtDecades) {
  const Json bins = run_values(sample_run("a", 1))["bins"];
  std::vector<std::string> names;
  for (const Json& bin : bins) names.push_back(bin["name"]);
  EXPECT_THAT(names, ElementsAre("< 1 BDP", ">= 1 BDP", "1 kB to 10 kB", "10 kB to 100 kB",
                                 "100 kB to 1 MB", "1 MB to 10 MB", "10 MB to 100 MB"));
  EXPECT_EQ(bins[0]["flows"], 4);  // i = 1, 5, 6, 10
  EXPECT_EQ(bins[0]["unfinished"], 1);
  EXPECT_DOUBLE_EQ(bins[0]["slowdown_p50"], 6);
  EXPECT_EQ(bins[1]["flows"], 6);
  EXPECT_EQ(bins[2]["flows"], 2);
  EXPECT_DOUBLE_EQ(bins[2]["slowdown_mean"], 6);  // i = 5; i = 10 did not finish
}

TEST_F(ResultsTest, MergingPutsVariantsAndSeedsInOrder) {
  write(sample_run("b", 10));
  write(sample_run("b", 2));
  write(sample_run("a", 3));
  const auto merged = write_merged(folder_);
  ASSERT_TRUE(merged.ok()) << merged.problems().front();
  std::vector<std::string> order;
  for (const Json& run : merged.value().at("runs"))
    order.push_back(run["variant"].get<std::string>() + std::to_string(run["seed"].get<int>()));
  EXPECT_THAT(order, ElementsAre("a3", "b2", "b10"));
  EXPECT_EQ(merged.value().at("experiment"), "sample");
  EXPECT_EQ(merged.value().at("commit"), "abc");
  EXPECT_EQ(merged.value().at("units").at("fct_mean_us"), "us");
  EXPECT_EQ(merged.value().at("config_hashes").at("a"), "0000000000001234");
  const auto read = read_result(folder_ / "result.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value(), merged.value());
}

TEST_F(ResultsTest, MergingTellsWhatDoesNotBelongTogether) {
  RunRecord other = sample_run("a", 2);
  other.identity.commit = "def";
  other.identity.config_hash = 1;
  write(sample_run("a", 1));
  write(other);
  const auto merged = merge_runs(folder_);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged.value().at("commit"), "mixed");
  EXPECT_EQ(merged.value().at("config_hashes").at("a"), "mixed");
}

TEST_F(ResultsTest, SomeVariantsCanBeChosen) {
  for (const char* name : {"a", "b", "c"}) write(sample_run(name, 1));
  const Json all = merge_runs(folder_).value();
  EXPECT_EQ(only_variants(all, {}).value(), all);
  const Json some = only_variants(all, {"c", "a"}).value();
  ASSERT_EQ(some["runs"].size(), 2u);
  EXPECT_EQ(some["runs"][0]["variant"], "a");
  EXPECT_EQ(some["runs"][1], all["runs"][2]);
  EXPECT_FALSE(some["config_hashes"].contains("b"));
  EXPECT_EQ(some["title"], all["title"]);
  EXPECT_THAT(only_variants(all, {"a", "d"}).problems(),
              ElementsAre("no variant \"d\"; there are: \"a\", \"b\", \"c\""));
}

TEST_F(ResultsTest, VariantsCanBeChosenByWords) {
  for (const char* name : {"s=x rlb=on", "s=x rlb=off", "s=y rlb=on"}) write(sample_run(name, 1));
  const Json some = only_variants(merge_runs(folder_).value(), {"rlb=on"}).value();
  ASSERT_EQ(some["runs"].size(), 2u);
  EXPECT_FALSE(some["config_hashes"].contains("s=x rlb=off"));
}

TEST_F(ResultsTest, AFaultIsNamedByItsType) {
  RunRecord run = sample_run("a", 1);
  run.result.faults = {{.type = config::FaultType::pause_storm, .begun = 1, .frames = 7},
                       {.type = config::FaultType::reconfigure, .begun = 2}};
  const Json faults = run_values(run)["faults"];
  EXPECT_EQ(faults[0], Json({{"type", "pause_storm"}, {"begun", 1}, {"frames", 7}, {"lost", 0}}));
  EXPECT_EQ(faults[1]["type"], "reconfigure");
}

TEST_F(ResultsTest, WhatIsNoResultIsSaid) {
  EXPECT_THAT(read_result(folder_).problems().front(), HasSubstr("no finished run"));
  EXPECT_THAT(read_result(folder_ / "none").problems().front(), HasSubstr("no such file"));
  fs::create_directories(folder_ / "alone");
  std::ofstream(folder_ / "alone" / "result.json") << "{]";
  EXPECT_EQ(read_result(folder_ / "alone").problems().front(),
            (folder_ / "alone").string() +
                ": no finished run in it; to read its result.json alone name that file");
  std::ofstream(folder_ / "x.json") << "{]";
  EXPECT_THAT(read_result(folder_ / "x.json").problems().front(), HasSubstr("this is no JSON"));
  std::ofstream(folder_ / "x.json") << "[1]";
  EXPECT_THAT(read_result(folder_ / "x.json").problems().front(), HasSubstr("no result of schema"));
  const Json head = {
      {"schema_version", 1}, {"experiment", ""}, {"title", ""}, {"size", ""}, {"expect", {"x"}}};
  const auto said = [&](const Json& runs) {
    Json file = head;
    file["runs"] = runs;
    std::ofstream(folder_ / "x.json") << file;
    return read_result(folder_ / "x.json").problems().front();
  };
  EXPECT_THAT(said(5), HasSubstr("key \"runs\" is number, valid is an array"));
  EXPECT_THAT(said({1, 2}), HasSubstr("key \"runs\" holds number"));
  EXPECT_THAT(said({{{"variant", 3}, {"seed", 1}}}), HasSubstr("key \"variant\" is number"));
  EXPECT_THAT(said(Json::array()), HasSubstr("there are no runs in it"));
}

TEST_F(ResultsTest, WhatIsNestedDeepIsNoResult) {
  const fs::path file = folder_ / "x.json";
  const std::string open(1'000'000, '[');
  const std::string close(1'000'000, ']');
  for (const std::string& text :
       {open, open + close, "{\"schema_version\": " + open + close + "}"}) {
    std::ofstream(file) << text;
    EXPECT_THAT(read_result(file).problems().front(), HasSubstr("is nested more than 32 deep"));
    fs::create_directories(run_folder(folder_, "a", 1));
    fs::copy_file(file, run_folder(folder_, "a", 1) / "run.json",
                  fs::copy_options::overwrite_existing);
    EXPECT_FALSE(find_run(run_folder(folder_, "a", 1)));
    EXPECT_THAT(readable_runs(folder_).problems,
                ElementsAre(HasSubstr("is nested more than 32 deep")));
  }
}

TEST_F(ResultsTest, AResultIsARegularFile) {
  const fs::path fifo = folder_ / "x.json";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(read_result(fifo).problems().front(), HasSubstr("no regular file"));
  EXPECT_THAT(read_flows(fifo).problems().front(), HasSubstr("no regular file"));
}

// A database may hold programs, and pages that lead to each other.
TEST_F(ResultsTest, FlowsThatAreAProgramAreNotRun) {
  write(sample_run("a", 1));
  const fs::path file = run_folder(folder_, "a", 1) / "flows.sqlite";
  constexpr const char* kEndless =
      "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS size, n AS "
      "fct_ns, n AS slowdown, 1 AS measured, 1 AS finished FROM r";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  const auto run = [&](const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  };
  run("DROP TABLE flows");
  run("CREATE VIEW flows AS " + std::string(kEndless));
  sqlite3_close(database);
  const auto stored = read_flows(file);
  ASSERT_FALSE(stored.ok());
  EXPECT_THAT(stored.problems(), ElementsAre(HasSubstr("flows")));
}

// Pages that several others lead to: few octets, many rows.
TEST_F(ResultsTest, FlowsThatNeverEndAreGivenUp) {
  const fs::path file = folder_ / "flows.sqlite";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  const auto run = [&](const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  };
  run("PRAGMA page_size = 512; CREATE TABLE flows(id INTEGER PRIMARY KEY, size INTEGER, "
      "fct_ns INTEGER, slowdown REAL, measured INTEGER, finished INTEGER)");
  run("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20000) "
      "INSERT INTO flows SELECT n, 0, 0, 0, 1, 1 FROM r");
  sqlite3_close(database);
  lead_each_to_the_next(file);
  const auto stored = read_flows(file);
  ASSERT_FALSE(stored.ok());
  EXPECT_THAT(stored.problems(), ElementsAre(HasSubstr("longer to read than a file of its size")));
}

TEST_F(ResultsTest, WhoeverIsTooHighOrTooDeepIsToldWhereToLook) {
  write(sample_run("a", 1));
  for (const char* size : {"ci", "full"}) {
    fs::create_directories(folder_ / "out" / "web" / size);
    std::ofstream(folder_ / "out" / "web" / size / "result.json") << "{}";
  }
  const std::string below = (folder_ / "out" / "web").string();
  EXPECT_THAT(read_result(folder_ / "out").problems().front(),
              HasSubstr("there are some in " + below + "/ci, " + below + "/full"));
  EXPECT_THAT(read_result(run_folder(folder_, "a", 1)).problems().front(),
              HasSubstr("the folder of one run"));
}

TEST_F(ResultsTest, FlowsAreReadBack) {
  write(sample_run("a", 1));
  const auto stored = read_flows(run_folder(folder_, "a", 1) / "flows.sqlite");
  ASSERT_TRUE(stored.ok());
  ASSERT_EQ(stored.value().flows.size(), 9u);  // neither the unmeasured nor the unfinished
  EXPECT_EQ(stored.value().flows[0].size, 10'000);
  EXPECT_EQ(stored.value().flows[0].fct_ns, 20'000);
  EXPECT_DOUBLE_EQ(stored.value().flows[0].slowdown, 2);
  ASSERT_EQ(stored.value().samples.size(), 2u);
  EXPECT_EQ(stored.value().samples[1].max_queue_bytes, 4'096);
  EXPECT_FALSE(read_flows(folder_ / "none.sqlite").ok());
}

TEST(VariantFolder, IsTheSameForTheSameNameAndDifferentForOthers) {
  EXPECT_EQ(variant_folder(""), "only");
  EXPECT_EQ(variant_folder("scheme=letflow load=0.6"), "scheme=letflow_load=0.6");
  EXPECT_EQ(variant_folder("a/b"), variant_folder("a/b"));
  EXPECT_THAT(variant_folder("a/b"), StartsWith("a_b-"));
  EXPECT_NE(variant_folder("a/b"), variant_folder("a:b"));
  EXPECT_NE(variant_folder("a_b"), variant_folder("a b"));
  EXPECT_NE(variant_folder("only"), variant_folder(""));
  EXPECT_NE(variant_folder("..").front(), '.');
  EXPECT_LT(variant_folder(std::string(1'000, 'x')).size(), 255u);
  EXPECT_NE(variant_folder(std::string(1'000, 'x')), variant_folder(std::string(999, 'x')));
}

TEST(HpccFiles, FctTextHasTheFlowsThatEndedInTheOrderOfTheirEnds) {
  RunRecord run = sample_run("a", 1);
  const std::string text = fct_text(run, FctFormat::hpcc);
  // Node 300 is 0x0b000001 + 300 * 256; times in ns.
  EXPECT_THAT(text, StartsWith("0b000001 0b012c01 50000 100 1000 0 10000 10000\n"
                               "0b000001 0b012c01 50000 100 10000 1000 20000 10000\n"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 10);
  // Starts are on the clock of the trace.
  run.result.file_origin = Duration::milliseconds(2'000);
  EXPECT_THAT(fct_text(run, FctFormat::conweave),
              StartsWith("0 300 50000 100 1000 2000000000 10000 10000\n"));
}

// Reads as HPCC's script does: chooses by the fourth column (100 other flows, 200 incast) and the
// sixth (starts before), divides the seventh by the eighth, and sorts by the fifth.
std::vector<std::pair<int64_t, double>> slowdowns_of(const std::string& text, int kind,
                                                     int64_t before_ns) {
  std::vector<std::pair<int64_t, double>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::array<std::string, 8> cells;
    for (std::string& cell : cells) words >> cell;
    EXPECT_TRUE(words) << line;
    if (std::stoi(cells[3]) != kind || std::stoll(cells[5]) >= before_ns) continue;
    out.emplace_back(std::stoll(cells[4]),
                     std::max(1.0, std::stod(cells[6]) / std::stod(cells[7])));
  }
  std::ranges::sort(out);
  return out;
}

TEST(HpccFiles, FctTextIsReadAsItsScriptReadsIt) {
  RunRecord run = sample_run("a", 1);
  run.result.flows[2].flow.request = 0;      // of an incast
  run.result.flows[3].flow.file_port = 200;  // says a trace
  run.result.flows[4].flow.file_port = 100;
  const std::string text = fct_text(run, FctFormat::hpcc);
  constexpr int64_t kAll = 3'000'000'000;
  EXPECT_EQ(slowdowns_of(text, 100, kAll).size(), 8u);
  using Row = std::pair<int64_t, double>;
  EXPECT_THAT(slowdowns_of(text, 200, kAll), ElementsAre(Row{100'000, 3}, Row{1'000'000, 4}));
  EXPECT_THAT(slowdowns_of(text, 100, 2'000), ElementsAre(Row{1'000, 1}, Row{10'000, 2}));
}

// `eddylab schema result` and `eddylab schema tables` bring them up to date.
TEST(ResultDocs, TheSchemaInTheTreeIsThatOfTheList) {
  EXPECT_EQ(text_of(fs::path(EDDY_SOURCE_DIR) / "lab" / "results" / "result.schema.json"),
            result_schema());
}
TEST(ResultDocs, TheTablesInTheDocumentsAreThoseOfTheList) {
  EXPECT_THAT(text_of(fs::path(EDDY_SOURCE_DIR) / "docs" / "lab.md"), HasSubstr(result_markdown()));
}

}  // namespace
}  // namespace eddy::lab
