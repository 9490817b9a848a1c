// Deployment: how the processes of a real fabric are placed on this machine.
//
// There are two ways. In namespaces a process is a program beside this one in a network namespace
// of its own. In containers it is a container of docker or podman, of an image of this version.
// Either way it is a child of ours: its status, its log and its end on SIGTERM are those of a
// ChildProcess. Owner and thread: one, which outlives the fabrics it is given to. Source:
// docs/testbed.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/real/child_process.h"
#include "net/result.h"

namespace eddy::lab {

// One process of a fabric.
struct RealNode {
  std::string name;     // leaf1; hosts
  std::string program;  // eddyd, eddyhost
  std::vector<std::string> arguments;
  // What it needs beside the folder of the fabric, as absolute paths: files that it reads,
  // workloads that it finds by name, folders that it writes into.
  std::vector<std::filesystem::path> reads = {};
  std::vector<std::filesystem::path> workloads = {};
  std::vector<std::filesystem::path> writes = {};
  std::filesystem::path log = {};  // empty: our own standard output and error
};

// Which deployment it is, in words that a file can hold.
struct DeploymentKind {
  std::string word = "namespaces";  // or docker, podman
  std::string host = {};            // of docker: where its daemon listens; empty: as docker has it
  bool operator==(const DeploymentKind&) const = default;
};

class Deployment {
 public:
  virtual ~Deployment() = default;
  virtual const DeploymentKind& kind() const = 0;
  // What is in the way of starting these programs here at all; empty: nothing. Before the first
  // start().
  virtual Problems check(const std::vector<std::string>& programs) = 0;
  // Whether a fabric can have that name, with its folder made: what a killed one of this name has
  // left is removed, what is somebody else's is a problem.
  virtual Problems claim(const std::string& fabric, const std::filesystem::path& folder,
                         const std::vector<std::string>& nodes) const = 0;
  // What the processes call the fabric's folder.
  virtual std::filesystem::path inside(const std::filesystem::path& folder) const = 0;
  // What they call a path of ours, which may be relative to our current folder.
  virtual std::filesystem::path seen(const std::filesystem::path& path) const = 0;
  virtual ChildProcess::Start start(const std::string& fabric, const std::filesystem::path& folder,
                                    const RealNode& node) const = 0;
  // Removes what may be left when all children have ended.
  virtual Problems clear(const std::string& fabric) const = 0;
  // The fabrics of which something is there, without a folder to tell.
  virtual std::vector<std::string> fabrics() const = 0;
  // How a person looks into a node with eddyctl, for example.
  virtual std::string look_into(const std::string& fabric, const std::filesystem::path& folder,
                                const std::string& node) const = 0;
};

}  // namespace eddy::lab
