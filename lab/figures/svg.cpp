#include "lab/figures/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/figures/look.h"

namespace eddy::lab {
namespace {

constexpr std::string_view kMiddle = "text-anchor=\"middle\"";
constexpr std::string_view kGrid = "stroke=\"#d9d9d9\" stroke-width=\"0.6\"";
constexpr std::string_view kLesserGrid = "stroke=\"#f0f0f0\" stroke-width=\"0.6\"";
constexpr std::string_view kFrame = "stroke=\"#444\" stroke-width=\"0.75\"";
constexpr double kCapital = 0.35;  // half the height of a capital letter, in sizes of the text

class ChartDrawing {
 public:
  explicit ChartDrawing(const ChartLayout& layout) : layout_(layout), text_(layout.text) {}

  std::string write() {
    out_ = svg_head({.width = layout_.width, .text = text_, .fonts = layout_.fonts}, layout_.height,
                    layout_.name);
    add_titles();
    add_grid();
    add_labels();
    for (const LaidSeries& series : layout_.series) add_series(series);
    add_legend();
    return std::move(out_) + "</svg>\n";
  }

 private:
  void add_titles() {
    const double left = std::min(layout_.across.from, 0.6 * text_);
    out_ += svg_lines(layout_.title, left, layout_.title_base, 1.2 * layout_.title_size,
                      fmt::format("font-size=\"{:.2f}\" font-weight=\"bold\"", layout_.title_size));
    out_ += svg_lines(layout_.note, left, layout_.note_base, layout_.line(), "fill=\"#555\"");
  }

  void add_grid() {
    const AxisLayout& across = layout_.across;
    const AxisLayout& up = layout_.up;
    for (const Tick& tick : across.ticks) {
      const double at = across.place(tick.at);
      out_ += svg_line(at, up.from, at, up.to, tick.label.empty() ? kLesserGrid : kGrid);
      if (!tick.label.empty()) out_ += svg_text(at, up.from + layout_.line(), kMiddle, tick.label);
    }
    for (const Tick& tick : up.ticks) {
      const double at = up.place(tick.at);
      out_ += svg_line(across.from, at, across.to, at, tick.label.empty() ? kLesserGrid : kGrid);
      if (!tick.label.empty())
        out_ += svg_text(across.from - 0.5 * text_, at + kCapital * text_, "text-anchor=\"end\"",
                         tick.label);
    }
    out_ += svg_line(across.from, up.from, across.to, up.from, kFrame);
    out_ += svg_line(across.from, up.from, across.from, up.to, kFrame);
  }

  void add_labels() {
    const AxisLayout& across = layout_.across;
    const AxisLayout& up = layout_.up;
    out_ += svg_lines(across.label, (across.from + across.to) / 2,
                      up.from + 2.4 * text_ + 0.1 * text_, layout_.line(), kMiddle);
    const double middle = (up.from + up.to) / 2;
    double x = 1.3 * text_;
    for (const std::string& line : up.label) {
      out_ += svg_text(
          x, middle, fmt::format("{} transform=\"rotate(-90 {:.2f} {:.2f})\"", kMiddle, x, middle),
          line);
      x += layout_.line();
    }
    for (size_t row = 0; row < layout_.row_lines.size(); ++row) {
      const std::vector<std::string>& lines = layout_.row_lines[row];
      const double base = up.place(static_cast<double>(row)) + kCapital * text_ -
                          layout_.line() / 2 * static_cast<double>(lines.size() - 1);
      out_ +=
          svg_lines(lines, across.from - 0.6 * text_, base, layout_.line(), "text-anchor=\"end\"");
    }
  }

  double x_of(const LaidSeries::Point& point) const {
    return layout_.across.place(layout_.has_rows() ? point.y : point.x);
  }
  double y_of(const LaidSeries::Point& point) const {
    return layout_.up.place(layout_.has_rows() ? point.x : point.y);
  }

