#include "plugin/plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sha2.h>

#include <array>
#include <chrono>
#include <fstream>

#include "config/diff.h"
#include "config/document.h"
#include "config/load.h"
#include "lb/registry.h"
#include "lb/schemes/plugin.h"
#include "plugin/sealed_copy.h"
#include "plugin/trial.h"
#include "tests/unit/plugin/test_plugins.h"

namespace eddy::plugin {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class PluginsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(files_.usable()) << "no folder that only its user writes to, here or in /var/lib";
  }
  Result<const config::LoadedScheme*> find(const std::string& plugin,
                                           const std::string& scheme = "") {
    return plugins_.find({plugin, scheme, files_.folder()});
  }
  // One line, in which the file is named.
  std::string refusal(const std::string& name) {
    const fs::path file = files_.put(name);
    const auto found = find(file.string());
    if (found) return "";
    EXPECT_EQ(found.problems().size(), 1u);
    EXPECT_THAT(found.problems().front(), AllOf(HasSubstr(file.string()), Not(HasSubstr("\n"))));
    return found.problems().front();
  }

  test::TestPlugins files_;
  Plugins plugins_{{}, ::geteuid()};
};

TEST_F(PluginsTest, AGoodOneIsFoundByItsScheme) {
  const fs::path file = files_.put("trouble");
  const auto found = find("./trouble.so", "calm");
  ASSERT_TRUE(found) << found.problems().front();
  const config::LoadedScheme& scheme = *found.value();
  EXPECT_EQ(scheme.file, (files_.folder() / "trouble.so").string());
  EXPECT_EQ(scheme.info->name, "calm");
  EXPECT_EQ(scheme.version, "0.2.0");
  std::array<char, SHA256_DIGEST_STRING_LENGTH> of_file{};
  ASSERT_NE(::SHA256File(file.c_str(), of_file.data()), nullptr);
  EXPECT_EQ(scheme.sha256, of_file.data());
  EXPECT_EQ(lb::find_scheme("calm"), nullptr) << "the program's own list is as it was";
}

TEST_F(PluginsTest, ASchemeIsNamedWhereThereAreSeveral) {
  const fs::path file = files_.put("trouble");
  EXPECT_THAT(find(file.string()).problems().front(),
              HasSubstr("name one by scheme: trouble, calm"));
  EXPECT_THAT(find(file.string(), "ecmp").problems().front(),
              HasSubstr("no scheme 'ecmp', but trouble, calm"));
}

TEST_F(PluginsTest, IsLoadedOnceAndAgainWhereItsContentsChange) {
  const fs::path file = files_.put("trouble", "mine");
  const auto first = find(file.string(), "calm");
  ASSERT_TRUE(first);
  EXPECT_EQ(find(file.string(), "calm").value(), first.value());
  std::ofstream(file, std::ios::app | std::ios::binary) << "a trailer, which the loader ignores";
  const auto second = find(file.string(), "calm");
  ASSERT_TRUE(second);
  EXPECT_NE(second.value(), first.value());
  EXPECT_NE(second.value()->sha256, first.value()->sha256);
  EXPECT_EQ(first.value()->info->name, "calm") << "who uses the first one goes on";
}

// What is written over in place would change under whoever runs it.
TEST_F(PluginsTest, WhatIsLoadedDoesNotChangeWithItsFile) {
  const fs::path file = files_.put("trouble", "mine");
  const auto found = find(file.string(), "calm");
  ASSERT_TRUE(found);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      << std::string(fs::file_size(file), '\0');
  const config::LoadBalancerConfig chosen{
      .plugin = "mine.so", .scheme = "calm", .loaded = found.value()};
  EXPECT_FALSE(config::try_plugin(chosen, {}));
}

