#include "lab/figures/matplotlib.h"

#include <fmt/format.h>

#include "lab/figures/look.h"

namespace eddy::lab {
namespace {

constexpr std::array<std::string_view, kLooks> kMarks = {"o", "s", "^", "D", "v", "x", "+", "_"};

constexpr std::string_view kProgram = R"PY(

def rows():
    """series, x, y, low, high of each point, by the number of its series."""
    found = {}
    with open(Path(__file__).resolve().parent / CSV, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            found.setdefault(int(row["series"]), []).append([float(row[key]) for key in ("x", "y", "low", "high")])
    return found


def draw(axes, number, points):
    """Draws one series; every artist has its number as its gid."""
    look = SERIES[number]
    x, y, low, high = map(list, zip(*points))
    across, up = (y, x) if ROWS else (x, y)
    gid = f"series {number}"
    if look["kind"] == "arrows":  # from the row above, where an interval begins, to where it ends
        axes.quiver(low, [row - 1 for row in x], [b - a for a, b in zip(low, high)], [1] * len(x), gid=gid, color=look["colour"],
                    angles="xy", scale_units="xy", scale=1, units="inches", width=look["width"] / 72, headwidth=4, headlength=5,
                    headaxislength=5, minlength=0, clip_on=False, zorder=3)
        return
    if look["kind"] == "spans":
        axes.hlines(x, low, high, colors=look["colour"], linewidth=SPAN, alpha=0.45, gid=gid, clip_on=False, zorder=2)
        return
    if look["kind"] == "bars":
        for bar in axes.barh(x, y, height=0.6, color=look["colour"], alpha=0.7, linewidth=0, zorder=2):
            bar.set_gid(gid)
    else:
        style = {"steps": "steps-post", "steps_before": "steps-pre"}.get(look["kind"], "default")
        axes.plot(across, up, gid=gid, drawstyle=style, color=look["colour"], linewidth=look["width"],
                  linestyle="none" if look["kind"] == "dots" else look["line"], marker=look["marker"] if look["marks"] else "none",
                  markevery=look["marks"], markersize=MARK, clip_on=False, zorder=3)
    if any(a < b for a, b in zip(low, high)):
        reach = [[b - a for a, b in zip(low, y)], [b - a for a, b in zip(y, high)]]
        made = axes.errorbar(across, up, **{"xerr" if ROWS else "yerr": reach}, fmt="none", capsize=CAP, elinewidth=CAP / 2.7,
                             capthick=CAP / 2.7, ecolor="black" if look["kind"] == "bars" else look["colour"], zorder=4)
        for part in (*made.lines[1], *made.lines[2]):
            part.set_clip_on(False)
        made.lines[2][0].set_gid(f"{gid} intervals")


def set_axis(axis, which):
    """Scale, ends, marks and label of one axis."""
    low, high, scale, ticks, labels, label = AXES[which]
    getattr(axis.axes, f"set_{which}scale")(scale)
    axis.set_ticks(ticks, labels)
    axis.set_ticks([], minor=True)
    getattr(axis.axes, f"set_{which}lim")(low, high)
    axis.set_label_text(label)


def add_legend(figure, axes):
    """Above or beside the plot, row by row: matplotlib fills columns."""
    made = []
    for number, name in LEGEND:
        look = SERIES[number] if number is not None else THIN
        if look["kind"] in ("bars", "spans"):
            made.append((Patch(color=look["colour"], alpha=0.7, linewidth=0), name))
            continue
        made.append((Line2D([], [], color=look["colour"], linewidth=look["width"],
                            marker="none" if look["thin"] or look["kind"] == "arrows" else look["marker"],
                            linestyle="none" if look["kind"] == "dots" else look["line"], markersize=MARK), name))
    made = [each for column in range(COLUMNS) for each in made[column::COLUMNS]]
    axes.legend(*zip(*made), loc=LEGEND_PLACE[0], bbox_to_anchor=LEGEND_PLACE[1], bbox_transform=figure.transFigure,
                ncol=COLUMNS, frameon=False, borderaxespad=0, borderpad=0, handlelength=2.2, columnspacing=1.2, labelspacing=0.15)


def figure():
    """The figure, drawn from the CSV."""
    with plt.rc_context(STYLE):
        made = plt.figure(figsize=SIZE)
        axes = made.add_axes(PLOT)
        for number, points in sorted(rows().items()):
            draw(axes, number, points)
        set_axis(axes.xaxis, "x")
        set_axis(axes.yaxis, "y")
        axes.grid(True, axis="x" if ROWS else "both", color="0.85", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.spines[["top", "right"]].set_visible(False)
        if LEGEND:
            add_legend(made, axes)
        for x, y, size, weight, text in TITLES:
            made.text(x, y, text, fontsize=size, fontweight=weight)
    return made


if __name__ == "__main__":
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name(Path(__file__).stem + "-matplotlib.pdf")
    with plt.rc_context(STYLE):
        figure().savefig(to)
    print(to)
)PY";

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// As the legend shows it: matplotlib leaves out what begins with "_".
std::string legend_text(const std::string& name) {
  return python_text(name.starts_with('_') ? " " + name : name);
}

class MatplotlibSource {
 public:
  MatplotlibSource(const ChartLayout& layout, std::string_view csv)
      : layout_(layout), csv_(csv), text_(layout.text) {}

  std::string write() {
    add_head();
    add_axes();
    add_series();
    add_legend();
    add_titles();
    return std::move(out_) + std::string(kProgram);
  }

 private:
  double x_share(double x) const { return x / layout_.width; }
  double y_share(double y) const { return 1 - y / layout_.height; }

  void add_head() {
    constexpr double kInch = 72;
    out_ = "#!/usr/bin/env python3\n" + comment() +
           "import csv\nimport sys\nfrom pathlib import Path\n\nimport matplotlib.pyplot as plt\n"
           "from matplotlib.font_manager import fontManager\nfrom matplotlib.lines import "
           "Line2D\nfrom matplotlib.patches import Patch\n\n";
    out_ += fmt::format("CSV = {}\n", python_text(csv_));
    std::string fonts;
    for (const std::string& font : layout_.fonts) fonts += python_text(font) + ", ";
    out_ += fmt::format(
        "FONTS = [{}]\nFOUND = {{font.name for font in fontManager.ttflist}} | {{\"serif\", "
        "\"sans-serif\", \"monospace\"}}\n",
        fonts.substr(0, fonts.size() - 2));
    out_ += fmt::format(
        "STYLE = {{\"font.family\": [font for font in FONTS if font in FOUND], \"font.size\": "
        "{:.2f}, \"axes.labelsize\": "
        "\"medium\", \"xtick.labelsize\": \"medium\",\n         \"ytick.labelsize\": \"medium\", "
        "\"legend.fontsize\": \"medium\", \"lines.scale_dashes\": False, \"pdf.fonttype\": 42}}\n",
        text_);
    const AxisLayout& across = layout_.across;
    const AxisLayout& up = layout_.up;
    out_ += fmt::format("SIZE = ({:.4f}, {:.4f})  # inches\n", layout_.width / kInch,
                        layout_.height / kInch);
    out_ += fmt::format("PLOT = ({:.5f}, {:.5f}, {:.5f}, {:.5f})\n", x_share(across.from),
                        y_share(up.from), x_share(across.to - across.from),
                        (up.from - up.to) / layout_.height);
    out_ += fmt::format("ROWS = {}\nMARK = {:.2f}\nCAP = {:.2f}\nSPAN = {:.2f}\n",
                        layout_.has_rows() ? "True" : "False", 0.55 * text_, 0.27 * text_,
                        kSpan * text_);
  }

  std::string comment() const {
    return "# " + layout_.name + "\n# Draws it from " + std::string(csv_) +
           ", which stands beside this file. Needs matplotlib.\n";
  }

  void add_axes() {
    out_ += "AXES = {  # low, high, scale, marks, what stands at them, label\n";
    add_axis("x", layout_.across);
    if (layout_.has_rows()) {
      std::string at;
      std::string names;
      for (size_t i = 0; i < layout_.rows.size(); ++i) {
        at += fmt::format("{}, ", i);
        names += python_text(joined(layout_.row_lines[i])) + ", ";
      }
      out_ += fmt::format("    \"y\": ({:.1f}, -0.5, \"linear\", [{}], [{}], \"\"),\n",
                          layout_.up.low, at, names);
    } else {
      add_axis("y", layout_.up);
    }
    out_ += "}\n";
  }

  void add_axis(std::string_view which, const AxisLayout& axis) {
    std::string at;
    std::string labels;
    for (const Tick& tick : axis.ticks) {
      if (tick.label.empty()) continue;
      at += fmt::format("{:.9g}, ", tick.at);
      labels += python_text(tick.label) + ", ";
    }
    out_ += fmt::format("    \"{}\": ({:.9g}, {:.9g}, \"{}\", [{}], [{}], {}),\n", which, axis.low,
                        axis.high, axis.logarithmic ? "log" : "linear", at, labels,
                        python_text(joined(axis.label)));
  }

  std::string look(const LaidSeries& series) const {
    const SeriesLook look = look_of(series.look);
    std::string line = "\"solid\"";
    if (!look.dashes.empty()) {
      line = "(0, (";
      for (const double dash : look.dashes) line += fmt::format("{:.2f}, ", dash * text_);
      line += "))";
    }
    return fmt::format(
        "{{\"kind\": \"{}\", \"colour\": \"{}\", \"width\": {:.2f}, \"line\": {}, "
        "\"marker\": \"{}\", \"marks\": [{}], \"thin\": {}}}",
        kind_of(series.look.kind), look.colour, look.width * text_, line, kMarks[look.mark],
        fmt::join(series.marks, ", "), series.look.thin ? "True" : "False");
  }

  static std::string_view kind_of(SeriesKind kind) {
    switch (kind) {
      case SeriesKind::line:
        return "line";
      case SeriesKind::steps:
        return "steps";
      case SeriesKind::steps_before:
        return "steps_before";
      case SeriesKind::dots:
        return "dots";
      case SeriesKind::bars:
        return "bars";
      case SeriesKind::arrows:
        return "arrows";
      case SeriesKind::spans:
        return "spans";
    }
    return "";
  }

  void add_series() {
    out_ += "SERIES = [  # by their numbers in the CSV\n";
    for (const LaidSeries& series : layout_.series) out_ += "    " + look(series) + ",\n";
    LaidSeries thin;
    thin.look.thin = true;
    thin.look.colour = kLooks - 2;  // black
    out_ += "]\nTHIN = " + look(thin) + "\n";
  }

  void add_legend() {
    const LegendLayout& legend = layout_.legend;
    out_ += "LEGEND = [";
    for (const LegendEntry& entry : legend.entries)
      out_ += fmt::format("({}, {}), ", entry.series ? std::to_string(*entry.series) : "None",
                          legend_text(entry.name));
    const double top = y_share(legend.top - legend.line / 2);
    const double middle =
        layout_.has_rows() ? 0.5 : x_share((layout_.across.from + layout_.across.to) / 2);
    out_ += fmt::format("]\nCOLUMNS = {}\nLEGEND_PLACE = (\"{}\", ({:.5f}, {:.5f}))\n",
                        legend.columns, legend.is_above ? "upper center" : "upper left",
                        legend.is_above ? middle : x_share(legend.left), top);
  }

  void add_titles() {
    out_ += "TITLES = [  # place, size, weight\n";
    const double left = x_share(std::min(layout_.across.from, 0.6 * text_));
    double base = layout_.title_base;
    for (const std::string& line : layout_.title) {
      out_ += fmt::format("    ({:.5f}, {:.5f}, {:.2f}, \"bold\", {}),\n", left, y_share(base),
                          layout_.title_size, python_text(line));
      base += 1.2 * layout_.title_size;
    }
    base = layout_.note_base;
    for (const std::string& line : layout_.note) {
      out_ += fmt::format("    ({:.5f}, {:.5f}, {:.2f}, \"normal\", {}),\n", left, y_share(base),
                          text_, python_text(line));
      base += layout_.line();
    }
    out_ += "]\n";
  }

  const ChartLayout& layout_;
  std::string_view csv_;
  double text_;
  std::string out_;
};

}  // namespace

std::string matplotlib_source(const ChartLayout& layout, std::string_view csv) {
  return MatplotlibSource(layout, csv).write();
}

std::string python_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '$')
      out += "\\\\$";  // matplotlib would read mathematics between two of them
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace eddy::lab
