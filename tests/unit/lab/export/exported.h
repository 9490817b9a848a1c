// Experiments for the tests of exports: the demo's fabric, and files of a test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/experiment_load.h"
#include "lab/export/fabric_export.h"

namespace eddy::lab::testing_support {

inline config::LoadedExperiment load_file(const std::filesystem::path& file,
                                          const config::ExperimentChoice& choice = {}) {
  auto loaded = config::load_experiment(file, choice);
  for (const std::string& problem : loaded ? Problems{} : loaded.problems())
    ADD_FAILURE() << problem;
  return loaded ? std::move(*loaded) : config::LoadedExperiment{};
}

inline config::LoadedExperiment experiment(const std::string& name,
                                           const config::ExperimentChoice& choice = {}) {
  return load_file(std::string(EDDY_SOURCE_DIR "/config/experiments/") + name + ".yaml", choice);
}

inline FabricExport exported(const config::LoadedExperiment& loaded, const ExportWishes& wishes) {
  auto fabric = export_fabric(loaded, wishes);
  for (const std::string& problem : fabric ? Problems{} : fabric.problems())
    ADD_FAILURE() << problem;
  return fabric ? std::move(*fabric) : FabricExport{};
}

inline FabricExport demo(ExportedHosts hosts, bool numbered = false) {
  return exported(experiment("demo"),
                  {.variants = {}, .name = {}, .hosts = hosts, .numbered_devices = numbered});
}

inline const OutFile* find(const std::vector<OutFile>& files, const std::string& path) {
  for (const OutFile& file : files)
    if (file.path == path) return &file;
  ADD_FAILURE() << "no file " << path;
  return nullptr;
}

inline std::string text_of(const std::vector<OutFile>& files, const std::string& path) {
  const OutFile* found = find(files, path);
  return found != nullptr ? found->text : "";
}

}  // namespace eddy::lab::testing_support
