#include "lab/real/container_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "net/version.h"

namespace eddy::lab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using Words = std::vector<std::string>;

const Engine kDocker{.client = "/usr/bin/docker", .kind = {.word = "docker"}};
const Engine kElsewhere{.client = "/usr/bin/docker",
                        .kind = {.word = "docker", .host = "unix:///somewhere/docker.sock"}};
const Engine kPodman{.client = "/usr/bin/podman", .kind = {.word = "podman"}};
const ContainerPlace kPlace{
    .fabric = "small", .folder = "/run/eddy/lab/small", .user = {.user = 1000, .group = 100}};

RealNode a_switch() {
  return {.name = "leaf1", .program = "eddyd", .arguments = {"--config", "/run/eddy/leaf1.yaml"}};
}

RealNode the_hosts() {
  return {.name = "hosts",
          .program = "eddyhost",
          .arguments = {"/home/u/mine.yaml", "--quiet"},
          .reads = {"/home/u/mine.yaml"},
          .workloads = {"/usr/share/eddy/workloads/web_search.csv"},
          .writes = {"/home/u/results"}};
}

// The words that follow each `option`.
Words after(const Words& words, const std::string& option) {
  Words found;
  for (auto it = words.begin(); (it = std::find(it, words.end(), option)) != words.end(); ++it)
    found.push_back(*(it + 1));
  return found;
}

TEST(ContainerWords, ASwitchIsTheImagesProgramInTheForeground) {
  const Words words = run_words(kDocker, kPlace, a_switch());
  EXPECT_THAT(Words(words.begin(), words.begin() + 3),
              ElementsAre("/usr/bin/docker", "run", "--rm"));
  EXPECT_THAT(words, Not(Contains("--detach")));
  EXPECT_THAT(after(words, "--entrypoint"), ElementsAre("/usr/bin/eddyd"));
  EXPECT_THAT(Words(words.end() - 3, words.end()),
              ElementsAre("eddy:" + build_version(), "--config", "/run/eddy/leaf1.yaml"));
}

TEST(ContainerWords, ItIsFoundByNameAndLabels) {
  const Words words = run_words(kDocker, kPlace, a_switch());
  EXPECT_THAT(after(words, "--name"), ElementsAre("eddy-small-leaf1"));
  EXPECT_THAT(after(words, "--label"),
              ElementsAre("org.eddy.fabric=small", "org.eddy.node=leaf1",
                          "org.eddy.by=eddylab:" + std::to_string(geteuid())));
  EXPECT_THAT(after(words, "--env"), Contains("EDDY_SWITCH=leaf1"));
}

TEST(ContainerWords, ItMayDoNothingThatMemifDoesNotNeed) {
  const Words words = run_words(kDocker, kPlace, a_switch());
  EXPECT_THAT(after(words, "--cap-drop"), ElementsAre("ALL"));
  EXPECT_THAT(after(words, "--cap-add"), IsEmpty());
  EXPECT_THAT(after(words, "--network"), ElementsAre("none"));
  EXPECT_THAT(after(words, "--security-opt"), ElementsAre("no-new-privileges"));
  EXPECT_THAT(after(words, "--user"), ElementsAre("1000:100"));
  EXPECT_THAT(words, IsSupersetOf({"--read-only", "--no-healthcheck", "--pull=never"}));
}

TEST(ContainerWords, TheFoldersFilesAreSharedWithTheHosts) {
  const Words words = run_words(kDocker, kPlace, the_hosts());
  EXPECT_THAT(after(words, "--mount"),
              ElementsAre("type=bind,source=/run/eddy/lab/small,target=/run/eddy",
                          "type=bind,source=/run/eddy/lab/small/dpdk,target=/run/dpdk",
                          "type=bind,source=/home/u/mine.yaml,target=/home/u/mine.yaml,readonly",
                          "type=bind,source=/home/u/results,target=/home/u/results",
                          "type=bind,source=/usr/share/eddy/workloads/web_search.csv,"
                          "target=/experiment/config/workloads/web_search.csv,readonly"));
  EXPECT_THAT(after(words, "--workdir"), ElementsAre("/experiment"));
  EXPECT_THAT(Words(words.end() - 3, words.end()),
              ElementsAre("eddy-host:" + build_version(), "/home/u/mine.yaml", "--quiet"));
}

TEST(ContainerWords, RootMayWriteWhereItMightOutside) {
  ContainerPlace place = kPlace;
  place.user = {.user = 0, .group = 0, .is_root = true};
  EXPECT_THAT(after(run_words(kDocker, place, the_hosts()), "--cap-add"),
              ElementsAre("DAC_OVERRIDE"));
  EXPECT_THAT(after(run_words(kDocker, place, a_switch()), "--cap-add"), IsEmpty());
  place.user.is_root = false;  // a rootless engine
  EXPECT_THAT(after(run_words(kDocker, place, the_hosts()), "--cap-add"), IsEmpty());
}

