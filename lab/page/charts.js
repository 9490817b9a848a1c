// Charts as SVG: lines, steps, dots with intervals, and lanes of events. Every series has a colour, a mark and, from
// the ninth on, dashes of its own, so that none is told by its colour alone.
const charts = (() => {
  const {node} = look;
  const MARKS = [
    "M-3.4,0a3.4,3.4 0 1 0 6.8,0a3.4,3.4 0 1 0 -6.8,0z", "M-3.1,-3.1h6.2v6.2h-6.2z", "M0,-4l3.8,7h-7.6z", "M0,-4.4l4.2,4.4l-4.2,4.4l-4.2,-4.4z",
    "M0,4l3.8,-7h-7.6z", "M-3.6,-3.6l7.2,7.2m0,-7.2l-7.2,7.2", "M-4.3,0h8.6m-4.3,-4.3v8.6", "M-4.2,-1.5h8.4v3h-8.4z"];
  const DASHES = ["", "8 4", "3 3", "9 3 2 3"];
  const MARK_EVERY = 90;  // pixels along a curve

  const colour = (index) => "c" + (index % 8);
  const dash = (index) => DASHES[Math.floor(index / 8) % DASHES.length];

  function mark(x, y, index) {
    return node("path", {d: MARKS[index % 8], transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, class: colour(index),
      fill: "currentColor", stroke: "currentColor", "stroke-width": 1.3});
  }

  // A piece of the line with its mark, for legends.
  function sample(index, thin) {
    const line = node("line", {x1: 0, x2: 30, y1: 7, y2: 7, stroke: "currentColor", "stroke-width": thin ? 1.3 : 2.2,
      "stroke-dasharray": thin ? "2 3" : dash(index)});
    const made = node("svg", {width: 30, height: 14, viewBox: "0 0 30 14", class: colour(index), "aria-hidden": "true"}, line);
    if (!thin) made.append(mark(15, 7, index));
    return made;
  }

  function number(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "-";
    let unit = 0;
    const size = Math.abs(value);
    if (size >= 1e4) while (Math.abs(value) >= 1e3 && unit < 4) { value /= 1e3; unit += 1; }
    return String(Number(value.toPrecision(digits))) + ["", "k", "M", "G", "T"][unit];
  }

  // As many digits as tell the marks apart.
  function named(values) {
    for (let digits = 4; ; digits += 1) {
      const labels = values.map((value) => number(value, digits));
      if (digits >= 12 || new Set(labels).size === labels.length) return values.map((at, i) => ({at, label: labels[i]}));
    }
  }

  function linearTicks(low, high, wanted) {
    const raw = (high - low) / wanted;
    const decade = 10 ** Math.floor(Math.log10(raw));
    const step = decade * ([1, 2, 5, 10].find((factor) => raw <= factor * decade * (1 + 1e-9)) || 10);
    const out = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) out.push(i * step);
    return named(out);
  }

  function logTicks(low, high) {
    const first = Math.floor(Math.log10(low) + 1e-9);
    const last = Math.ceil(Math.log10(high) - 1e-9);
    const few = last - first <= 3;
    const out = [];
    for (let decade = first; decade <= last; decade += 1)
      for (let digit = 1; digit <= 9; digit += 1) {
        const at = digit * 10 ** decade;
        if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9)) continue;
        out.push({at, label: digit === 1 || (few && (digit === 2 || digit === 5)) ? number(at) : ""});
      }
    return out;
  }

  // From data to pixels and back; `low` and `high` are data.
  function scale(low, high, log, from, to) {
    const t = log ? Math.log10 : (value) => value;
    const a = t(low);
    const b = t(high);
    return {low, high, log, from, to,
      shows: (value) => Number.isFinite(value) && (!log || value > 0),
      pixel: (value) => from + (t(value) - a) / (b - a) * (to - from),
      data: (pixel) => { const at = a + (pixel - from) / (to - from) * (b - a); return log ? 10 ** at : at; }};
  }

  // The lower end of an interval: a quantity that is never below 0 has none there.
  const lowEnd = (curve, i, zero) => { const low = curve.y[i] - curve.e[i]; return zero ? Math.max(low, Math.min(0, curve.y[i])) : low; };

  function extent(curves, key, {log, zero}, within) {
    let low = Infinity;
    let high = -Infinity;
    for (const curve of curves)
      curve[key].forEach((value, i) => {
        if (!Number.isFinite(value) || (log && value <= 0)) return;
        if (within && (curve.x[i] < within[0] || curve.x[i] > within[1])) return;
        const has = key === "y" && curve.e;
        low = Math.min(low, has && !log ? lowEnd(curve, i, zero) : value);
        high = Math.max(high, value + (has ? curve.e[i] : 0));
      });
    if (low > high) return log ? [1, 10] : [0, 1];
    if (!log && key === "y") low = Math.min(low, 0);
    if (low === high) high = log ? low * 2 : low + 1;
    return [low, high];
  }

  // The y axis ends at marks, so that curves do not touch the frame.
  function rounded(range, log) {
    if (log) {
      const ticks = logTicks(10 ** Math.floor(Math.log10(range[0])), 10 ** Math.ceil(Math.log10(range[1])));
      const below = ticks.filter((tick) => tick.at <= range[0] * (1 + 1e-9)).pop();
      const above = ticks.find((tick) => tick.at >= range[1] * (1 - 1e-9));
      const out = [below ? below.at : range[0], above ? above.at : range[1]];
      return out[0] < out[1] ? out : [out[0], out[0] * 2];
    }
    const ticks = linearTicks(range[0], range[1], 6);
    const step = ticks.length > 1 ? ticks[1].at - ticks[0].at : range[1] - range[0];
    return [Math.floor(range[0] / step + 1e-9) * step, Math.ceil(range[1] / step - 1e-9) * step];
  }

  function pathOf(curve, x, y, steps) {
    let out = "";
    let before = null;
    for (let i = 0; i < curve.x.length; i += 1) {
      if (!x.shows(curve.x[i]) || !y.shows(curve.y[i])) continue;
      const px = x.pixel(curve.x[i]).toFixed(1);
      const py = y.pixel(curve.y[i]).toFixed(1);
      out += before === null ? `M${px},${py}` : steps === "before" ? `V${py}H${px}` : steps ? `H${px}V${py}` : `L${px},${py}`;
      before = py;
    }
    return out;
  }

  function addMarks(plot, curve, x, y, zero) {
    let next = x.from + 11 * (curve.style % 8);
    for (let i = 0; i < curve.x.length; i += 1) {
      if (!x.shows(curve.x[i]) || !y.shows(curve.y[i])) continue;
      const px = x.pixel(curve.x[i]);
      const py = y.pixel(curve.y[i]);
      if (curve.e && curve.e[i] > 0) {
        const end = (value) => (y.shows(value) ? y.pixel(value) : y.from);
        const top = end(curve.y[i] + curve.e[i]);
        const bottom = end(lowEnd(curve, i, zero));
        plot.append(node("path", {d: `M${px},${top}V${bottom}M${px - 3},${top}h6M${px - 3},${bottom}h6`, class: colour(curve.style), stroke: "currentColor"}));
      }
      if (curve.dots || (!curve.thin && px >= next)) {
        plot.append(mark(px, py, curve.style));
        next = px + MARK_EVERY;
      }
    }
  }

  function text(x, y, anchor, content, attributes) {
    const made = node("text", {x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, ...attributes});
    made.textContent = content;
    return made;
  }

  function frame(width, height, title) {
    const label = node("title");
    label.textContent = title;
    return node("svg", {viewBox: `0 0 ${width} ${height}`, role: "presentation"}, label);
  }

  function addGrid(svg, spec, x, y, height) {
    for (const tick of y.ticks) {
      const at = y.pixel(tick.at);
      svg.append(node("line", {x1: x.from, x2: x.to, y1: at, y2: at, class: tick.label ? "grid" : "lesser"}));
      if (tick.label) svg.append(text(x.from - 7, at + 4, "end", tick.label));
    }
    for (const tick of x.ticks) {
      const at = x.pixel(tick.at);
      svg.append(node("line", {x1: at, x2: at, y1: y.from, y2: y.to, class: tick.label ? "grid" : "lesser"}));
      if (tick.label) svg.append(text(at, y.from + 17, "middle", tick.label));
    }
    svg.append(node("path", {d: `M${x.from},${y.to}V${y.from}H${x.to}`, class: "axis", fill: "none"}));
    svg.append(text((x.from + x.to) / 2, height - 6, "middle", spec.x.label, {class: "faint"}));
    const middle = (y.from + y.to) / 2;
    svg.append(text(12, middle, "middle", spec.y.label, {class: "faint", transform: `rotate(-90 12 ${middle.toFixed(1)})`}));
  }

  // Returns {svg, x}: x for the pointer.
  function lines(spec, width, zoom) {
    const height = Math.round(Math.min(spec.tall || 400, Math.max(230, width * 0.56)));
    const all = extent(spec.curves, "x", spec.x);
    const range = zoom || spec.span || all;
    const yRange = rounded(extent(spec.curves, "y", spec.y, zoom), spec.y.log);
    const yTicks = spec.y.log ? logTicks(...yRange) : linearTicks(...yRange, 6);
    const left = 30 + 7.2 * Math.max(2, ...yTicks.map((tick) => tick.label.length));
    const x = scale(...range, spec.x.log, left, width - 12);
    const y = scale(...yRange, spec.y.log, height - 42, 14);
    y.ticks = yTicks;
    x.ticks = spec.x.log && range[1] / range[0] > 3 ? logTicks(...range) : linearTicks(...range, Math.max(3, Math.round(width / 90)));
    const svg = frame(width, height, spec.title);
    addGrid(svg, spec, x, y, height);
    const plot = node("svg", {x: 0, y: 0, width, height});
    const inside = node("svg", {x: left, y: 8, width: x.to - left + 6, height: y.from - 6, viewBox: `${left} 8 ${x.to - left + 6} ${y.from - 6}`, overflow: "hidden"});
    for (const curve of spec.curves)
      inside.append(node("path", {d: pathOf(curve, x, y, spec.steps || curve.steps), class: colour(curve.style), fill: "none", stroke: "currentColor",
        "stroke-width": curve.thin ? 1.3 : 2.1, "stroke-linejoin": "round", "stroke-dasharray": curve.thin ? "2 3" : dash(curve.style)}));
    for (const curve of spec.curves) addMarks(inside, curve, x, y, spec.y.zero && !spec.y.log);
    addMoments(inside, spec, x, y.to, y.from);
    plot.append(inside);
    svg.append(plot);
    return {svg, x, top: y.to, bottom: y.from};
  }

  function addMoments(svg, spec, x, top, bottom) {
    for (const [i, moment] of (spec.moments || []).entries()) {
      if (moment.at === null || moment.at < x.low || moment.at > x.high) continue;
      const at = x.pixel(moment.at);
      svg.append(node("line", {x1: at, x2: at, y1: top, y2: bottom, class: "moment"}));
      svg.append(text(at + 3, top + 10 + 11 * i, "start", String(i + 1)));
    }
  }

  // Texts of at most so many letters, cut in the middle.
  const cut = (name, most) => (name.length <= most ? name : name.slice(0, Math.ceil(most / 2) - 1) + "\u2026" + name.slice(name.length - Math.floor(most / 2)));

  function dots(spec, width) {
    const row = 26;
    const letters = Math.max(4, ...spec.curves.map((curve) => curve.name.length));
    const left = Math.min(width * 0.42, 14 + 6.9 * letters);
    const height = 12 + row * spec.curves.length + 44;
    const range = extent(spec.curves, "y", spec.y);
    const ends = rounded([Math.min(0, range[0]), range[1]], false);
    const x = scale(...ends, false, left, width - 20);
    const bottom = 12 + row * spec.curves.length;
    const svg = frame(width, height, spec.title);
    for (const tick of linearTicks(...ends, Math.max(4, Math.round((width - left) / 80)))) {
      svg.append(node("line", {x1: x.pixel(tick.at), x2: x.pixel(tick.at), y1: 8, y2: bottom, class: "grid"}));
      svg.append(text(x.pixel(tick.at), bottom + 17, "middle", tick.label));
    }
    svg.append(text((left + width - 20) / 2, height - 6, "middle", spec.y.label, {class: "faint"}));
    spec.curves.forEach((curve, i) => {
      const at = 12 + row * (i + 0.5);
      const error = curve.e ? curve.e[0] : 0;
      const low = error > 0 ? lowEnd(curve, 0, spec.y.zero) : 0;
      svg.append(text(left - 10, at + 4, "end", cut(curve.name, Math.floor((left - 14) / 6.6))));
      if (error > 0)
        svg.append(node("path", {d: `M${x.pixel(low)},${at}H${x.pixel(curve.y[0] + error)}M${x.pixel(low)},${at - 4}v8M${x.pixel(curve.y[0] + error)},${at - 4}v8`,
          class: colour(curve.style), stroke: "currentColor", "stroke-width": 2}));
      svg.append(mark(x.pixel(curve.y[0]), at, curve.style));
    });
    return {svg};
  }

  // Two marks a row: what is claimed, and what was found with its interval.
  function pairs(spec, width) {
    const row = 44;
    const left = 16;
    const height = 12 + row * spec.rows.length + 44;
    const values = spec.rows.flatMap((each) => [each.claimed, each.found - each.error, each.found + each.error]);
    const ends = rounded([Math.min(0, ...values), Math.max(0, ...values)], false);
    const x = scale(...ends, false, left, width - 20);
    const bottom = 12 + row * spec.rows.length;
    const svg = frame(width, height, spec.title);
    for (const tick of linearTicks(...ends, Math.max(4, Math.round((width - left) / 80)))) {
      svg.append(node("line", {x1: x.pixel(tick.at), x2: x.pixel(tick.at), y1: 8, y2: bottom, class: tick.at === 0 ? "axis" : "grid"}));
      svg.append(text(x.pixel(tick.at), bottom + 17, "middle", tick.label));
    }
    svg.append(text((left + width - 20) / 2, height - 6, "middle", spec.y.label, {class: "faint"}));
    spec.rows.forEach((each, i) => {
      const at = 12 + row * i + 30;
      svg.append(text(left, at - 14, "start", cut(each.name, Math.floor((width - left - 20) / 6.6))));
      svg.append(node("path", {d: `M${x.pixel(each.found - each.error)},${at}H${x.pixel(each.found + each.error)}M${x.pixel(each.found - each.error)},${at - 4}v8M${x.pixel(each.found + each.error)},${at - 4}v8`,
        class: colour(0), stroke: "currentColor", "stroke-width": 2}));
      svg.append(mark(x.pixel(each.found), at, 0), mark(x.pixel(each.claimed), at, 1));
    });
    return {svg};
  }

  function events(spec, width, zoom) {
    const row = 24;
    const letters = Math.max(4, ...spec.lanes.map((lane) => lane.name.length));
    const left = Math.min(width * 0.4, 14 + 6.6 * letters);
    const bottom = 20 + row * spec.lanes.length;
    const height = bottom + 42;
    const range = zoom || spec.span;
    const x = scale(...range, false, left, width - 12);
    const svg = frame(width, height, spec.title);
    for (const tick of linearTicks(...range, Math.max(3, Math.round(width / 90)))) {
      svg.append(node("line", {x1: x.pixel(tick.at), x2: x.pixel(tick.at), y1: 16, y2: bottom, class: "grid"}));
      svg.append(text(x.pixel(tick.at), bottom + 17, "middle", tick.label));
    }
    svg.append(text((left + width - 12) / 2, height - 6, "middle", spec.x.label, {class: "faint"}));
    spec.lanes.forEach((lane, i) => {
      const at = 20 + row * (i + 0.5);
      svg.append(text(left - 10, at + 4, "end", cut(lane.name, Math.floor((left - 14) / 6.3))));
      svg.append(node("line", {x1: left, x2: width - 12, y1: at, y2: at, class: "grid"}));
      for (const [from, to] of lane.spans) {
        if (to < range[0] || from > range[1]) continue;
        const start = x.pixel(Math.max(from, range[0]));
        svg.append(node("rect", {x: start, y: at - 5, width: Math.max(1.5, x.pixel(Math.min(to, range[1])) - start), height: 10, class: colour(i), fill: "currentColor", "fill-opacity": 0.75}));
      }
      for (const when of lane.marks)
        if (when >= range[0] && when <= range[1])
          svg.append(node("path", {d: `M${x.pixel(when).toFixed(1)},${at - 8}v16`, class: colour(i), stroke: "currentColor", "stroke-width": 1.6}));
    });
    addMoments(svg, spec, x, 8, bottom);
    return {svg, x, top: 16, bottom};
  }

  return {lines, dots, pairs, events, sample, number, node};
})();
