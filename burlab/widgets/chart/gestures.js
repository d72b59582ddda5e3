// @ts-check
// Mouse, wheel and keys on a chart: look, zoom in on what is dragged over, wheel, double-click for all of it.

import { acrossOf, nearest } from "./data.js";
import { keyOf, spanAcross } from "./plot.js";
import { NEAR } from "./readout.js";

const SMALLEST = 6; // pixels that a drag must be long to mean a part
const FLAT = 14; // pixels across its direction, below which it means the whole of the other axis
export const CALM = 350; // milliseconds without a turn of the wheel, after which one on a plot is meant for it
const GRIP = 6; // pixels around the cursor where it can be taken
const STEP = 1.25;

// left, right, top and bottom of what is dragged over, in pixels.
export function selected(from, to, frame) {
  const within = (value, low, high) => Math.max(low, Math.min(high, value));
  const [u, v] = [[from.u, to.u], [from.v, to.v]].map((ends) => ends.toSorted((a, b) => a - b));
  const [wide, high] = [u[1] - u[0], v[1] - v[0]];
  const across = wide >= FLAT || wide >= high ? u : [frame.left, frame.right];
  const up = high >= FLAT && !(wide >= 6 * high) ? v : [frame.top, frame.bottom];
  return [...across.map((p) => within(p, frame.left, frame.right)), ...up.map((p) => within(p, frame.top, frame.bottom))];
}

export function zoomTo(chart, part, across, up) {
  const change = (key, span, say) => {
    if (span === undefined) return;
    if (span) chart.zooms.set(key, span);
    else if (!chart.zooms.delete(key)) return;
    chart.onIntent({ type: "zoom", part: part.name, axis: say, low: span?.[0] ?? null, high: span?.[1] ?? null });
  };
  change(acrossOf(part), across, part.x.label || "x");
  change(`y ${part.name}`, up, `y ${part.name}`);
  chart.redraw();
}

// A part of an axis, larger or smaller around a pixel.
function around(scale, pixel, factor) {
  return [scale.back(pixel + (scale.from - pixel) * factor), scale.back(pixel + (scale.to - pixel) * factor)].toSorted((a, b) => a - b);
}

function zoomBy(chart, part, factor, u, v) {
  const { sx, sy } = part.frame;
  const wide = around(sx, u, factor);
  if (factor > 1 && !chart.zooms.has(acrossOf(part))) return false;
  const whole = wholeAcross(chart, part);
  if (wide[0] <= whole[0] && wide[1] >= whole[1]) zoomTo(chart, part, null, null);
  else zoomTo(chart, part, [Math.max(wide[0], whole[0]), Math.min(wide[1], whole[1])], part.kind === "map" ? around(sy, v, factor) : undefined);
  return true;
}

function wholeAcross(chart, part) {
  return spanAcross({ ...chart, zooms: new Map() }, part);
}

