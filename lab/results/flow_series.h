// FlowSeries: where the flows of a run go, and how many its switches remember, in two files.
//
// link_flows.csv: `at_ns,link,sender,flows`, for each end of a link between switches the flows of
// which it has sent data since the sample before; a flow that went several ways from a switch
// counts where it went last. Ends without any are left out. flow_tables.csv: `at_ns,switch,flows`,
// what the tables of a switch's scheme hold; a switch without such tables is left out. Both each
// run.sample_period. Recording changes nothing in the run. Owner: one run, which it must outlive; a
// watcher of its world. Cost: a look-up a data frame and hop; the tables are walked through for
// each sample. Source: LetFlow paper, figure 5; Flowcut paper, section III-A2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lab/run/run.h"
#include "lab/world/world.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr std::string_view kLinkFlowsFile = "link_flows.csv";
inline constexpr std::string_view kFlowTablesFile = "flow_tables.csv";

class FlowSeries final : public Watcher {
 public:
  // Times are divided by `time_dilation`.
  explicit FlowSeries(int64_t time_dilation) : time_dilation_(time_dilation) {}

  // Creates the files; before the run.
  Problems open(const std::filesystem::path& folder);
  // Before it watches that world.
  void attach(const BuiltRun& run);
  void sample(RunOptions::Sample which, Instant at);
  // The files are whole, or a problem; the world may be gone.
  Problems close();

  void on_frame(uint32_t line, Step step, const Packet& packet) override;
  void on_turn(uint32_t) override {}
  void on_instant() override {}

 private:
  static constexpr uint32_t kNoEnd = 0xffffffff;
  struct End {
    std::string text;  // "link,sender"
    uint64_t flows = 0;
  };
  struct File {
    std::filesystem::path path;
    std::ofstream stream;
  };

  void write_links(int64_t at_ns);
  void write_tables(int64_t at_ns);

  int64_t time_dilation_;
  World* world_ = nullptr;
  std::vector<std::string> switches_;
  std::vector<End> ends_;
  std::vector<uint32_t> end_of_;  // by line
  std::unordered_map<uint64_t, uint32_t>
      went_;  // the end that a flow took last, by flow and switch
  File link_file_, table_file_;
};

// A row of either file.
struct FlowCount {
  int64_t at_ns = 0;
  std::string link;  // of flow_tables.csv empty
  std::string at;    // the sender, the switch
  double flows = 0;
};
// Of a run's folder. A run without them is a problem, which says what makes them.
Result<std::vector<FlowCount>> read_link_flows(const std::filesystem::path& folder);
Result<std::vector<FlowCount>> read_flow_tables(const std::filesystem::path& folder);

}  // namespace eddy::lab
