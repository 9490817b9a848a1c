// FabricExport: all that is known of an experiment's fabric as containers, before it is written for
// one tool or another.
//
// Switches talk memif through sockets in one folder that all containers share, kShared; hosts are
// eddyhost (memif, too) or Linux containers, each on a veth pair whose other end its switch holds.
// Linux hosts do not obey PFC, so the ports to them have no lossless groups. Each has the lab's
// address alone, and a gateway of its own in 169.254.0.0/16, which its switch answers for. Plain
// values; the same experiment gives the same ones on every machine. Source: docs/containers.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/fabric/topology.h"
#include "net/result.h"

namespace eddy::lab {

inline constexpr const char* kShared = "/run/eddy";
inline constexpr const char* kConfigured = "/etc/eddy";  // where a container has its files

enum class ExportedHosts : uint8_t { eddyhost, linux };

struct OutFile {
  std::filesystem::path path;  // relative to the folder that is written
  std::string text;
};

struct FabricExport {
  struct Switch {
    std::string name;                       // eddyd's
    std::string node;                       // the container's: a DNS label
    std::string yaml;                       // eddyd's configuration
    bool has_links = false;                 // of the kernel: hosts on veth
    std::vector<std::string> capabilities;  // as container tools call them: "NET_RAW"
  };
  struct Host {  // linux
    std::string node;
    std::string at;      // its switch's node
    std::string device;  // the switch's interface
    std::string address;
    std::string gateway;
    std::string mac;
    int mtu = 0;
  };

  std::string name;     // of the fabric: a DNS label of at most 20 octets
  std::string version;  // of the images, and what eddyd has to be
  std::string title;
  ExportedHosts kind = ExportedHosts::eddyhost;
  std::vector<Switch> switches;
  std::vector<Host> hosts;                // linux
  std::string network;                    // that all hosts' addresses are in, as a prefix
  std::vector<std::string> eddyhost;      // the words of its command line, without the program
  std::vector<OutFile> experiment_files;  // the experiment's own first, below `experiment/`
};

struct ExportWishes {
  std::vector<std::string> variants;
  uint64_t seed = 1;
  std::string name;           // empty: the experiment's ID
  int64_t time_dilation = 0;  // 0: the experiment's; where that is 1, what is needed
  ExportedHosts hosts = ExportedHosts::eddyhost;
  bool numbered_devices = false;  // linux: a switch's interfaces are eth1, eth2, ...
};

Result<FabricExport> export_fabric(const config::LoadedExperiment& loaded,
                                   const ExportWishes& wishes);

// The switches' configurations, as they are in each target's folder: one file for each in `config`.
std::vector<OutFile> config_files(const FabricExport& fabric);

}  // namespace eddy::lab
