// The files of a figure: NAME.svg and NAME.pdf, NAME.csv with its data, and of a chart also what
// draws it from that: NAME.tex (pgfplots) and NAME.py (matplotlib).
//
// The same figure gives the same files. Where PDFs cannot be made that is one problem, and all
// other files are written. Owner: the caller. Cost: a process a PDF.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/figures/style.h"
#include "lab/figures/timeline.h"
#include "net/result.h"

namespace eddy::lab {

class FigureFiles {
 public:
  explicit FigureFiles(const FigureStyle& style) : style_(style) {}

  // `name`: without an ending, in a folder that is there.
  void add(const std::filesystem::path& name, const Chart& chart);
  // The whole of it with its records as CSV, and charts of what it has of numbers.
  void add(const std::filesystem::path& name, const TimelineData& timeline,
           const std::string& title);

  // A line a figure: "figures/queues.{svg,pdf,csv,tex,py}".
  const std::vector<std::string>& lines() const { return lines_; }
  const Problems& problems() const { return problems_; }

 private:
  void write(const std::filesystem::path& name, const char* ending, const std::string& text);
  void write_drawing(const std::filesystem::path& name, const std::string& svg);
  void end_line(const std::filesystem::path& name);

  FigureStyle style_;
  bool has_pdf_ = true;
  std::string endings_;  // of the figure at hand
  std::vector<std::string> lines_;
  Problems problems_;
};

}  // namespace eddy::lab
