// What is said to docker or podman, and what they say: pure functions, so that tests need neither.
//
// Both clients know the words used here in the same meaning. A container is named
// eddy-FABRIC-NODE and labelled org.eddy.fabric, org.eddy.node and org.eddy.by; the last tells ours
// from those of other users and programs, which have the first two as well. Plain values; control
// plane only. Source: docs/testbed.md; docker 20.10 and podman 4.3, the oldest that are taken.
#pragma once

#include <string>
#include <vector>

#include "lab/real/deployment.h"
#include "net/result.h"

namespace eddy::lab {

// Where the folder of the fabric is in each of its containers.
inline constexpr const char* kFolderInside = "/run/eddy";

// The folder of DPDK's files in that of the fabric, the same for all of its containers: switches
// that start together lock it while they count free hugepages.
inline constexpr const char* kDpdkFolder = "dpdk";

struct Engine {
  std::filesystem::path client;
  DeploymentKind kind;
};

// Whom a container's files belong to: the user who calls, by the name that he has inside.
struct ContainerUser {
  unsigned user = 0;
  unsigned group = 0;
  bool is_root = false;  // outside
};

struct ContainerPlace {
  std::string fabric;
  std::filesystem::path folder;  // the fabric's, outside
  ContainerUser user;
};

// The client and which daemon it is to ask.
std::vector<std::string> client_words(const Engine& engine);

// The value of org.eddy.by.
std::string owner_label();
std::string container_name(const std::string& fabric, const std::string& node);
// eddy:0.1.0 has eddyd, eddy-host:0.1.0 eddyhost.
std::string image_of(const std::string& program, const std::string& tag);

// Runs a node in the foreground: the client's status is the node's, and SIGTERM reaches it.
std::vector<std::string> run_words(const Engine& engine, const ContainerPlace& place,
                                   const RealNode& node);

// A container of the engine, whoever made it.
struct FoundContainer {
  std::string id;
  std::string name;
  std::string fabric;  // of its labels
  std::string by;
};
// Asks for all whose names begin as those of a fabric do, or for all of ours: "".
std::vector<std::string> list_words(const Engine& engine, const std::string& fabric);
std::vector<FoundContainer> listed(const std::string& said);

// Why a client's answer is none, in one line.
std::string engine_trouble(const Engine& engine, const std::string& said);
// Empty, or why a client of this version cannot be used.
std::string version_trouble(const Engine& engine, const std::string& said);
// Empty, or why a daemon there cannot be used: it has to be on this machine.
std::string host_trouble(const Engine& engine);

}  // namespace eddy::lab
