#include "lab/figures/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

struct Template {
  std::string_view name;
  std::string_view width;
  std::string_view text;
  std::array<std::string_view, 4> fonts;
};
constexpr std::array<Template, 2> kTemplates = {
    {{"acm",
      "3.33in",
      "8pt",
      {"Linux Libertine O", "Linux Libertine", "Libertinus Serif", "serif"}},
     {"ieee", "3.5in", "8pt", {"Times New Roman", "Times", "Liberation Serif", "serif"}}}};
constexpr std::string_view kTextOfWidth = "8pt";  // where a width is given and no template

struct Unit {
  std::string_view name;
  double points = 1;
};
constexpr std::array<Unit, 4> kUnits = {
    {{"in", 72}, {"mm", 72 / 25.4}, {"cm", 72 / 2.54}, {"pt", 1}}};

// From here to there a figure can be drawn.
constexpr double kLeastWidth = 108;
constexpr double kMostWidth = 1440;
constexpr double kLeastText = 4;
constexpr double kMostText = 24;
constexpr size_t kLongestFont = 64;

// Of DejaVu Sans, in thousandths of the size, from ' ' to '~'.
constexpr std::array<uint16_t, 95> kWidths = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double kWidest = 1000;  // of what is no ASCII

bool continues_character(char octet) {
  constexpr unsigned kFirstTwoBits = 0xc0;
  constexpr unsigned kContinued = 0x80;  // in the middle of a character of UTF-8
  return (static_cast<unsigned char>(octet) & kFirstTwoBits) == kContinued;
}

Result<double> length_of(std::string_view option, std::string_view text, double least,
                         double most) {
  Result<double> found = parse_length(text);
  if (!found) return Problems{fmt::format("{}: {}", option, found.problems().front())};
  if (found.value() < least || found.value() > most)
    return Problems{fmt::format("{}: {} is out of range; from {}pt to {}pt", option,
                                printable(text), least, most)};
  return found;
}

// A font's name goes into SVG and Python; letters of any language, and what names of fonts have.
Problems check_font(std::string_view font) {
  constexpr std::string_view kAlso = " -_.";
  const bool known = std::ranges::all_of(font, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kAlso.find(c) != kAlso.npos;
  });
  if (known && !font.empty() && font.size() <= kLongestFont && font.front() != ' ' &&
      font.back() != ' ')
    return {};
  return {
      fmt::format("--font: \"{}\" is no name of a font: 1 to {} letters, digits, blanks, "
                  "hyphens, dots, such as \"Linux Libertine O\"",
                  printable(font), kLongestFont)};
}

void read(Result<double> from, double& to, Problems& problems) {
  if (from)
    to = *from;
  else
    problems.insert(problems.end(), from.problems().begin(), from.problems().end());
}

}  // namespace

bool StyleOptions::any() const {
  return !figure_template.empty() || !width.empty() || !text.empty() || !font.empty() ||
         title.has_value();
}

std::vector<std::string> figure_templates() {
  std::vector<std::string> names;
  names.reserve(kTemplates.size());
  for (const Template& each : kTemplates) names.emplace_back(each.name);
  return names;
}

Result<FigureStyle> figure_style(const StyleOptions& options) {
  FigureStyle style;
  Problems problems;
  StyleOptions found = options;
  if (!options.figure_template.empty()) {
    const auto* const named =
        std::ranges::find(kTemplates, options.figure_template, &Template::name);
    if (named == kTemplates.end())
      return Problems{fmt::format("--template: no template \"{}\"; there are: {}",
                                  printable(options.figure_template),
                                  fmt::join(figure_templates(), ", "))};
    if (found.width.empty()) found.width = named->width;
    if (found.text.empty()) found.text = named->text;
    style.fonts.assign(named->fonts.begin(), named->fonts.end());
    style.title = false;
  } else if (!found.width.empty() && found.text.empty()) {
    found.text = kTextOfWidth;
  }
  if (!found.width.empty())
    read(length_of("--width", found.width, kLeastWidth, kMostWidth), style.width, problems);
  if (!found.text.empty())
    read(length_of("--text-size", found.text, kLeastText, kMostText), style.text, problems);
  if (!options.font.empty()) {
    const Problems unfit = check_font(options.font);
    problems.insert(problems.end(), unfit.begin(), unfit.end());
    style.fonts.insert(style.fonts.begin(), options.font);
  }
  style.title = options.title.value_or(style.title);
  if (!problems.empty()) return problems;
  return style;
}

Result<double> parse_length(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  const auto* const found = std::ranges::find(kUnits, unit, &Unit::name);
  if (error != std::errc{} || found == kUnits.end() || !(value > 0) || !std::isfinite(value))
    return Result<double>::failure(fmt::format(
        "\"{}\" is no length; such as 3.33in, 84.6mm, 8.5cm or 240pt", printable(text)));
  return value * found->points;
}

double text_width(std::string_view text, double size) {
  constexpr double kThousandth = 1e-3;
  double sum = 0;
  for (const char c : text) {
    if (continues_character(c)) continue;
    const auto index = static_cast<size_t>(static_cast<unsigned char>(c)) - ' ';
    sum += index < kWidths.size() ? kWidths[index] : kWidest;
  }
  return sum * size * kThousandth;
}

std::vector<std::string> wrapped(std::string_view text, double size, double width) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const double gap = text_width(" ", size);
    if (lines.empty() ||
        text_width(lines.back(), size) + gap + text_width(word, size) > width + 1e-9)
      lines.emplace_back();
    else
      lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::string fitted(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  size_t kept = text.size();
  while (kept > 0 && ((kept < text.size() && continues_character(text[kept])) ||
                      text_width(std::string(text.substr(0, kept)) + "...", size) > width))
    --kept;
  return std::string(text.substr(0, kept)) + "...";
}

std::string unfit_text(std::string_view text) {
  return printable(text) == text ? "" : "a control character, or octets that are no UTF-8, in it";
}

}  // namespace eddy::lab