  void add_series(const LaidSeries& series) {
    if (series.look.kind == SeriesKind::arrows) return add_arrows(series);
    if (series.look.kind == SeriesKind::spans) return add_spans(series);
    if (series.look.kind == SeriesKind::bars)
      add_bars(series);
    else if (series.look.kind != SeriesKind::dots)
      add_curve(series);
    for (const LaidSeries::Point& point : series.points)
      if (point.low < point.high) add_interval(series, point);
    for (const size_t i : series.marks)
      out_ += marker(x_of(series.points[i]), y_of(series.points[i]), series.look);
  }

  void add_bars(const LaidSeries& series) {
    const double height = 0.6 * layout_.row;
    const double zero =
        layout_.across.place(std::clamp(0.0, layout_.across.low, layout_.across.high));
    for (const LaidSeries::Point& point : series.points)
      out_ += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
          "fill-opacity=\"0.7\"/>\n",
          std::min(zero, x_of(point)), y_of(point) - height / 2, std::abs(x_of(point) - zero),
          height, look_of(series.look).colour);
  }

  void add_arrows(const LaidSeries& series) {
    const SeriesLook look = look_of(series.look);
    for (const LaidSeries::Point& point : series.points)
      out_ += svg_arrow({layout_.across.place(point.low), layout_.up.place(point.x - 1)},
                        {layout_.across.place(point.high), layout_.up.place(point.x)}, look.colour,
                        text_);
  }

  void add_spans(const LaidSeries& series) {
    for (const LaidSeries::Point& point : series.points)
      out_ += svg_line(layout_.across.place(point.low), y_of(point),
                       layout_.across.place(point.high), y_of(point),
                       fmt::format("class=\"span\" stroke=\"{}\" stroke-width=\"{:.2f}\" "
                                   "stroke-opacity=\"0.45\"",
                                   look_of(series.look).colour, kSpan * text_));
  }

  void add_curve(const LaidSeries& series) {
    if (series.points.empty()) return;
    const SeriesLook look = look_of(series.look);
    std::string path;
    for (const LaidSeries::Point& point : series.points) {
      const double x = x_of(point);
      const double y = y_of(point);
      if (path.empty())
        path = fmt::format("M{:.2f},{:.2f}", x, y);
      else if (series.look.kind == SeriesKind::steps)
        path += fmt::format("H{:.2f}V{:.2f}", x, y);
      else if (series.look.kind == SeriesKind::steps_before)
        path += fmt::format("V{:.2f}H{:.2f}", y, x);
      else
        path += fmt::format("L{:.2f},{:.2f}", x, y);
    }
    out_ += fmt::format("<path class=\"series\" d=\"{}\" {} stroke-linejoin=\"round\"/>\n", path,
                        line_style(look));
  }

  std::string line_style(const SeriesLook& look) const {
    std::string style = fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\"",
                                    look.colour, look.width * text_);
    if (look.dashes.empty()) return style;
    std::string dashes;
    for (const double dash : look.dashes)
      dashes += fmt::format("{}{:.2f}", dashes.empty() ? "" : " ", dash * text_);
    return style + fmt::format(" stroke-dasharray=\"{}\"", dashes);
  }

  void add_interval(const LaidSeries& series, const LaidSeries::Point& point) {
    const double cap = 0.27 * text_;
    const bool bar = series.look.kind == SeriesKind::bars;
    const std::string style =
        fmt::format("class=\"interval\" stroke=\"{}\" stroke-width=\"{:.2f}\"",
                    bar ? "#222" : look_of(series.look).colour, 0.1 * text_);
    const double low = layout_.values().place(point.low);
    const double high = layout_.values().place(point.high);
    const auto add = [&](double x1, double y1, double x2, double y2) {
      out_ +=
          layout_.has_rows() ? svg_line(y1, x1, y2, x2, style) : svg_line(x1, y1, x2, y2, style);
    };
    const double at = layout_.has_rows() ? y_of(point) : x_of(point);
    add(at, low, at, high);
    add(at - cap, low, at + cap, low);
    add(at - cap, high, at + cap, high);
  }

