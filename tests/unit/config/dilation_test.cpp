// Under time_dilation every key that is a time is multiplied and every key that is a rate divided,
// unless its declaration says that it is the machine's own; whatever key there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "config/keys/dilation.h"
#include "config/keys/experiment.h"
#include "config/keys/keys.h"
#include "net/quantity.h"
#include "net/random.h"

namespace eddy::config {
namespace {

using testing::ElementsAre;
using Shape = Type::Shape;

constexpr int64_t kFactor = 7;
constexpr int kFiles = 256;  // enough for every choice of every key that decides which others apply

bool is_time_or_rate(const Type& type) {
  return type.shape == Shape::duration || type.shape == Shape::rate;
}

Node word(std::string text) {
  return {.kind = Node::Kind::scalar, .text = std::move(text)};
}

// Files in which every time and rate is given, and choices and flags are drawn.
class FileMaker {
 public:
  explicit FileMaker(uint64_t seed) : random_(seed, 0, 0) {}

  Node section(const Section& section) {
    Node node{.kind = Node::Kind::map};
    for (const Key& key : section.keys)
      if (std::optional<Node> value = value_of(key.type))
        node.members.push_back({std::string(key.info.name), {}, std::move(*value)});
    return node;
  }

 private:
  // Within its limits, and not what a default is.
  static int64_t middle(const Type& type) {
    const int64_t top = std::min(type.max, int64_t{1'000'000'000'000});
    return type.min + (top - type.min) / 3;
  }

