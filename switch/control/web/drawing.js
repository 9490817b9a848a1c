// The picture: where switches and links stand, and their elements. Switches with hosts stand lowest, others above by how
// far they are from hosts; where all have hosts, in a ring. A link is drawn in halves: each is what its own end sends.
// Halves that look the same are one path, so that a picture changes a few elements, however many links there are.
const drawing = (() => {
  const {node} = look;
  const BOX = {width: 100, height: 38};
  const STUB = 62;  // length of a link whose other end is no switch here
  const PITCHES = [44, 26, 18, 9];  // between stubs of a switch; the widest with which the picture is no wider than WIDE
  const WIDE = 1450;
  const LETTER = 6.5;  // how wide
  const DENSE = 60;  // links; where there are more, lines are thinner
  const NAME = 13;  // characters
  const PAUSE = "m-4.5,-5h3.4v10h-3.4zm5.6,0h3.4v10h-3.4z";
  const WARNING = "m0,-6l6,10.5h-12z";
  const QUEUES = [0, 3, 6, 10, 15, 21, 28, 36, 45];  // how long the bar of a level is
  const LOOKS = ["down", "mute", "u0", "u1", "u2", "u3", "u4", "u5", "warned", "paused"];  // of a line; what matters most is drawn last
  const collator = new Intl.Collator("en", {numeric: true});
  const shortened = (text) => (text.length > NAME ? text.slice(0, NAME - 1) + "\u2026" : text);

  // How far each switch is from those with hosts.
  function tiersOf(shape) {
    const tiers = shape.switches.map(() => Infinity);
    for (const link of shape.links) if (!link.far && link.role === "host") tiers[link.near[0]] = 0;
    if (tiers.every((tier) => tier > 0)) return tiers.map(() => 0);
    for (let grown = true; grown;) {
      grown = false;
      for (const {near, far} of shape.links) {
        if (!far) continue;
        for (const [a, b] of [[near[0], far[0]], [far[0], near[0]]])
          if (tiers[a] + 1 < tiers[b]) { tiers[b] = tiers[a] + 1; grown = true; }
      }
    }
    const highest = Math.max(...tiers.filter(Number.isFinite));
    return tiers.map((tier) => (Number.isFinite(tier) ? tier : highest + 1));  // to those, nothing leads
  }

  function stubsOf(shape) {
    const stubs = shape.switches.map(() => ({host: [], fabric: []}));
    shape.links.forEach((link, i) => { if (!link.far) stubs[link.near[0]][link.role === "host" ? "host" : "fabric"].push(i); });
    return stubs;
  }

  function rows(shape, tiers, stubs, pitch) {
    const highest = Math.max(...tiers);
    const cell = (i) => Math.max(BOX.width + 12, Math.max(stubs[i].host.length, stubs[i].fabric.length) * pitch + 12);
    const members = Array.from({length: highest + 1}, (_, tier) =>
      shape.switches.map((_, i) => i).filter((i) => tiers[i] === tier).sort((a, b) => collator.compare(shape.switches[a], shape.switches[b])));
    const widths = members.map((row) => row.reduce((width, i) => width + cell(i), 0));
    const width = Math.max(300, ...widths);
    const most = Math.max(...members.map((row) => row.length));
    const gap = Math.min(340, 130 + most * 17);
    const above = stubs.some((of, i) => tiers[i] === highest && of.fabric.length > 0) ? STUB + 16 : 12;
    const below = stubs.some((of) => of.host.length > 0) ? STUB + 26 : 12;
    const places = [];
    members.forEach((row, tier) => {
      const spare = (width - widths[tier]) / row.length;
      let x = 0;
      for (const i of row) {
        const mine = cell(i) + spare;
        places[i] = {x: x + mine / 2, y: above + BOX.height / 2 + (highest - tier) * (BOX.height + gap), cell: cell(i)};
        x += mine;
      }
    });
    return {places, width, pitch, height: above + below + BOX.height + highest * (BOX.height + gap)};
  }

  function ring(shape, stubs) {
    const count = shape.switches.length;
    const order = shape.switches.map((_, i) => i).sort((a, b) => collator.compare(shape.switches[a], shape.switches[b]));
    const radius = Math.max(150, count * 25);
    const places = [];
    order.forEach((i, at) => {
      const angle = 2 * Math.PI * at / count - Math.PI / 2;
      places[i] = {x: Math.cos(angle) * radius * 1.35, y: Math.sin(angle) * radius, angle, cell: BOX.width};
    });
    const edge = stubs.some((of) => of.host.length + of.fabric.length > 0) ? STUB + 30 : 12;
    const pitch = Math.max(...stubs.map((of) => of.host.length + of.fabric.length)) > 6 ? 9 : 24;
    const width = radius * 2.7 + BOX.width + 2 * edge;
    const height = radius * 2 + BOX.height + 2 * edge;
    for (const place of places) { place.x += width / 2; place.y += height / 2; }
    return {places, width, height, pitch};
  }

  // Where a line from the middle of a box to `to` leaves it.
  function leaving(place, to) {
    const dx = to.x - place.x;
    const dy = to.y - place.y;
    const t = Math.min(dx === 0 ? Infinity : BOX.width / 2 / Math.abs(dx), dy === 0 ? Infinity : BOX.height / 2 / Math.abs(dy));
    return {x: place.x + dx * t, y: place.y + dy * t};
  }

  // Spreads links along the upper or lower edge of their boxes, by where the other end is.
  function spread(shape, places, tiers) {
    const sides = new Map();  // "switch up|down": [{link, which, towards}]
    const put = (link, which, own, other) => {
      const side = `${own} ${tiers[other] > tiers[own] ? "up" : tiers[other] < tiers[own] ? "down" : "level"}`;
      if (!sides.has(side)) sides.set(side, []);
      sides.get(side).push({link, which, towards: places[other].x});
    };
    shape.links.forEach(({near, far}, i) => {
      if (!far) return;
      put(i, "near", near[0], far[0]);
      put(i, "far", far[0], near[0]);
    });
    const points = shape.links.map(() => ({}));
    for (const [side, ends] of sides) {
      const [own, edge] = side.split(" ");
      const place = places[own];
      ends.sort((a, b) => a.towards - b.towards || a.link - b.link);
      ends.forEach((end, at) => {
        points[end.link][end.which] = {x: place.x - BOX.width / 2 + BOX.width * (at + 1) / (ends.length + 1),
          y: place.y + (edge === "down" ? 1 : -1) * BOX.height / 2};
      });
    }
    return points;
  }

  const middle = (a, b) => ({x: (a.x + b.x) / 2, y: (a.y + b.y) / 2});
  const at = (a, b, t) => ({x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t});

  // Both halves, each from its own end on.
  function halves(near, far, bend) {
    const a = middle(near, bend);
    const b = middle(far, bend);
    const meet = middle(a, b);
    return [{from: near, over: a, to: meet}, {from: far, over: b, to: meet}];
  }

  function stubPoints(place, position, count, down, pitch) {
    if ("angle" in place) {
      const out = {x: Math.cos(place.angle), y: Math.sin(place.angle)};
      const aside = (position - (count - 1) / 2) * pitch;
      const from = leaving(place, {x: place.x + out.x * 1000 - out.y * aside * 8, y: place.y + out.y * 1000 + out.x * aside * 8});
      return {from, to: {x: from.x + out.x * STUB - out.y * aside * .5, y: from.y + out.y * STUB * .8 + out.x * aside * .5}};
    }
    const x = place.x + (position - (count - 1) / 2) * pitch;
    const from = {x: place.x + (position - (count - 1) / 2) * Math.min(pitch, (BOX.width - 12) / count), y: place.y + (down ? 1 : -1) * BOX.height / 2};
    return {from, to: {x, y: place.y + (down ? 1 : -1) * (BOX.height / 2 + STUB)}};
  }

  function layout(shape) {
    const tiers = tiersOf(shape);
    const stubs = stubsOf(shape);
    const isRing = shape.switches.length > 3 && tiers.every((tier) => tier === 0);
    const wanted = PITCHES.map((pitch) => () => (isRing ? ring(shape, stubs) : rows(shape, tiers, stubs, pitch)));
    let found = null;
    for (const make of wanted) { found = make(); if (isRing || found.width <= WIDE) break; }
    const {places, width, height, pitch} = found;
    const isNamed = (link) => link.near[1].length * LETTER < pitch + (pitch > 40 ? 12 : 0);
    const points = spread(shape, places, tiers);
    const lines = shape.links.map((link, i) => {
      if (!link.far) {
        const of = stubs[link.near[0]][link.role === "host" ? "host" : "fabric"];
        const {from, to} = stubPoints(places[link.near[0]], of.indexOf(i), of.length, link.role === "host", pitch);
        return {halves: halves(from, to, middle(from, to)), label: pitch > 40 || isNamed(link) ? {...to, text: link.near[1]} : null};
      }
      const [a, b] = [places[link.near[0]], places[link.far[0]]];
      if (isRing) { const [near, far] = [leaving(a, b), leaving(b, a)]; return {halves: halves(near, far, middle(near, far)), label: null}; }
      const {near, far} = points[i];
      const bend = middle(near, far);
      if (tiers[link.near[0]] === tiers[link.far[0]]) bend.y -= 40 + Math.abs(near.x - far.x) * .12;
      return {halves: halves(near, far, bend), label: null};
    });
    return {places, lines, width, height};
  }

  const number = (value) => value.toFixed(1);
  const pathOf = ({from, over, to}) => `M${number(from.x)},${number(from.y)}Q${number(over.x)},${number(over.y)} ${number(to.x)},${number(to.y)}`;

  const pointOf = (half, t) => at(at(half.from, half.over, t), at(half.over, half.to, t), t);
  function mark(shape, half, t) {
    const place = pointOf(half, t);
    return `M${number(place.x)},${number(place.y)}${shape}`;
  }

  function queueOf(half, length) {
    const whole = Math.hypot(half.to.x - half.from.x, half.to.y - half.from.y);
    const end = pointOf(half, Math.min(1, length / whole));
    return `M${number(half.from.x)},${number(half.from.y)}L${number(end.x)},${number(end.y)}`;
  }

  // The pieces of what may be drawn of a half, made once.
  function piecesOf(half) {
    return {line: pathOf(half), queues: QUEUES.map((length) => (length ? queueOf(half, length) : "")), warning: mark(WARNING, half, .5), pause: mark(PAUSE, half, .78)};
  }

  // What is drawn of all halves: a path for each look, once for those that stand out and once for the rest.
  function makeLayers() {
    const layers = ["aside", "seen"].map((name) => {
      const paths = Object.fromEntries([...LOOKS.map((look) => [look, `line ${look}`]), ["queue", "queue"], ["warning", "mark warning"], ["pause", "mark pause"]]
        .map(([key, className]) => [key, {element: node("path", {class: className}), d: ""}]));
      return {group: node("g", {class: name}, ...Object.values(paths).map((each) => each.element)), paths};
    });
    // `looks`: of each end {look, queue, warned, paused, aside}.
    function draw(ends, looks) {
      const parts = layers.map((layer) => Object.fromEntries(Object.keys(layer.paths).map((key) => [key, []])));
      ends.forEach((end, i) => {
        const {look, queue, warned, paused, aside} = looks[i];
        const part = parts[aside ? 0 : 1];
        part[look].push(end.pieces.line);
        if (queue) part.queue.push(end.pieces.queues[queue]);
        if (warned) part.warning.push(end.pieces.warning);
        if (paused) part.pause.push(end.pieces.pause);
      });
      layers.forEach((layer, which) => {
        for (const [key, path] of Object.entries(layer.paths)) {
          const d = parts[which][key].join("");
          if (d !== path.d) path.element.setAttribute("d", d);
          path.d = d;
        }
      });
    }
    return {groups: layers.map((layer) => layer.group), draw};
  }

  function boxOf(name, place) {
    const text = document.createTextNode("");
    const group = node("g", {class: "node"}, node("rect", {x: number(place.x - BOX.width / 2), y: number(place.y - BOX.height / 2), width: BOX.width, height: BOX.height, rx: 5}),
      node("text", {class: "name", x: number(place.x), y: number(place.y - 2)}, shortened(name)), node("text", {class: "faint", x: number(place.x), y: number(place.y + 12)}, text));
    if (name.length > NAME) group.append(node("title", {}, name));
    return {group, text};
  }

  // Ends: {group, link, forth, owner: [switch, port] or null}, in the order of links; boxes by switch. A group of an end is what
  // is pointed at and has the focus; nothing of it changes with the numbers.
  function make(shape) {
    const {places, lines, width, height} = layout(shape);
    const svg = node("svg", {viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "group", class: shape.links.length > DENSE ? "dense" : ""});
    svg.style.width = "100%";
    svg.style.maxWidth = `${Math.ceil(width * 1.5)}px`;
    svg.style.minWidth = `${Math.ceil(Math.min(width, Math.max(300, width * .6)))}px`;
    const ends = [];
    const layers = makeLayers();
    svg.append(...layers.groups);
    lines.forEach((line, i) => {
      const {near, far} = shape.links[i];
      line.halves.forEach((half, which) => {
        const group = node("path", {class: "end", d: pathOf(half)});
        svg.append(group);
        ends.push({group, link: i, forth: which === 0, owner: which === 0 ? near : far, pieces: piecesOf(half)});
      });
    });
    const boxes = shape.switches.map((name, i) => boxOf(name, places[i]));
    for (const each of boxes) svg.append(each.group);
    for (const line of lines)
      if (line.label) {
        const above = line.label.y < line.halves[0].from.y - 20;
        svg.append(node("text", {class: "faint", x: number(line.label.x), y: number(line.label.y + (above ? -5 : 13))}, line.label.text.length > 8 ? line.label.text.slice(0, 7) + "\u2026" : line.label.text));
      }
    return {svg, ends, boxes, draw: (looks) => layers.draw(ends, looks)};
  }

  // Pieces for the legend.
  function sample(className, d) {
    return node("svg", {width: 30, height: 16, viewBox: "0 0 30 16", "aria-hidden": "true"}, node("path", {class: className, d}));
  }
  const line = (className) => sample(className, "M0,8H30");
  const symbol = (kind) => sample(`mark ${kind}`, `M15,8${kind === "pause" ? PAUSE : WARNING}`);

  return {make, line, symbol};
})();