  std::string marker(double x, double y, const Series& of) const {
    const SeriesLook look = look_of(of);
    return fmt::format(
        "<path transform=\"translate({:.2f} {:.2f}) scale({:.2f})\" d=\"{}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"0.1\"/>\n",
        x, y, text_, mark_path(look.mark), look.colour, look.colour);
  }

  void add_legend() {
    const LegendLayout& legend = layout_.legend;
    for (size_t i = 0; i < legend.entries.size(); ++i) {
      const LegendEntry& entry = legend.entries[i];
      const double x = legend.left + legend.column * static_cast<double>(i % legend.columns);
      const size_t line = i / legend.columns;
      const double y = legend.top + legend.line * static_cast<double>(line);
      Series sample;
      sample.thin = true;
      sample.colour = kLooks - 2;  // black
      if (entry.series) sample = layout_.series[*entry.series].look;
      const bool bar = sample.kind == SeriesKind::bars || sample.kind == SeriesKind::spans;
      if (bar)
        out_ += svg_line(x, y, x + legend.sample, y,
                         fmt::format("stroke=\"{}\" stroke-opacity=\"0.7\" stroke-width=\"{:.2f}\"",
                                     look_of(sample).colour, 0.7 * text_));
      else if (sample.kind != SeriesKind::dots)
        out_ += svg_line(x, y, x + legend.sample, y, line_style(look_of(sample)));
      if (!sample.thin && !bar && sample.kind != SeriesKind::arrows)
        out_ += marker(x + legend.sample / 2, y, sample);
      out_ += svg_text(x + legend.sample + 0.5 * text_, y + kCapital * text_, "", entry.name);
    }
  }

  const ChartLayout& layout_;
  double text_;
  std::string out_;
};

}  // namespace

std::string draw(const ChartLayout& layout) {
  return ChartDrawing(layout).write();
}

std::string draw(const Chart& chart, const FigureStyle& style) {
  return draw(lay_out(chart, style));
}

std::string svg_text(double x, double y, std::string_view extra, std::string_view content) {
  return fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\"{}{}>{}</text>\n", x, y,
                     extra.empty() ? "" : " ", extra, svg_escaped(content));
}

std::string svg_lines(const std::vector<std::string>& lines, double x, double base, double step,
                      std::string_view extra) {
  std::string out;
  for (const std::string& line : lines) {
    out += svg_text(x, base, extra, line);
    base += step;
  }
  return out;
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}/>\n", x1, y1,
                     x2, y2, style);
}

std::string svg_arrow(SvgPlace from, SvgPlace to, std::string_view colour, double text) {
  return svg_line(from.x, from.y, to.x, to.y,
                  fmt::format("stroke=\"{}\" stroke-width=\"{:.2f}\"", colour, 0.12 * text)) +
         fmt::format("<path d=\"M{:.2f},{:.2f} l{:.2f},{:.2f} l{:.2f},0 z\" fill=\"{}\"/>\n", to.x,
                     to.y, -0.27 * text, -0.58 * text, 0.45 * text, colour);
}

std::string svg_head(const FigureStyle& style, double height, std::string_view title) {
  std::string fonts;
  for (const std::string& font : style.fonts) {
    const bool generic = font == "serif" || font == "sans-serif" || font == "monospace";
    fonts += (fonts.empty() ? "" : ", ") + (generic ? font : "'" + svg_escaped(font) + "'");
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.2f}pt\" height=\"{1:.2f}pt\" "
      "viewBox=\"0 0 {0:.2f} {1:.2f}\" font-family=\"{2}\" font-size=\"{3:.2f}\" fill=\"#222\">\n"
      "<title>{4}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      style.width, height, fonts, style.text, svg_escaped(title));
}

std::string svg_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      out += ' ';  // no character of XML
    else
      out += c;
  }
  return out;
}

}  // namespace eddy::lab
