// @ts-check
// The page of a chart: two columns of parts where it is wide, each with its title, its legend and its canvas.

import { acrossOf } from "./data.js";
import { listen } from "./gestures.js";
import { keyOf } from "./plot.js";
import { rgba } from "./theme.js";

const TALL = 92; // pixels of an ordinary plot
const NARROW = 660; // pixels below which there is one column, as in the style sheet
const MAP_TALL = 300;
const MAP_SHARE = 4; // of a map, in heights of ordinary plots

export const element = (name, kind, parent) => {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  parent?.append(made);
  return made;
};

// Which parts stand on the left, up to half of the height: plots, and a single map on the right.
function columnsOf(parts) {
  const maps = parts.filter(({ kind }) => kind === "map");
  const [first, others] = maps.length === 1 ? [maps, parts.filter(({ kind }) => kind === "plot")] : [[], parts];
  const tall = (part) => part.tall ?? MAP_SHARE;
  const half = [...first, ...others].reduce((sum, part) => sum + tall(part), 0) / 2;
  const left = [];
  let height = 0;
  for (const part of others) {
    if (height >= half - 1e-9) break;
    left.push(part);
    height += tall(part);
  }
  return [left, [...first, ...others.slice(left.length)]].filter(({ length }) => length);
}

// Builds what stays as long as the parts have these names; gives the canvases by name.
export function build(chart) {
  chart.el.replaceChildren();
  chart.places.forEach(({ end }) => end());
  chart.places = new Map();
  const columns = element("div", "burlab-columns", chart.el);
  for (const group of columnsOf(chart.parts)) {
    const column = element("div", "burlab-column", columns);
    for (const part of group) {
      const box = element("figure", "burlab-part", column);
      const tall = part.kind === "map" ? MAP_TALL : TALL * part.tall;
      box.style.flex = `${part.kind === "map" ? 3 : part.tall} 0 ${tall}px`;
      const head = element("figcaption", "burlab-caption", box);
      const [title, note, legend] = [element("b", "", head), element("i", "", head), element("span", "burlab-legend", head)];
      const frame = element("div", "burlab-canvas", box);
      frame.style.minHeight = `${tall}px`;
      const canvas = element("canvas", "", frame);
      canvas.tabIndex = 0;
      canvas.role = "img";
      const now = () => chart.parts.find(({ name }) => name === part.name);
      const end = listen(chart, canvas, now);
      chart.places.set(part.name, { box, title, note, legend, frame, canvas, end, cache: {} });
      chart.sizes.observe(frame);
    }
  }
}

// Words around the canvases, changed only where they differ.
export function word(chart) {
  for (const part of chart.parts) {
    const { title, note, legend, canvas } = chart.places.get(part.name);
    say(title, part.title);
    say(note, part.note);
    const about = `${part.title}: ${entriesOf(part).map(({ label }) => label).join(", ") || "one curve"}`;
    if (canvas.ariaLabel !== about) canvas.ariaLabel = about;
    drawLegend(chart, part, legend);
  }
}

export const say = (place, text) => {
  if (place.textContent !== text) place.textContent = text;
};

// What a legend lists: everything with a name of its own, once.
export function entriesOf(part) {
  const named = [...part.bands, ...part.curves, ...part.dots].filter(({ label, x }) => label && x.length);
  const solid = new Set(part.curves.filter(({ faint }) => !faint).map(({ label }) => label));
  const seen = new Map();
  for (const one of named) if (!seen.has(one.label) && !(one.faint && solid.has(one.label))) seen.set(one.label, one);
  return [...seen.values()];
}

function drawLegend(chart, part, legend) {
  const found = entriesOf(part);
  const entries = found.length === 1 && found[0].label === part.title ? [] : found; // the title names it
  const key = JSON.stringify([chart.theme.dark, entries.map((one) => [one.label, one.colour, one.faint, one.shape, chart.hidden.has(keyOf(part, one))])]);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  const focused = [...legend.children].indexOf(document.activeElement);
  legend.replaceChildren(...entries.map((one) => {
    const entry = element("button", "burlab-entry");
    entry.type = "button";
    entry.title = "Show or hide";
    entry.ariaPressed = String(!chart.hidden.has(keyOf(part, one)));
    const swatch = element("i", one.shape ? `burlab-${one.shape}` : one.low ? "burlab-band" : "", entry);
    const colour = rgba(chart.theme.curve(one.colour), one.faint || (one.low && !one.solid) ? 0.4 : 1);
    swatch.style.background = one.dashed ? `repeating-linear-gradient(90deg, ${colour} 0 5px, transparent 5px 8px)` : colour;
    entry.append(one.label);
    entry.addEventListener("click", () => toggle(chart, part, one));
    return entry;
  }));
  legend.children[focused]?.focus();
}

export function toggle(chart, part, one) {
  const key = keyOf(part, one);
  if (!chart.hidden.delete(key)) chart.hidden.add(key);
  chart.redraw();
}

// A plot's labels below are left out where the next one has the same axis and shows them.
export function stand(chart) {
  const narrow = chart.el.clientWidth < NARROW;
  const groups = narrow ? [columnsOf(chart.parts).flat()] : columnsOf(chart.parts);
  for (const group of groups) {
    group.forEach((part, k) => {
      part.foot = part.kind === "map" || !group[k + 1] || acrossOf(group[k + 1]) !== acrossOf(part);
    });
  }
}
