// @ts-check
// Mouse, fingers, wheel and keys on a chart: hover, zoom in on what is dragged over, wheel, double-click for all of it.
/** @import { Chart, Part, Point, Scale, Span } from "./types" */

import { acrossOf, keyOf, nearest } from "./data.js";
import { listener } from "../dom.js";
import { selected, spanAcross } from "./plot.js";
import { HINT_PIXELS } from "./readout.js";
import { touches } from "./touch.js";

const DRAGGABLE = "here"; // the label of a dot that can be carried
const MIN_DRAG_PIXELS = 6; // pixels that a drag must be long to mean a part
const GRIP_PIXELS = 6; // pixels around the cursor in which it can be grabbed
const DOT_PIXELS = 12; // pixels around a dot that can be carried
const STEP = 1.25;

/** @type {(chart: Chart, part: Part, across: Span | null | undefined, up: Span | null | undefined) => void} */
export function zoomTo(chart, part, across, up) {
  /** @type {(key: string, span: Span | null | undefined, axis: string) => void} */
  const change = (key, span, axis) => {
    if (span === undefined) return;
    if (span) chart.zooms.set(key, span);
    else if (!chart.zooms.delete(key)) return;
    chart.onIntent({ type: "zoom", part: part.name, axis, low: span?.[0] ?? null, high: span?.[1] ?? null });
  };
  change(acrossOf(part), across, part.x.label || "x");
  change(`y ${part.name}`, up, `y ${part.name}`);
  chart.redraw();
}

// A part of an axis, larger or smaller around a pixel.
/** @type {(scale: Scale, pixel: number, factor: number) => Span} */
function around(scale, pixel, factor) {
  const ends = [scale.from, scale.to].map((end) => scale.back(pixel + (end - pixel) * factor));
  return [Math.min(...ends), Math.max(...ends)];
}

/** @type {(chart: Chart, part: Part, factor: number, u: number, v: number) => boolean} */
function zoomBy(chart, part, factor, u, v) {
  const { sx, sy } = part.frame;
  const wide = around(sx, u, factor);
  if (factor > 1 && !chart.zooms.has(acrossOf(part))) return false;
  const whole = wholeAcross(chart, part);
  if (wide[0] <= whole[0] && wide[1] >= whole[1]) zoomTo(chart, part, null, null);
  else zoomTo(chart, part, [Math.max(wide[0], whole[0]), Math.min(wide[1], whole[1])], part.kind === "map" ? around(sy, v, factor) : undefined);
  return true;
}

/** @type {(chart: Chart, part: Part) => Span} */
function wholeAcross(chart, part) {
  return spanAcross({ ...chart, zooms: new Map() }, part);
}

// Listens to a canvas; returns what ends that. `part` returns what the canvas shows now.
/** @type {(chart: Chart, canvas: HTMLCanvasElement, part: () => Part) => () => void} */
export function listen(chart, canvas, part) {
  const ending = new AbortController();
  const on = listener(canvas, ending.signal);
  const place = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { u: event.clientX - box.left, v: event.clientY - box.top };
  };
  const gripped = (/** @type {Point} */ { u }) => {
    const cursor = part().marks.find(({ kind }) => kind === "cursor");
    return !!cursor && Math.abs(part().frame.sx.at(cursor.at) - u) < GRIP_PIXELS;
  };
  // The dot of a map that may be carried to another place, if the mouse is near it.
  const carried = (/** @type {Point} */ { u, v }) => {
    const { sx, sy } = part().frame;
    return part().dots.find(({ label, x, y }) => label === DRAGGABLE && x.length && Math.hypot(sx.at(x[0]) - u, sy.at(y[0]) - v) < DOT_PIXELS);
  };
  const fingers = touches(chart, part, zoomTo);
  on("pointerdown", (event) => {
    if (event.button !== 0 || !inside(part(), place(event))) return;
    canvas.setPointerCapture(event.pointerId);
    const from = place(event);
    if (fingers.down(event, from, gripped(from) || !!carried(from))) return;
    chart.drag = { part: part().name, from, to: from, seeks: gripped(from), carries: !!carried(from) };
  });
  on("touchstart", (event) => {
    if (fingers.holds(event)) event.preventDefault(); // the page neither scrolls nor zooms
  }, { passive: false });
  on("pointermove", (event) => {
    const to = place(event);
    if (fingers.move(event, to)) return;
    canvas.style.cursor = gripped(to) ? "ew-resize" : chart.drag?.carries ? "grabbing" : carried(to) ? "grab" : "crosshair";
    if (chart.drag?.seeks) chart.onIntent({ type: "seek", x: part().frame.sx.back(to.u) });
    if (chart.drag) chart.drag.to = to;
    hoverAt(chart, part(), to);
  });
  const end = (/** @type {PointerEvent} */ event) => {
    const { drag } = chart;
    chart.drag = null;
    const meant = fingers.up(event);
    if (meant === "tap" && event.type === "pointerup") pick(chart, part(), place(event));
    if (meant) return chart.redraw();
    if (!drag || event.type === "pointercancel") return chart.redraw();
    const [left, right, top, bottom] = selected(drag.from, drag.to, part().frame);
    const { sx, sy } = part().frame;
    if (drag.seeks) chart.onIntent({ type: "seek", x: sx.back(drag.to.u) });
    else if (drag.carries) pick(chart, part(), drag.to);
    else if (Math.hypot(drag.to.u - drag.from.u, drag.to.v - drag.from.v) >= MIN_DRAG_PIXELS) {
      const across = right - left < sx.to - sx.from - 1 ? /** @type {Span} */ ([sx.back(left), sx.back(right)]) : undefined;
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
    if (!chart.ownWheel(event) || !inside(part(), place(event))) return;
    const { u, v } = place(event);
    if (!zoomBy(chart, part(), STEP ** Math.max(-2, Math.min(2, event.deltaY / 60)), u, v)) return;
    event.preventDefault();
    event.stopPropagation();
    hoverAt(chart, part(), place(event));
  }, { passive: false });
  on("keydown", (event) => onKey(chart, part(), event));
  return () => ending.abort();
}