TEST(ContainerWords, APathIsOneFieldWhateverIsInIt) {
  RealNode hosts = the_hosts();
  hosts.writes = {"/home/a,readonly/\"b\" $(c)"};
  EXPECT_THAT(after(run_words(kDocker, kPlace, hosts), "--mount"),
              Contains("type=bind,\"source=/home/a,readonly/\"\"b\"\" $(c)\","
                       "\"target=/home/a,readonly/\"\"b\"\" $(c)\""));
}

TEST(ContainerWords, TheDaemonIsTheOneThatWasNamed) {
  EXPECT_THAT(client_words(kDocker), ElementsAre("/usr/bin/docker"));
  EXPECT_THAT(client_words(kElsewhere),
              ElementsAre("/usr/bin/docker", "--host", "unix:///somewhere/docker.sock"));
  EXPECT_EQ(host_trouble(kElsewhere), "");
  Engine remote = kDocker;
  remote.kind.host = "tcp://192.0.2.1:2375";
  EXPECT_THAT(host_trouble(remote), HasSubstr("tcp://192.0.2.1:2375 may be on another machine"));
}

TEST(ContainerWords, ContainersAreListed) {
  EXPECT_THAT(after(list_words(kPodman, "small"), "--filter"), ElementsAre("name=eddy-small-"));
  EXPECT_THAT(after(list_words(kPodman, "small"), "--format"),
              ElementsAre(R"({{.ID}}|{{.Names}}|{{index .Labels "org.eddy.fabric"}}|)"
                          R"({{index .Labels "org.eddy.by"}})"));
  EXPECT_THAT(after(list_words(kDocker, "small"), "--format"),
              ElementsAre(R"({{.ID}}|{{.Names}}|{{.Label "org.eddy.fabric"}}|)"
                          R"({{.Label "org.eddy.by"}})"));
  EXPECT_THAT(after(list_words(kPodman, ""), "--filter"),
              ElementsAre("label=org.eddy.by=" + owner_label()));
  const auto found =
      listed("Warning: something\n0af1|eddy-small-leaf1|small|eddylab:0\n2c|other||\n");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].id, "0af1");
  EXPECT_EQ(found[0].fabric, "small");
  EXPECT_EQ(found[0].by, "eddylab:0");
  EXPECT_EQ(found[1].name, "other");
  EXPECT_EQ(found[1].by, "");
}

TEST(ContainerWords, TroubleOfAnEngineIsALine) {
  EXPECT_EQ(engine_trouble(kDocker,
                           "x: Cannot connect to the Docker daemon at unix:///var/run/"
                           "docker.sock. Is the docker daemon running?\n"),
            "docker: no daemon answers: start it, or name another one in DOCKER_HOST");
  EXPECT_EQ(engine_trouble(kElsewhere,
                           "permission denied while trying to connect to the Docker "
                           "daemon socket at unix:///somewhere/docker.sock: Get ..."),
            "docker: no permission to use its daemon at unix:///somewhere/docker.sock: be root, or "
            "in the group docker");
  EXPECT_EQ(engine_trouble(kDocker,
                           "Error response from daemon: client version 1.22 is too old. "
                           "Minimum supported API version is 1.24"),
            "docker: client and daemon do not fit: client version 1.22 is too old. Minimum "
            "supported API version is 1.24");
  EXPECT_EQ(engine_trouble(kPodman, "first\nError: no space left on device\n\nSee 'podman run'.\n"),
            "podman: no space left on device");
  EXPECT_EQ(engine_trouble(kPodman, ""), "podman: it said nothing");
}

TEST(ContainerWords, AnOldClientIsRefused) {
  for (const char* good :
       {"20.10.24+dfsg1\n", "20.10\n", "28.2.2\n", "WARNING: no configuration\n20.10.24\n"})
    EXPECT_EQ(version_trouble(kDocker, good), "") << good;
  EXPECT_EQ(version_trouble(kPodman, "4.3.1\n"), "");
  EXPECT_EQ(version_trouble(kDocker, "19.03.15\n"),
            "docker: version 19.03.15 of /usr/bin/docker is too old: 20.10 or newer is needed");
  EXPECT_THAT(version_trouble(kPodman, "3.4.2\n"), HasSubstr("4.0 or newer"));
  EXPECT_THAT(version_trouble(kDocker, "nonsense\n"), HasSubstr("version nonsense"));
}

}  // namespace
}  // namespace eddy::lab
