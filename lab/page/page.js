// The page: what the data say, in words, tables and figures. Every text goes in as text.
(() => {
  const {el, region, themeSelect} = look;
  const data = JSON.parse(document.getElementById("data").textContent);
  const MOST_AT_FIRST = 12;  // variants that are shown without being asked for
  const state = {seedsOff: new Set(), off: new Set(), text: "", chosen: false};  // off: "result/variant"; chosen: by the reader
  const redraw = [];  // what is made anew when the choice changes
  const resized = [];  // what is drawn anew when the width changes
  let names = 0;
  let paper = 0;  // width of a figure in print; 0: on a screen

  const pretty = (text) => text.replaceAll(" +-", " \u00b1");
  const list = (className, texts) => el("ul", {className}, ...texts.map((text) => el("li", {}, pretty(text))));
  const newId = (stem) => `${stem}-${names += 1}`;
  const key = (result, variant) => result + "/" + variant;

  // --- what is chosen

  function shows(result, variant) {
    if (state.off.has(key(result, variant))) return false;
    return data.results[result].variants[variant].name.toLowerCase().includes(state.text);
  }
  const listOf = (seeds) => (seeds.length === 0 ? "no seed" : `seed${seeds.length > 1 ? "s" : ""} ${seeds.join(", ")}`);
  // "all", or those of its seeds that are chosen. Whoever has one seed has no choice.
  function scopeOf(r) {
    const {seeds} = data.results[r];
    const on = seeds.filter((seed) => !state.seedsOff.has(seed));
    return seeds.length < 2 || on.length === seeds.length ? "all" : on;
  }

  function changed() {
    for (const make of redraw) make();
    sayStatus();
  }

  function sayStatus() {
    let all = 0;
    let on = 0;
    data.results.forEach((result, r) => result.variants.forEach((variant, v) => { all += 1; on += shows(r, v) ? 1 : 0; }));
    const seeds = severalSeeds();
    const said = seeds.every((seed) => !state.seedsOff.has(seed)) ? "all seeds" : listOf(seeds.filter((seed) => !state.seedsOff.has(seed)));
    document.getElementById("status").textContent = `${on} of ${all} variants, ${said}`;
  }

  function schemes() {
    const found = new Map();  // scheme: keys of its variants
    data.results.forEach((result, r) => result.variants.forEach((variant, v) => {
      const of = found.get(variant.scheme) || [];
      of.push(key(r, v));
      found.set(variant.scheme, of);
    }));
    return found;
  }

  function choose(keys, on) {
    state.chosen = true;
    for (const each of keys) if (on) state.off.delete(each); else state.off.add(each);
  }

  function schemeButtons() {
    const buttons = [];
    const found = schemes();
    const all = [...found.values()].flat();
    for (const [scheme, keys] of found) {
      const button = el("button", {type: "button", textContent: scheme || "(none)", on: {click: () => { choose(keys, keys.some((each) => state.off.has(each))); changed(); }}});
      redraw.push(() => {
        const on = keys.filter((each) => !state.off.has(each)).length;
        button.setAttribute("aria-pressed", on === 0 ? "false" : on === keys.length ? "true" : "mixed");
      });
      buttons.push(button);
    }
    if (all.length > 1) {
      buttons.push(el("button", {type: "button", textContent: "All", on: {click: () => { choose(all, true); changed(); }}}));
      buttons.push(el("button", {type: "button", textContent: "None", on: {click: () => { choose(all, false); changed(); }}}));
    }
    return el("fieldset", {}, el("legend", {textContent: "Schemes"}), ...buttons);
  }

  // Of the results that have more than one.
  function severalSeeds() {
    const seeds = [...new Set(data.results.flatMap((result) => (result.seeds.length > 1 ? result.seeds : [])))];
    return seeds.sort((a, b) => Number(a) - Number(b));
  }

  function seedBoxes() {
    const seeds = severalSeeds();
    if (seeds.length === 0) return null;
    const put = (some, on) => { for (const seed of some) if (on) state.seedsOff.delete(seed); else state.seedsOff.add(seed); changed(); };
    const boxes = seeds.map((seed) => el("input", {type: "checkbox", id: "seed-" + seed, on: {change: (event) => put([seed], event.target.checked)}}));
    redraw.push(() => boxes.forEach((box, i) => { box.checked = !state.seedsOff.has(seeds[i]); }));
    const button = (says, name, on) => el("button", {type: "button", textContent: says, "aria-label": name, on: {click: () => put(seeds, on)}});
    return el("fieldset", {}, el("legend", {textContent: "Seeds"}), ...boxes.map((box, i) => el("label", {}, box, seeds[i])),
      button("All", "All seeds", true), button("None", "No seed", false));
  }

  function toolbar() {
    const search = el("input", {type: "search", id: "find", placeholder: "part of a name", on: {input: (event) => { state.text = event.target.value.toLowerCase(); state.chosen = true; changed(); }}});
    document.getElementById("toolbar").append(schemeButtons(), el("label", {}, "Variants with", search));
    for (const more of [seedBoxes(), themeSelect()]) if (more) document.getElementById("toolbar").append(more);
    document.getElementById("toolbar").append(el("span", {id: "status", role: "status", className: "faint"}));
    document.getElementById("toolbar").addEventListener("submit", (event) => event.preventDefault());
  }

  // --- tables

  const isWords = (text) => !/^[<>=+-]*\s*[\d.]/.test(text) && text !== "-" && text !== "" && text !== "*";
  function value(text) {
    const found = /[+-]?[\d.]+(e[+-]?\d+)?/i.exec(text.replace(/^[<>=]+ */, ""));
    return found ? Number(found[0]) : null;
  }

  // Sorted by a column: numbers by size, then texts.
  function sorted(rows, sort) {
    if (sort.column < 0) return rows;
    const sign = sort.up ? 1 : -1;
    return [...rows].sort((a, b) => {
      const x = a.t[sort.column];
      const y = b.t[sort.column];
      if (sort.column === 0 || isWords(x) || isWords(y)) return sign * x.localeCompare(y);
      return sign * ((value(x) ?? Infinity) - (value(y) ?? Infinity));
    });
  }

  // As the C++ side does it: lab/results/student.cpp and short_number() of lab/results/variants.cpp.
  function estimate(values) {
    let mean = 0;
    for (const each of values) mean += each / values.length;
    if (values.length < 2) return {mean, half: 0};
    const squares = values.reduce((sum, each) => sum + (each - mean) * (each - mean), 0);
    return {mean, half: data.student[values.length - 2] * Math.sqrt(squares / (values.length - 1) / values.length)};
  }
  function shortNumber(number) {
    const size = Math.abs(number);
    if (Number.isInteger(number) || size >= 100) return number.toFixed(0);
    if (size >= 1) return number.toFixed(size >= 10 ? 1 : 2);
    return size < 1e-4 ? number.toExponential(2) : String(Number(number.toPrecision(3)));
  }

  // One row for rows of several seeds that are alike in their labels.
  function merged(kinds, rows) {
    const texts = rows[0].t.map((text, i) => {
      if (kinds[i] === "label") return text;
      if (kinds[i] === "count") return String(rows.length);
      const values = rows.map((row) => row.n[i]).filter((each) => each !== null);
      if (values.length === 0) return "-";
      const {mean, half} = estimate(values);
      const atLeast = rows.some((row) => row.t[i].startsWith(">=")) ? ">=" : "";
      return atLeast + shortNumber(mean) + (kinds[i] === "estimate" && half > 0 ? " +-" + shortNumber(half) : "");
    });
    return {v: rows[0].v, t: texts};
  }

  // The rows of a choice of seeds, in the order of those of all seeds.
  function rowsOf(spec, scope) {
    const all = spec.rows.filter((row) => row.s === "all");
    if (scope === "all") return all;
    const name = (row) => JSON.stringify([row.v, row.t.filter((text, i) => spec.kinds[i] === "label")]);
    const found = new Map(all.map((row) => [name(row), []]));
    for (const row of spec.rows) if (scope.includes(row.s)) found.get(name(row)).push(row);
    return [...found.values()].filter((rows) => rows.length > 0).map((rows) => (rows.length > 1 ? merged(spec.kinds, rows) : rows[0]));
  }

  // `cell` may replace what stands in a cell; `rows` says which are shown now.
  function table(spec, rows, cell) {
    const sort = {column: -1, up: true};
    const body = el("tbody");
    const words = spec.head.map((head, column) => spec.rows.length > 0 && spec.rows.every((row) => isWords(row.t[column] ?? "") || row.t[column] === "-"));
    const heads = spec.head.map((head, column) => el("th", {scope: "col", "aria-sort": "none", className: words[column] ? "left" : ""},
      el("button", {type: "button", textContent: head || "\u2217", on: {click: () => {
        sort.up = sort.column === column ? !sort.up : true;
        sort.column = column;
        heads.forEach((each, i) => each.setAttribute("aria-sort", i !== column ? "none" : sort.up ? "ascending" : "descending"));
        fill();
      }}})));
    function fill() {
      body.replaceChildren(...sorted(rows(), sort).map((row) => {
        const made = el("tr", {}, ...row.t.map((text, column) => {
          const content = cell ? cell(row, column, text) : null;
          return el("td", {className: isWords(text) && text.length > 40 ? "text" : words[column] ? "left" : ""}, content || pretty(text));
        }));
        if (row.significant) made.className = "sure";
        return made;
      }));
    }
    return {element: el("table", {}, el("caption", {textContent: spec.note}), el("thead", {}, el("tr", {}, ...heads)), body), fill};
  }

  // The summary is also what chooses: each variant has its box, its line and its mark.
  function summary(r, result) {
    const spec = {...result.tables.find((each) => each.id === "summary")};
    const marked = result.variants.some((variant) => variant.runs.some((run) => run.marks.length > 0));
    if (marked) spec.head = [...spec.head, "notes"];
    const noted = (row) => (marked ? {...row, t: [...row.t, notes(result.variants[row.v], scopeOf(r))]} : row);
    const rows = () => rowsOf(spec, scopeOf(r)).map(noted);
    const unfinished = spec.head.indexOf("unfinished");
    const left = (row) => (value(row.t[unfinished]) ? el("span", {className: "left-over", textContent: `${pretty(row.t[unfinished])} unfinished`}) : null);
    const made = table(spec, rows, (row, column, text) => {
      if (column !== 0) return null;
      const box = el("input", {type: "checkbox", checked: !state.off.has(key(r, row.v)), on: {change: (event) => {
        choose([key(r, row.v)], event.target.checked);
        changed();
        document.getElementById(`box-${r}-${row.v}`).focus();
      }}});
      box.id = `box-${r}-${row.v}`;
      return el("label", {}, box, charts.sample(row.v), el("span", {}, text, left(row)));
    });
    redraw.push(() => {
      made.fill();
      made.element.querySelectorAll("tbody tr").forEach((row) => row.classList.toggle("off", !row.querySelector("input").checked));
    });
    return [el("h3", {textContent: "Summary"}), region("Summary", made.element, true), glossary()];
  }

  function notes(variant, scope) {
    const runs = variant.runs.filter((run) => scope === "all" || scope.includes(run.seed));
    const marks = new Map();
    for (const run of runs) for (const each of run.marks) marks.set(each, (marks.get(each) || 0) + 1);
    return [...marks].map(([each, count]) => (runs.length > 1 ? `${each} (${count} of ${runs.length})` : each)).join(", ") || "-";
  }

  function glossary() {
    const rows = data.glossary.flatMap(([head, help]) => [el("dt", {}, el("strong", {textContent: head})), el("dd", {textContent: help})]);
    return el("details", {}, el("summary", {textContent: "What the columns mean"}), el("dl", {}, ...rows));
  }

  function otherTables(r, result) {
    return result.tables.filter((spec) => spec.id !== "summary").flatMap((spec) => {
      const made = table(spec, () => rowsOf(spec, scopeOf(r)).filter((row) => shows(r, row.v)));
      redraw.push(made.fill);
      return [el("h3", {textContent: spec.title}), region(spec.title, made.element)];
    });
  }

  function claims(result) {
    const out = [];
    if (result.claims.table.rows.length > 0) {
      const made = table(result.claims.table, () => result.claims.table.rows);
      made.fill();
      out.push(el("h3", {textContent: result.claims.table.title}), region(result.claims.table.title, made.element, true));
      if (result.claims.pairs.length > 0) out.push(claimsFigure(result));  // others claim a direction alone
    }
    if (result.claims.words.length > 0) out.push(el("h3", {textContent: "Expected, in words"}), list("words", result.claims.words));
    return out;
  }

  function claimsFigure(result) {
    const spec = {kind: "pairs", title: "Claimed and found", y: {label: "change [%]"}, rows: result.claims.pairs};
    const host = el("div", {className: "chart", role: "img"});
    const legend = el("ul", {className: "legend"});
    redraw.push(chart(host, legend, () => spec, newGroup(() => [0, 1, false])).draw);
    return el("figure", {id: newId("claims"), className: "claims"}, host, legend, el("div", {className: "under"}, commands([...result.sweeps.slice(0, 4), `${result.figures_command}   # claims.svg, claims.pdf`])));
  }

  // --- figures

  function dataTable(title, head, rows) {
    const body = el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((text) => el("td", {textContent: text})))));
    return region("Data of " + title, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", {scope: "col", textContent: text})))), body));
  }

  // Made when it is opened: most readers never do, and it is most of the page.
  function lazy(title, make) {
    const details = el("details", {}, el("summary", {textContent: title}));
    const fill = () => {
      while (details.children.length > 1) details.lastChild.remove();
      if (details.open) details.append(make());
    };
    details.addEventListener("toggle", fill);
    return {element: details, fill};
  }

  function curveRows(spec) {
    const named = spec.curves.some((curve) => curve.n);
    const error = spec.curves.some((curve) => curve.e);
    const one = spec.kind === "dots";
    const head = ["series", ...(one ? [] : [spec.x.label]), spec.y.label, ...(error ? ["\u00b1, half of the 95 % interval"] : []), ...(named ? ["of"] : [])];
    const rows = spec.curves.flatMap((curve) => curve.x.map((x, i) => [curve.name + (curve.seed ? ", seed " + curve.seed : ""), ...(one ? [] : [String(x)]), String(curve.y[i]),
      ...(error ? [curve.e ? String(curve.e[i]) : "-"] : []), ...(named ? [curve.n ? curve.n[i] : "-"] : [])]));
    return [head, rows];
  }

  function nearest(values, at) {
    let low = 0;
    let high = values.length - 1;
    while (low < high) { const middle = (low + high) >> 1; if (values[middle] < at) low = middle + 1; else high = middle; }
    return low > 0 && Math.abs(values[low - 1] - at) < Math.abs(values[low] - at) ? low - 1 : low;
  }

  // One chart with what belongs to it. `group` has the zoom and the cursor: panels of a timeline share one.
  function chart(host, legend, spec, group) {
    let drawn = null;
    let width = 0;
    let cursor = null;
    function draw() {
      width = paper || Math.round(host.clientWidth) || width;
      if (width === 0) return;
      const current = spec();
      const empty = (current.lanes || current.rows || current.curves).length === 0;
      if (empty) { drawn = null; host.replaceChildren(el("p", {className: "none", textContent: "Nothing to show: choose variants above."})); legend.replaceChildren(); return; }
      drawn = current.kind === "dots" ? charts.dots(current, width) : current.kind === "pairs" ? charts.pairs(current, width) : current.kind === "events" ? charts.events(current, width, group.zoom) : charts.lines(current, width, group.zoom);
      cursor = charts.node("line", {class: "cursor", visibility: "hidden"});
      drawn.svg.append(cursor);
      host.replaceChildren(drawn.svg);
      host.setAttribute("aria-label", label(current));
      fillLegend(current);
      place();
    }
    function label(current) {
      const axes = current.kind === "lines" ? `${current.y.label} over ${current.x.label}. ` : "";
      const of = `${(current.lanes || current.rows || current.curves).length} ${current.lanes ? "lanes" : current.rows ? "rows" : "curves"}`;
      const keys = drawn.x ? " Arrow keys move a cursor, plus and minus zoom, 0 shows all." : "";
      return `${current.title}. ${axes}${of}.${keys} The data are in a table below.`;
    }
    const values = [];
    function fillLegend(current) {
      values.length = 0;
      if (current.kind === "pairs")
        legend.replaceChildren(...["found, with its 95 % interval", "claimed"].map((name, i) => el("li", {}, charts.sample(i), el("span", {textContent: name}))));
      if (current.kind === "pairs") return;
      if (current.kind === "events" || current.kind === "dots") { legend.replaceChildren(); return; }
      const named = new Map();  // the curves of a name: one, or one for each seed
      for (const curve of current.curves) if (!curve.part) named.set(curve.name, [...(named.get(curve.name) || []), curve]);
      legend.replaceChildren(...[...named].map(([name, curves]) => {
        const at = el("span", {className: "at"});
        values.push({name, curves, at});
        return el("li", {}, charts.sample(curves[0].style, curves[0].thin), el("span", {textContent: name}), at);
      }));
    }
    function place() {
      const on = drawn && drawn.x && group.at !== null && group.at >= drawn.x.low && group.at <= drawn.x.high;
      if (!drawn || !drawn.x) return;
      cursor.setAttribute("visibility", on ? "visible" : "hidden");
      if (on) {
        const at = drawn.x.pixel(group.at);
        for (const [name, number] of [["x1", at], ["x2", at], ["y1", drawn.top], ["y2", drawn.bottom]]) cursor.setAttribute(name, number);
      }
      const read = (curve) => { const i = nearest(curve.x, group.at); return `${charts.number(curve.x[i])}: ${charts.number(curve.y[i])}${curve.n ? ", " + curve.n[i] : ""}`; };
      for (const {curves, at} of values) at.textContent = on ? curves.map(read).join("; ") : "";
    }
    group.draw.push(draw);
    group.place.push(place);
    pointer(host, () => drawn, group);
    resized.push(() => { if (Math.round(host.clientWidth) !== width) draw(); });
    return {draw, values, x: () => drawn && drawn.x};
  }

  function setZoom(group, low, high) {
    const [from, to, log] = group.all();
    const t = log ? Math.log10 : (value) => value;
    const span = (t(high) - t(low)) / (t(to) - t(from));
    group.zoom = span >= 0.999 || !(span > 1e-5) ? (span > 0.5 ? null : group.zoom) : [Math.max(low, from), Math.min(high, to)];
    for (const draw of group.draw) draw();
  }

  function zoomBy(group, factor) {
    const x = group.x();
    if (!x) return;
    const middle = group.at !== null && group.at >= x.low && group.at <= x.high ? x.pixel(group.at) : (x.from + x.to) / 2;
    setZoom(group, x.data(middle - (middle - x.from) * factor), x.data(middle + (x.to - middle) * factor));
  }

  function pan(group, share) {
    const x = group.x();
    const [from, to] = group.all();
    if (!x || !group.zoom) return;
    const all = [x.pixel(from), x.pixel(to)];
    const shift = Math.max(all[0] - x.from, Math.min(all[1] - x.to, share * (x.to - x.from)));
    setZoom(group, x.data(x.from + shift), x.data(x.to + shift));
  }

  function moveCursor(group, at) {
    group.at = at;
    for (const place of group.place) place();
  }

  // Pointer: hover reads values, a drag zooms; only a mouse drags, so that a finger scrolls.
  function pointer(host, drawn, group) {
    let start = null;
    let box = null;
    const pixel = (event) => { const area = host.getBoundingClientRect(); return (event.clientX - area.left) * (host.clientWidth / area.width); };
    host.addEventListener("pointermove", (event) => {
      const chart = drawn();
      if (!chart || !chart.x) return;
      const at = Math.min(chart.x.to, Math.max(chart.x.from, pixel(event)));
      moveCursor(group, chart.x.data(at));
      if (start === null) return;
      if (!box) { box = charts.node("rect", {class: "drag", y: chart.top, height: chart.bottom - chart.top}); chart.svg.append(box); }
      box.setAttribute("x", Math.min(start, at));
      box.setAttribute("width", Math.abs(at - start));
    });
    host.addEventListener("pointerdown", (event) => {
      const chart = drawn();
      if (!chart || !chart.x) return;
      if (event.pointerType === "mouse" && event.button === 0) start = Math.min(chart.x.to, Math.max(chart.x.from, pixel(event)));
      else moveCursor(group, chart.x.data(pixel(event)));
    });
    const end = (event) => {
      const chart = drawn();
      if (box && chart && event.type === "pointerup") {
        const at = Math.min(chart.x.to, Math.max(chart.x.from, pixel(event)));
        if (Math.abs(at - start) > 6) setZoom(group, chart.x.data(Math.min(start, at)), chart.x.data(Math.max(start, at)));
      }
      if (box) box.remove();
      box = null;
      start = null;
    };
    host.addEventListener("pointerup", end);
    host.addEventListener("pointerleave", (event) => { end(event); if (event.pointerType === "mouse") moveCursor(group, null); });
    host.addEventListener("dblclick", () => { group.zoom = null; for (const draw of group.draw) draw(); });
  }

  function keyboard(host, group, say) {
    host.tabIndex = 0;
    host.addEventListener("keydown", (event) => {
      const x = group.x();
      if (!x || event.ctrlKey || event.altKey || event.metaKey) return;
      const step = (x.to - x.from) * (event.shiftKey ? 0.1 : 0.02);
      const here = group.at === null ? (x.from + x.to) / 2 : x.pixel(group.at);
      const to = (pixel) => { moveCursor(group, x.data(Math.min(x.to, Math.max(x.from, pixel)))); say(); };
      const keys = {ArrowRight: () => to(here + step), ArrowLeft: () => to(here - step), Home: () => to(x.from), End: () => to(x.to),
        "+": () => zoomBy(group, 0.5), "=": () => zoomBy(group, 0.5), "-": () => zoomBy(group, 2), "0": () => { group.zoom = null; for (const draw of group.draw) draw(); },
        Escape: () => moveCursor(group, null)};
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  function newGroup(all) {
    const group = {zoom: null, at: null, draw: [], place: [], all, x: () => null};
    return group;
  }

  function zoomTools(group, what) {
    const button = (sign, says, does) => el("button", {type: "button", textContent: sign, title: says, "aria-label": `${says}: ${what}`, on: {click: does}});
    return el("div", {className: "tools"}, button("+", "Zoom in", () => zoomBy(group, 0.5)), button("\u2212", "Zoom out", () => zoomBy(group, 2)),
      button("\u2190", "Earlier", () => pan(group, -0.4)), button("\u2192", "Later", () => pan(group, 0.4)),
      button("All", "Show all", () => { group.zoom = null; for (const draw of group.draw) draw(); }));
  }

  function commands(texts) {
    return el("details", {}, el("summary", {textContent: "How to make this figure"}), el("pre", {}, el("code", {textContent: texts.join("\n")})));
  }

  // A curve of many variants is shown while one of them is, and at first.
  const isVisible = (r, curve) => curve.m.some((variant) => shows(r, variant)) || (curve.m.length > 1 && !state.chosen);

  // Curves of all seeds alone: points of runs with different parameters.
  const hasSeeds = (figure) => figure.curves.some((curve) => curve.s !== "all");

  // Of several seeds, though not all: points are means again, and each seed has its curve.
  function ofSeeds(figure, scope) {
    const curves = figure.curves.filter((curve) => scope.includes(curve.s));
    if (figure.kind !== "dots") return curves.map((curve) => ({...curve, seed: curve.s}));
    return [...new Set(curves.map((curve) => curve.v))].map((v) => {
      const of = curves.filter((curve) => curve.v === v);
      const {mean, half} = estimate(of.map((curve) => curve.y[0]));
      return {...of[0], y: [mean], e: [half]};
    });
  }

  function visibleCurves(r, result, figure) {
    const scope = hasSeeds(figure) ? scopeOf(r) : "all";
    const curves = scope === "all" ? figure.curves.filter((curve) => curve.s === "all") : ofSeeds(figure, scope);
    return curves.filter((curve) => isVisible(r, curve)).map((curve) => ({...curve, style: curve.v, thin: Boolean(curve.part),
      name: (curve.name ?? result.variants[curve.m[0]].name) + (curve.part ? ` (${curve.part})` : "")}));
  }

  function caption(r, figure) {
    const scope = scopeOf(r);
    if (scope === "all") return figure.note;
    if (!hasSeeds(figure)) return figure.note + " (of all seeds)";
    return `${figure.note} (here: ${listOf(scope)}${scope.length > 1 && figure.kind !== "dots" ? ", a curve each" : ""})`;
  }

  function figureOf(r, result, figure) {
    const spec = () => ({...figure, curves: visibleCurves(r, result, figure)});
    const xs = figure.curves.flatMap((curve) => curve.x).filter((x) => !figure.x.log || x > 0);
    const ends = xs.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
    const group = newGroup(() => [...ends, figure.x.log]);
    const host = el("div", {className: "chart", role: "img"});
    const legend = el("ul", {className: "legend"});
    const live = el("p", {className: "hidden", "aria-live": "polite"});
    const made = chart(host, legend, spec, group);
    group.x = made.x;
    if (figure.kind === "lines") keyboard(host, group, () => {
      live.textContent = made.values.slice(0, 8).map(({name, at}) => `${name} ${at.textContent}`).join("; ");
    });
    const rows = lazy("Data as a table", () => { const [head, body] = curveRows(spec()); return dataTable(figure.title, head, body); });
    const says = el("figcaption");
    redraw.push(() => { made.draw(); rows.fill(); says.textContent = pretty(caption(r, figure)); });
    return el("figure", {id: newId(figure.id)}, el("h4", {textContent: figure.title}), says, host, live, legend, el("div", {className: "under"},
      figure.kind === "lines" ? zoomTools(group, figure.title) : null, rows.element,
      commands([...result.sweeps.slice(0, 4), `${result.figures_command}   # ${figure.id}.svg, ${figure.id}.pdf`])));
  }

  function figures(r, result) {
    if (result.figures.length === 0) return [];
    return [el("h3", {textContent: "Figures"}), el("div", {className: "figures"}, ...result.figures.map((figure) => figureOf(r, result, figure)))];
  }

  // --- timelines

  function panelSpec(panel, timeline) {
    const shared = {title: panel.title, span: [timeline.from, timeline.to], moments: timeline.moments, x: {label: "time [us]", log: false}};
    if (panel.kind === "events") return {...shared, kind: "events", lanes: panel.lanes};
    return {...shared, kind: "lines", steps: true, tall: 240, y: {label: panel.label, log: false},
      curves: panel.curves.filter((curve) => curve.x.length > 0).map((curve, i) => ({...curve, style: i, dots: false}))};
  }

  function panelRows(spec) {
    if (spec.kind === "lines") return curveRows(spec);
    return [["what", "from [us]", "to [us]"], spec.lanes.flatMap((lane) => [...lane.marks.map((at) => [lane.name, String(at), "-"]), ...lane.spans.map(([from, to]) => [lane.name, String(from), String(to)])])];
  }

  function timelineOf(result, timeline) {
    const group = newGroup(() => [timeline.from, timeline.to, false]);
    const heading = el("h3", {textContent: `Timeline: ${timeline.path}`});
    const moments = el("ol", {className: "moments"}, ...timeline.moments.map((moment) =>
      el("li", {}, `${moment.says}: `, el("strong", {textContent: moment.at === null ? "never" : `${moment.at > 0 ? "+" : ""}${charts.number(moment.at)} us`}))));
    const out = [heading, el("p", {className: "faint", textContent: `${timeline.variant}, seed ${timeline.seed}. Time is counted from the first prediction of PFC. The numbers in the panels are these moments:`}), moments];
    if (timeline.thinned) out.push(el("p", {className: "faint", textContent: "There are more records than the page holds: of an interval the least and the most are shown."}));
    out.push(zoomTools(group, "timeline"));
    for (const panel of timeline.panels) {
      const spec = panelSpec(panel, timeline);
      const host = el("div", {className: "chart", role: "img"});
      const legend = el("ul", {className: "legend"});
      const live = el("p", {className: "hidden", "aria-live": "polite"});
      const made = chart(host, legend, () => spec, group);
      group.x = made.x;
      keyboard(host, group, () => { live.textContent = `${charts.number(group.at)} us; ` + made.values.map(({name, at}) => `${name} ${at.textContent}`).join("; "); });
      redraw.push(made.draw);
      out.push(el("div", {className: "panel"}, el("h4", {textContent: panel.title}), host, live, legend,
        lazy("Data as a table", () => { const [head, rows] = panelRows(spec); return dataTable(panel.title, head, rows); }).element));
    }
    out.push(commands([timeline.command]));
    return out;
  }

  // --- sections

  function warnings(result) {
    const out = [];
    if (result.problems.length > 0)
      out.push(el("div", {className: "warn", role: "note"}, el("strong", {textContent: `Not all of ${result.folder} could be read:`}), list("", result.problems)));
    if (result.warnings.length > 0) out.push(el("div", {className: "warn", role: "note"}, list("", result.warnings)));
    return out;
  }

  function runs(result) {
    const head = ["variant", "seed", "notes", "digest", "command"];
    return lazy("The runs, and how to run each again", () => dataTable("runs", head, result.variants.flatMap((variant) =>
      variant.runs.map((run) => [variant.name, run.seed, run.marks.join(", ") || "-", run.digest, run.replay])))).element;
  }

  function section(result, r) {
    const id = `result-${r + 1}`;
    const heading = `${result.experiment} (${result.size})` + (data.results.length > 1 ? `, ${result.folder}` : "");
    document.getElementById("contents").append(el("li", {}, el("a", {href: "#" + id, textContent: heading})));
    return el("section", {id, "aria-label": heading}, el("h2", {textContent: heading}), el("p", {textContent: result.title}),
      el("p", {className: "faint"}, "from ", el("code", {textContent: result.folder}), ", eddylab of commit ", el("code", {textContent: result.commit})),
      ...warnings(result), list("words", result.words), ...summary(r, result), ...claims(result), ...figures(r, result),
      ...result.timelines.flatMap((timeline) => timelineOf(result, timeline)), ...otherTables(r, result),
      el("h3", {textContent: "Runs"}), el("pre", {}, el("code", {textContent: result.sweeps.join("\n")})), runs(result));
  }

  function comparison(found, i) {
    const id = `compare-${i + 1}`;
    document.getElementById("contents").append(el("li", {}, el("a", {href: "#" + id, textContent: `Comparison: ${found.after}`})));
    const sure = found.table.rows.filter((row) => row.significant).length;
    const made = table(found.table, () => found.table.rows);
    made.fill();
    const paired = found.table.rows.length > 0;
    return el("section", {id, "aria-label": "Comparison"}, el("h2", {textContent: "Comparison"}),
      el("p", {}, "From ", el("code", {textContent: found.before}), " (before) to ", el("code", {textContent: found.after}), " (after), in pairs of the same variant and seed."),
      el("p", {textContent: paired ? `${sure} of ${found.table.rows.length} differences are significant (\u2217): paired t test, p below ${found.level} after Holm's correction for ${found.tested} comparisons.` : "No run of one can be paired with a run of the other."}),
      found.remarks.length > 0 ? el("div", {className: "warn", role: "note"}, list("", found.remarks)) : null,
      paired ? region("Differences", made.element) : null);
  }

  // More variants than a figure can tell apart: the first ones, and a word about the others.
  function limit() {
    data.results.forEach((result, r) => {
      if (result.variants.length <= MOST_AT_FIRST) return;
      result.variants.forEach((variant, v) => { if (v >= 8) state.off.add(key(r, v)); });
      result.warnings.push(`Figures begin with the first 8 of ${result.variants.length} variants; choose others in the summary or above.`);
    });
  }

  limit();
  document.getElementById("made").textContent = data.command;
  toolbar();
  document.getElementById("main").append(...data.comparisons.map(comparison), ...data.results.map(section));
  changed();
  // Half a page, so that the letters of a figure are as large as those beside it.
  const print = (width) => { paper = width; for (const make of redraw) make(); };
  addEventListener("beforeprint", () => print(380));
  addEventListener("afterprint", () => print(0));
  let waiting = 0;
  new ResizeObserver(() => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => { for (const each of resized) each(); }); }).observe(document.getElementById("main"));
  document.documentElement.dataset.ready = "yes";
})();
