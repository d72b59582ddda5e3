// @ts-check
// One part of a chart on its canvas: axes, what stands between them, and what is read at a place.
/** @import { Chart, Drag, Frame, Part, Pen, Point, Scale, Span, Theme, Tick } from "./types" */
/** @import { Axis, Curve } from "../messages" */

import { acrossOf, keyOf, widen } from "./data.js";
import { MAX_DOTTED_POINTS, drawBand, drawCurve, drawDots, drawMark, drawShape, crisp, LABEL_PIXELS, level, MARGIN, upright } from "./lines.js";
import { shadesOf } from "./map.js";
import { drawReadout } from "./readout.js";
import { scaled, ticksOf, withRoom } from "./scales.js";
import { rgba } from "./theme.js";

export const GUTTER = 56; // pixels left of every plot, for labels, or more: plots one below the other stand in line
const LINE_PIXELS = 13; // pixels from one line of labels to the next
const FLAT_PIXELS = 14; // pixels across its direction, below which it means the whole of the other axis
const ROOM = { top: 7, ticks: 20, label: 16, none: 7 };

// The ends of the axis across, common to all parts that share it.
/** @type {(chart: Chart, part: Part) => Span} */
export function spanAcross(chart, part) {
  const zoomed = chart.zooms.get(acrossOf(part));
  if (zoomed) return zoomed;
  if (part.kind === "map") return [Number(part.x.low), Number(part.x.high)];
  let span = /** @type {Span} */ ([Infinity, -Infinity]);
  let [low, high] = /** @type {(number | null)[]} */ ([null, null]);
  for (const other of chart.parts.filter((one) => acrossOf(one) === acrossOf(part))) {
    for (const one of [...other.curves, ...other.bands, ...other.dots]) span = widen(span, one.x, part.x);
    low ??= other.x.low;
    high ??= other.x.high;
  }
  if (part.x.log && part.x.floor && span[0] > part.x.floor) span[0] = part.x.floor;
  if (!(span[0] <= span[1])) span = part.x.log ? [part.x.floor || 1, 10] : [0, 10];
  if (span[0] === span[1]) span = part.x.log ? [span[0], span[0] * 10] : [span[0] - 0.03, span[0] + 1]; // a dot, not at the edge
  const roomy = withRoom(part.x, ...span, 0.012);
  return [low ?? (part.x.log ? roomy[0] : span[0]), high ?? roomy[1]];
}

// The ends of the axis upwards: those chosen by hand, those stated, or those of what is in sight.
/** @type {(chart: Chart, part: Part, across: Span) => Span} */
function spanUp(chart, part, across) {
  const zoomed = chart.zooms.get(`y ${part.name}`);
  if (zoomed) return zoomed;
  if (part.kind === "map") return [Number(part.y.low), Number(part.y.high)];
  const window = chart.zooms.has(acrossOf(part)) ? across : null;
  /** @type {(one: { label: string, right?: boolean }) => boolean} */
  const shown = (one) => !one.right && !chart.hidden.has(keyOf(part, one));
  let span = /** @type {Span} */ ([Infinity, -Infinity]);
  for (const one of [...part.curves, ...part.dots].filter(shown)) span = widen(span, one.y, part.y, one.x, window);
  for (const band of part.bands.filter(shown)) {
    span = widen(span, band.low, part.y, band.x, window);
    span = widen(span, band.high, part.y, band.x, window);
  }
  for (const mark of part.marks) if (mark.axis === "y") span = widen(span, [mark.at], part.y);
  const { floor, log } = part.y;
  if (log && floor) span = [Math.min(span[0], floor), Math.max(span[1], floor)];
  if (!window && part.y.low !== null) span[0] = part.y.low;
  if (!window && part.y.high !== null) span[1] = part.y.high;
  const [low, high] = withRoom(part.y, ...span, 0.07);
  const stack = part.bands.some((band) => band.solid) && !log && span[0] >= 0;
  return [stack ? 0 : low, high];
}

// The scale of the axis on the right, which only some curves have; null if there is none.
/** @type {(part: Part, ends: { bottom: number, top: number }) => Scale | null} */
function scaledRight(part, { bottom, top }) {
  if (part.kind === "map" || !part.right) return null;
  let span = /** @type {Span} */ ([Infinity, -Infinity]);
  for (const one of part.curves.filter(({ right }) => right)) span = widen(span, one.y, part.right);
  const [low, high] = withRoom(part.right, ...span, 0.07);
  return scaled(part.right, [part.right.low ?? low, part.right.high ?? high], bottom, top);
}

