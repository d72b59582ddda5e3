// @ts-check
// What a chart says about a place: where the mouse is in all plots of its axis, or else where the cursor is.

import { acrossOf, heightAt, labelOf, nearest } from "./data.js";
import { drawShape } from "./lines.js";
import { MARGIN, SMALL, keyOf, level, upright } from "./plot.js";
import { formatNumber } from "./scales.js";
import { mixed, rgba } from "./theme.js";

const LINE = 15;
export const NEAR = 12; // pixels to a dot whose hint is said

// A line across at the place that is looked at, dots on the curves, and their numbers beside it.
export function drawLooking(chart, part, pen, frame) {
  const place = lookedAt(chart, part, frame);
  if (place === null) return;
  const { u, v, x, hovered } = place;
  if (u < frame.left - 1 || u > frame.right + 1) return;
  const theme = chart.theme;
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
  const rows = part.kind === "map" ? rowsOfMap(part, frame, place) : rowsAt(chart, part, frame, x, u);
  for (const { at, colour } of rows) if (at) drawShape(pen, "dot", ...at, colour, theme, 3.2);
  if (hovered && chart.hover.part === part.name) {
    if (part.kind === "plot") rows.unshift({ name: part.x.label, text: formatNumber(x, part.x.unit, 6) });
    for (const hint of hintsAt(chart, part, frame, u, v)) rows.push({ name: hint });
  }
  drawRows(pen, rows, u, frame, theme, (...box) => crowd(chart, part, frame, box));
}

// How many points of curves lie in a box.
function crowd(chart, part, { sx, sy, sr }, [left, top, wide, high]) {
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

// Where someone looks in a part: under the mouse (in one, or across all of its axis), or at its cursor.
function lookedAt(chart, part, { sx }) {
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
function rowsAt(chart, part, { sx, sy, sr }, x, u) {
  const rows = [];
  const shown = (one) => !chart.hidden.has(keyOf(part, one));
  for (const band of part.bands.filter(shown).toReversed()) {
    const k = reached(band.x, sx, u) ? nearest(band.x, band.high, sx, u) : -1;
    if (k < 0) continue;
    const [low, high] = [band.low[k], band.high[k]].map((value) => formatNumber(value, part.y.unit, 3));
    const text = band.solid ? formatNumber(band.high[k] - band.low[k], part.y.unit) : `${low} … ${high}`;
    rows.push({ name: labelOf(band, part), text, colour: chart.theme.curve(band.colour) });
  }
  for (const curve of part.curves.filter((one) => !one.faint && shown(one))) {
    const k = reached(curve.x, sx, u) ? nearest(curve.x, curve.y, sx, u) : -1;
    if (k < 0) continue;
    const [scale, { unit }] = curve.right && sr ? [sr, part.right] : [sy, part.y];
    const at = [sx.at(curve.x[k]), scale.at(curve.y[k])];
    rows.push({ name: labelOf(curve, part), text: formatNumber(curve.y[k], unit), colour: chart.theme.curve(curve.colour), at });
  }
  return rows;
}

// Whether a curve has come to a place: what lies beyond its ends, it does not know.
export const reached = (x, sx, u) => x.length > 0 && u >= sx.at(x[0]) - NEAR && u <= sx.at(x.at(-1)) + NEAR;

function rowsOfMap(part, { sx, sy }, { u, v }) {
  const [x, y] = [sx.back(u), sy.back(v)];
  const rows = [{ name: part.x.label || "x", text: formatNumber(x) }, { name: part.y.label || "y", text: formatNumber(y) }];
  if (part.heights) rows.push({ name: "f", text: formatNumber(heightAt(part, x, y)) });
  return rows;
}

// The hints of dots and marks near the mouse.
export function hintsAt(chart, part, { sx, sy }, u, v) {
  const found = [];
  for (const dots of part.dots.filter((one) => !chart.hidden.has(keyOf(part, one)))) {
    for (let k = 0; k < dots.x.length; k++) {
      const hint = dots.hints[k] ?? (part.kind === "map" ? dots.label : "");
      if (hint && Math.hypot(sx.at(dots.x[k]) - u, part.kind === "map" ? sy.at(dots.y[k]) - v : 0) < NEAR) found.push(hint);
    }
  }
  for (const mark of part.marks) if (mark.label && mark.axis === "x" && Math.abs(sx.at(mark.at) - u) < NEAR / 2) found.push(mark.label);
  return found.slice(0, 5);
}

// A small table beside a place, where there is room and it lies over the fewest points: above or below, on either side.
function drawRows(pen, rows, u, frame, theme, crowded) {
  const fitting = rows.slice(0, Math.max(1, Math.floor((frame.bottom - frame.top + 6) / LINE)));
  if (!fitting.length) return;
  pen.font = `${SMALL}px ${theme.font}`;
  const width = (text) => (text ? pen.measureText(text).width : 0);
  if (rows.length === 1 && rows[0].text && rows[0].colour) fitting[0] = { ...rows[0], name: "" };
  const names = Math.max(...fitting.map(({ name, colour }) => width(name) + (colour ? 14 : 0)));
  const gap = fitting.some(({ name, text }) => name && text) ? 26 : 16;
  const wide = Math.max(...fitting.map(({ text }) => width(text))) + names + gap;
  const high = fitting.length * LINE + 6;
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
    const v = top + 3 + (k + 0.5) * LINE;
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