// Listens to a canvas; gives what ends that. `part` gives what the canvas shows now.
export function listen(chart, canvas, part) {
  const ending = new AbortController();
  const on = (type, then, options) => canvas.addEventListener(type, then, { signal: ending.signal, ...options });
  let turned = -Infinity;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { u: event.clientX - box.left, v: event.clientY - box.top };
  };
  const gripped = ({ u }) => {
    const cursor = part().marks.find(({ kind }) => kind === "cursor");
    return cursor && Math.abs(part().frame.sx.at(cursor.at) - u) < GRIP;
  };
  on("pointerdown", (event) => {
    if (event.button !== 0 || !inside(part(), place(event))) return;
    canvas.setPointerCapture(event.pointerId);
    const from = place(event);
    chart.drag = { part: part().name, from, to: from, seeks: gripped(from) };
  });
  on("pointermove", (event) => {
    const to = place(event);
    canvas.style.cursor = gripped(to) ? "ew-resize" : "crosshair";
    if (chart.drag?.seeks) chart.onIntent({ type: "seek", x: part().frame.sx.back(to.u) });
    if (chart.drag) chart.drag.to = to;
    look(chart, part(), to);
  });
  const end = (event) => {
    const { drag } = chart;
    chart.drag = null;
    if (!drag || event.type === "pointercancel") return chart.redraw();
    const [left, right, top, bottom] = selected(drag.from, drag.to, part().frame);
    const { sx, sy } = part().frame;
    if (drag.seeks) chart.onIntent({ type: "seek", x: sx.back(drag.to.u) });
    else if (Math.hypot(drag.to.u - drag.from.u, drag.to.v - drag.from.v) >= SMALLEST) {
      const across = right - left < sx.to - sx.from - 1 ? [sx.back(left), sx.back(right)] : undefined;
      zoomTo(chart, part(), across, bottom - top < sy.from - sy.to - 1 ? [sy.back(bottom), sy.back(top)] : undefined);
    } else pick(chart, part(), drag.to);
    return chart.redraw();
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("pointerleave", () => {
    chart.hover = null;
    chart.redraw();
  });
  on("dblclick", () => zoomTo(chart, part(), null, null));
  on("wheel", (event) => {
    const calm = event.timeStamp - Math.max(turned, chart.scrolled) > CALM || event.timeStamp - turned < CALM;
    if (!calm || !inside(part(), place(event))) return;
    const { u, v } = place(event);
    if (!zoomBy(chart, part(), STEP ** Math.max(-2, Math.min(2, event.deltaY / 60)), u, v)) return;
    turned = event.timeStamp;
    event.preventDefault();
    event.stopPropagation();
    look(chart, part(), place(event));
  }, { passive: false });
  on("keydown", (event) => keyed(chart, part(), event));
  return () => ending.abort();
}

const inside = ({ frame }, { u, v }) => u >= frame.left - 4 && u <= frame.right + 8 && v >= frame.top - 4 && v <= frame.bottom + 4;

// Look at a place: the point of a curve next to it.
export function look(chart, part, { u, v }) {
  const { sx } = part.frame;
  let x = sx.back(u);
  const curve = part.curves.find((one) => !one.faint && one.x.length && !chart.hidden.has(keyOf(part, one))) ?? part.bands[0];
  if (part.kind === "plot" && curve) {
    const k = nearest(curve.x, curve.y ?? curve.high, sx, u);
    if (k >= 0) x = curve.x[k];
  }
  chart.hover = { part: part.name, across: acrossOf(part), x, u, v };
  chart.redraw();
}

// A click: which curve it was on, if any.
export function pick(chart, part, { u, v }) {
  const { sx, sy } = part.frame;
  let [best, least] = ["", NEAR];
  for (const curve of [...part.curves, ...part.dots]) {
    for (let k = 0; k < curve.x.length; k++) {
      const away = Math.hypot(sx.at(curve.x[k]) - u, sy.at(curve.y[k]) - v);
      if (away < least) [best, least] = [curve.label, away];
    }
  }
  chart.onIntent({ type: "pick", part: part.name, label: best, x: sx.back(u), y: sy.back(v) });
}

// Keys on a plot that has the focus: plus and minus, 0 or Escape for all of it, arrows along the curve.
function keyed(chart, part, event) {
  const { left, right, top, bottom } = part.frame;
  const [u, v] = [chart.hover?.u ?? (left + right) / 2, chart.hover?.v ?? (top + bottom) / 2];
  const acts = {
    "+": () => zoomBy(chart, part, 1 / STEP ** 2, u, v),
    "=": () => zoomBy(chart, part, 1 / STEP ** 2, u, v),
    "-": () => zoomBy(chart, part, STEP ** 2, u, v),
    0: () => zoomTo(chart, part, null, null),
    Escape: () => zoomTo(chart, part, null, null),
    ArrowLeft: () => look(chart, part, { u: Math.max(left, u - (event.shiftKey ? 40 : 4)), v }),
    ArrowRight: () => look(chart, part, { u: Math.min(right, u + (event.shiftKey ? 40 : 4)), v }),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  acts[event.key]();
  event.preventDefault();
  event.stopPropagation();
}
