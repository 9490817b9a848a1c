// The figures of a page: for each variant a curve of all its seeds together and one of each seed.
//
// What is pooled is pooled here, so that the page only shows and chooses. Curves have a bounded
// number of points. Units are in the axes' labels. Owner: the caller. Cost: linear in the flows;
// those of one variant are in memory at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/figures/chart.h"
#include "lab/figures/figures.h"
#include "lab/page/source.h"
#include "lab/results/student.h"

namespace eddy::lab {

enum class FigureKind : uint8_t {
  lines,
  dots,  // a point a variant: its y and error
};

struct PageFigure {
  struct Curve {
    size_t variant = 0;            // whose colour and mark it has
    std::vector<size_t> members;   // shown while one of these variants is
    std::optional<uint64_t> seed;  // none: all of them
    Series series;
    std::vector<std::string> names;  // of the points; empty: they have none
  };
  std::string id;  // a file's name without its ending
  FigureKind kind = FigureKind::lines;
  Chart frame;  // without series
  std::vector<Curve> curves;
};

// Reads the flows; what cannot be read goes to the source's problems.
std::vector<PageFigure> page_figures(PageSource& source);

// The figure of all seeds together, for a paper; variants are called as `choice` says.
Chart paper_chart(const PageFigure& figure, const PageSource& source, const VariantChoice& choice);

// What is claimed in numbers and could be looked at, beside what was found.
struct FoundClaim {
  std::string of;       // "fct_p99_us of [scheme=drill rlb=default]"
  std::string against;  // "[scheme=drill rlb=off]"
  double claimed = 0;   // in percent, as what follows
  Estimate found;
};
std::vector<FoundClaim> found_claims(const PageSource& source);
// For a paper; without series: nothing is claimed.
Chart claims_chart(const PageSource& source, const VariantChoice& choice);

}  // namespace eddy::lab