// The frame between the axes, in pixels; maps with equal scales take a part of their place.
/** @type {(chart: Chart, part: Part, width: number, height: number) => Frame} */
function framed(chart, part, width, height) {
  const foot = part.foot ? ROOM.ticks + (part.x.label ? ROOM.label : 0) : ROOM.none;
  const frame = { left: chart.gutter, top: ROOM.top, right: width - MARGIN, bottom: height - foot };
  const x = spanAcross(chart, part);
  const y = spanUp(chart, part, x);
  if (part.kind === "map" && part.equal) {
    const per = Math.min((frame.right - frame.left) / (x[1] - x[0]), (frame.bottom - frame.top) / (y[1] - y[0]));
    const [spare, above] = [frame.right - frame.left - per * (x[1] - x[0]), frame.bottom - frame.top - per * (y[1] - y[0])];
    frame.left += spare / 2;
    frame.right -= spare / 2;
    frame.top += above / 2;
    frame.bottom -= above / 2;
  }
  const [sx, sy] = [scaled(part.x, x, frame.left, frame.right), scaled(part.y, y, frame.bottom, frame.top)];
  return { ...frame, sx, sy, sr: scaledRight(part, frame) };
}

/** @type {(chart: Chart, part: Part, pen: Pen, width: number, height: number, ratio: number) => void} */
export function drawPart(chart, part, pen, width, height, ratio) {
  const theme = /** @type {Theme} */ (chart.theme);
  const frame = (part.frame = framed(chart, part, width, height));
  const { sx, sy, sr } = frame;
  /** @type {(curve: Curve) => Scale} */
  const up = (curve) => (curve.right && sr ? sr : sy);
  pen.clearRect(0, 0, width, height);
  widenGutter(chart, drawAxes(pen, part, frame, theme));
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top - 2, frame.right - frame.left + 1, frame.bottom - frame.top + 4);
  pen.clip();
  if (part.kind === "map" && part.heights) {
    const picture = shadesOf(part, sx, sy, theme, ratio);
    pen.drawImage(picture, sx.from, sy.to, sx.to - sx.from, sy.from - sy.to);
  }
  /** @type {(one: { label: string }) => boolean} */
  const shown = (one) => !chart.hidden.has(keyOf(part, one));
  for (const band of part.bands.filter(shown)) drawBand(pen, band, sx, sy, theme);
  const curves = part.curves.filter(shown);
  for (const curve of curves.filter(({ faint }) => faint)) drawCurve(pen, curve, sx, up(curve), theme);
  for (const curve of curves.filter(({ faint }) => !faint)) drawCurve(pen, curve, sx, up(curve), theme, part.kind === "map" ? 2 : 1.6);
  for (const mark of part.marks) drawMark(pen, mark, frame, sx, sy, theme);
  for (const dots of part.dots.filter(shown)) drawDots(pen, dots, sx, sy, theme);
  pen.restore();
  if (sr && part.kind === "plot" && part.right) drawRight(pen, part.right, sr, frame, theme);
  drawReadout(chart, part, pen, frame);
  if (chart.drag?.part === part.name) (chart.drag.carries ? drawDragged : drawSelection)(pen, chart.drag, frame, theme);
}

