// @ts-check
// The page of a chart: two columns of parts where it is wide, each with its title, its legend and its canvas.
/** @import { Chart, Part, Place, Theme } from "./types" */
/** @import { Band, Curve, Dots } from "../messages" */

import { acrossOf, keyOf } from "./data.js";
import { button, element, focused, roving, setText } from "../dom.js";
import { fold } from "../folds.js";
import { listen } from "./gestures.js";
import { DASHES } from "./lines.js";
import { rgba } from "./theme.js";

const PLOT_PIXELS = 92; // pixels of an ordinary plot
const MIN_TWO_COLUMNS = 660; // pixels below which there is one column, as in the style sheet
const MAP_PIXELS = 300;
const MAP_SHARE = 4; // of a map, in heights of ordinary plots

/** @typedef {Partial<Curve & Band & Dots> & { label: string, colour: number, x: Float64Array }} Series */

// Which parts stand on the left, up to half of the height: plots, and a single map on the right.
/** @type {(parts: Part[]) => Part[][]} */
export function columnsOf(parts) {
  const maps = parts.filter(({ kind }) => kind === "map");
  const first = maps.length === 1 ? maps : [];
  const others = parts.filter((part) => !first.includes(part));
  const tall = (/** @type {Part} */ part) => (part.kind === "map" ? MAP_SHARE : part.tall);
  const half = [...first, ...others].reduce((sum, part) => sum + tall(part), 0) / 2;
  const left = /** @type {Part[]} */ ([]);
  let height = 0;
  for (const part of others) {
    if (height >= half - 1e-9) break;
    left.push(part);
    height += tall(part);
  }
  return [left, [...first, ...others.slice(left.length)]].filter(({ length }) => length);
}

// The parts by their sections, in the order in which these appear; those that are always in sight come first.
/** @type {(parts: Part[]) => Map<string, Part[]>} */
export function sectionsOf(parts) {
  const found = new Map([["", /** @type {Part[]} */ ([])]]);
  for (const part of parts) {
    const name = sectionOf(part);
    found.set(name, [...(found.get(name) ?? []), part]);
  }
  return found;
}

/** @type {(part: Part) => string} */
export const sectionOf = (part) => (part.kind === "plot" ? (part.section ?? "") : "");

// Builds what stays as long as the parts have these names.
/** @type {(chart: Chart) => void} */
export function buildParts(chart) {
  chart.el.replaceChildren();
  chart.places.forEach(({ end }) => end());
  chart.places = new Map();
  const sections = sectionsOf(chart.parts);
  for (const name of chart.below.keys()) if (!sections.has(name)) sections.set(name, []);
  for (const [name, parts] of sections) {
    const parent = name && chart.folds ? fold(chart.el, name) : chart.el;
    const columns = element("div", "burlab-columns", parent);
    for (const group of columnsOf(parts)) {
      const column = element("div", "burlab-column", columns);
      for (const part of group) buildPart(chart, part, column);
    }
    const below = chart.below.get(name);
    if (below) parent.append(below);
  }
}

/** @type {(chart: Chart, part: Part, column: Element) => void} */
function buildPart(chart, part, column) {
  const box = element("figure", "burlab-part", column);
  const tall = part.kind === "map" ? MAP_PIXELS : PLOT_PIXELS * part.tall;
  box.style.flex = `${part.kind === "map" ? 3 : part.tall} 0 ${tall}px`;
  const head = element("figcaption", "burlab-caption", box);
  const [title, note, legend] = [element("b", "", head), element("i", "", head), element("span", "burlab-legend", head)];
  const frame = element("div", "burlab-canvas", box);
  frame.style.minHeight = `${tall}px`;
  const canvas = element("canvas", "", frame);
  canvas.tabIndex = 0;
  canvas.role = "img";
  const now = () => chart.parts.find(({ name }) => name === part.name) ?? part;
  const end = listen(chart, canvas, now);
  legend.role = "group";
  legend.ariaLabel = "legend";
  chart.places.set(part.name, { box, title, note, legend, rove: roving(legend), frame, canvas, end, cache: {} });
  chart.sizes.observe(frame);
}

