// The page: pictures come as events, and each changes only the elements whose values are others than before.
(() => {
  const {el, themeSelect, region} = look;
  const {put} = timeline;
  // Of a switch's values, and of a link's: live_picture.cpp writes them in this order.
  const STATE = 0, UPTIME = 1, GENERATION = 2, WHY = 3, WAITING = 4, DROPPED = 8;
  const FORTH = {bps: 1, queue: 3, pauses: 6, warnings: 8};  // what the near end sends; whom the far end paused and warned
  const BACK = {bps: 2, queue: 4, pauses: 5, warnings: 7};
  const LINK_DROPS = 9, LINK_MARKS = 10;
  const REFRESH = 2000;  // milliseconds between two readings of a port's tables
  const AGAIN = 3000;  // and until somebody who was refused asks again
  const GROUPED = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
  const CLOCK = new Intl.DateTimeFormat(undefined, {timeStyle: "medium"});
  const id = (name) => document.getElementById(name);

  const state = {shape: null, shapeText: "", gap: false, values: null, before: null, seconds: 1, drawn: null, paused: false, stream: null, waits: false,
    chosen: null, near: null, opener: null, focus: 0, items: []};
  let lanes = null;
  let linkTable = null;
  let panel = null;  // what is in it: {update(), stop()}

  // --- numbers as eddyctl has them

  function scaled(value, units, base) {
    let unit = 0;
    while (value >= base && unit < units.length - 1) { value /= base; unit += 1; }
    return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
  }
  const known = (value) => value !== null && value !== undefined;
  const rateText = (value) => (known(value) ? scaled(value, ["b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"], 1000) : "-");
  const bytesText = (value) => (known(value) ? scaled(value, ["B", "KiB", "MiB", "GiB"], 1024) : "-");
  const countText = (value) => (known(value) ? GROUPED.format(value) : "-");
  function durationText(ns) {
    const seconds = Math.floor(ns / 1e9);
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
    return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
  }

  // What a counter of a link grew by since the picture before; null: not known.
  function grown(link, at) {
    const now = state.values.links[link][at];
    const old = state.before ? state.before.links[link][at] : null;
    return known(now) && known(old) ? Math.max(0, now - old) : null;
  }

  // --- one end of a link

  const keysOf = (end) => (end.forth ? FORTH : BACK);
  const linkOf = (end) => state.shape.links[end.link];
  const nameOf = (owner) => `${state.shape.switches[owner[0]]} ${owner[1]}`;
  function towards(end) {
    const {near, far, role} = linkOf(end);
    if (!far) return role === "host" ? "its host" : "a switch that is not seen here";
    return nameOf(end.forth ? far : near);
  }

  function rateLevel(bps, speed) {
    if (!bps || !speed || bps < speed / 1000) return 0;
    return Math.min(5, 1 + Math.floor(5 * bps / speed));
  }
  const queueLevel = (bytes) => (!bytes || bytes < 1024 ? 0 : Math.min(8, 1 + Math.floor(Math.log2(bytes / 1024) / 2)));

  // How it looks: what drawing.make() calls a look, a level of its queue, and marks.
  function looksOf(end) {
    const values = state.values.links[end.link];
    const keys = keysOf(end);
    const of = values[STATE];
    const paused = grown(end.link, keys.pauses) > 0;
    const warned = grown(end.link, keys.warnings) > 0;
    let look = `u${rateLevel(values[keys.bps], linkOf(end).speed)}`;
    if (warned) look = "warned";
    if (paused) look = "paused";
    if (of === "down" || of === "off" || of === "no_peer") look = "down";
    else if (of !== "up") look = "mute";
    return {look, queue: queueLevel(values[keys.queue]), warned, paused, aside: !concerns(end.link)};
  }

  // The links of a switch stand out while it is looked at or open.
  function concerns(link) {
    if (state.near === null) return true;
    const {near, far} = state.shape.links[link];
    return near[0] === state.near || (far !== null && far[0] === state.near);
  }

  function sayEnd(end) {
    const values = state.values.links[end.link];
    const keys = keysOf(end);
    const {far, speed, near} = linkOf(end);
    const from = end.owner ? nameOf(end.owner) : `the host at ${nameOf(near)}`;
    const to = end.owner ? towards(end) : nameOf(near);
    const counts = [["paused", grown(end.link, keys.pauses)], ["warned", grown(end.link, keys.warnings)]]
      .filter(([, count]) => count !== null).map(([word, count]) => `${word} ${countText(count)} times`);
    const up = values[STATE] === "up" ? "" : `${values[STATE]}, `;
    const waits = end.owner && known(values[keys.queue]) ? `, ${bytesText(values[keys.queue])} wait` : "";
    return `${from} to ${to}: ${up}sends ${rateText(values[keys.bps])} of ${rateText(speed)}${waits}` +
      (counts.length ? `; in the last ${scaledSeconds()} ${counts.join(", ")}` : "") + (far ? "." : ". Its counters are this switch's.");
  }
  const scaledSeconds = () => (Math.round(state.seconds) === 1 ? "second" : `${state.seconds.toFixed(0)} s`);

  function sayBox(i) {
    const values = state.values.switches[i];
    const name = state.shape.switches[i];
    if (values[STATE] !== "answers") return `${name} is ${values[STATE]}: ${values[WHY] || ""}`;
    return `${name} answers, up for ${durationText(values[UPTIME])}, configuration ${values[GENERATION]}; ${bytesText(values[WAITING])} wait, ` +
      `${countText(values[DROPPED])} packets were dropped.`;
  }

  function boxText(values) {
    if (values[STATE] !== "answers") return values[STATE];
    return values[WAITING] ? bytesText(values[WAITING]) : "empty";
  }

  // --- the picture

  // What can be reached by arrow keys: each switch, followed by its ports.
  function itemsOf(drawn) {
    const byOwner = state.shape.switches.map(() => []);
    for (const end of drawn.ends) if (end.owner) byOwner[end.owner[0]].push(end);
    const order = new Intl.Collator("en", {numeric: true});
    const switches = state.shape.switches.map((_, i) => i).sort((a, b) => order.compare(state.shape.switches[a], state.shape.switches[b]));
    return switches.flatMap((i) => [{box: i, group: drawn.boxes[i].group}, ...byOwner[i].map((end) => ({end, group: end.group}))]);
  }

  const sayItem = (item) => (item.end ? sayEnd(item.end) : sayBox(item.box));
  const labelItem = (item) => (item.end ? `Port ${nameOf(item.end.owner)}, to ${towards(item.end)}` : `Switch ${state.shape.switches[item.box]}`);

  function buildPicture() {
    const drawn = drawing.make(state.shape);
    drawn.svg.setAttribute("aria-label", `${state.shape.title}: ${state.shape.switches.length} switches, ${state.shape.links.length} links. Arrow keys choose one.`);
    state.drawn = drawn;
    state.items = itemsOf(drawn);
    state.chosen = null;
    state.focus = Math.min(state.focus, Math.max(0, state.items.length - 1));
    state.items.forEach((item, i) => {
      item.group.setAttribute("role", "button");
      item.group.setAttribute("tabindex", i === state.focus ? 0 : -1);
      item.group.setAttribute("aria-label", labelItem(item));
      item.group.dataset.item = i;
    });
    for (const end of drawn.ends) if (!end.owner) end.group.dataset.item = state.items.findIndex((item) => item.end && item.end.link === end.link);
    drawn.ends.forEach((end, i) => { end.group.dataset.end = i; });
    id("picture").replaceChildren(drawn.svg);
    markChosen();
  }

  function focusItem(to) {
    if (state.items.length === 0) return;
    const next = (to + state.items.length) % state.items.length;
    state.items[state.focus].group.setAttribute("tabindex", -1);
    state.focus = next;
    state.items[next].group.setAttribute("tabindex", 0);
    state.items[next].group.focus();
  }

  // From switch to switch.
  function neighbourBox(step) {
    let at = state.focus;
    do at = (at + step + state.items.length) % state.items.length; while (!("box" in state.items[at]));
    return at;
  }

  function pictureKey(event) {
    const item = event.target.closest("[data-item]");
    if (!item) return;
    const to = {ArrowRight: () => state.focus + 1, ArrowLeft: () => state.focus - 1, ArrowDown: () => neighbourBox(1), ArrowUp: () => neighbourBox(-1),
      Home: () => 0, End: () => state.items.length - 1}[event.key];
    if (to) { event.preventDefault(); focusItem(to()); return; }
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); openItem(Number(item.dataset.item), item); }
  }

  let looked = null;  // the element that is pointed at or has the focus
  function lookAt(target) {
    looked = target ? target.closest("[data-item]") : null;
    sayLooked();
    const near = nearOf();
    if (near === state.near || !state.drawn) return;
    state.near = near;
    drawPicture();
  }
  function nearOf() {
    const item = looked ? state.items[Number(looked.dataset.item)] : null;
    if (item && "box" in item) return item.box;
    return panel && !looked ? panel.near() : null;
  }
  function sayLooked() {
    if (!state.values || !state.drawn) return;
    if (looked && !looked.isConnected) looked = null;
    if (!looked) { setText(id("said"), "Each half of a link is what its own end sends. Choose one, or a switch, for its numbers."); return; }
    setText(id("said"), "end" in looked.dataset ? sayEnd(state.drawn.ends[Number(looked.dataset.end)]) : sayItem(state.items[Number(looked.dataset.item)]));
  }
  function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  function drawPicture() {
    state.drawn.draw(state.drawn.ends.map(looksOf));
    state.drawn.boxes.forEach((box, i) => {
      const values = state.values.switches[i];
      const name = `node ${values[STATE]}${state.chosen === box ? " chosen" : ""}`;
      if (name !== box.drawn) { box.group.setAttribute("class", name); box.drawn = name; }
      put(box.text, boxText(values));
    });
  }

  // --- tables

  // Cells are changed one by one, so that what stays the same costs nothing. `act` makes a button of the first cell.
  function liveTable(label, head, words, act) {
    const body = el("tbody");
    const kept = [];
    const element = region(label, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((text, column) => el("th", {scope: "col", textContent: text, className: words.includes(column) ? "left" : ""})))), body));
    function update(rows) {
      while (kept.length > rows.length) { kept.pop(); body.lastChild.remove(); }
      rows.forEach((texts, r) => {
        if (r === kept.length) {
          const nodes = texts.map(() => document.createTextNode(""));
          const cells = nodes.map((text, column) => el("td", {className: words.includes(column) ? "left" : ""}, act && column === 0
            ? el("button", {type: "button", on: {click: (event) => act(r, event.target)}}, text) : text));
          kept.push(nodes);
          body.append(el("tr", {}, ...cells));
        }
        texts.forEach((text, column) => put(kept[r][column], text));
      });
    }
    return {element, update};
  }

  const END_HEAD = ["Port", "To", "State", "Sends", "Receives", "Waits", "Paused", "Warned"];
  function endRow(end) {
    const values = state.values.links[end.link];
    const [mine, theirs] = end.forth ? [FORTH, BACK] : [BACK, FORTH];
    const {near, far, role} = linkOf(end);
    return [end.owner[1], far ? state.shape.switches[(end.forth ? far : near)[0]] : role, values[STATE], rateText(values[mine.bps]), rateText(values[theirs.bps]), bytesText(values[mine.queue]),
      countText(grown(end.link, mine.pauses)), countText(grown(end.link, mine.warnings))];
  }

  const LINK_HEAD = ["Link", "State", "Rate >", "Rate <", "Queued >", "Queued <", "Paused >", "Paused <", "Warned >", "Warned <", "Drops", "ECN marks"];
  function linkRow(link, i) {
    const values = state.values.links[i];
    return [link.name, values[STATE], rateText(values[1]), rateText(values[2]), bytesText(values[3]), bytesText(values[4]),
      ...[FORTH.pauses, BACK.pauses, FORTH.warnings, BACK.warnings, LINK_DROPS, LINK_MARKS].map((at) => countText(grown(i, at)))];
  }
  function drawLinks() {
    if (!id("links").open) return;
    if (!linkTable) {
      linkTable = liveTable("All links", LINK_HEAD, [1]);
      id("links").append(el("p", {className: "faint", textContent: "Counts are of the time between two pictures. > is what the switch that is named first sends, < the other way."}), linkTable.element);
    }
    linkTable.update(state.shape.links.map(linkRow));
  }

  // --- the panel beside the picture

  function markChosen() {
    for (const item of state.items) if (item.end || "box" in item) { item.group.removeAttribute("aria-expanded"); if (item.end) item.group.classList.remove("chosen"); }
    if (!panel) { state.chosen = null; state.near = nearOf(); return; }
    const item = state.items.find((each) => panel.is(each));
    state.chosen = item ? item.end || state.drawn.boxes[item.box] : null;
    if (state.chosen && state.chosen.pieces) state.chosen.group.classList.add("chosen");
    state.near = nearOf();
    if (item) item.group.setAttribute("aria-expanded", "true");
  }

  function openPanel(title, made, opener) {
    if (panel) panel.stop();
    panel = made;
    if (opener && !id("panel").contains(opener)) state.opener = opener;
    const close = el("button", {type: "button", id: "close", textContent: "Close", on: {click: closePanel}});
    id("panel").replaceChildren(el("div", {className: "top"}, el("h2", {id: "panel-title", textContent: title}), close), ...made.elements);
    id("panel").hidden = false;
    id("panel").scrollTop = 0;
    id("view").classList.add("open");
    close.focus();
    markChosen();
    made.update();
    drawPicture();
  }

  function closePanel() {
    if (!panel) return;
    panel.stop();
    panel = null;
    id("panel").hidden = true;
    id("panel").replaceChildren();
    id("view").classList.remove("open");
    markChosen();
    drawPicture();
    if (state.opener && state.opener.isConnected) state.opener.focus();
    else if (state.items.length) focusItem(state.focus);
  }

  function openItem(index, opener) {
    const item = state.items[index];
    if (!item) return;
    if (index !== state.focus) {
      state.items[state.focus].group.setAttribute("tabindex", -1);
      state.focus = index;
      item.group.setAttribute("tabindex", 0);
    }
    if (item.end) openPort(state.shape.switches[item.end.owner[0]], item.end.owner[1], opener);
    else openSwitch(state.shape.switches[item.box], opener);
  }

  // Its ports, of what the pictures say. Switches and ports are known by their names: another shape may have others.
  function openSwitch(name, opener) {
    const facts = el("p", {className: "faint"});
    const ends = () => { const at = state.shape.switches.indexOf(name); return state.items.filter((item) => item.end && item.end.owner[0] === at).map((item) => item.end); };
    const table = liveTable(`Ports of ${name}`, END_HEAD, [1, 2], (row, button) => openPort(name, ends()[row].owner[1], button));
    openPanel(name, {
      elements: [facts, table.element, el("p", {className: "faint", textContent: "Paused and warned: how often the other end did so since the picture before."})],
      is: (item) => "box" in item && state.shape.switches[item.box] === name,
      near() { const at = state.shape.switches.indexOf(name); return at < 0 ? null : at; },
      update() {
        const at = state.shape.switches.indexOf(name);
        setText(facts, at < 0 ? `${name} is not here any more.` : sayBox(at));
        if (at >= 0) table.update(ends().map(endRow));
      },
      stop() {}}, opener);
  }

  // Columns of texts stand on the left.
  function wordsOf(report, left, upright) {
    if (upright) return [];
    const without = report.rows.map((texts) => texts.filter((_, i) => i !== left));
    return report.head.map((_, column) => column).filter((column) => without.some((texts) => /^[^\d-]/.test(texts[column] || "")));
  }

  // Its tables, asked of the switch as long as they are looked at.
  function openPort(name, port, opener) {
    const said = el("p", {className: "faint", textContent: "Asking."});
    const place = el("div");
    const tables = new Map();  // by report
    let timer = null;
    let over = false;
    async function refresh() {
      try {
        if (!document.hidden && !state.paused) await read();
      } catch (error) {
        setText(said, `eddyctl does not answer: ${error.message}`);
      }
      if (!over) timer = setTimeout(refresh, REFRESH);
    }
    async function read() {
      const answer = await fetch(`/port?switch=${encodeURIComponent(name)}&port=${encodeURIComponent(port)}`);
      const type = answer.headers.get("Content-Type") || "";
      const found = type.startsWith("application/json") ? await answer.json() : {problems: [await answer.text()]};
      if (over) return;
      if (found.problems) { setText(said, found.problems.join("; ")); return; }
      setText(said, `As eddyctl --name ${name} --port ${port} shows them, read at ${CLOCK.format(Date.now())}.`);
      for (const each of found.tables) show(each);
    }
    function show(report) {
      const column = report.keys.indexOf("port");
      const without = (texts) => texts.filter((_, i) => i !== column);
      const head = without(report.head);
      const rows = report.rows.map(without);
      const upright = rows.length === 1 && head.length > 6;
      const form = rows.length === 0 ? "none" : upright ? "upright" : "flat";
      let kept = tables.get(report.report);
      if (!kept) {
        const box = el("div");
        place.append(el("h3", {textContent: report.report, className: ["pfc", "pgs", "rlb"].includes(report.report) ? "plain" : ""}), box);
        kept = {box, form: ""};
        tables.set(report.report, kept);
      }
      if (kept.form !== form) {
        kept.form = form;
        kept.table = form === "none" ? null : liveTable(`${report.report} of ${port}`, upright ? ["", "Value"] : head, wordsOf(report, column, upright));
        kept.below = el("p", {className: "faint"});
        kept.box.replaceChildren(...(kept.table ? [kept.table.element] : []), kept.below);
      }
      if (kept.table) kept.table.update(upright ? head.map((text, i) => [text, rows[0][i]]) : rows);
      setText(kept.below, form === "none" ? "Nothing has happened." : report.below);
    }
    openPanel(`${name} ${port}`, {
      elements: [said, place],
      is: (item) => item.end && state.shape.switches[item.end.owner[0]] === name && item.end.owner[1] === port,
      near: () => null,
      update() {},
      stop() { over = true; clearTimeout(timer); }}, opener);
    refresh();
  }

  // --- what comes

  // The same comes again when the page was paused, hidden or cut off: what it has seen stays, but nothing is known of what came to pass meanwhile.
  function onShape(text) {
    state.gap = text === state.shapeText;
    if (state.gap) return;
    state.shapeText = text;
    const shape = JSON.parse(text);
    state.shape = shape;
    state.values = null;
    state.before = null;
    state.drawn = null;
    document.title = `Eddy: ${shape.title}`;
    setText(id("title"), `Eddy: ${shape.title}`);
    fillScope();
    lanes.clear();
    lanes.span(timelineSeconds());
  }
  const timelineSeconds = () => 120 * state.shape.every_ms / 1000;

  function fillScope() {
    const select = id("scope");
    const before = select.selectedOptions[0] ? select.selectedOptions[0].textContent : "";
    select.replaceChildren(el("option", {value: "-1", textContent: "all switches"}), ...state.shape.switches.map((name, i) => el("option", {value: String(i), textContent: name})));
    const again = state.shape.switches.indexOf(before);
    select.value = String(again);
    lanes.choose(again);
  }

  function onValues(values) {
    const last = state.values;
    const old = state.gap ? null : last;
    state.gap = false;
    state.before = old;
    if (old) state.seconds = Math.max(.001, (values.at - old.at) / 1000);
    const missed = last ? Math.max(0, Math.round((values.at - last.at) / state.shape.every_ms) - 1) : 0;
    state.values = values;
    lanes.add(values.switches, old ? old.switches : null, values.at, missed);
    if (state.waits) return;
    state.waits = true;
    requestAnimationFrame(draw);
  }

  function draw() {
    state.waits = false;
    if (!state.values) return;
    if (!state.drawn) buildPicture();
    drawPicture();
    lanes.draw();
    drawLinks();
    if (panel) panel.update();
    sayLooked();
    sayState();
    document.documentElement.dataset.ready = "yes";
  }

  function sayState() {
    put(status, `${state.values.line.replace(`${state.shape.title}: `, "")}; ${CLOCK.format(state.values.at)}${state.paused ? ", paused" : ""}`);
    const troubles = state.values.switches.map((values, i) => [values, state.shape.switches[i]]).filter(([values]) => values[STATE] !== "answers")
      .map(([values, name]) => `${name} is ${values[STATE]}: ${values[WHY] || "it has not answered yet"}`);
    sayTrouble(troubles);
  }
  const status = document.createTextNode("");
  let troubled = "";
  function sayTrouble(lines) {
    const text = lines.join("\n");
    if (text === troubled) return;
    troubled = text;
    id("trouble").replaceChildren(...(lines.length ? [el("div", {className: "warn"}, el("ul", {}, ...lines.slice(0, 8).map((line) => el("li", {textContent: line})),
      ...(lines.length > 8 ? [el("li", {textContent: `and ${lines.length - 8} more`})] : [])))] : []));
  }

  function listen() {
    if (state.stream || state.paused || document.hidden) return;
    const stream = new EventSource("/live");
    state.stream = stream;
    stream.addEventListener("shape", (event) => onShape(event.data));
    stream.addEventListener("values", (event) => onValues(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      if (state.stream !== stream) return;
      sayTrouble([`eddyctl web does not answer${state.values ? `; what is shown is of ${CLOCK.format(state.values.at)}` : ""}`]);
      if (stream.readyState !== EventSource.CLOSED) return;  // the browser asks again by itself
      silence();
      setTimeout(listen, AGAIN);
    });
  }
  function silence() {
    if (state.stream) state.stream.close();
    state.stream = null;
  }

  function pause() {
    state.paused = !state.paused;
    setText(id("pause"), state.paused ? "Resume" : "Pause");
    if (state.paused) silence(); else listen();
    if (state.values) sayState();
  }

  // --- the rest of the page

  function legend() {
    const entries = [[drawing.line("line u1"), "some traffic"], [drawing.line("line u3"), "half of the speed"], [drawing.line("line u5"), "near the speed"],
      [drawing.line("queue"), "packets wait at that port"], [drawing.symbol("warning"), "warned by the other end (RLB)"], [drawing.symbol("pause"), "paused by the other end (PFC)"],
      [drawing.line("line down"), "down"], [drawing.line("line mute"), "nobody says"]];
    id("legend").append(...entries.map(([sample, text]) => el("li", {}, sample, text)));
  }

  function toolbar() {
    id("toolbar").append(el("button", {type: "button", id: "pause", textContent: "Pause", on: {click: pause}}), themeSelect(), el("span", {id: "status", className: "faint"}, status));
    id("toolbar").addEventListener("submit", (event) => event.preventDefault());
    const scope = el("select", {id: "scope", on: {change: (event) => lanes.choose(Number(event.target.value))}});
    id("timeline").before(el("p", {}, el("label", {}, "Of ", scope)));
  }

  function start() {
    legend();
    lanes = timeline.make(id("timeline"), (kind, value) => (kind === "bytes" ? bytesText(value) : countText(value)));
    toolbar();
    const picture = id("picture");
    picture.addEventListener("keydown", pictureKey);
    picture.addEventListener("click", (event) => { const item = event.target.closest("[data-item]"); if (item) openItem(Number(item.dataset.item), state.items[Number(item.dataset.item)].group); });
    picture.addEventListener("pointerover", (event) => lookAt(event.target));
    picture.addEventListener("pointerleave", () => lookAt(picture.contains(document.activeElement) ? document.activeElement : null));
    picture.addEventListener("focusin", (event) => lookAt(event.target));
    picture.addEventListener("focusout", () => lookAt(null));
    id("links").addEventListener("toggle", () => { if (state.values) drawLinks(); });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closePanel();
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key === "p" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) pause();
    });
    document.addEventListener("visibilitychange", () => { if (document.hidden) silence(); else listen(); });
    listen();
  }

  start();
})();
