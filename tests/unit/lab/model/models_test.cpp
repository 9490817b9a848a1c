#include "lab/model/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/experiment_load.h"
#include "lab/results/flow_series.h"
#include "lab/results/results.h"
#include "tests/unit/lab/run/sample_run.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result<ModelSettings> read(const char* id, const std::vector<std::string>& sets) {
  return ModelSettings::read(find_model(id)->keys, sets);
}
ModelFigure compute(const char* id, const std::vector<std::string>& sets = {}) {
  return find_model(id)->compute(read(id, sets).value()).value();
}

TEST(ModelSettings, AreWhatWasGivenOverTheDefaults) {
  const ModelSettings settings = read("lf-7", {"gap=1us,2ms", "flows=7"}).value();
  EXPECT_THAT(settings.all("gap"), ElementsAre(1e-6, 2e-3));
  EXPECT_EQ(settings.one("flows"), 7);
  EXPECT_EQ(settings.one("packet"), 1'500);
  EXPECT_EQ(settings.all("rates")[0], 40e9);
  EXPECT_FALSE(settings.has("start"));
  EXPECT_EQ(settings.text("gap"), "1us,2ms");
}

TEST(ModelSettings, SayAllThatIsWrong) {
  const auto settings =
      read("lf-7", {"gap=5", "gap=", "flows=1", "flows=3,4", "packet=1Gbps", "x=1", "steps"});
  ASSERT_FALSE(settings.ok());
  EXPECT_THAT(
      settings.problems(),
      ElementsAre(HasSubstr("--set gap: '5' has no unit"), HasSubstr("--set gap: ''"),
                  HasSubstr("--set flows: '1' is out of range, valid: 2 to 400"),
                  HasSubstr("--set flows: 2 values, valid: one"), HasSubstr("--set packet: "),
                  HasSubstr("--set 'x=1': valid: KEY=VALUE, of rates, flows, start"),
                  HasSubstr("--set 'steps': valid: KEY=VALUE, of rates")));
  EXPECT_THAT(
      read("lf-7", {"gap=1ns,11s"}).problems(),
      ElementsAre("--set gap: '11s' is out of range, valid: a list of values from 1ns to 10s"));
}

TEST(Models, EachHasATableRowsAndAChart) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.id);
    EXPECT_EQ(find_model(model.id), &model);
    // With few flows chains are computed fast.
    const bool is_chain = model.id.starts_with("lf");
    const ModelFigure figure = compute(model.id.data(), {is_chain ? "flows=6" : "flows=1,1000"});
    ASSERT_GT(figure.table.text.size(), 1u);
    for (const auto& row : figure.table.text)
      EXPECT_THAT(row, SizeIs(figure.table.text.front().size()));
    EXPECT_THAT(figure.table.rows, SizeIs(figure.table.text.size() - 1));
    EXPECT_THAT(figure.chart.series, Not(IsEmpty()));
    for (const Series& series : figure.chart.series) EXPECT_THAT(series.points, Not(IsEmpty()));
    EXPECT_THAT(draw(figure.chart), HasSubstr("<svg"));
  }
  EXPECT_EQ(find_model("lf-9"), nullptr);
}

TEST(Models, TheSplitIsTheChains) {
  const ModelFigure figure = compute("lf-7", {"gap=500us,900us"});
  EXPECT_THAT(figure.table.text[1],
              ElementsAre("500us", "79.1", "78", "81", "1.0", "79.1", "78.9"));
  EXPECT_EQ(figure.table.rows[1].at("gap_us"), 900);
  EXPECT_EQ(figure.table.rows[1].at("ideal"), 80);
  EXPECT_EQ(compute("lf-7", {"gap=500us", "start=3", "steps=0"}).table.rows[0].at("mean"), 3);
  const auto refused = [](const std::vector<std::string>& sets) {
    return find_model("lf-7")->compute(read("lf-7", sets).value()).problems();
  };
  EXPECT_THAT(refused({"rates=1Gbps"}),
              ElementsAre("--set rates: two values, such as 40Gbps,10Gbps"));
  EXPECT_THAT(refused({"flows=10", "start=11"}),
              ElementsAre("--set start: 11 is more than the 10 flows there are"));
}

// Figure 8: faster flows want shorter gaps, and about 500 us do for most rates.
TEST(Models, TheBestGapFallsWithTheRate) {
  const ModelFigure figure = compute("lf-8", {"flows=5,10,20", "rates=40Gbps,10Gbps"});
  double least = 0, most = 0;
  for (const Json& row : figure.table.rows) {  // slower and slower
    EXPECT_GT(row.at("least_gap_us").get<double>(), least);
    EXPECT_GT(row.at("most_gap_us").get<double>(), most);
    least = row.at("least_gap_us");
    most = row.at("most_gap_us");
  }
  EXPECT_LT(least, 500);
  EXPECT_GT(most, 500);
  EXPECT_THAT(figure.table.notes, ElementsAre(HasSubstr("are good for 3 of 3")));
  EXPECT_THAT(compute("lf-8", {"flows=2", "off=1"}).table.notes,
              ElementsAre("no gap is good for any"));
  EXPECT_THAT(find_model("lf-8")->compute(read("lf-8", {"rates=1Gbps"}).value()).problems(),
              ElementsAre(HasSubstr("--set rates: pairs of values")));
}

TEST(Models, MemoryIsByTheSweptKeys) {
  const ModelFigure figure = compute("fc-4a", {"rtt=50us", "hosts_per_leaf=4"});
  EXPECT_THAT(figure.table.text[1],
              ElementsAre("1024", "200Gbps", "50us", "610.4", "6.6 MiB", "23.8 KiB", "6.0 KiB"));
  EXPECT_EQ(compute("fc-4c").table.rows.size(), 5u);
  const ModelFigure all = compute("fc-5", {"hosts=1024"});
  EXPECT_THAT(all.table.text.front(), Contains("flowlet (5 B)"));
  EXPECT_THAT(all.chart.series, SizeIs(5));
}