TEST_F(PluginsTest, FilesThatAreNoPluginsAreRefused) {
  EXPECT_THAT(refusal("other_abi"),
              AllOf(HasSubstr("plugin ABI " + std::to_string(lb::kPluginAbi + 41)),
                    HasSubstr("has " + std::to_string(lb::kPluginAbi))));
  EXPECT_THAT(refusal("other_layout"), HasSubstr("the size of Packet is"));
  EXPECT_THAT(refusal("other_header"), HasSubstr("its header has"));
  EXPECT_THAT(refusal("no_symbol"), HasSubstr("no symbol eddy_plugin"));
  EXPECT_THAT(refusal("foreign_symbol"), HasSubstr("not what EDDY_PLUGIN makes"));
  EXPECT_THAT(refusal("taken_name"), HasSubstr("'letflow' is one of the program's own"));
  EXPECT_THAT(refusal("twice"), HasSubstr("'one' twice"));
  EXPECT_THAT(refusal("no_schemes"), HasSubstr("0 schemes"));
  EXPECT_THAT(refusal("bad_parameter"), HasSubstr("a parameter 'plugin'"));
  EXPECT_THAT(refusal("unresolved"), HasSubstr("undefined symbol: nobody_has_this"));
}

TEST_F(PluginsTest, ConstructorsThatMisbehaveDoSoElsewhere) {
  EXPECT_THAT(refusal("throws_exception"), HasSubstr("loading it throws: not before breakfast"));
  EXPECT_THAT(refusal("throws_number"), HasSubstr("throws something that is no std::exception"));
  EXPECT_THAT(refusal("crashes"), HasSubstr("loading it ends the process ("));
  EXPECT_THAT(refusal("leaves"), HasSubstr("loading it ends the process (exit code 3)"));
  EXPECT_THAT(refusal("list_throws"), HasSubstr("loading it throws: the list is lost"));
}

TEST_F(PluginsTest, AConstructorThatNeverEndsIsGivenUp) {
  const auto file = open_trusted(files_.put("hangs"), ::geteuid());
  ASSERT_TRUE(file);
  const auto copy = seal(file.value());
  ASSERT_TRUE(copy);
  // The other process may not even have begun by then; it hangs for longer than any test.
  EXPECT_EQ(try_plugin(copy.value(), std::chrono::milliseconds(50)),
            "loading it takes more than 50 ms");
}

TEST_F(PluginsTest, NoFileAndOtherFilesAreRefused) {
  EXPECT_THAT(find((files_.folder() / "none.so").string()).problems().front(),
              HasSubstr("there is no such file"));
  const fs::path text = files_.folder() / "text.so";
  std::ofstream(text) << "path selection\n";
  ::chmod(text.c_str(), 0644);
  EXPECT_THAT(find(text.string()).problems().front(), HasSubstr("this is no shared object"));
}

TEST_F(PluginsTest, WhatOthersCanWriteToIsNotEvenTried) {
  const fs::path file = files_.put("crashes");
  ::chmod(file.c_str(), 0775);
  EXPECT_THAT(find(file.string()).problems().front(), HasSubstr("can be written to by its group"));
}

TEST_F(PluginsTest, ASealedCopyCannotBeWrittenTo) {
  const auto file = open_trusted(files_.put("trouble"), ::geteuid());
  const auto copy = seal(file.value());
  ASSERT_TRUE(copy);
  EXPECT_EQ(::pwrite(copy.value().memory.get(), "x", 1, 0), -1);
  EXPECT_EQ(::ftruncate(copy.value().memory.get(), 0), -1);
}

// As eddyd reads it.
class PluginConfigTest : public PluginsTest {
 protected:
  static constexpr const char* kPort = "\nports: {a: {}}\n";
  Result<config::LoadedConfig> load(const std::string& balancer) {
    return config::load_text((files_.folder() / "switch.yaml").string(),
                             "load_balancer: " + balancer + kPort, config::Purpose::object,
                             &plugins_);
  }
  std::string problem(const std::string& balancer) {
    const auto loaded = load(balancer);
    if (loaded) return "";
    EXPECT_EQ(loaded.problems().size(), 1u) << testing::PrintToString(loaded.problems());
    return loaded.problems().front();
  }
};

