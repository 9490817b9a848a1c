#include "lab/figures/look.h"

namespace eddy::lab {
namespace {

// Yellow, pale on white, is last and darkened.
constexpr std::array<std::string_view, kLooks> kColours = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#a89200"};
constexpr double kLine = 0.16;
constexpr double kThinLine = 0.1;

std::vector<double> dashes_of(const Series& series) {
  if (series.thin) return {0.17, 0.25};
  const size_t round = series.colour / kLooks;
  if (round == 0) return {};
  switch ((round - 1) % 3) {
    case 0:
      return {0.67, 0.33};
    case 1:
      return {0.25, 0.25};
    default:
      return {0.75, 0.25, 0.17, 0.25};
  }
}

}  // namespace

SeriesLook look_of(const Series& series) {
  return {.colour = colour_of(series.colour),
          .mark = series.colour % kLooks,
          .dashes = dashes_of(series),
          .width = series.thin ? kThinLine : kLine};
}

std::string_view colour_of(size_t index) {
  return kColours[index % kLooks];
}

std::string_view mark_path(size_t mark) {
  static constexpr std::array<std::string_view, kLooks> kPaths = {
      "M-.27,0a.27,.27 0 1 0 .54,0a.27,.27 0 1 0 -.54,0z",
      "M-.25,-.25h.5v.5h-.5z",
      "M0,-.32l.3,.55h-.6z",
      "M0,-.33l.33,.33l-.33,.33l-.33,-.33z",
      "M0,.32l.3,-.55h-.6z",
      "M-.28,-.28l.56,.56m0,-.56l-.56,.56",
      "M-.33,0h.66m-.33,-.33v.66",
      "M-.33,-.1h.66v.2h-.66z"};
  return kPaths[mark % kLooks];
}

}  // namespace eddy::lab
