#include "config/experiment_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "config/keys/experiment.h"
#include "config/keys/hint.h"
#include "config/keys/host_laws.h"
#include "config/load_parts.h"
#include "config/matrix.h"
#include "config/overlay.h"
#include "lb/registry.h"
#include "net/text/plain_name.h"

namespace eddy::config {
namespace {

// Takes a member out of the root.
Node take(Node& root, std::string_view key) {
  const auto found = std::ranges::find(root.members, key, &Node::Member::key);
  if (found == root.members.end()) return {};
  Node value = std::move(found->value);
  root.members.erase(found);
  return value;
}

// The key that "key.path: text" is about.
std::string key_of(const std::string& problem) {
  return problem.substr(0, problem.find(": "));
}

// The key of the root that a problem stands below: by its place in the file; of a --set by its
// path.
std::string root_key_of(const Node& root, const Problem& problem) {
  if (problem.at.source > 0) return problem.text.substr(0, problem.text.find_first_of(".: "));
  std::string key;
  for (const Node::Member& member : root.members)
    if (std::tie(member.key_at.line, member.key_at.column) <=
        std::tie(problem.at.line, problem.at.column))
      key = member.key;
  return key;
}

void note_places(const Node& node, std::set<Position>& places) {
  places.insert(node.at);
  for (const Node& item : node.items) note_places(item, places);
  for (const Node::Member& member : node.members) {
    places.insert(member.key_at);
    note_places(member.value, places);
  }
}

// What is wrong with variants. The same place and key is told once, in the words of the first
// variant that has it, with the names of those that do unless all do, or its place says which.
class VariantProblems {
 public:
  explicit VariantProblems(const Node& matrix) { note_places(matrix, in_matrix_); }

  size_t size() const { return groups_.size(); }
  void add(const std::string& variant, const std::vector<Problem>& problems) {
    ++variants_;
    for (const Problem& problem : problems) {
      const auto [at, fresh] =
          at_.emplace(std::pair(problem.at, key_of(problem.text)), groups_.size());
      if (fresh) groups_.emplace_back();
      Group& group = groups_[at->second];
      if (group.variants.empty() || group.variants.back() != variant)
        group.variants.push_back(variant);
      if (group.variants.size() == 1) group.problems.push_back(problem);
    }
  }
  void append_to(std::vector<Problem>& problems) const {
    for (const Group& group : groups_)
      for (Problem problem : group.problems) {
        if (group.variants.size() < variants_ && !in_matrix_.contains(problem.at))
          problem.text += named(group.variants);
        problems.push_back(std::move(problem));
      }
  }

 private:
  struct Group {
    std::vector<Problem> problems;  // of the first
    std::vector<std::string> variants;
  };

  static std::string named(const std::vector<std::string>& variants) {
    constexpr size_t kMost = 4;
    std::string names;
    for (size_t i = 0; i < std::min(variants.size(), kMost); ++i)
      names += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", variants[i]);
    if (variants.size() > kMost) names += fmt::format(" and {} more", variants.size() - kMost);
    return fmt::format(" (variant{} {})", variants.size() == 1 ? "" : "s", names);
  }

  std::set<Position> in_matrix_;
  std::vector<Group> groups_;
  std::map<std::pair<Position, std::string>, size_t> at_;
  size_t variants_ = 0;
};

class Loader {
 public:
  Loader(const std::filesystem::path& name, const ExperimentChoice& choice)
      : name_(name), choice_(choice), sources_{name.string(), choice.sets} {}

  Result<LoadedExperiment> run(std::string_view text) {
    ExperimentAttempt attempt = this->attempt(text);
    if (!attempt.problems.empty()) return std::move(attempt.problems);
    return std::move(attempt.loaded);
  }
  ExperimentAttempt attempt(std::string_view text) {
    const Node root = parse_yaml(text, problems_);
    if (problems_.empty() || root.kind == Node::Kind::map) read(root);
    return finish(root);
  }

 private:
  static constexpr size_t kEnough = 1'000;  // problems; later variants only repeat them

