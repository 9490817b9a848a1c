#include "lab/program/export_results_command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "lab/program/run_command.h"
#include "lab/real/programs.h"
#include "net/text/printable.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDistPackages = "lib/python3/dist-packages";

// Where the package may be, in the order of looking: `python` of the tree that the program was
// built in, lib/python3/dist-packages beside its `bin`, Debian's.
std::vector<fs::path> python_folders(const fs::path& program) {
  std::vector<fs::path> folders;
  const fs::path bin = program.parent_path();
  const fs::path builds = bin.parent_path().parent_path();
  if (builds.filename() == "build") folders.push_back(builds.parent_path() / "python");
  const fs::path debian = fs::path("/usr") / kDistPackages;
  if (bin.filename() == "bin" && bin.parent_path() != "/usr")
    folders.push_back(bin.parent_path() / kDistPackages);
  folders.push_back(debian);
  return folders;
}

// The first that has the package; empty: none has.
fs::path found_package(const std::vector<fs::path>& folders) {
  const auto found = std::ranges::find_if(folders, [](const fs::path& folder) {
    std::error_code error;
    return fs::is_regular_file(folder / "eddylab" / "__main__.py", error);
  });
  return found == folders.end() ? fs::path() : *found;
}

std::string no_package(const std::vector<fs::path>& folders) {
  std::string looked;
  for (const fs::path& folder : folders) looked += (looked.empty() ? "" : ", ") + folder.string();
  return "export-results: the Python package eddylab is not there; looked in " + printable(looked);
}

// So that python3 finds the package there, and nothing in the current folder.
void prepare_environment(const fs::path& package) {
  const char* const before = std::getenv("PYTHONPATH");
  const bool any = before != nullptr && *before != '\0';
  const std::string path = package.string() + (any ? ":" + std::string(before) : "");
  setenv("PYTHONPATH", path.c_str(), /*overwrite=*/1);
  setenv("PYTHONSAFEPATH", "1", /*overwrite=*/1);
}

}  // namespace

void declare_export_results(CLI::App& app, ExportResultsArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("export-results",
                         "write the tables of results as files: runs, tenants, bins, flows, "
                         "samples and links (needs python3)");
  command->add_option("results", arguments.results, "OUT/EXPERIMENT/SIZE, or a result.json")
      ->required();
  command->add_option("--to", arguments.to, "folder to write to; default: this one");
  command
      ->add_option("--format", arguments.format,
                   "csv, or parquet, which needs pandas and pyarrow; default: csv")
      ->check(CLI::IsMember({"csv", "parquet"}));
}

int export_results_command(const ExportResultsArguments& arguments) {
  const std::vector<fs::path> folders = python_folders(program_beside("eddylab"));
  const fs::path package = found_package(folders);
  if (package.empty()) return complain(kFailed, {no_package(folders)});
  std::string python = on_path("python3").string();
  if (python.empty())
    return complain(kFailed, {"export-results: there is no python3 in the path; apt install "
                              "python3, and python3-pandas if tables are to be DataFrames"});
  prepare_environment(package);
  // "--" is before what could look like an option.
  std::string to = "--to=" + arguments.to;
  std::string format = "--format=" + arguments.format;
  std::string results = arguments.results;
  std::array<std::string, 5> fixed = {"python3", "-m", "eddylab", "export-results", "--"};
  const std::array<char*, 9> words = {fixed[0].data(), fixed[1].data(), fixed[2].data(),
                                      fixed[3].data(), to.data(),       format.data(),
                                      fixed[4].data(), results.data(),  nullptr};
  execv(python.c_str(), words.data());
  return complain(kFailed, {"export-results: " + printable(python) + ": " + std::strerror(errno)});
}

}  // namespace eddy::lab
