"use strict";
// What the scripts of all pages share. Every text goes in as text.
const look = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function el(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {}))
      if (key === "on") for (const [event, does] of Object.entries(value)) made.addEventListener(event, does);
      else if (key in made && key !== "role") made[key] = value;
      else made.setAttribute(key, value);
    for (const child of children) if (child !== null) made.append(child);
    return made;
  }

  function node(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    for (const child of children) made.append(child);
    return made;
  }

  // What may be wider or longer than its place scrolls, by keys, too.
  function region(label, content, whole) {
    return el("div", {className: whole ? "scroll whole" : "scroll", tabIndex: 0, role: "region", "aria-label": label}, content);
  }

  function themeSelect() {
    const select = el("select", {id: "theme", on: {change: (event) => {
      if (event.target.value === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = event.target.value;
    }}}, ...["system", "light", "dark"].map((name) => el("option", {value: name, textContent: name})));
    return el("label", {}, "Theme", select);
  }

  return {el, node, region, themeSelect};
})();