// The place of a part in the page.
/** @type {(chart: Chart, part: Part) => Place} */
export const placeOf = (chart, part) => /** @type {Place} */ (chart.places.get(part.name));

// Set texts around the canvases, only if they differ.
/** @type {(chart: Chart) => void} */
export function labelParts(chart) {
  for (const part of chart.parts) {
    const { title, note, legend, rove, canvas } = placeOf(chart, part);
    setText(title, part.title);
    setText(note, part.note);
    const about = `${part.title}: ${entriesOf(part).map(({ label }) => label).join(", ") || "one curve"}`;
    if (canvas.ariaLabel !== about) canvas.ariaLabel = about;
    drawLegend(chart, part, legend);
    rove();
  }
}

// What a legend lists: everything with a name of its own, once.
/** @type {(part: Part) => Series[]} */
export function entriesOf(part) {
  const named = /** @type {Series[]} */ ([...part.bands, ...part.curves, ...part.dots]).filter(({ label, x }) => label && x.length);
  const solid = new Set(part.curves.filter(({ faint }) => !faint).map(({ label }) => label));
  const seen = new Map();
  for (const one of named) if (!seen.has(one.label) && !(one.faint && solid.has(one.label))) seen.set(one.label, one);
  return [...seen.values()];
}

/** @type {(chart: Chart, part: Part, legend: HTMLElement) => void} */
function drawLegend(chart, part, legend) {
  const theme = /** @type {Theme} */ (chart.theme);
  const found = entriesOf(part);
  const entries = found.length === 1 && found[0].label === part.title ? [] : found; // the title names it
  const key = JSON.stringify([theme.dark, entries.map((one) => [one.label, one.colour, one.faint, one.shape, chart.hidden.has(keyOf(part, one))])]);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  const position = [...legend.children].indexOf(focused());
  legend.replaceChildren(...entries.map((one) => {
    const entry = button(null, "", "Show or hide", () => toggle(chart, part, one), "burlab-entry");
    entry.ariaPressed = String(!chart.hidden.has(keyOf(part, one)));
    const swatch = element("i", one.shape ? `burlab-${one.shape}` : one.low ? "burlab-band" : "", entry);
    const colour = rgba(theme.curve(one.colour), one.faint || (one.low && !one.solid) ? 0.4 : 1);
    swatch.style.background = striped(colour, one.dashed ?? 0);
    entry.append(one.label);
    return entry;
  }));
  /** @type {HTMLElement | undefined} */ (legend.children[position])?.focus();
}

// A colour with the gaps of a dash, for the background of a swatch.
/** @type {(colour: string, dash: number) => string} */
export function striped(colour, dash) {
  if (!dash) return colour;
  let end = 0;
  const stops = DASHES[dash].map((length, k) => `${k % 2 ? "transparent" : colour} ${end}px ${(end += 0.8 * length)}px`);
  return `repeating-linear-gradient(90deg, ${stops.join(", ")})`;
}

/** @type {(chart: Chart, part: Part, one: Series) => void} */
export function toggle(chart, part, one) {
  const key = keyOf(part, one);
  if (!chart.hidden.delete(key)) chart.hidden.add(key);
  chart.redraw();
}

// A plot's labels below are left out where the next one has the same axis and shows them.
/** @type {(chart: Chart) => void} */
export function placeFeet(chart) {
  const narrow = chart.el.clientWidth < MIN_TWO_COLUMNS;
  for (const parts of sectionsOf(chart.parts).values()) {
    const columns = columnsOf(parts);
    for (const group of narrow ? [columns.flat()] : columns) {
      group.forEach((part, k) => {
        part.foot = part.kind === "map" || !group[k + 1] || acrossOf(group[k + 1]) !== acrossOf(part);
      });
    }
  }
}
