// @ts-check
// One part of a chart on its canvas: axes, what stands between them, and what is read at a place.

import { acrossOf, widen } from "./data.js";
import { selected } from "./gestures.js";
import { FEW, drawBand, drawCurve, drawDots, drawMark } from "./lines.js";
import { shadesOf } from "./map.js";
import { drawLooking } from "./readout.js";
import { scaled, ticksOf, withRoom } from "./scales.js";
import { rgba } from "./theme.js";

const GUTTER = 56; // pixels left of every plot, for labels: plots one below the other stand in line
export const MARGIN = 14;
export const SMALL = 11;
const LETTERS = 13; // pixels from one line of labels to the next
const ROOM = { top: 7, ticks: 20, label: 16, none: 7 };

// The ends of the axis across, common to all parts that share it.
export function spanAcross(chart, part) {
  const zoomed = chart.zooms.get(acrossOf(part));
  if (zoomed) return zoomed;
  if (part.kind === "map") return [part.x.low, part.x.high];
  let span = [Infinity, -Infinity];
  let [low, high] = [null, null];
  for (const other of chart.parts.filter((one) => acrossOf(one) === acrossOf(part))) {
    for (const one of [...other.curves, ...other.bands, ...other.dots]) span = widen(span, one.x, part.x);
    low ??= other.x.low;
    high ??= other.x.high;
  }
  if (part.x.log && part.x.floor > 0 && span[0] > part.x.floor) span[0] = part.x.floor;
  if (!(span[0] <= span[1])) span = part.x.log ? [part.x.floor || 1, 10] : [0, 10];
  if (span[0] === span[1]) span[1] = part.x.log ? span[0] * 10 : span[0] + 1;
  const roomy = withRoom(part.x, ...span, 0.012);
  return [low ?? (part.x.log ? roomy[0] : span[0]), high ?? roomy[1]];
}

// The ends of the axis upwards: those chosen by hand, those stated, or those of what is in sight.
function spanUp(chart, part, across) {
  const zoomed = chart.zooms.get(`y ${part.name}`);
  if (zoomed) return zoomed;
  if (part.kind === "map") return [part.y.low, part.y.high];
  const window = chart.zooms.has(acrossOf(part)) ? across : null;
  const shown = (one) => !one.right && !chart.hidden.has(keyOf(part, one));
  let span = [Infinity, -Infinity];
  for (const one of [...part.curves, ...part.dots].filter(shown)) span = widen(span, one.y, part.y, one.x, window);
  for (const band of part.bands.filter(shown)) {
    span = widen(span, band.low, part.y, band.x, window);
    span = widen(span, band.high, part.y, band.x, window);
  }
  for (const mark of part.marks) if (mark.axis === "y") span = widen(span, [mark.at], part.y);
  const { floor, log } = part.y;
  if (log && floor > 0) span = [Math.min(span[0], floor), Math.max(span[1], floor)];
  if (!window && part.y.low !== null) span[0] = part.y.low;
  if (!window && part.y.high !== null) span[1] = part.y.high;
  const [low, high] = withRoom(part.y, ...span, 0.07);
  const stack = part.bands.some((band) => band.solid) && !log && span[0] >= 0;
  return [stack ? 0 : low, high];
}

// The scale of the axis on the right, which only some curves have; null where there is none.
function scaledRight(part, { bottom, top }) {
  if (!part.right) return null;
  let span = [Infinity, -Infinity];
  for (const one of part.curves.filter(({ right }) => right)) span = widen(span, one.y, part.right);
  const [low, high] = withRoom(part.right, ...span, 0.07);
  return scaled(part.right, [part.right.low ?? low, part.right.high ?? high], bottom, top);
}

export const keyOf = (part, one) => `${part.name}/${one.label}`;

// The frame between the axes, in pixels; maps with equal scales take a part of their place.
function framed(chart, part, width, height) {
  const foot = part.foot ? ROOM.ticks + (part.x.label ? ROOM.label : 0) : ROOM.none;
  const frame = { left: GUTTER, top: ROOM.top, right: width - MARGIN, bottom: height - foot };
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

export function drawPart(chart, part, pen, width, height, ratio) {
  const theme = chart.theme;
  const frame = (part.frame = framed(chart, part, width, height));
  const { sx, sy, sr } = frame;
  const up = (curve) => (curve.right && sr ? sr : sy);
  pen.clearRect(0, 0, width, height);
  drawAxes(pen, part, frame, theme);
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top - 2, frame.right - frame.left + 1, frame.bottom - frame.top + 4);
  pen.clip();
  if (part.heights) {
    const picture = shadesOf(part, sx, sy, theme, ratio);
    pen.drawImage(picture, sx.from, sy.to, sx.to - sx.from, sy.from - sy.to);
  }
  const shown = (one) => !chart.hidden.has(keyOf(part, one));
  for (const band of part.bands.filter(shown)) drawBand(pen, band, sx, sy, theme);
  const curves = part.curves.filter(shown);
  for (const curve of curves.filter(({ faint }) => faint)) drawCurve(pen, curve, sx, up(curve), theme);
  for (const curve of curves.filter(({ faint }) => !faint)) drawCurve(pen, curve, sx, up(curve), theme, part.kind === "map" ? 2 : 1.6);
  for (const mark of part.marks) drawMark(pen, mark, frame, sx, sy, theme);
  for (const dots of part.dots.filter(shown)) drawDots(pen, dots, sx, sy, theme);
  pen.restore();
  if (sr) drawRight(pen, part, frame, theme);
  drawLooking(chart, part, pen, frame);
  if (chart.drag?.part === part.name) drawSelection(pen, chart.drag, frame, theme);
}