  void read(Node root) {
    parse_sets();
    apply_size(root);
    const Node matrix = take(root, "matrix");
    read_expect(take(root, "expect"));
    const std::vector<Variant> variants = expand_matrix(matrix, set_paths_, problems_);
    const auto own = static_cast<ptrdiff_t>(problems_.size());
    VariantProblems wrong(matrix);
    for (const Variant& variant : variants) {
      if (wrong.size() > kEnough) break;
      read_variant(root, variant);
      wrong.add(variant.name, {problems_.begin() + own, problems_.end()});
      problems_.erase(problems_.begin() + own, problems_.end());
    }
    wrong.append_to(problems_);
    refuse_seeds_by_variant(matrix);
  }
  ExperimentAttempt finish(const Node& root) {
    loaded_.file = sources_.file;
    loaded_.folder = name_.parent_path();
    loaded_.sets = choice_.sets;
    loaded_.size = choice_.size;
    loaded_.warnings = printed(sources_, std::move(warnings_));
    ExperimentAttempt attempt;
    for (const Problem& problem : problems_) attempt.doubtful.insert(root_key_of(root, problem));
    attempt.problems = printed(sources_, std::move(problems_));
    attempt.loaded = std::move(loaded_);
    return attempt;
  }

  void refuse_seeds_by_variant(const Node& matrix);
  void parse_sets();
  void apply_size(Node& root);
  void read_expect(const Node& node);
  void read_variant(const Node& root, const Variant& variant);
  void refuse_outer_keys(const Node& tree);
  Experiment read_tree(const Node& tree, Positions& positions);
  void complete(Experiment& experiment);
  void check(const ExperimentRun& run);

