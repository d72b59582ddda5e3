// @ts-check
// The readout of a chart at a place: where the mouse is in all plots of its axis, or else where the cursor is.
/** @import { Chart, Colour, Frame, MapPart, Part, Pen, PlotPart, Scale, Theme } from "./types" */

import { acrossOf, endsOf, heightAt, keyOf, labelOf, nearest } from "./data.js";
import { drawShape, LABEL_PIXELS, level, MARGIN, upright } from "./lines.js";
import { formatNumber } from "./scales.js";
import { mixed, rgba } from "./theme.js";

/** @typedef {{ name: string, text?: string, colour?: Colour, at?: [u: number, v: number] }} Row */
/** @typedef {{ x: number, u: number, v: number, hovered: boolean }} ReadoutPlace */

const ROW_PIXELS = 15;
export const HINT_PIXELS = 12; // pixels to a dot whose hint is shown

// A line across at the hovered place, dots on the curves, and their numbers next to it.
/** @type {(chart: Chart, part: Part, pen: Pen, frame: Frame) => void} */
export function drawReadout(chart, part, pen, frame) {
  const place = placeIn(chart, part, frame);
  if (place === null) return;
  const { u, v, x, hovered } = place;
  if (u < frame.left - 1 || u > frame.right + 1) return;
  const theme = /** @type {Theme} */ (chart.theme);
  if (hovered) {
    pen.strokeStyle = rgba(theme.ink, 0.5);
    pen.lineWidth = 1;
    pen.setLineDash([2, 2]);
    pen.beginPath();
    upright(pen, frame.top, frame.bottom, u);
    if (part.kind === "map") level(pen, frame.left, frame.right, v);
    pen.stroke();
    pen.setLineDash([]);
  }
  /** @type {Row[]} */
  const rows = part.kind === "map" ? rowsOfMap(part, frame, place) : rowsAt(chart, part, frame, u);
  for (const { at, colour } of rows) if (at && colour) drawShape(pen, "dot", ...at, colour, theme, 3.2);
  if (hovered && chart.hover?.part === part.name) {
    if (part.kind === "plot") rows.unshift({ name: part.x.label, text: formatNumber(x, part.x.unit, 6) });
    for (const hint of hintsAt(chart, part, frame, u, v)) rows.push({ name: hint });
  }
  drawRows(pen, rows, u, frame, theme, (...box) => pointsInside(chart, part, frame, box));
}

// How many points of curves lie in a box.
/** @type {(chart: Chart, part: Part, frame: Frame, box: [left: number, top: number, wide: number, high: number]) => number} */
function pointsInside(chart, part, { sx, sy, sr }, [left, top, wide, high]) {
  let found = 0;
  for (const curve of part.curves) {
    if (chart.hidden.has(keyOf(part, curve))) continue;
    const scale = curve.right && sr ? sr : sy;
    for (let k = 0; k < curve.x.length; k++) {
      const [across, down] = [sx.at(curve.x[k]) - left, scale.at(curve.y[k]) - top];
      if (across >= 0 && across <= wide && down >= 0 && down <= high) found += 1;
    }
  }
  return found;
}

// The place of the readout in a part: under the mouse (in one, or across all of its axis), or at its cursor.
/** @type {(chart: Chart, part: Part, frame: Frame) => ReadoutPlace | null} */
function placeIn(chart, part, { sx }) {
  const { hover } = chart;
  if (hover && hover.across === acrossOf(part)) {
    const own = hover.part === part.name;
    if (part.kind === "map" && !own) return null;
    return { x: hover.x, u: own && part.kind === "map" ? hover.u : sx.at(hover.x), v: hover.v, hovered: true };
  }
  const cursor = part.marks.find(({ kind, axis }) => kind === "cursor" && axis === "x");
  return cursor ? { x: cursor.at, u: sx.at(cursor.at), v: NaN, hovered: false } : null;
}

// What each curve and each share of a stack is at x.
/** @type {(chart: Chart, part: PlotPart, frame: Frame, u: number) => Row[]} */
function rowsAt(chart, part, { sx, sy, sr }, u) {
  /** @type {Row[]} */
  const rows = [];
  const theme = /** @type {Theme} */ (chart.theme);
  /** @type {(one: { label: string }) => boolean} */
  const shown = (one) => !chart.hidden.has(keyOf(part, one));
  for (const band of part.bands.filter(shown).toReversed()) {
    const k = reached(band.x, sx, u) ? nearest(band.x, band.high, sx, u) : -1;
    if (k < 0) continue;
    const [low, high] = [band.low[k], band.high[k]].map((value) => formatNumber(value, part.y.unit, 3));
    const text = band.solid ? formatNumber(band.high[k] - band.low[k], part.y.unit) : `${low} … ${high}`;
    rows.push({ name: labelOf(band, part), text, colour: theme.curve(band.colour) });
  }
  for (const curve of part.curves.filter((one) => !one.faint && shown(one))) {
    const k = reached(curve.x, sx, u) ? nearest(curve.x, curve.y, sx, u) : -1;
    if (k < 0) continue;
    const scale = curve.right && sr ? sr : sy;
    const { unit } = (curve.right && part.right) || part.y;
    /** @type {[u: number, v: number]} */
    const at = [sx.at(curve.x[k]), scale.at(curve.y[k])];
    rows.push({ name: labelOf(curve, part), text: formatNumber(curve.y[k], unit), colour: theme.curve(curve.colour), at });
  }
  return rows;
}

