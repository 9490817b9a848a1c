// What an import makes: the files of a folder, experiment.yaml among them, and its report, which is
// one of the files, too.
#pragma once

#include <vector>

#include "lab/export/fabric_export.h"
#include "system/import_report.h"

namespace eddy::lab {

inline constexpr const char* kImportedExperiment = "experiment.yaml";
inline constexpr const char* kImportReport = "import.txt";

struct Imported {
  std::vector<OutFile> files;
  ImportReport report;
};

}  // namespace eddy::lab
