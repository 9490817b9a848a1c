// `eddylab report` and `eddylab compare`.
//
// Owner: main; one call a process.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lab/figures/style.h"

namespace eddy::lab {

struct ReportArguments {
  std::vector<std::string> folders;
  std::string out = "report.html";
  std::string figures;  // folder; empty: none
  StyleOptions style;   // of the figures, as what follows
  std::vector<std::string> variants;
  std::vector<std::string> legends;
};
struct CompareArguments {
  std::string before;
  std::string after;  // empty: variants of `before`
  std::string base;
  std::string item;
  bool json = false;
  bool wide = false;
  bool markdown = false;
};

void declare_report(CLI::App& app, ReportArguments& arguments);
void declare_compare(CLI::App& app, CompareArguments& arguments);

// Exit codes as of all of eddylab. A page is written also when some runs cannot be read: it says
// so, and the code is kFailed.
int report_command(const ReportArguments& arguments);
int compare_command(const CompareArguments& arguments);

}  // namespace eddy::lab