// Returns the width of the labels upwards.
/** @type {(pen: Pen, part: Part, frame: Frame, theme: Theme) => number} */
function drawAxes(pen, part, frame, theme) {
  const { sx, sy, left, right, top, bottom } = frame;
  const short = part.kind === "plot";
  const ups = ticksOf(part.y, [sy.low, sy.high], Math.max(2, Math.round((bottom - top) / (short ? 28 : 50))));
  const shown = [...part.curves, ...part.bands, ...part.dots].filter(({ x }) => x.length);
  if (short && !shown.length) {
    drawNothing(pen, frame, theme);
    return 0;
  }
  const whole = shown.every(({ x }) => x.length <= MAX_DOTTED_POINTS && x.every((value) => Number.isInteger(value)));
  const alongs = ticksOf(part.x, [sx.low, sx.high], Math.max(2, Math.round((right - left) / 74)), short, whole && short);
  pen.lineWidth = 1;
  if (part.kind === "plot") {
    pen.strokeStyle = theme.grid;
    pen.beginPath();
    for (const { value } of ups.labels) level(pen, left, right, sy.at(value));
    for (const { value } of alongs.labels) upright(pen, top, bottom, sx.at(value));
    pen.stroke();
  }
  pen.strokeStyle = theme.edge;
  pen.beginPath();
  level(pen, left, right, bottom);
  upright(pen, top, bottom, left);
  pen.stroke();
  if (part.y.log && part.y.floor && part.y.floor >= sy.low) {
    pen.setLineDash([1, 3]);
    pen.beginPath();
    level(pen, left, right, sy.at(part.y.floor));
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.font = `${LABEL_PIXELS}px ${theme.font}`;
  pen.fillStyle = rgba(theme.soft);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  let [free, wide] = [Infinity, 0];
  for (const { value, text } of ups.labels) {
    const v = sy.at(value);
    if (v < top - 1 || v > Math.min(bottom + 1, free)) continue;
    pen.fillText(text, left - 6, v);
    wide = Math.max(wide, pen.measureText(text).width);
    free = v - LINE_PIXELS;
  }
  if (part.foot) drawFoot(pen, part, frame, alongs.labels);
  const named = part.y.label !== "" && part.y.label !== part.title;
  if (named) drawSide(pen, part.y.label, frame, wide);
  return wide + (named ? LINE_PIXELS : 0);
}

// Numbers that do not fit left of a plot make room for themselves in all plots, in the next frame.
/** @type {(chart: Chart, wide: number) => void} */
function widenGutter(chart, wide) {
  const needed = Math.ceil(wide) + 10;
  if (needed <= chart.gutter) return;
  chart.gutter = needed;
  chart.redraw();
}

// A plot without numbers has no axes that could show where they are.
/** @type {(pen: Pen, frame: Frame, theme: Theme) => void} */
function drawNothing(pen, { left, right, top, bottom }, theme) {
  pen.strokeStyle = theme.grid;
  pen.strokeRect(crisp(left), crisp(top), Math.floor(right - left), Math.floor(bottom - top));
  [pen.font, pen.textAlign, pen.textBaseline] = [`${LABEL_PIXELS}px ${theme.font}`, "center", "middle"];
  pen.fillStyle = rgba(theme.soft);
  pen.fillText("nothing yet", (left + right) / 2, (top + bottom) / 2);
}

// The labels of the axis on the right, inside of the frame: plots one below the other stay in line.
/** @type {(pen: Pen, axis: Axis, scale: Scale, frame: Frame, theme: Theme) => void} */
function drawRight(pen, axis, scale, { right, top }, theme) {
  pen.font = `${LABEL_PIXELS - 1}px ${theme.font}`;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  pen.strokeStyle = rgba(theme.ground, 0.8);
  pen.fillStyle = rgba(theme.ink);
  for (const { value, text } of ticksOf(axis, [scale.low, scale.high], 3).labels) {
    const at = scale.at(value);
    if (value <= scale.low || at < top + 4) continue;
    pen.strokeText(text, right - 4, at);
    pen.fillText(text, right - 4, at);
  }
}

// The label of the axis upwards, along it; a letter or two upright.
/** @type {(pen: Pen, label: string, frame: Frame, wide: number) => void} */
function drawSide(pen, label, { left, top, bottom }, wide) {
  pen.save();
  pen.translate(left - Math.max(46, wide + 12), (top + bottom) / 2);
  if (label.length > 3) pen.rotate(-Math.PI / 2);
  pen.textAlign = label.length > 3 ? "center" : "left";
  pen.fillText(label, label.length > 3 ? 0 : -8, 0, bottom - top);
  pen.restore();
}

// Labels below, none over another, none cut off.
/** @type {(pen: Pen, part: Part, frame: Frame, labels: Tick[]) => void} */
function drawFoot(pen, part, { sx, left, right, bottom }, labels) {
  pen.textBaseline = "top";
  pen.textAlign = "left";
  let free = -Infinity;
  for (const { value, text } of labels) {
    const at = sx.at(value);
    if (at < left - 1 || at > right + 1) continue;
    const wide = pen.measureText(text).width;
    const start = Math.max(2, Math.min(at - wide / 2, right + MARGIN - wide - 1));
    if (start < free) continue;
    pen.fillText(text, start, bottom + 6);
    free = start + wide + 8;
  }
  if (!part.x.label) return;
  pen.textAlign = "center";
  pen.fillText(part.x.label, (left + right) / 2, bottom + ROOM.ticks);
}

// left, right, top and bottom of what is dragged over, in pixels.
/** @type {(from: Point, to: Point, frame: Omit<Frame, "sx" | "sy" | "sr">) => [left: number, right: number, top: number, bottom: number]} */
export function selected(from, to, frame) {
  /** @type {(value: number, low: number, high: number) => number} */
  const within = (value, low, high) => Math.max(low, Math.min(high, value));
  const [u, v] = [[from.u, to.u], [from.v, to.v]].map((ends) => ends.toSorted((a, b) => a - b));
  const [wide, high] = [u[1] - u[0], v[1] - v[0]];
  const across = wide >= FLAT_PIXELS || wide >= high ? u : [frame.left, frame.right];
  const up = high >= FLAT_PIXELS && !(wide >= 6 * high) ? v : [frame.top, frame.bottom];
  const [left, right] = across.map((p) => within(p, frame.left, frame.right));
  return [left, right, within(up[0], frame.top, frame.bottom), within(up[1], frame.top, frame.bottom)];
}

/** @type {(pen: Pen, drag: Drag, frame: Frame, theme: Theme) => void} */
function drawSelection(pen, { from, to }, frame, theme) {
  const [left, right, top, bottom] = selected(from, to, frame);
  pen.fillStyle = rgba(theme.ink, 0.09);
  pen.strokeStyle = rgba(theme.ink, 0.45);
  pen.lineWidth = 1;
  pen.fillRect(left, top, right - left, bottom - top);
  pen.strokeRect(left, top, right - left, bottom - top);
}

// A dot that is carried, where the mouse is.
/** @type {(pen: Pen, drag: Drag, frame: Frame, theme: Theme) => void} */
function drawDragged(pen, { to }, _frame, theme) {
  drawShape(pen, "ring", to.u, to.v, theme.curve(1), theme, 7);
}