/** @type {(part: Part, point: Point) => boolean} */
const inside = ({ frame }, { u, v }) => u >= frame.left - 4 && u <= frame.right + 8 && v >= frame.top - 4 && v <= frame.bottom + 4;

// Look at a place: the point of a curve next to it.
/** @type {(chart: Chart, part: Part, point: Point) => void} */
export function hoverAt(chart, part, { u, v }) {
  const { sx } = part.frame;
  let x = sx.back(u);
  const curve = part.curves.find((one) => !one.faint && one.x.length && !chart.hidden.has(keyOf(part, one)));
  const along = curve ?? part.bands[0];
  if (part.kind === "plot" && along) {
    const k = nearest(along.x, "y" in along ? along.y : along.high, sx, u);
    if (k >= 0) x = along.x[k];
  }
  chart.hover = { part: part.name, across: acrossOf(part), x, u, v };
  chart.redraw();
}

// A click: which curve it was on, if any.
/** @type {(chart: Chart, part: Part, point: Point) => void} */
export function pick(chart, part, { u, v }) {
  const { sx, sy } = part.frame;
  let [best, shortest] = /** @type {[string, number]} */ (["", HINT_PIXELS]);
  for (const curve of [...part.curves, ...part.dots]) {
    for (let k = 0; k < curve.x.length; k++) {
      const away = Math.hypot(sx.at(curve.x[k]) - u, sy.at(curve.y[k]) - v);
      if (away < shortest) [best, shortest] = [curve.label, away];
    }
  }
  chart.onIntent({ type: "pick", part: part.name, label: best, x: sx.back(u), y: sy.back(v) });
}

// Keys on a plot that has the focus: plus and minus, 0 or Escape for all of it, arrows along the curve.
/** @type {(chart: Chart, part: Part, event: KeyboardEvent) => void} */
function onKey(chart, part, event) {
  const { left, right, top, bottom } = part.frame;
  const [u, v] = [chart.hover?.u ?? (left + right) / 2, chart.hover?.v ?? (top + bottom) / 2];
  /** @type {Record<string, () => unknown>} */
  const acts = {
    "+": () => zoomBy(chart, part, 1 / STEP ** 2, u, v),
    "=": () => zoomBy(chart, part, 1 / STEP ** 2, u, v),
    "-": () => zoomBy(chart, part, STEP ** 2, u, v),
    0: () => zoomTo(chart, part, null, null),
    Escape: () => zoomTo(chart, part, null, null),
    ArrowLeft: () => hoverAt(chart, part, { u: Math.max(left, u - (event.shiftKey ? 40 : 4)), v }),
    ArrowRight: () => hoverAt(chart, part, { u: Math.min(right, u + (event.shiftKey ? 40 : 4)), v }),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  acts[event.key]();
  event.preventDefault();
  event.stopPropagation();
}
