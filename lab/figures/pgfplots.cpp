#include "lab/figures/pgfplots.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/figures/look.h"

namespace eddy::lab {
namespace {

constexpr std::array<std::string_view, kLooks> kMarks = {
    "*", "square*", "triangle*", "diamond*", "triangle*", "x", "+", "-"};
constexpr size_t kTurnedMark = 4;

std::string tex_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "\\\\{}") + tex_escaped(line);
  return out;
}

std::string colour_name(const Series& look) {
  return fmt::format("eddy{}", look.colour % kLooks);
}

class PgfplotsSource {
 public:
  PgfplotsSource(const ChartLayout& layout, std::string_view csv) : layout_(layout), csv_(csv) {}

  std::string write() {
    add_head();
    add_axis();
    for (size_t i = 0; i < layout_.series.size(); ++i)
      if (!layout_.series[i].points.empty()) add_plot(i);
    add_legend();
    return std::move(out_) + "\\end{axis}\n\\end{tikzpicture}\n";
  }

 private:
  void add_head() {
    out_ = fmt::format(
        "% {}\n% Needs \\usepackage{{pgfplots}} and \\pgfplotsset{{compat=1.16}}; then \\input "
        "this file. It reads\n% {}; if that is in another folder: "
        "\\newcommand\\eddyfigures{{folder}} before.\n\\providecommand\\eddyfigures{{.}}\n",
        tex_escaped(layout_.name), csv_);
    for (size_t i = 0; i < kLooks; ++i) {
      std::string hex(colour_of(i).substr(1));
      std::ranges::transform(
          hex, hex.begin(), [](char c) { return static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c); });
      out_ += fmt::format("\\definecolor{{eddy{}}}{{HTML}}{{{}}}\n", i, hex);
    }
    out_ += fmt::format(
        "\\begin{{tikzpicture}}[font=\\fontsize{{{0:.2f}bp}}{{{1:.2f}bp}}\\selectfont]\n",
        layout_.text, layout_.line());
  }

  void add_axis() {
    const AxisLayout& across = layout_.across;
    const AxisLayout& up = layout_.up;
    out_ += fmt::format(
        "\\begin{{axis}}[\n  scale only axis, width={:.2f}bp, height={:.2f}bp, clip=false,\n"
        "  axis lines=left, axis line style={{-}}, grid=major, major grid style={{black!15}}, "
        "tick style={{draw=none}},\n  label style={{align=center}}, unbounded coords=discard, "
        "scaled ticks=false,\n",
        across.to - across.from, up.from - up.to);
    if (!layout_.title.empty())
      out_ += fmt::format("  title={{{}}}, title style={{align=center, yshift={:.1f}bp}},\n",
                          tex_lines(layout_.title), legend_height());
    add_one_axis("x", across);
    if (layout_.has_rows())
      add_rows();
    else
      add_one_axis("y", up);
    if (!layout_.legend.entries.empty()) add_legend_style();
    out_ += "]\n";
  }

  void add_one_axis(std::string_view which, const AxisLayout& axis) {
    std::string at;
    std::string labels;
    for (const Tick& tick : axis.ticks) {
      if (tick.label.empty()) continue;
      at += fmt::format("{}{:.9g}", at.empty() ? "" : ",", tick.at);
      labels += fmt::format("{}{{{}}}", labels.empty() ? "" : ",", tex_escaped(tick.label));
    }
    out_ += fmt::format(
        "  {0}mode={1}, {0}min={2:.9g}, {0}max={3:.9g}, {0}tick={{{4}}}, {0}ticklabels={{{5}}},\n"
        "  {0}label={{{6}}},\n",
        which, axis.logarithmic ? fmt::format("log, log basis {}=10", which) : "linear", axis.low,
        axis.high, at, labels, tex_lines(axis.label));
  }

  void add_rows() {
    std::string at;
    std::string labels;
    for (size_t i = 0; i < layout_.rows.size(); ++i) {
      at += fmt::format("{}{}", i == 0 ? "" : ",", i);
      labels += fmt::format("{}{{{}}}", i == 0 ? "" : ",", tex_lines(layout_.row_lines[i]));
    }
    out_ += fmt::format(
        "  y dir=reverse, ymin=-0.5, ymax={:.1f}, ytick={{{}}}, yticklabels={{{}}},\n"
        "  yticklabel style={{align=right}}, ymajorgrids=false, axis on top=false,\n",
        static_cast<double>(layout_.rows.size()) - 0.5, at, labels);
  }

  // What the title has to leave free above the axes: rows of pgfplots' legend, with its margins.
  double legend_height() const {
    constexpr double kRow = 1.5;  // of the letters
    constexpr double kMargins = 1.2;
    const LegendLayout& legend = layout_.legend;
    if (!legend.is_above || legend.entries.empty()) return 0;
    const size_t columns = std::max<size_t>(legend.columns, 1);
    const size_t rows = (legend.entries.size() + columns - 1) / columns;
    return layout_.text * (static_cast<double>(rows) * kRow + kMargins);
  }

  void add_legend_style() {
    const LegendLayout& legend = layout_.legend;
    out_ += fmt::format(
        "  legend style={{{}, draw=none, fill=none, legend columns={}, cells={{anchor=west}}, "
        "/tikz/every even column/.append style={{column sep={:.1f}bp}}}},\n",
        legend.is_above ? "at={(0.5,1.03)}, anchor=south" : "at={(1.03,1)}, anchor=north west",
        legend.columns, layout_.text * 0.6);
  }

  std::string kind_of(const LaidSeries& series) const {
    switch (series.look.kind) {
      case SeriesKind::line:
        return "sharp plot";
      case SeriesKind::steps:
        return "const plot mark left";
      case SeriesKind::steps_before:
        return "const plot mark right";
      case SeriesKind::dots:
        return "only marks";
      case SeriesKind::bars:
        return fmt::format("xbar, bar shift=0bp, bar width={:.2f}bp", 0.6 * layout_.row);
      case SeriesKind::arrows:
        return "quiver={u=\\thisrow{low}-\\thisrow{high}, v=-1}, stealth-";
      case SeriesKind::spans:
        return "sharp plot";  // of which nothing is drawn but the intervals
    }
    return "";
  }

  std::string marks_of(const LaidSeries& series) const {
    if (series.marks.empty()) return "mark=none";
    const size_t mark = look_of(series.look).mark;
    std::string out =
        fmt::format("mark={}, mark size={:.2f}bp, mark options={{solid{}}}", kMarks[mark],
                    0.25 * layout_.text, mark == kTurnedMark ? ", rotate=180" : "");
    if (series.marks.size() == series.points.size()) return out;
    out += ", mark indices={";
    for (size_t i = 0; i < series.marks.size(); ++i)  // TeX counts from 1
      out += fmt::format("{}{}", i == 0 ? "" : ",", series.marks[i] + 1);
    return out + "}";
  }

  std::string line_of(const LaidSeries& series) const {
    const SeriesLook look = look_of(series.look);
    const std::string colour = colour_name(series.look);
    if (series.look.kind == SeriesKind::bars)
      return fmt::format("draw=none, fill={}, fill opacity=0.7", colour);
    if (series.look.kind == SeriesKind::spans)
      return fmt::format("draw=none, fill={}, fill opacity=0.45", colour);
    std::string out = fmt::format("{}, line width={:.2f}bp", colour, look.width * layout_.text);
    if (look.dashes.empty()) return out;
    out += ", dash pattern=";
    for (size_t i = 0; i < look.dashes.size(); ++i)
      out += fmt::format("{}{} {:.2f}bp", i == 0 ? "" : " ", i % 2 == 0 ? "on" : "off",
                         look.dashes[i] * layout_.text);
    return out;
  }

  // The intervals of a series as pgfplots takes them: how far they go below and above.
  std::string intervals_of(const LaidSeries& series) const {
    if (series.look.kind == SeriesKind::spans)
      return fmt::format(
          ", error bars/x dir=both, error bars/x explicit, error bars/error mark=none, error "
          "bars/error bar style={{solid, {}, opacity=0.45, line width={:.2f}bp}}",
          colour_name(series.look), kSpan * layout_.text);
    if (!series.has_intervals) return "";
    const std::string_view axis = layout_.has_rows() ? "x" : "y";
    const bool bars = series.look.kind == SeriesKind::bars;
    return fmt::format(
        ", error bars/{0} dir=both, error bars/{0} explicit, error bars/error bar style={{solid, "
        "{1}, opacity=1, line width={2:.2f}bp}}, error bars/error mark options={{{1}, rotate=90, "
        "mark "
        "size={3:.2f}bp, line width={2:.2f}bp}}",
        axis, bars ? "black" : colour_name(series.look), 0.1 * layout_.text, 0.27 * layout_.text);
  }

  void add_plot(size_t number) {
    const LaidSeries& series = layout_.series[number];
    const bool rows = layout_.has_rows();
    std::string columns = rows ? "x=y, y=x" : "x=x, y=y";
    if (series.look.kind == SeriesKind::arrows) columns = "x=high, y=x";
    if (series.has_intervals || series.look.kind == SeriesKind::spans)
      columns += fmt::format(
          ", {0} error minus expr=\\thisrow{{y}}-\\thisrow{{low}}, {0} error plus "
          "expr=\\thisrow{{high}}-\\thisrow{{y}}",
          rows ? "x" : "y");
    out_ += fmt::format(
        "\\addplot[{}, {}, {}{}, forget plot, restrict expr to "
        "domain={{\\thisrow{{series}}}}{{{}:{}}}]\n  table[col sep=comma, {}] "
        "{{\\eddyfigures/{}}};\n",
        kind_of(series), series.look.kind == SeriesKind::spans ? "draw=none" : line_of(series),
        marks_of(series), intervals_of(series), number, number, columns, csv_);
  }

  void add_legend() {
    for (const LegendEntry& entry : layout_.legend.entries) {
      LaidSeries sample;
      sample.look.thin = true;
      sample.look.colour = kLooks - 2;  // black
      if (entry.series) sample.look = layout_.series[*entry.series].look;
      const bool bar =
          sample.look.kind == SeriesKind::bars || sample.look.kind == SeriesKind::spans;
      if (!sample.look.thin && !bar && sample.look.kind != SeriesKind::arrows) {
        sample.marks = {0};
        sample.points = {{}};
      }
      std::string_view kind;
      if (sample.look.kind == SeriesKind::dots) kind = "only marks, ";
      if (sample.look.kind == SeriesKind::arrows) kind = "-stealth, ";
      if (bar) kind = "area legend, ";
      out_ += fmt::format("\\addlegendimage{{{}{}, {}}}\n\\addlegendentry{{{}}}\n", kind,
                          line_of(sample), marks_of(sample), tex_escaped(entry.name));
    }
  }

  const ChartLayout& layout_;
  std::string_view csv_;
  std::string out_;
};

}  // namespace

std::string pgfplots_source(const ChartLayout& layout, std::string_view csv) {
  return PgfplotsSource(layout, csv).write();
}

std::string tex_escaped(std::string_view text) {
  constexpr std::string_view kMicro = "\u00b5";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kMicro)) {
      out += "$\\mu$";  // the letter may be there as a bitmap only
      i += kMicro.size() - 1;
      continue;
    }
    const char c = text[i];
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '"':
        out += "\\char34{}";
        break;
      case '{':
      case '}':
      case '#':
      case '$':
      case '%':
      case '&':
      case '_':
        out += '\\';
        out += c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace eddy::lab
