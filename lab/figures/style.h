// FigureStyle: how large a figure is, and in which letters; and how wide texts are in it.
//
// Lengths are PostScript points, 1/72 inch. No text of a figure is smaller than `text`. Owner: the
// caller. Cost: linear in the texts. Source of the templates: acmart's sigconf and IEEEtran's
// conference, a column of each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

struct FigureStyle {
  double width = 645;
  double text = 9;
  std::vector<std::string> fonts = {"Helvetica", "Arial", "sans-serif"};  // the first that is there
  bool title = true;                                                      // and the note below it

  // A column of a paper: there the legend stands above the curves and not beside them.
  bool is_narrow() const { return width < 60 * text; }
};

// As a command line has them; empty: not given.
struct StyleOptions {
  std::string figure_template;  // "acm", "ieee"
  std::string width;            // "3.33in"
  std::string text;             // "8pt"
  std::string font;
  std::optional<bool> title;

  bool any() const;
};
// What is given wins over the template, and that over what is usual. Problems name their option.
Result<FigureStyle> figure_style(const StyleOptions& options);
std::vector<std::string> figure_templates();

// "3.33in", "84.6mm", "8.5cm", "240pt"; in points.
Result<double> parse_length(std::string_view text);

// At most, in the fonts that papers have: that of DejaVu Sans, which is wide.
double text_width(std::string_view text, double size);
// In lines of at most `width`, broken at blanks; a word that is longer has a line of its own.
std::vector<std::string> wrapped(std::string_view text, double size, double width);
// Shortened to `width` with dots at its end.
std::string fitted(std::string_view text, double size, double width);

// What is wrong with a text of a command line that a figure shall show, such as "a control
// character in it"; empty: nothing.
std::string unfit_text(std::string_view text);

}  // namespace eddy::lab
