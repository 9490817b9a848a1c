// Runs labs and prints a line for each: its digest and what it was, or the violation.
//
//   lab_sim SEED...                  random labs
//   lab_sim --from A --to B          all from A to B
//   lab_sim --lab FILE.yaml...       labs that are written out (lab_file.h)
//   lab_sim --write FILE.yaml SEED   writes a random lab out
//
// `--generator 2`, `3` or `4` before the rest draws more (random_lab.h); then tables say at the end
// in how many labs each scheme, law of hosts and fault was, and each fault site was reached and on,
// and how often it was reached and fired.
// `--rlb PRESET` before the rest runs the labs with RLB just as that preset says.
// Exits 1 when an invariant did not hold.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/fabric/build_topology.h"
#include "tests/sim/lab_file.h"
#include "tests/sim/random_lab.h"

namespace eddy::test {
namespace {

constexpr const char* kProgram = "build/dev/bin/lab_sim ";

using Words = std::vector<std::string>;

uint64_t number(const std::string& word) {
  return std::strtoull(word.c_str(), nullptr, 10);
}

int usage() {
  std::fputs(
      "usage: lab_sim [--rebase POLLS] [--generator 1|2|3|4] SEED... | --from A --to B\n"
      "       lab_sim [--generator 1|2|3|4] --write FILE SEED\n"
      "       lab_sim --rlb PRESET SEED... | --from A --to B\n"
      "       lab_sim --lab FILE...\n",
      stderr);
  return 2;
}

int print(uint64_t seed, const LabResult& result) {
  std::printf("%s\n", digest_line(seed, result).c_str());
  if (result.excused != 0)
    std::printf("  excused: %llu lossless packets, as a pause was read late\n",
                static_cast<unsigned long long>(result.excused));
  for (const std::string& flow : result.unended) std::printf("  not ended: %s\n", flow.c_str());
  for (const std::string& problem : result.problems) std::printf("  %s\n", problem.c_str());
  std::fflush(stdout);
  return result.problems.empty() ? 0 : 1;
}

int refuse(const Problems& problems) {
  for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
  return problems.empty() ? 0 : 2;
}

int run_files(const Words& files) {
  int failed = 0;
  for (const std::string& file : files) {
    const auto lab = read_lab(file);
    if (!lab) return refuse(lab.problems());
    const LabResult result = run_lab(lab.value(), {.replay = kProgram + ("--lab " + file)});
    failed |= print(lab.value().seed, result);
  }
  return failed;
}

// By site: in how many labs it was reached and in how many it was on, and how often.
class Coverage {
 public:
  void add(const LabResult& result) {
    for (size_t i = 0; i < kFaultSites; ++i) {
      labs_[i] += result.sites[i].reached != 0 ? 1 : 0;
      on_[i] += result.sites_on[i] ? 1 : 0;
      uses_[i].reached += result.sites[i].reached;
      uses_[i].fired += result.sites[i].fired;
    }
  }
  void print() const {
    std::printf("%-20s %8s %8s %10s %10s\n", "fault site", "labs", "on", "reached", "fired");
    for (size_t i = 0; i < kFaultSites; ++i)
      std::printf("%-20s %8llu %8llu %10llu %10llu\n", kFaultSiteNames[i].data(), wide(labs_[i]),
                  wide(on_[i]), wide(uses_[i].reached), wide(uses_[i].fired));
  }