// Return true if a place lies between the ends of a curve.
/** @type {(x: Float64Array, sx: Scale, u: number) => boolean} */
export const reached = (x, sx, u) => x.length > 0 && u >= sx.at(x[0]) - HINT_PIXELS && u <= sx.at(x[x.length - 1]) + HINT_PIXELS;

/** @type {(part: MapPart, frame: Frame, place: ReadoutPlace) => Row[]} */
function rowsOfMap(part, { sx, sy }, { u, v }) {
  const [x, y] = [sx.back(u), sy.back(v)];
  const rows = [{ name: part.x.label || "x", text: formatNumber(x) }, { name: part.y.label || "y", text: formatNumber(y) }];
  if (part.heights) rows.push({ name: "f", text: formatNumber(heightAt({ x: endsOf(part.x), y: endsOf(part.y), heights: part.heights }, x, y)) });
  return rows;
}

// The hints of dots and marks near the mouse.
/** @type {(chart: Chart, part: Part, frame: Frame, u: number, v: number) => string[]} */
export function hintsAt(chart, part, { sx, sy }, u, v) {
  const found = /** @type {string[]} */ ([]);
  for (const dots of part.dots.filter((one) => !chart.hidden.has(keyOf(part, one)))) {
    for (let k = 0; k < dots.x.length; k++) {
      const hint = dots.hints[k] ?? (part.kind === "map" ? dots.label : "");
      if (hint && Math.hypot(sx.at(dots.x[k]) - u, part.kind === "map" ? sy.at(dots.y[k]) - v : 0) < HINT_PIXELS) found.push(hint);
    }
  }
  for (const mark of part.marks) if (mark.label && mark.axis === "x" && Math.abs(sx.at(mark.at) - u) < HINT_PIXELS / 2) found.push(mark.label);
  return found.slice(0, 5);
}

// A small table next to a place, where there is room and it lies over the fewest points: above or below, on either side.
/** @type {(pen: Pen, rows: Row[], u: number, frame: Frame, theme: Theme, crowded: (left: number, top: number, wide: number, high: number) => number) => void} */
function drawRows(pen, rows, u, frame, theme, crowded) {
  const fitting = rows.slice(0, Math.max(1, Math.floor((frame.bottom - frame.top + 6) / ROW_PIXELS)));
  if (!fitting.length) return;
  pen.font = `${LABEL_PIXELS}px ${theme.font}`;
  const width = (/** @type {string | undefined} */ text) => (text ? pen.measureText(text).width : 0);
  if (rows.length === 1 && rows[0].text && rows[0].colour) fitting[0] = { ...rows[0], name: "" };
  const names = Math.max(...fitting.map(({ name, colour }) => width(name) + (colour ? 14 : 0)));
  const gap = fitting.some(({ name, text }) => name && text) ? 26 : 16;
  const wide = Math.max(...fitting.map(({ text }) => width(text))) + names + gap;
  const high = fitting.length * ROW_PIXELS + 6;
  const sides = [u + 10, u - 10 - wide].filter((at) => at >= 2 && at + wide <= frame.right + MARGIN);
  const heights = [Math.max(1, frame.top + 3), Math.max(1, frame.bottom - high - 3)];
  const places = heights.flatMap((at) => (sides.length ? sides : [2]).map((side) => [side, at]));
  const least = places.map(([side, at]) => crowded(side, at, wide, high));
  const [left, top] = places[least.indexOf(Math.min(...least))];
  pen.fillStyle = rgba(theme.dark ? mixed(theme.ground, theme.ink, 0.13) : theme.ground, 0.86);
  pen.strokeStyle = theme.edge;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(left, top, wide, high, 5);
  pen.fill();
  pen.stroke();
  pen.textBaseline = "middle";
  fitting.forEach(({ name, text, colour }, k) => {
    const v = top + 3 + (k + 0.5) * ROW_PIXELS;
    if (colour) {
      pen.fillStyle = rgba(colour);
      pen.fillRect(left + 8, v - 4, 8, 8);
    }
    pen.textAlign = "left";
    pen.fillStyle = rgba(text ? theme.soft : theme.ink);
    pen.fillText(name, left + (colour ? 22 : 8), v);
    pen.textAlign = "right";
    pen.fillStyle = rgba(theme.ink);
    if (text) pen.fillText(text, left + wide - 8, v);
  });
}