  std::optional<Node> value_of(const Type& type) {
    switch (type.shape) {
      case Shape::duration:
        return word(to_string(Duration::picoseconds(middle(type))));
      case Shape::rate:
        return word(to_string(BitRate::bits_per_second(middle(type))));
      case Shape::boolean:
        return word(random_.below(2) == 0 ? "true" : "false");
      case Shape::choice:
        return word(
            std::string(type.choices[random_.below(static_cast<uint32_t>(type.choices.size()))]));
      case Shape::section:
        return section(*type.section);
      case Shape::list:
        return list_of(*type.element);
      case Shape::mapping:
        return mapping_of(type);
      case Shape::integer:
      case Shape::real:
      case Shape::text:
      case Shape::size:
      case Shape::mac:
      case Shape::address:
      case Shape::prefix:
      case Shape::path_id:
      case Shape::scheme:
      case Shape::open:
        return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Node> list_of(const Type& element) {
    std::optional<Node> item = value_of(element);
    if (!item) return std::nullopt;
    return Node{.kind = Node::Kind::list, .items = {std::move(*item)}};
  }

  // Under a name, or the number 3 where keys are numbers.
  std::optional<Node> mapping_of(const Type& type) {
    std::optional<Node> item = value_of(*type.element);
    if (!item) return std::nullopt;
    Node node{.kind = Node::Kind::map};
    node.members.push_back({"3", {}, std::move(*item)});
    return node;
  }

  RandomStream random_;
};

// Two prints of a file, side by side: what every key became.
class Comparison {
 public:
  void compare(const Section& section, const Value& before, const Value& after) {
    ASSERT_EQ(before.members.size(), after.members.size());
    for (size_t i = 0; i < before.members.size(); ++i) {
      const std::string& name = before.members[i].key;
      ASSERT_EQ(name, after.members[i].key);
      const auto key = std::ranges::find(
          section.keys, name, [](const Key& each) { return std::string(each.info.name); });
      ASSERT_NE(key, section.keys.end()) << name;
      place_ = std::string(section.name) + "." + name;
      machine_time_ = key->info.machine_time;
      compare(key->type, before.members[i].value, after.members[i].value);
    }
  }
  // Keys that were seen with a value, as section.key.
  const std::set<std::string>& seen() const { return seen_; }

 private:
  void compare(const Type& type, const Value& before, const Value& after) {
    if (type.shape == Shape::section) return compare(*type.section, before, after);
    if (is_time_or_rate(type) && before.word != type.absent) check(type, before.word, after.word);
    ASSERT_EQ(before.items.size(), after.items.size());
    for (size_t i = 0; i < before.items.size(); ++i)
      compare(*type.element, before.items[i], after.items[i]);
    if (type.shape != Shape::mapping) return;
    ASSERT_EQ(before.members.size(), after.members.size());
    const std::string place = place_;
    for (size_t i = 0; i < before.members.size(); ++i) {
      place_ = place;
      compare(*type.element, before.members[i].value, after.members[i].value);
    }
  }

  void check(const Type& type, const std::string& before, const std::string& after) {
    std::string expected = before;
    if (!machine_time_ && type.shape == Shape::duration)
      expected = to_string(parse_duration(before).value() * kFactor);
    if (!machine_time_ && type.shape == Shape::rate)
      expected =
          to_string(BitRate::bits_per_second(parse_bit_rate(before).value().bps() / kFactor));
    EXPECT_EQ(after, expected) << place_ << " was " << before;
    if (machine_time_ || before != after) seen_.insert(place_);  // 0 would show nothing
  }

  std::set<std::string> seen_;
  std::string place_;  // the key, as section.key
  bool machine_time_ = false;
};

// Every key of a time or rate below a section, as section.key; and those of machine_time.
void gather(const Section& section, std::set<std::string>& all, std::set<std::string>& machine);
void gather(const Type& type, const std::string& place, bool machine_time,
            std::set<std::string>& all, std::set<std::string>& machine) {
  if (type.section != nullptr) return gather(*type.section, all, machine);
  if (type.element != nullptr) return gather(*type.element, place, machine_time, all, machine);
  if (!is_time_or_rate(type)) return;
  all.insert(place);
  if (machine_time) machine.insert(place);
}
void gather(const Section& section, std::set<std::string>& all, std::set<std::string>& machine) {
  for (const Key& key : section.keys)
    gather(key.type, std::string(section.name) + "." + std::string(key.info.name),
           key.info.machine_time, all, machine);
}

// Reads made files into objects, and compares what is printed before and after.
template <class Document, class Make, class Scale>
std::set<std::string> seen_in_files(const Section& section, Make make, Scale scale) {
  Comparison comparison;
  for (int i = 0; i < kFiles && !testing::Test::HasFailure(); ++i) {
    std::vector<Problem> problems;  // of keys that do not apply; they have values all the same
    Positions positions;
    Reader reader(problems, positions);
    Document document = make();
    read_section(section, reader, FileMaker(static_cast<uint64_t>(i)).section(section), &document);
    const Value before = print_section(section, &document);
    Document slow = scale(document);
    comparison.compare(section, before, print_section(section, &slow));
  }
  return comparison.seen();
}

TEST(Dilation, CoversEveryTimeAndRateOfASwitch) {
  std::set<std::string> all;
  std::set<std::string> machine;
  gather(document_section(), all, machine);
  const auto scale = [](Document document) {
    document.config.time_dilation = kFactor;
    document.config = scaled(document.config);
    EXPECT_EQ(document.config.time_dilation, 1);
    document.config.time_dilation = 1;
    return document;
  };
  // What ports inherit is no part of the configuration that is scaled.
  const auto make = [] { return default_document(); };
  Section section = document_section();
  std::erase_if(section.keys, [](const Key& key) { return key.info.name == "port_defaults"; });
  EXPECT_EQ(seen_in_files<Document>(section, make, scale), all);
  EXPECT_THAT(machine, ElementsAre("switch.poll_gap"));
}

TEST(Dilation, CoversEveryTimeAndRateOfAnExperiment) {
  std::set<std::string> all;
  std::set<std::string> machine;
  gather(experiment_section(), all, machine);
  const auto scale = [](const ExperimentDocument& document) {
    Experiment experiment = experiment_of(document);
    experiment.run.time_dilation = kFactor;
    return experiment_document(scaled(experiment));
  };
  const auto make = [] { return experiment_document(default_experiment()); };
  EXPECT_EQ(seen_in_files<ExperimentDocument>(experiment_section(), make, scale), all);
  EXPECT_THAT(machine, ElementsAre("run.poll_jitter", "run.poll_period", "switches.poll_gap"));
}

TEST(Dilation, ReachesWordsThatHaveAUnitOfTime) {
  Experiment experiment = default_experiment();
  experiment.run.time_dilation = kFactor;
  experiment.load_balancer.parameters = {{"gap", "50us"}, {"cell", "64KiB"}};
  FaultConfig& fault = experiment.faults.emplace_back();
  fault.set = {{"resequence.wait", "1ms"}, {"rlb.guard.flows", "64"}};
  const Experiment slow = scaled(experiment);
  EXPECT_EQ(slow.load_balancer.parameters.at("gap"), "350us");
  EXPECT_EQ(slow.load_balancer.parameters.at("cell"), "64KiB");
  EXPECT_EQ(slow.faults[0].set.at("resequence.wait"), "7ms");
  EXPECT_EQ(slow.faults[0].set.at("rlb.guard.flows"), "64");
}

TEST(Dilation, KeepsTimesBelowTheirEnd) {
  EXPECT_EQ(dilated(Duration::seconds(7'200), 10'000), Duration::seconds(1'000'000));
  EXPECT_EQ(dilated(Duration::seconds(100), 10'000), Duration::seconds(1'000'000));
  EXPECT_EQ(dilated(Duration::seconds(99), 10'000), Duration::seconds(990'000));
}

}  // namespace
}  // namespace eddy::config