// Runs on disk whose numbers are known.
class Comparison : public testing::Test {
 protected:
  Comparison() { fs::remove_all(folder_); }
  ~Comparison() override { fs::remove_all(folder_); }

  void add_run(const std::string& variant, uint64_t seed, const std::string& yaml,
               const std::string& file, const std::string& series) {
    RunRecord run = sample_run(variant, seed);
    run.identity.config = yaml;
    run.result.simulated = Duration::milliseconds(10);
    ASSERT_THAT(write_run(run_folder(folder_, variant, seed), run), IsEmpty());
    ASSERT_THAT(write_text(run_folder(folder_, variant, seed) / file, series), IsEmpty());
  }
  Result<ModelTable> compare(const char* id, const std::vector<std::string>& sets = {}) {
    return find_model(id)->compare(read(id, sets).value(), folder_);
  }
  fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr const char* kLetFlow =
    "{id: x, load_balancer: {scheme: letflow, gap: 10us}, host: {mtu: 1024}, "
    "traffic: [{type: long_flow, size: 1MB, sources: [leaf1], destinations: [leaf2]}]}";

TEST_F(Comparison, FlowsAreCountedOnTheFirstPathInTheSecondHalf) {
  const std::string head = "at_ns,link,sender,flows\n";
  add_run("", 1, kLetFlow, std::string(kLinkFlowsFile),
          head +
              "1000,leaf1-spine1,leaf1,1\n1000,leaf1-spine2,leaf1,10\n"
              "5000,leaf1-spine1,leaf1,6\n5000,leaf1-spine2,leaf1,5\n5000,leaf2-spine1,spine1,6\n"
              "8000,leaf1-spine2,leaf1,11\n"
              "9000,leaf1-spine1,leaf1,9\n9000,leaf1-spine2,leaf1,2\n");
  const auto table = compare("lf-7");
  ASSERT_TRUE(table.ok()) << table.problems().front();
  const Json& row = table.value().rows[0];
  EXPECT_EQ(row.at("run"), 5);  // of 6, 0 and 9
  EXPECT_EQ(row.at("flows"), 11);
  EXPECT_EQ(row.at("gap_us"), 10);
  EXPECT_DOUBLE_EQ(row.at("ideal"), 8.8);
  // 10 ms at 50 Gb/s are 61,035 packets of 1,024 octets.
  EXPECT_DOUBLE_EQ(row.at("model"),
                   compute("lf-7", {"flows=11", "gap=10us", "packet=1024B", "steps=61035"})
                       .table.rows[0]
                       .at("mean"));
}

TEST_F(Comparison, WhatTheModelIsNotOfIsSaid) {
  const std::string file(kLinkFlowsFile);
  const std::string head = "at_ns,link,sender,flows\n";
  EXPECT_THAT(compare("lf-7").problems(), ElementsAre(HasSubstr("no finished run in it")));
  add_run("", 1, kLetFlow, file, head + "1,a-b,a,1\n");
  EXPECT_THAT(compare("lf-7").problems(), ElementsAre(HasSubstr("here 0 switches have a choice")));
  add_run("", 1, kLetFlow, file, head + "1,a-b,a,x\n1,a-c\n");
  EXPECT_THAT(compare("lf-7").problems(), Contains(HasSubstr("link_flows.csv:2")));
  add_run("", 1, "{id: x, load_balancer: {scheme: ecmp}, traffic: [{type: burst, size: 1B}]}", file,
          head + "1,a-b,a,1\n1,a-c,a,1\n");
  EXPECT_THAT(compare("lf-7").problems(),
              ElementsAre(HasSubstr("the model is of letflow, and this is ecmp")));
  add_run("", 1, "id: [", file, head);
  EXPECT_THAT(compare("lf-7").problems(), Not(IsEmpty()));
  fs::remove(run_folder(folder_, "", 1) / file);
  add_run("", 1, kLetFlow, "other", "");
  EXPECT_THAT(compare("lf-7").problems(),
              ElementsAre(HasSubstr("eddylab run --flow-series writes it")));
}

TEST_F(Comparison, ThePlacesOfTheFullestTableStandBesideTheBound) {
  const char* yaml =
      "{id: x, topology: {hosts_per_leaf: 3}, load_balancer: {scheme: flowcut}, host: {mtu: 1024}, "
      "traffic: [{type: long_flow, size: 1MB, sources: [leaf1], destinations: [leaf2]}]}";
  add_run("", 1, yaml, std::string(kFlowTablesFile),
          "at_ns,switch,flows\n0,leaf1,0\n0,leaf2,4\n9,leaf1,40\n9,leaf2,6\n");
  add_run("", 2, yaml, std::string(kFlowTablesFile), "at_ns,switch,flows\n0,leaf1,60\n");
  const auto table = compare("fc-4a");
  ASSERT_TRUE(table.ok()) << table.problems().front();
  const Json& row = table.value().rows[0];
  EXPECT_EQ(row.at("run_most"), 50);                        // 40 and 60
  EXPECT_EQ(row.at("run_mean"), 40);                        // 20 and 60
  EXPECT_DOUBLE_EQ(row.at("model"), 3 * 50'000.0 / 1'024);  // the sample's bandwidth-delay product
  add_run("", 1, yaml, std::string(kFlowTablesFile), "at_ns,switch,flows\n");
  EXPECT_THAT(compare("fc-4a").problems(), ElementsAre(HasSubstr("remembers flows")));
}

}  // namespace
}  // namespace eddy::lab