 private:
  static unsigned long long wide(uint64_t n) { return n; }
  std::array<uint64_t, kFaultSites> labs_{};
  std::array<uint64_t, kFaultSites> on_{};
  std::array<FaultSites::Use, kFaultSites> uses_{};
};

// By what was drawn: in how many labs it was.
class Census {
 public:
  void add(const Lab& lab, const LabResult& result) {
    const config::Experiment& experiment = lab.experiment;
    const std::string& scheme = experiment.load_balancer.scheme;
    const bool rlb = experiment.switches.rlb.enabled();
    ++labs_["scheme " + scheme + (rlb ? " with rlb" : "")];
    for (const auto& [name, value] : experiment.load_balancer.parameters)
      if (name == "mode" || name == "granularity") ++labs_[scheme + " " + name + " " + value];
    for (const config::FaultConfig& fault : experiment.faults)
      if (const auto change = fault.set.find("load_balancer.scheme"); change != fault.set.end())
        ++labs_["mixed " + scheme + " and " + change->second];
    const config::HostConfig& host = experiment.host;
    for (const auto& law : {host.congestion_control, host.recovery, host.entropy, host.pacing})
      ++labs_["host " + law];
    ++labs_["topology " + lab::build_topology(experiment)->name];
    const std::set<config::FaultType> faults(result.faults.begin(), result.faults.end());
    for (const config::FaultType fault : faults) ++labs_["fault " + std::string(name_of(fault))];
    if (faults.empty()) ++labs_["fault none"];
    if (result.lossless) ++labs_["checked: nothing lossless is lost"];
    if (result.in_order) ++labs_["checked: all in order"];
    if (result.flows_ended == result.flows) ++labs_["all flows ended"];
    if (result.isolated != 0) ++labs_["isolated"];
    if (result.long_flows != 0) ++labs_["isolated: long flows"];
    if (result.warned != 0) ++labs_["warned"];
  }
  void print() const {
    std::printf("%-40s %8s\n", "drawn", "labs");
    for (const auto& [what, labs] : labs_) std::printf("%-40s %8zu\n", what.c_str(), labs);
  }

 private:
  std::map<std::string, size_t> labs_;
};

struct Choice {
  Generator generator = Generator::first;
  std::optional<config::RlbPreset> preset;
  uint64_t rebase_every = 0;  // polls
};

// From the words before the rest, which it takes away; nullopt: they make no sense.
std::optional<Choice> take_choice(Words& words) {
  Choice choice;
  if (words.size() > 2 && words[0] == "--rebase") {
    choice.rebase_every = number(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() <= 2 || (words[0] != "--generator" && words[0] != "--rlb")) return choice;
  if (words[0] == "--rlb") {
    const auto name = std::ranges::find(config::kRlbPresetNames, words[1]);
    if (name == config::kRlbPresetNames.end()) return std::nullopt;
    choice.preset = static_cast<config::RlbPreset>(name - config::kRlbPresetNames.begin());
  } else {
    if (words[1].size() != 1 || words[1] < "1" || words[1] > "4") return std::nullopt;
    choice.generator = static_cast<Generator>(number(words[1]));
  }
  words.erase(words.begin(), words.begin() + 2);
  return choice;
}

int run_seeds(const std::vector<uint64_t>& seeds, const Choice& choice) {
  int failed = 0;
  Coverage coverage;
  Census census;
  for (const uint64_t seed : seeds) {
    const LabResult result = choice.preset
                                 ? run_preset_lab(seed, *choice.preset)
                                 : run_random_lab(seed, choice.generator, choice.rebase_every);
    failed |= print(seed, result);
    coverage.add(result);
    if (choice.generator != Generator::first)
      census.add(make_random_lab(seed, choice.generator), result);
  }
  if (choice.generator == Generator::first) return failed;
  census.print();
  coverage.print();
  return failed;
}

int run(Words words) {
  const std::optional<Choice> choice = take_choice(words);
  if (!choice) return usage();
  if (words.size() >= 2 && words[0] == "--lab") return run_files({words.begin() + 1, words.end()});
  if (words.size() == 3 && words[0] == "--write")
    return refuse(write_lab(make_random_lab(number(words[2]), choice->generator), words[1],
                            "Random lab " + words[2] + ", written out."));
  std::vector<uint64_t> seeds;
  if (words.size() == 4 && words[0] == "--from" && words[2] == "--to") {
    for (uint64_t seed = number(words[1]); seed <= number(words[3]); ++seed) seeds.push_back(seed);
  } else {
    for (const std::string& word : words) {
      if (number(word) == 0) return usage();
      seeds.push_back(number(word));
    }
  }
  return seeds.empty() ? usage() : run_seeds(seeds, *choice);
}

}  // namespace
}  // namespace eddy::test

int main(int argc, char** argv) {
  return eddy::test::run({argv + 1, argv + argc});
}