TEST_F(PluginConfigTest, ParametersAreThoseOfThePlugin) {
  files_.put("trouble");
  const auto loaded = load("{plugin: trouble.so, scheme: trouble, after: 12}");
  ASSERT_TRUE(loaded) << loaded.problems().front();
  const config::LoadBalancerConfig& chosen = loaded.value().config.load_balancer;
  EXPECT_EQ(chosen.plugin, (files_.folder() / "trouble.so").string());
  EXPECT_EQ(chosen.parameters.at("after"), "12");
  EXPECT_EQ(chosen.parameters.at("when"), "never");
  EXPECT_THAT(problem("{plugin: trouble.so, scheme: trouble, afer: 12}"),
              MatchesRegex(".*switch.yaml:1:[0-9]+: .*'afer' is no parameter of trouble.*after.*"));
  EXPECT_THAT(problem("{plugin: trouble.so, scheme: trouble, after: -1}"),
              HasSubstr("load_balancer.after"));
  EXPECT_THAT(problem("{plugin: trouble.so, scheme: trouble, when: then}"),
              HasSubstr("load_balancer.when"));
}

TEST_F(PluginConfigTest, PrintedItIsReadBack) {
  files_.put("trouble");
  const auto loaded = load("{plugin: trouble.so, scheme: trouble, after: 12}");
  ASSERT_TRUE(loaded);
  const auto again = config::load_text("elsewhere/x.yaml", print_config(loaded.value().config),
                                       config::Purpose::object, &plugins_);
  ASSERT_TRUE(again) << again.problems().front();
  EXPECT_EQ(again.value().config, loaded.value().config);
  EXPECT_LT(print_brief(loaded.value().config).size(), print_config(loaded.value().config).size());
}

TEST_F(PluginConfigTest, WhatIsWrongIsSaidAtThePlugin) {
  files_.put("other_abi");
  EXPECT_THAT(problem("{plugin: other_abi.so}"),
              MatchesRegex(".*switch.yaml:1:25: load_balancer.plugin: .*other_abi.so: .*ABI.*"));
  EXPECT_THAT(problem("{plugin: nowhere.so}"), HasSubstr("there is no nowhere.so in"));
  EXPECT_THAT(problem("{plugin: ''}"), HasSubstr("load_balancer.plugin"));
}

TEST_F(PluginConfigTest, ASchemeThatCannotBeMadeIsRefused) {
  files_.put("trouble");
  const auto with = [&](const std::string& when) {
    return problem("{plugin: trouble.so, scheme: trouble, when: " + when + "}");
  };
  EXPECT_THAT(with("make_throws"),
              HasSubstr("scheme trouble throws when it is made: no luck today"));
  EXPECT_THAT(with("make_throws_number"), HasSubstr("throws something that is no std::exception"));
  EXPECT_THAT(with("make_nothing"), HasSubstr("scheme trouble makes nothing"));
  EXPECT_THAT(with("make_refuses"), HasSubstr("scheme trouble refuses: there are too few paths"));
}

TEST_F(PluginConfigTest, NobodyLoadsWhereNobodySaysHow) {
  const auto loaded = config::load_text(
      "s.yaml", "load_balancer: {plugin: ./trouble.so}\nports: {a: {}}", config::Purpose::object);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.problems().front(), HasSubstr("load_balancer.plugin: nothing is loaded here"));
}

TEST_F(PluginConfigTest, AReloadSeesNewContents) {
  const fs::path file = files_.put("trouble");
  const auto before = load("{plugin: trouble.so, scheme: calm}");
  ASSERT_TRUE(before);
  EXPECT_TRUE(
      config::diff(before.value().config, load("{plugin: trouble.so, scheme: calm}").value().config)
          .empty());
  std::ofstream(file, std::ios::app | std::ios::binary) << "a trailer";
  const auto after = load("{plugin: trouble.so, scheme: calm}");
  ASSERT_TRUE(after);
  const auto changes = config::diff(before.value().config, after.value().config);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].key, "load_balancer.plugin");
  EXPECT_THAT(changes[0].after, HasSubstr(after.value().config.load_balancer.loaded->sha256));
}

}  // namespace
}  // namespace eddy::plugin
