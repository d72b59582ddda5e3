// @ts-check
// Two fingers on a chart zoom and move it; where it is zoomed in, one finger moves it.
/** @import { Chart, Part, Point, Scale, Span } from "./types" */

import { acrossOf } from "./data.js";
import { spanAcross } from "./plot.js";

const TAP_PIXELS = 6; // pixels that fingers must move to mean more than a tap

/** @type {(chart: Chart, part: Part) => boolean} */
const zoomed = (chart, part) => chart.zooms.has(acrossOf(part)) || chart.zooms.has(`y ${part.name}`);

// The part of an axis that is seen after what lay at pixel `old` has come to `now`, as many times smaller as `factor`; null for
// all of it. whole: its ends.
/** @type {(scale: Scale, whole: Span, old: number, now: number, factor: number) => Span | null} */
export function spanAfter(scale, whole, old, now, factor) {
  const sorted = (/** @type {number[]} */ ends) => ends.toSorted((a, b) => a - b);
  const [low, high] = sorted([scale.from, scale.to].map((end) => old + (end - now) * factor));
  const [first, last] = sorted(whole.map((end) => scale.at(end)));
  if (high - low >= last - first) return null;
  const shift = Math.max(0, first - low) || Math.min(0, last - high);
  return /** @type {Span} */ (sorted([low, high].map((pixel) => scale.back(pixel + shift))));
}

// Follows fingers on a canvas. zoomTo: sets what is seen. down and move return whether the fingers mean this, and nothing
// else; carries: whether the first finger is on what can be carried; up says what they meant. holds: whether the page must not scroll meanwhile.
/** @type {(chart: Chart, part: () => Part, zoomTo: (chart: Chart, part: Part, across: Span | null, up: Span | null | undefined) => void) => { down: (event: PointerEvent, point: Point, carries: boolean) => boolean, move: (event: PointerEvent, point: Point) => boolean, up: (event: PointerEvent) => "drag" | "tap" | "", holds: (event: TouchEvent) => boolean }} */
export function touches(chart, part, zoomTo) {
  /** @type {Map<number, Point>} */
  const fingers = new Map();
  let base = { fingers: /** @type {Point[]} */ ([]), sx: part().frame?.sx, sy: part().frame?.sy };
  let taken = false;
  let tap = true;
  const begin = () => (base = { fingers: [...fingers.values()], sx: part().frame.sx, sy: part().frame.sy });

  function follow() {
    const [before, after] = [base.fingers, [...fingers.values()]];
    const middle = (/** @type {Point[]} */ all, /** @type {"u" | "v"} */ way) => all.reduce((sum, point) => sum + point[way], 0) / all.length;
    const reach = (/** @type {Point[]} */ [a, b]) => (b ? Math.max(Math.hypot(a.u - b.u, a.v - b.v), 1) : 1);
    const [factor, one] = [reach(before) / reach(after), part()];
    const whole = spanAcross({ ...chart, zooms: new Map() }, one);
    const across = spanAfter(base.sx, whole, middle(before, "u"), middle(after, "u"), factor);
    const up = one.kind === "map" ? spanAfter(base.sy, [Number(one.y.low), Number(one.y.high)], middle(before, "v"), middle(after, "v"), factor) : undefined;
    zoomTo(chart, one, across, up);
  }

  return {
    down(event, point, carries) {
      if (event.pointerType !== "touch") return false;
      fingers.set(event.pointerId, point);
      begin();
      if (fingers.size === 1) [taken, tap] = [!carries && zoomed(chart, part()), true];
      else [taken, tap] = [true, false];
      if (taken) chart.drag = null;
      return taken;
    },
    move(event, point) {
      if (!fingers.has(event.pointerId)) return false;
      fingers.set(event.pointerId, point);
      if (!taken) return false;
      const [first] = base.fingers;
      tap &&= Math.hypot(point.u - first.u, point.v - first.v) < TAP_PIXELS;
      if (!tap) follow();
      return true;
    },
    up(event) {
      if (!fingers.delete(event.pointerId) || !taken) return "";
      if (fingers.size) begin();
      return tap ? "tap" : "drag";
    },
    holds: (event) => event.touches.length > 1 || (part().kind === "map" && zoomed(chart, part())),
  };
}
