// One HTML page from folders of runs: everything is in the file, nothing is asked of a network.
//
// All that comes from files is data: it stands in the page as JSON without any character that
// could end a script, and the page shows it as text. A policy in the page allows its own script
// and style alone. Owner: the caller. Cost: linear in the flows; the page is bounded by the number
// of runs and not by their flows.
#pragma once

#include <string>
#include <vector>

#include "lab/page/figure.h"
#include "lab/page/source.h"

namespace eddy::lab {

struct Page {
  std::string html;
  // Of each source, in their order.
  std::vector<std::vector<PageFigure>> figures;
  Problems problems;  // what is missing; the page says so, too
};
// `command`: that made it.
Page make_page(std::vector<PageSource>& sources, const std::string& command);

// JSON for the inside of a script element.
std::string script_json(const Json& value);

}  // namespace eddy::lab
