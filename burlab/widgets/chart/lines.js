// @ts-check
// Curves, bands, dots and marks, drawn with a canvas's pen. sx, sy: the scales of the axes.
/** @import { Colour, Frame, Pen, Scale, Theme } from "./types" */
/** @import { Band, Curve, Dots, Mark } from "../messages" */

import { rgba } from "./theme.js";

export const MAX_DOTTED_POINTS = 60; // points of a curve that are drawn as dots, too
const DENSE_PIXELS = 10000; // pixels of a line that is then drawn as thin as can be: a thick one, over itself, takes four times as long
export const MARGIN = 14; // pixels right of every plot
export const LABEL_PIXELS = 11;
export const DASHES = [[], [5, 4], [2, 3], [9, 3, 2, 3]]; // as in burlab/charts/palette.py
const MARK_LABEL = 14; // pixels that the label of a mark takes

// The pixels of points, and the length of the line through them.
/** @type {(x: Float64Array, y: Float64Array, sx: Scale, sy: Scale) => { us: Float64Array, vs: Float64Array, length: number }} */
function placed(x, y, sx, sy) {
  const [us, vs] = [new Float64Array(x.length), new Float64Array(x.length)];
  let length = 0;
  for (let k = 0; k < x.length; k++) {
    us[k] = sx.at(x[k]);
    vs[k] = sy.at(y[k]);
    if (k) length += Math.abs(us[k] - us[k - 1]) + Math.abs(vs[k] - vs[k - 1]) || 0; // NaN is no length
  }
  return { us, vs, length };
}

/** @type {(pen: Pen, line: { us: Float64Array, vs: Float64Array }) => void} */
function tracePath(pen, { us, vs }) {
  let drawing = false;
  pen.beginPath();
  for (let k = 0; k < us.length; k++) {
    if (Number.isNaN(us[k]) || Number.isNaN(vs[k])) drawing = false;
    else if (drawing) pen.lineTo(us[k], vs[k]);
    else {
      pen.moveTo(us[k], vs[k]);
      drawing = true;
    }
  }
}

/** @type {(pen: Pen, curve: Curve, sx: Scale, sy: Scale, theme: Theme, width?: number) => void} */
export function drawCurve(pen, curve, sx, sy, theme, width = 1.6) {
  const line = placed(curve.x, curve.y, sx, sy);
  const dense = line.length > DENSE_PIXELS;
  pen.strokeStyle = rgba(theme.curve(curve.colour), curve.faint ? (theme.dark ? 0.42 : 0.34) : 1);
  pen.lineWidth = dense ? 1 / (devicePixelRatio || 1) : curve.faint ? 1.1 : width;
  pen.lineJoin = dense ? "bevel" : "round";
  pen.setLineDash(dense ? [] : DASHES[curve.dashed]);
  tracePath(pen, line);
  pen.stroke();
  pen.setLineDash([]);
  if (curve.x.length > MAX_DOTTED_POINTS || curve.faint || curve.dashed) return;
  for (let k = 0; k < curve.x.length; k++) drawShape(pen, "point", line.us[k], line.vs[k], theme.curve(curve.colour), theme);
}

/** @type {(pen: Pen, band: Band, sx: Scale, sy: Scale, theme: Theme) => void} */
export function drawBand(pen, band, sx, sy, theme) {
  const colour = theme.curve(band.colour);
  const floor = (/** @type {number} */ pixel) => (Number.isNaN(pixel) ? sy.from : pixel); // 0 lies under a logarithmic axis
  pen.beginPath();
  for (let k = 0; k < band.x.length; k++) pen.lineTo(sx.at(band.x[k]), floor(sy.at(band.high[k])));
  for (let k = band.x.length - 1; k >= 0; k--) pen.lineTo(sx.at(band.x[k]), floor(sy.at(band.low[k])));
  pen.closePath();
  pen.fillStyle = rgba(colour, band.solid ? 0.62 : theme.dark ? 0.26 : 0.18);
  pen.fill();
  if (!band.solid) return;
  pen.strokeStyle = rgba(colour, 1);
  pen.lineWidth = 1;
  pen.beginPath();
  for (let k = 0; k < band.x.length; k++) pen.lineTo(sx.at(band.x[k]), floor(sy.at(band.high[k])));
  pen.stroke();
}