  const std::filesystem::path& name_;
  const ExperimentChoice& choice_;
  Sources sources_;
  std::vector<Problem> problems_;
  std::vector<Problem> warnings_;
  Node sets_{.kind = Node::Kind::map};
  std::vector<std::string> set_paths_;
  LoadedExperiment loaded_;
};

void put_source(Node& node, int source) {
  node.at.source = source;
  for (Node& item : node.items) put_source(item, source);
  for (Node::Member& member : node.members) {
    member.key_at.source = source;
    put_source(member.value, source);
  }
}

void Loader::parse_sets() {
  for (size_t i = 0; i < choice_.sets.size(); ++i) {
    const std::string& text = choice_.sets[i];
    const size_t equals = std::min(text.find('='), text.size());
    const Position at{1, 1, static_cast<int>(i + 1)};
    if (equals == 0 || equals == text.size()) {
      problems_.push_back({at, "write key.path=value, such as traffic.0.load=0.6"});
      continue;
    }
    std::vector<Problem> wrong;
    Node value = parse_yaml(std::string_view(text).substr(equals + 1), wrong);
    if (!wrong.empty()) problems_.push_back({at, wrong.front().text});
    put_source(value, at.source);
    set_paths_.push_back(text.substr(0, equals));
    sets_.members.push_back({set_paths_.back(), at, std::move(value)});
  }
}

// Overlays what the chosen size changes. A file without a `full` of its own is at full size as it
// stands.
void Loader::apply_size(Node& root) {
  const Node sizes = take(root, "sizes");
  std::vector<std::string_view> given;
  if (sizes.kind != Node::Kind::null && sizes.kind != Node::Kind::map)
    problems_.push_back({sizes.at, "sizes: write a map from ci, reduced, full to keys to change"});
  for (const Node::Member& size : sizes.members) {
    given.push_back(size.key);
    if (std::ranges::find(kExperimentSizes, size.key) == kExperimentSizes.end())
      problems_.push_back({size.key_at, fmt::format("sizes: '{}' is no size{}", size.key,
                                                    hint(size.key, kExperimentSizes))});
    else if (size.value.kind != Node::Kind::map && size.value.kind != Node::Kind::null)
      problems_.push_back({size.value.at, fmt::format("sizes.{}: write keys to change", size.key)});
    else if (size.key == choice_.size)
      overlay(experiment_section(), root, size.value, problems_);
  }
  for (const std::string_view size : kExperimentSizes)
    if (size == "full" || std::ranges::find(given, size) != given.end())
      loaded_.sizes.emplace_back(size);
  if (choice_.size == "full" || std::ranges::find(given, choice_.size) != given.end()) return;
  if (std::ranges::find(given, "full") == given.end()) given.push_back("full");
  problems_.push_back(
      {{1, 1},
       fmt::format("the file has no size '{}'{}", choice_.size, hint(choice_.size, given))});
}

void Loader::read_expect(const Node& node) {
  if (node.kind == Node::Kind::scalar) loaded_.expect.push_back(node.text);
  if (node.kind == Node::Kind::map)
    problems_.push_back({node.at, "expect: this is a map of keys, write a list of texts"});
  for (const Node& item : node.items)
    if (item.kind == Node::Kind::scalar)
      loaded_.expect.push_back(item.text);
    else
      problems_.push_back({item.at, "expect: write a list of texts"});
}

void Loader::read_variant(const Node& root, const Variant& variant) {
  Node tree = root;
  for (const Node& change : variant.changes) overlay(experiment_section(), tree, change, problems_);
  overlay(experiment_section(), tree, sets_, problems_);
  refuse_outer_keys(tree);
  ExperimentRun& run = loaded_.runs.emplace_back();
  run.variant = variant.name;
  run.experiment = read_tree(tree, run.positions);
  if (const auto found =
          load_plugin(run.experiment.load_balancer, choice_.plugins, name_.parent_path()))
    add_findings({*found}, run.positions, problems_);
  check(run);
  complete(run.experiment);
}

// Variants are compared seed by seed, and --seed is of all.
void Loader::refuse_seeds_by_variant(const Node& matrix) {
  const auto seeds_of = [](const ExperimentRun& run) { return run.experiment.run.seeds; };
  for (const ExperimentRun& run : loaded_.runs) {
    if (seeds_of(run) == seeds_of(loaded_.runs.front())) continue;
    problems_.push_back({matrix.at,
                         "matrix: run.seeds differs from variant to variant, but all are run with "
                         "the same seeds; give run.seeds once, or --seed"});
    return;
  }
}

// Those that make the variants have been read from the file before; here they would have no effect.
void Loader::refuse_outer_keys(const Node& tree) {
  constexpr std::array<std::string_view, 3> kOuter = {"sizes", "matrix", "expect"};
  for (const Node::Member& member : tree.members)
    if (std::ranges::find(kOuter, member.key) != kOuter.end())
      problems_.push_back(
          {member.key_at,
           fmt::format("{} stands at the top of a file alone, give a key of the experiment, such "
                       "as load_balancer.scheme, or choose with --variant and --size",
                       member.key)});
}

// DCQCN's preset is what its other keys start from: a first reading finds it.
Experiment Loader::read_tree(const Node& tree, Positions& positions) {
  ExperimentDocument first = experiment_document(default_experiment());
  std::vector<Problem> ignored;
  Positions unused;
  Reader look(ignored, unused);
  read_section(experiment_section(), look, tree, &first);

  ExperimentDocument document = experiment_document(default_experiment());
  if (const auto preset = first.host.dcqcn.preset)
    document.host.dcqcn.config = dcqcn_preset(*preset);
  Reader reader(problems_, positions);
  read_section(experiment_section(), reader, tree, &document);
  return experiment_of(document);
}

void Loader::complete(Experiment& experiment) {
  complete_parameters(experiment.load_balancer);
  if (experiment.id.empty()) {
    experiment.id = name_.stem().string();
    const Problems found = check_plain_name("id: the file's name", experiment.id);
    if (!found.empty()) problems_.push_back({{1, 1}, found.front() + "; or write id"});
  }
  std::string& file = experiment.topology.file;
  if (!file.empty()) file = (name_.parent_path() / file).lexically_normal().string();
}

// A switch with one port like all of the fabric, for what a switch's own check knows.
constexpr std::string_view kPort = "ports.p.";
SwitchConfig sample_switch(const Experiment& experiment) {
  SwitchConfig sample = default_switch("sample");
  sample.buffer = experiment.switches.buffer;
  sample.load_balancer = experiment.load_balancer;
  sample.dre = experiment.switches.dre;
  sample.time_dilation = experiment.run.time_dilation;
  PortConfig& port = sample.ports.emplace_back(default_port("p"));
  port.speed = experiment.topology.host_rate;
  port.mtu = experiment.switches.mtu;
  port.queues = experiment.switches.queues;
  port.pfc = experiment.switches.pfc_port;
  port.watchdog = experiment.switches.watchdog;
  return sample;
}

// In the words of an experiment's file.
std::string without_port(std::string text) {
  for (const auto& [from, to] :
       {std::pair<std::string_view, std::string_view>{"ports.p.speed", "topology.host_rate"},
        {"ports.p.queues", "switches.queues"},
        {kPort, ""}})
    for (size_t at = 0; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  return text;
}
std::vector<Finding> without_port(std::vector<Finding> findings) {
  for (Finding& finding : findings)
    finding = {without_port(finding.path), without_port(finding.text)};
  return findings;
}

// Profiles of ports of a rate: that they exist, and that each rate stands once.
void check_by_rate(const FabricSwitchConfig& switches, std::vector<Finding>& findings) {
  const auto names_of = [](const auto& profiles) {
    std::vector<std::string_view> names;
    for (const auto& [name, profile] : profiles) names.push_back(name);
    return names;
  };
  std::set<BitRate> rates;
  for (size_t i = 0; i < switches.by_rate.size(); ++i) {
    const PortsOfRate& ports = switches.by_rate[i];
    const std::string path = fmt::format("switches.by_rate.{}", i);
    const auto problem = [&](const std::string& key, const std::string& text) {
      findings.push_back({key, fmt::format("{}: {}", key, text)});
    };
    if (!rates.insert(ports.rate).second)
      problem(path + ".rate", to_string(ports.rate) + " stands twice, give all profiles once");
    if (!ports.wred && !ports.lossless) problem(path, "no profile, give wred or lossless");
    if (ports.wred && !switches.buffer.wred.contains(*ports.wred))
      problem(path + ".wred", fmt::format("unknown WRED profile '{}'{}", *ports.wred,
                                          hint(*ports.wred, names_of(switches.buffer.wred))));
    if (!ports.lossless) continue;
    const auto found = switches.buffer.profiles.find(*ports.lossless);
    if (found == switches.buffer.profiles.end())
      problem(path + ".lossless",
              fmt::format("unknown buffer profile '{}'{}", *ports.lossless,
                          hint(*ports.lossless, names_of(switches.buffer.profiles))));
    else if (!found->second.lossless)
      problem(path + ".lossless",
              fmt::format("buffer profile '{}' is lossy, one with lossless: true would be valid",
                          *ports.lossless));
  }
}

std::vector<Finding> own_findings(const Experiment& experiment) {
  std::vector<Finding> findings;
  for (const std::string& text : law_problems(experiment.host))
    findings.push_back({key_of(text), text});
  for (const std::string& text : traffic_problems(experiment))
    findings.push_back({key_of(text), text});
  check_by_rate(experiment.switches, findings);
  const auto limit = [&](const std::string& key, uint64_t seed) {
    if (seed > kLargestSeed)
      findings.push_back({key, fmt::format("{}: seed {} is too large, valid is 0 to {}", key, seed,
                                           kLargestSeed)});
  };
  const std::vector<uint64_t>& seeds = experiment.run.seeds;
  for (size_t i = 0; i < seeds.size(); ++i) limit(fmt::format("run.seeds.{}", i), seeds[i]);
  limit("topology.seed", experiment.topology.seed);
  if (seeds.empty()) findings.push_back({"run.seeds", "run.seeds: none, give at least one"});
  if (std::set<uint64_t>(seeds.begin(), seeds.end()).size() < seeds.size())
    findings.push_back({"run.seeds", "run.seeds: a seed stands twice, that would be the same run"});
  return findings;
}

void Loader::check(const ExperimentRun& run) {
  const Findings as_switch = validate(sample_switch(run.experiment), Purpose::object);
  add_findings(without_port(as_switch.problems), run.positions, problems_);
  add_findings(own_findings(run.experiment), run.positions, problems_);
  if (as_switch.problems.empty())
    if (const auto found = try_plugin(run.experiment.load_balancer, run.experiment.switches.rlb))
      add_findings({*found}, run.positions, problems_);
  add_findings(without_port(as_switch.warnings), run.positions, warnings_, "warning: ");
}

}  // namespace

std::string LoadedExperiment::locate(const ExperimentRun& run, const std::string& problem) const {
  const std::string key = key_of(problem);
  const Section& section = experiment_section();
  const bool known = std::ranges::any_of(section.keys, [&](const Key& each) {
    return key == each.info.name || key.starts_with(std::string(each.info.name) + ".");
  });
  return known ? located({file, sets}, run.positions.find(key), problem) : problem;
}

Result<LoadedExperiment> load_experiment(const std::filesystem::path& path,
                                         const ExperimentChoice& choice) {
  const auto text = read_text(path);
  if (!text) return text.problems();
  return load_experiment_text(path, text.value(), choice);
}

ExperimentAttempt try_experiment(const std::filesystem::path& path,
                                 const ExperimentChoice& choice) {
  const auto text = read_text(path);
  if (!text) return {.loaded = {}, .problems = text.problems(), .doubtful = {}};
  return Loader(path, choice).attempt(text.value());
}

Result<LoadedExperiment> load_experiment_text(const std::filesystem::path& name,
                                              std::string_view text,
                                              const ExperimentChoice& choice) {
  return Loader(name, choice).run(text);
}

}  // namespace eddy::config