function drawAxes(pen, part, frame, theme) {
  const { sx, sy, left, right, top, bottom } = frame;
  const short = part.kind === "plot";
  const ups = ticksOf(part.y, [sy.low, sy.high], Math.max(2, Math.round((bottom - top) / (short ? 28 : 50))));
  const shown = [...part.curves, ...part.bands, ...part.dots].filter(({ x }) => x.length);
  if (short && !shown.length) return drawNothing(pen, frame, theme);
  const whole = shown.every(({ x }) => x.length <= FEW && x.every(Number.isInteger));
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
  if (part.y.log && part.y.floor >= sy.low) {
    pen.setLineDash([1, 3]);
    pen.beginPath();
    level(pen, left, right, sy.at(part.y.floor));
    pen.stroke();
    pen.setLineDash([]);
  }
  pen.font = `${SMALL}px ${theme.font}`;
  pen.fillStyle = rgba(theme.soft);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  let free = Infinity;
  for (const { value, text } of ups.labels) {
    const v = sy.at(value);
    if (v < top - 1 || v > Math.min(bottom + 1, free)) continue;
    pen.fillText(text, left - 6, v, GUTTER - 8);
    free = v - LETTERS;
  }
  if (part.foot) drawFoot(pen, part, frame, alongs.labels);
  if (part.y.label && part.y.label !== part.title) drawSide(pen, part.y.label, frame);
}

// A plot without numbers has no axes that could say where they are.
function drawNothing(pen, { left, right, top, bottom }, theme) {
  pen.strokeStyle = theme.grid;
  pen.strokeRect(crisp(left), crisp(top), Math.floor(right - left), Math.floor(bottom - top));
  [pen.font, pen.textAlign, pen.textBaseline] = [`${SMALL}px ${theme.font}`, "center", "middle"];
  pen.fillStyle = rgba(theme.soft);
  pen.fillText("nothing yet", (left + right) / 2, (top + bottom) / 2);
}

// The labels of the axis on the right, inside of the frame: plots one below the other stay in line.
function drawRight(pen, part, { sr, right, top }, theme) {
  pen.font = `${SMALL - 1}px ${theme.font}`;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  pen.strokeStyle = rgba(theme.ground, 0.8);
  pen.fillStyle = rgba(theme.ink);
  for (const { value, text } of ticksOf(part.right, [sr.low, sr.high], 3).labels) {
    const at = sr.at(value);
    if (value <= sr.low || at < top + 4) continue;
    pen.strokeText(text, right - 4, at);
    pen.fillText(text, right - 4, at);
  }
}

// The label of the axis upwards, along it; a letter or two upright.
function drawSide(pen, label, { left, top, bottom }) {
  pen.save();
  pen.translate(left - 46, (top + bottom) / 2);
  if (label.length > 3) pen.rotate(-Math.PI / 2);
  pen.textAlign = label.length > 3 ? "center" : "left";
  pen.fillText(label, label.length > 3 ? 0 : -8, 0, bottom - top);
  pen.restore();
}

// Labels below, none over another, none cut off.
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

const crisp = (pixel) => Math.round(pixel) + 0.5;

export function level(pen, left, right, pixel) {
  pen.moveTo(left, crisp(pixel));
  pen.lineTo(right, crisp(pixel));
}

export function upright(pen, top, bottom, pixel) {
  pen.moveTo(crisp(pixel), top);
  pen.lineTo(crisp(pixel), bottom);
}

function drawSelection(pen, { from, to }, frame, theme) {
  const [left, right, top, bottom] = selected(from, to, frame);
  pen.fillStyle = rgba(theme.ink, 0.09);
  pen.strokeStyle = rgba(theme.ink, 0.45);
  pen.lineWidth = 1;
  pen.fillRect(left, top, right - left, bottom - top);
  pen.strokeRect(left, top, right - left, bottom - top);
}