/** @type {(pen: Pen, shape: Dots["shape"] | "point", u: number, v: number, colour: Colour, theme: Theme, size?: number) => void} */
export function drawShape(pen, shape, u, v, colour, theme, size = 5) {
  if (Number.isNaN(u) || Number.isNaN(v)) return;
  pen.fillStyle = rgba(colour);
  pen.strokeStyle = rgba(colour);
  pen.lineWidth = 2;
  pen.beginPath();
  if (shape === "cross") {
    pen.moveTo(u - size, v - size);
    pen.lineTo(u + size, v + size);
    pen.moveTo(u - size, v + size);
    pen.lineTo(u + size, v - size);
    return pen.stroke();
  }
  if (shape === "star") {
    for (let k = 0; k < 10; k++) {
      const [reach, angle] = [k % 2 ? 0.45 * size * 1.5 : size * 1.5, (k * Math.PI) / 5];
      pen.lineTo(u + reach * Math.sin(angle), v - reach * Math.cos(angle));
    }
  } else if (shape === "triangle") {
    pen.moveTo(u, v - size * 1.1);
    pen.lineTo(u + size, v + size * 0.8);
    pen.lineTo(u - size, v + size * 0.8);
  } else pen.arc(u, v, shape === "point" ? 2.1 : size, 0, 7);
  pen.closePath();
  if (shape === "ring") return pen.stroke();
  pen.fill();
  if (shape === "point") return undefined;
  pen.strokeStyle = rgba(theme.ground);
  pen.lineWidth = 1.3;
  return pen.stroke();
}

/** @type {(pen: Pen, dots: Dots, sx: Scale, sy: Scale, theme: Theme) => void} */
export function drawDots(pen, dots, sx, sy, theme) {
  if (dots.shape === "none") return;
  if (dots.shape === "word") {
    [pen.font, pen.textAlign, pen.textBaseline] = [`16px ${theme.font}`, "center", "middle"];
    pen.fillStyle = rgba(theme.curve(dots.colour));
    dots.hints.forEach((word, k) => pen.fillText(word, sx.at(dots.x[k]), sy.at(dots.y[k])));
    return;
  }
  for (let k = 0; k < dots.x.length; k++) drawShape(pen, dots.shape, sx.at(dots.x[k]), sy.at(dots.y[k]), theme.curve(dots.colour), theme);
}

// Lines across a plot; ahead of a cursor lies a veil.
/** @type {(pen: Pen, mark: Mark, frame: Frame, sx: Scale, sy: Scale, theme: Theme) => void} */
export function drawMark(pen, mark, frame, sx, sy, theme) {
  const upright = mark.axis === "x";
  const place = upright ? sx.at(mark.at) : sy.at(mark.at);
  if (Number.isNaN(place)) return;
  if (mark.kind === "cursor" && upright && place < frame.right) {
    pen.fillStyle = rgba(theme.ground, theme.dark ? 0.5 : 0.55);
    pen.fillRect(place, frame.top, frame.right - place, frame.bottom - frame.top);
  }
  /** @type {Record<Mark["kind"], [colour: string, width: number, dash: number[]]>} */
  const styles = {
    cursor: [rgba(theme.cursor), 1.5, [2, 3]],
    break: [rgba(theme.dark ? [255, 110, 110] : [198, 40, 40], 0.9), 1.2, []],
    rule: [theme.edge, 1, [3, 3]],
  };
  const [colour, width, dash] = styles[mark.kind];
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(upright ? place : frame.left, upright ? frame.top : place);
  pen.lineTo(upright ? place : frame.right, upright ? frame.bottom : place);
  pen.stroke();
  pen.setLineDash([]);
  if (mark.kind === "break") pen.fillRect(place - 3, frame.top, 6, 6);
  if (!mark.label || upright) return;
  pen.font = `10.5px ${theme.font}`;
  pen.textAlign = "right";
  const above = place - frame.top > MARK_LABEL; // else it would leave the frame
  pen.textBaseline = above ? "bottom" : "top";
  pen.fillStyle = rgba(theme.soft);
  pen.fillText(mark.label, frame.right - 4, above ? place - 2 : place + 3);
}

/** @type {(pixel: number) => number} */
export const crisp = (pixel) => Math.round(pixel) + 0.5;

/** @type {(pen: Pen, left: number, right: number, pixel: number) => void} */
export function level(pen, left, right, pixel) {
  pen.moveTo(left, crisp(pixel));
  pen.lineTo(right, crisp(pixel));
}

/** @type {(pen: Pen, top: number, bottom: number, pixel: number) => void} */
export function upright(pen, top, bottom, pixel) {
  pen.moveTo(crisp(pixel), top);
  pen.lineTo(crisp(pixel), bottom);
}
