// The last two minutes in lanes: what waits, what RLB foresaw, said and did, and the pauses that came all the same.
const timeline = (() => {
  const {el, node} = look;
  const COLUMNS = 120;
  const HEIGHT = 24;
  const CLOCK = new Intl.DateTimeFormat(undefined, {timeStyle: "medium"});
  // `at`: in a switch's values; a level is shown as it is, of a counter what it grew by.
  const LANES = [
    {title: "Queued", at: 4, colour: "c3", level: true},
    {title: "PFC foreseen", at: 9, colour: "c4"},
    {title: "Warnings sent", at: 5, colour: "c5"},
    {title: "Warnings passed on", at: 10, colour: "c5"},
    {title: "Packets rerouted", at: 11, colour: "c2"},
    {title: "Packets sent round", at: 12, colour: "c2"},
    {title: "Pauses sent", at: 6, colour: "c1"},
    {title: "ECN marks", at: 7, colour: "c0"},
    {title: "Drops", at: 8, colour: "c6"}];

  // One column: of each switch the values of all lanes; null where nobody knows.
  function columnOf(now, before) {
    return now.map((values, i) => LANES.map((lane) => {
      const value = values[lane.at];
      if (lane.level || value === null) return value;
      const old = before && before[i] ? before[i][lane.at] : null;
      return old === null || old === undefined ? null : Math.max(0, value - old);
    }));
  }

  function sum(column, lane, scope) {
    if (column === null) return null;
    if (scope >= 0) return column[scope] ? column[scope][lane] : null;
    let total = null;
    for (const each of column) if (each[lane] !== null) total = (total || 0) + each[lane];
    return total;
  }

  function pathOf(series, most) {
    const scale = HEIGHT / Math.log1p(most);
    let path = "";
    for (let i = 0; i < series.length; i += 1) {
      if (!series[i]) continue;
      const height = Math.max(2, Math.log1p(series[i]) * scale);
      path += `M${COLUMNS - series.length + i},${HEIGHT}v${-height.toFixed(1)}h.9v${height.toFixed(1)}z`;
    }
    return path;
  }

  // `format(lane)` makes the text of a value. Kept: columns of all switches, and the series of the scope that is shown.
  function make(host, format) {
    let columns = [];
    let series = LANES.map(() => []);
    let times = [];
    let scope = -1;
    let cursor = null;  // columns before the newest
    const lanes = LANES.map((lane) => {
      const path = node("path", {d: ""});
      const line = node("line", {y1: 0, y2: HEIGHT, x1: 0, x2: 0, visibility: "hidden"});
      const amount = document.createTextNode("");
      const box = el("div", {className: `lane ${lane.colour}`},
        node("svg", {viewBox: `0 0 ${COLUMNS} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true"}, path, line));
      return {lane, path, line, amount, box, drawn: ""};
    });
    const when = document.createTextNode("");
    const oldest = document.createTextNode("");
    const grid = el("div", {className: "lanes", tabIndex: 0, role: "group", "aria-label": "Timeline. Left and Right read its values, Escape ends that."},
      ...lanes.flatMap((each) => [el("span", {textContent: each.lane.title}), each.box, el("span", {className: "amount"}, each.amount)]),
      el("span"), el("span", {className: "faint when"}, el("span", {}, oldest), el("span", {textContent: "now"})), el("span", {className: "amount faint"}, when));
    const spoken = el("p", {className: "hidden", "aria-live": "polite"});
    host.replaceChildren(grid, spoken);

    function draw() {
      lanes.forEach((each, i) => {
        const path = pathOf(series[i], Math.max(1, ...series[i]));
        if (path !== each.drawn) each.path.setAttribute("d", path);
        each.drawn = path;
      });
      read();
    }

    function read() {
      const at = series[0].length - 1 - (cursor || 0);
      lanes.forEach((each, i) => {
        const value = at >= 0 ? series[i][at] : null;
        put(each.amount, value === null ? "-" : format(each.lane.level ? "bytes" : "count", value));
      });
      put(when, cursor === null || at < 0 || !times[at] ? "" : CLOCK.format(times[at]));
    }

    function place() {
      const x = COLUMNS - (cursor || 0) - .5;
      for (const each of lanes) {
        each.line.setAttribute("visibility", cursor === null ? "hidden" : "visible");
        each.line.setAttribute("x1", x);
        each.line.setAttribute("x2", x);
      }
      read();
    }

    function move(to) {
      const last = Math.max(0, series[0].length - 1);
      cursor = to === null ? null : Math.min(last, Math.max(0, to));
      place();
    }

    function say() {
      spoken.textContent = `${when.data}: ` + lanes.map((each) => `${each.lane.title} ${each.amount.data}`).join(", ");
    }

    grid.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 1;
      const to = {ArrowLeft: cursor === null ? 0 : cursor + step, ArrowRight: (cursor || 0) - step, Home: COLUMNS, End: 0}[event.key];
      if (event.key === "Escape" && cursor !== null) { move(null); event.stopPropagation(); return; }
      if (to === undefined) return;
      event.preventDefault();
      move(to);
      say();
    });
    const follow = (event) => {
      const box = lanes[0].box.getBoundingClientRect();
      if (event.clientX < box.left || event.clientX > box.right) return;
      move(COLUMNS - 1 - Math.floor((event.clientX - box.left) / box.width * COLUMNS));
    };
    grid.addEventListener("pointermove", follow);
    grid.addEventListener("pointerdown", follow);
    grid.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") move(null); });

    function append(column, at) {
      columns.push(column);
      times.push(at);
      LANES.forEach((lane, i) => series[i].push(sum(column, i, scope)));
      if (columns.length <= COLUMNS) return;
      columns.shift();
      times.shift();
      for (const each of series) each.shift();
    }

    return {
      clear() { columns = []; times = []; series = LANES.map(() => []); },
      // `missed`: pictures that did not come before this one.
      add(now, before, at, missed) {
        for (let i = 0; i < Math.min(missed, COLUMNS); i += 1) append(null, null);
        append(columnOf(now, before), at);
      },
      draw,
      span(seconds) { put(oldest, seconds >= 120 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds)} s ago`); },
      choose(position) {
        scope = position;
        series = LANES.map((lane, i) => columns.map((column) => sum(column, i, scope)));
        draw();
      },
      COLUMNS};
  }

  function put(text, data) {
    if (text.data !== data) text.data = data;
  }

  return {make, put};
})();
