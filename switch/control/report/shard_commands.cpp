#include "switch/control/report/shard_commands.h"

#include <algorithm>
#include <string>
#include <utility>

namespace eddy::control {
namespace {

constexpr int kWaitRounds = 5'000;
constexpr size_t kNeighborRows = 8'192;  // a shard

bool is_done(const Command& command) {
  return command.done.load(std::memory_order_acquire);
}

// The least idle first.
void keep_first(std::vector<FlowRow>& rows, size_t most) {
  std::ranges::sort(rows, {}, [](const FlowRow& row) { return std::pair(row.idle, row.flow); });
  if (rows.size() > most) rows.resize(most);
}

}  // namespace

ShardCommands::ShardCommands(Switch& object, std::function<void()> wait)
    : object_(object), wait_(std::move(wait)) {}

// By a command that asks for nothing.
Problems ShardCommands::meet() {
  return clear_watermarks(PortId::none(), {.of = 0});
}

Problems ShardCommands::set_port_tx(PortId port, ShardId owner, bool on) {
  auto pending = std::make_unique<Pending>();
  pending->command.kind = Command::Kind::set_port_tx;
  pending->command.port = port;
  pending->command.on = on;
  return run(owner, pending, "set port tx");
}

Problems ShardCommands::clear_watermarks(PortId port, const WatermarkScope& scope) {
  Problems problems;
  for (size_t s = 0; s < object_.shard_count(); ++s) {
    auto pending = std::make_unique<Pending>();
    pending->command.kind = Command::Kind::clear_watermarks;
    pending->command.port = port;
    pending->command.watermarks = scope;
    const Problems mine = run(ShardId(s), pending, "clear watermarks");
    problems.insert(problems.end(), mine.begin(), mine.end());
  }
  return problems;
}

Result<std::vector<NeighborRow>> ShardCommands::neighbors() {
  std::vector<NeighborRow> rows;
  for (size_t s = 0; s < object_.shard_count(); ++s) {
    auto pending = std::make_unique<Pending>();
    pending->rows.resize(kNeighborRows);
    pending->command.kind = Command::Kind::dump_neighbors;
    pending->command.rows = pending->rows;
    if (Problems problems = run(ShardId(s), pending, "show neighbors"); !problems.empty())
      return problems;
    const auto count = static_cast<std::ptrdiff_t>(pending->command.row_count);
    rows.insert(rows.end(), pending->rows.begin(), pending->rows.begin() + count);
  }
  std::sort(rows.begin(), rows.end(), [](const NeighborRow& a, const NeighborRow& b) {
    return std::pair(a.address, a.port) < std::pair(b.address, b.port);
  });
  return rows;
}

Problems ShardCommands::capture(ShardId shard, const CaptureOrder* order,
                                std::shared_ptr<const void> lives) {
  auto pending = std::make_unique<Pending>();
  pending->command.kind = Command::Kind::capture;
  pending->command.capture = order;
  pending->lives = std::move(lives);
  return run(shard, pending, "capture");
}

Result<Explanation> ShardCommands::explain(const explain::Description& packet) {
  const config::SwitchConfig& config = object_.config();
  auto pending = std::make_unique<Pending>();
  pending->packet =
      std::make_unique<explain::LoosePacket>(explain::frame_of(packet, config), packet.length);
  pending->explanation = std::make_unique<Explanation>();
  pending->explanation->port = packet.port;
  pending->explanation->packet = pending->packet->get();
  pending->command.kind = Command::Kind::explain;
  pending->command.explanation = pending->explanation.get();
  const ShardId owner(static_cast<size_t>(config.ports[packet.port.index()].worker));
  if (Problems problems = run(owner, pending, "explain"); !problems.empty()) return problems;
  pending->explanation->packet = nullptr;
  return *pending->explanation;
}

Result<std::vector<PathRow>> ShardCommands::paths() {
  size_t members = 0;
  for (const config::LeafConfig& leaf : object_.config().leaves) members += leaf.paths.size();
  auto pending = std::make_unique<Pending>();
  pending->path_rows.resize(members);
  pending->command.kind = Command::Kind::dump_paths;
  pending->command.path_rows = pending->path_rows;
  if (Problems problems = run(ShardId(0), pending, "show paths"); !problems.empty())
    return problems;
  pending->path_rows.resize(pending->command.row_count);
  return std::move(pending->path_rows);
}

Result<std::vector<IsolatedRow>> ShardCommands::isolated() {
  std::vector<IsolatedRow> rows;
  for (size_t s = 0; s < object_.shard_count(); ++s) {
    auto pending = std::make_unique<Pending>();
    pending->isolated_rows.resize(IsolatedScan::kPlaces);
    pending->command.kind = Command::Kind::scan_isolated;
    pending->command.isolated.rows = pending->isolated_rows;
    do {
      if (Problems problems = run(ShardId(s), pending, "show isolated"); !problems.empty())
        return problems;
      const IsolatedScan& scan = pending->command.isolated;
      const auto found = scan.rows.first(scan.row_count);
      rows.insert(rows.end(), found.begin(), found.end());
    } while (pending->command.isolated.more);
  }
  return rows;
}

Result<FlowSurvey> ShardCommands::flows(const WantsFlow& wants, size_t most) {
  FlowSurvey survey;
  for (size_t s = 0; s < object_.shard_count(); ++s)
    if (Problems problems = add_flows(ShardId(s), wants, most, survey); !problems.empty())
      return problems;
  keep_first(survey.rows, most);
  return survey;
}

Problems ShardCommands::add_flows(ShardId shard, const WantsFlow& wants, size_t most,
                                  FlowSurvey& survey) {
  auto pending = std::make_unique<Pending>();
  pending->flow_rows.resize(FlowScan::kPlaces);
  pending->command.kind = Command::Kind::scan_flows;
  FlowScan& scan = pending->command.flows;
  scan.rows = pending->flow_rows;
  do {
    if (Problems problems = run(shard, pending, "show flows"); !problems.empty()) return problems;
    for (FlowRow& row : scan.rows.first(scan.row_count)) {
      row.worker = static_cast<uint16_t>(shard.index());
      if (!wants(row)) continue;
      ++survey.matching;
      survey.rows.push_back(row);
    }
    survey.scheme_flows += scan.scheme_flows;
    survey.phased |= scan.phased;
    survey.asking += scan.asking;
    survey.moved += scan.moved;
    survey.watched += scan.watched;
    if (survey.rows.size() > 2 * most) keep_first(survey.rows, most);
  } while (scan.more);
  survey.places += scan.places;
  survey.scheme_places += scan.scheme_places;
  return {};
}

Problems ShardCommands::run(ShardId shard, std::unique_ptr<Pending>& pending,
                            std::string_view what) {
  std::erase_if(late_, [](const auto& late) { return is_done(late->command); });
  const std::string worker = std::string(what) + ": worker " + std::to_string(shard.index());
  bool posted = object_.post(shard, pending->command);
  for (int i = 0; i < kWaitRounds && !posted; ++i) {
    wait_();
    posted = object_.post(shard, pending->command);
  }
  if (!posted) return {worker + " does not empty its mailbox"};
  for (int i = 0; i < kWaitRounds && !is_done(pending->command); ++i) wait_();
  if (is_done(pending->command)) return {};
  late_.push_back(std::move(pending));
  return {worker + " does not answer"};
}

}  // namespace eddy::control
