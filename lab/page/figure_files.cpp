#include "lab/page/figure_files.h"

#include "lab/figures/chart_csv.h"
#include "lab/figures/layout.h"
#include "lab/figures/matplotlib.h"
#include "lab/figures/pgfplots.h"
#include "lab/figures/svg.h"
#include "lab/figures/timeline_figure.h"
#include "lab/page/pdf.h"
#include "lab/page/timeline_page.h"
#include "lab/results/results.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

fs::path with_ending(fs::path name, const char* ending) {
  name += ending;
  return name;
}

}  // namespace

void FigureFiles::add(const fs::path& name, const Chart& chart) {
  const ChartLayout layout = lay_out(chart, style_);
  const std::string csv = with_ending(name.filename(), ".csv").string();
  write_drawing(name, draw(layout));
  write(name, ".csv", chart_csv(layout));
  write(name, ".tex", pgfplots_source(layout, csv));
  write(name, ".py", matplotlib_source(layout, csv));
  end_line(name);
}

void FigureFiles::add(const fs::path& name, const TimelineData& timeline,
                      const std::string& title) {
  write_drawing(name, draw_timeline(timeline, title, style_));
  write(name, ".csv", timeline_csv(timeline));
  end_line(name);
  for (const NamedChart& panel : timeline_charts(timeline))
    add(with_ending(name, ("_" + in_file_name(panel.id)).c_str()), panel.chart);
}

void FigureFiles::write_drawing(const fs::path& name, const std::string& svg) {
  write(name, ".svg", svg);
  if (!has_pdf_ || endings_.empty()) return;
  const Problems problems = write_pdf(with_ending(name, ".svg"), with_ending(name, ".pdf"));
  if (problems.empty()) {
    endings_ += ",pdf";
    return;
  }
  has_pdf_ = false;
  problems_.insert(problems_.end(), problems.begin(), problems.end());
}

void FigureFiles::write(const fs::path& name, const char* ending, const std::string& text) {
  const Problems problems = write_text(with_ending(name, ending), text);
  problems_.insert(problems_.end(), problems.begin(), problems.end());
  if (problems.empty()) endings_ += (endings_.empty() ? "" : ",") + std::string(ending + 1);
}

void FigureFiles::end_line(const fs::path& name) {
  if (!endings_.empty()) lines_.push_back(name.string() + ".{" + endings_ + "}");
  endings_.clear();
}

}  // namespace eddy::lab
