// @ts-check
// A function of two variables: shaded levels with lines between them, computed once per version, theme and size.
// One colour from low to high; or two, which part at a middle, each as far as the largest distance from it.
/** @import { Heights } from "../messages" */
/** @import { MapPart, Pen, Scale, Span, Theme } from "./types" */

import { widen } from "./data.js";
import { rgba } from "./theme.js";

export const LEVELS = 18; // as in burlab/charts/grid.py

// The shade of a map as a picture of this many pixels, from a cache of one.
/** @type {(map: MapPart, sx: Scale, sy: Scale, theme: Theme, ratio: number) => OffscreenCanvas} */
export function shadesOf(map, sx, sy, theme, ratio) {
  const { rows, columns, shade } = /** @type {Heights} */ (map.heights);
  const key = [map.version, theme.dark, rows, columns, sx.low, sx.high, sy.low, sy.high, sx.from, sx.to, sy.from, sy.to, ratio].join();
  if (map.cache.key === key && map.cache.picture) return map.cache.picture;
  const width = Math.max(1, Math.round((sx.to - sx.from) * ratio));
  const height = Math.max(1, Math.round((sy.from - sy.to) * ratio));
  const picture = new OffscreenCanvas(width, height);
  const pen = /** @type {Pen} */ (picture.getContext("2d"));
  const [left, right] = [Number(map.x.low), Number(map.x.high)];
  const [bottom, top] = [Number(map.y.low), Number(map.y.high)];
  const [low, high] = spanOf(map);
  if (low <= high) {
    // from a pixel's middle to rows and columns
    /** @type {(u: number) => number} */
    const across = (u) => ((sx.low + ((u + 0.5) / width) * (sx.high - sx.low) - left) / (right - left)) * (columns - 1);
    /** @type {(v: number) => number} */
    const along = (v) => ((sy.high + ((v + 0.5) / height) * (sy.low - sy.high) - bottom) / (top - bottom)) * (rows - 1);
    const level = sampled(shade, rows, columns, width, height, across, along, (value) => ((value - low) / (high - low || 1)) * LEVELS);
    pen.putImageData(coloured(level, width, height, theme, map.middle !== null), 0, 0);
    pen.scale(ratio, ratio);
    pen.translate(-sx.from, -sy.to);
    levelLines(pen, map, sx, sy, low, high, theme);
  }
  map.cache.key = key;
  map.cache.picture = picture;
  return picture;
}

// From the lowest to the highest shade; around a middle as far on either side.
/** @type {(map: MapPart) => Span} */
function spanOf({ heights, middle }) {
  const [low, high] = widen([Infinity, -Infinity], /** @type {Heights} */ (heights).shade, {});
  if (middle === null || low > high) return [low, high];
  const far = Math.max(Math.abs(low - middle), Math.abs(high - middle));
  return [middle - far, middle + far];
}

// The field at every pixel, between its points.
/** @type {(field: Float64Array, rows: number, columns: number, width: number, height: number, across: (u: number) => number, along: (v: number) => number, put: (value: number) => number) => Float32Array} */
function sampled(field, rows, columns, width, height, across, along, put) {
  const found = new Float32Array(width * height).fill(NaN);
  const us = Float64Array.from({ length: width }, (_, u) => across(u));
  for (let v = 0; v < height; v++) {
    const y = along(v);
    if (!(y >= 0 && y <= rows - 1)) continue;
    const j = Math.min(Math.floor(y), rows - 2);
    const b = y - j;
    for (let u = 0; u < width; u++) {
      const x = us[u];
      if (!(x >= 0 && x <= columns - 1)) continue;
      const i = Math.min(Math.floor(x), columns - 2);
      const a = x - i;
      const k = j * columns + i;
      const below = field[k] * (1 - a) + field[k + 1] * a;
      const above = field[k + columns] * (1 - a) + field[k + columns + 1] * a;
      found[v * width + u] = put(below * (1 - b) + above * b);
    }
  }
  return found;
}

/** @type {(level: Float32Array, width: number, height: number, theme: Theme, parted: boolean) => ImageData} */
function coloured(level, width, height, { shade, sides, dark }, parted) {
  const image = new ImageData(width, height);
  const [least, most] = dark ? [0.05, 0.62] : [0.03, 0.6];
  for (let k = 0; k < level.length; k++) {
    if (Number.isNaN(level[k])) continue;
    const step = Math.min(Math.floor(level[k]), LEVELS - 1) / (LEVELS - 1);
    const colour = parted ? sides[step < 0.5 ? 0 : 1] : shade;
    image.data[4 * k] = colour[0];
    image.data[4 * k + 1] = colour[1];
    image.data[4 * k + 2] = colour[2];
    image.data[4 * k + 3] = 255 * (least + (most - least) * (parted ? Math.abs(2 * step - 1) : step));
  }
  return image;
}

// Level lines by marching squares (Lorensen and Cline 1987, in the plane).
/** @type {(pen: Pen, map: MapPart, sx: Scale, sy: Scale, low: number, high: number, theme: Theme) => void} */
function levelLines(pen, map, sx, sy, low, high, theme) {
  const { rows, columns, shade } = /** @type {Heights} */ (map.heights);
  const xs = Float64Array.from({ length: columns }, (_, i) => sx.at(Number(map.x.low) + (i / (columns - 1)) * (Number(map.x.high) - Number(map.x.low))));
  const ys = Float64Array.from({ length: rows }, (_, j) => sy.at(Number(map.y.low) + (j / (rows - 1)) * (Number(map.y.high) - Number(map.y.low))));
  const per = LEVELS / (high - low || 1);
  pen.strokeStyle = rgba(theme.ink, theme.dark ? 0.2 : 0.16);
  pen.lineWidth = 0.8;
  pen.beginPath();
  for (let j = 0; j < rows - 1; j++) {
    for (let i = 0; i < columns - 1; i++) {
      const corners = [j * columns + i, j * columns + i + 1, (j + 1) * columns + i + 1, (j + 1) * columns + i].map((k) => (shade[k] - low) * per);
      const [from, to] = [Math.ceil(Math.min(...corners)), Math.floor(Math.max(...corners))];
      for (let level = Math.max(from, 1); level <= Math.min(to, LEVELS - 1); level++) {
        crossing(pen, corners, level, xs[i], xs[i + 1], ys[j], ys[j + 1]);
      }
    }
  }
  pen.stroke();
}

// The line of a level through one cell; corners in a ring from the lower left.
/** @type {(pen: Pen, corners: number[], level: number, left: number, right: number, bottom: number, top: number) => void} */
function crossing(pen, corners, level, left, right, bottom, top) {
  const places = [[left, bottom], [right, bottom], [right, top], [left, top]];
  /** @type {[x: number, y: number][]} */
  const ends = [];
  for (let k = 0; k < 4; k++) {
    const [a, b] = [corners[k], corners[(k + 1) % 4]];
    if (a < level === b < level) continue;
    const share = (level - a) / (b - a);
    const [p, q] = [places[k], places[(k + 1) % 4]];
    ends.push([p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]);
  }
  for (let k = 0; k + 1 < ends.length; k += 2) {
    pen.moveTo(...ends[k]);
    pen.lineTo(...ends[k + 1]);
  }
}
