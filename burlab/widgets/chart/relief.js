// @ts-check
// A function of two variables as a surface: rotated by dragging and by arrow keys, zoomed by the wheel. Every pixel is
// ours: triangles with a depth buffer, light and level lines; the projection is that of burlab/charts/relief.py.
/** @import { Drawn } from "./chart.js" */
/** @import { MapPart, Pen, Theme } from "./types" */
/** @import { ChartData, Heights, HeightsByName, Pose } from "../messages" */

import { element, listener, ownWheel } from "../dom.js";
import { heightAt, unpacked, widen } from "./data.js";
import { drawShape } from "./lines.js";
import { LEVELS } from "./map.js";
import { formatNumber } from "./scales.js";
import { onTheme, rgba, themeOf } from "./theme.js";

/** @typedef {(x: number, y: number, z: number) => [across: number, up: number, depth: number]} Project */
/** @typedef {{ rows: number, columns: number, level: Float32Array, light: Float32Array }} Grid */
/** @typedef {{ width: number, height: number, levels: Float32Array, lights: Float32Array, depths: Float32Array }} Raster */
/** @typedef {{ pose: Pose, map: MapPart | null, grid: Grid | null, version: number | null, theme: Theme | null, palette: string[], frames: number }} State */

const RISE = 0.45; // the greatest height, in the width of the plane
const FIRST_POSE = { turn: 30, lift: 35, zoom: 1 };
const SUN = [-0.402, -0.352, 0.845]; // direction of the light
const SEAM = 1e-4; // of a triangle, by which it overlaps its neighbours
const REFINE_AFTER = 150; // milliseconds without a move, after which it is drawn finely

// How a point (x, y, z) is seen in a pose: right, up and towards the eye.
/** @type {(pose: Pose) => Project} */
function projection({ turn, lift }) {
  const [t, e] = [(turn * Math.PI) / 180, (lift * Math.PI) / 180];
  const [c, s, ce, se] = [Math.cos(t), Math.sin(t), Math.cos(e), Math.sin(e)];
  return (x, y, z) => {
    const away = x * s + y * c;
    return [x * c - y * s, z * ce + away * se, z * se - away * ce];
  };
}

// The grid of a map: its height in 0 to 1 at each point, NaN where there is none, and how much light falls on it.
/** @type {(field: Heights) => Grid} */
function gridOf({ rows, columns, shade }) {
  const [low, high] = widen([Infinity, -Infinity], shade, {});
  const level = Float32Array.from(shade, (value) => (Number.isFinite(value) ? (value - low) / (high - low || 1) : NaN));
  const light = new Float32Array(level.length);
  /** @type {(j: number, i: number) => number} */
  const at = (j, i) => level[Math.max(0, Math.min(rows - 1, j)) * columns + Math.max(0, Math.min(columns - 1, i))];
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const dx = ((at(j, i + 1) - at(j, i - 1)) * RISE * (columns - 1)) / 2;
      const dy = ((at(j + 1, i) - at(j - 1, i)) * RISE * (rows - 1)) / 2;
      const facing = (-dx * SUN[0] - dy * SUN[1] + SUN[2]) / Math.hypot(dx, dy, 1);
      light[j * columns + i] = 0.62 + 0.45 * Math.max(facing, 0);
    }
  }
  return { rows, columns, level, light };
}

// Level, light and depth of each pixel. seen: (x, y, z) -> [u, v, depth] in pixels of this size.
/** @type {(grid: Grid, seen: Project, width: number, height: number) => Raster} */
function rastered({ rows, columns, level, light }, seen, width, height) {
  const [levels, lights, depths] = [0, 1, 2].map(() => new Float32Array(width * height));
  depths.fill(-Infinity);
  levels.fill(-1);
  const points = new Float32Array(rows * columns * 3);
  for (let j = 0, k = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++, k++) {
      points.set(seen(i / (columns - 1) - 0.5, j / (rows - 1) - 0.5, (level[k] - 0.5) * RISE), 3 * k);
    }
  }
  // Row by row from its left edge to its right one; what is painted changes by the same amount from pixel to pixel.
  /** @type {(a: number, b: number, c: number) => void} */
  function triangle(a, b, c) {
    const [ua, va, ub, vb] = [points[3 * a], points[3 * a + 1], points[3 * b], points[3 * b + 1]];
    const [uc, vc] = [points[3 * c], points[3 * c + 1]];
    const area = (ub - ua) * (vc - va) - (uc - ua) * (vb - va);
    if (!area) return; // seen from its edge
    const [pu, pv] = [(vb - vc) / area, (uc - ub) / area]; // how the weight of a changes with u and with v
    const [qu, qv] = [(vc - va) / area, (ua - uc) / area];
    /** @type {(fa: number, fb: number, fc: number) => number} */
    const slope = (fa, fb, fc) => (fa - fc) * pu + (fb - fc) * qu;
    const [da, db, dc] = [points[3 * a + 2], points[3 * b + 2], points[3 * c + 2]];
    const [depthStep, levelStep, lightStep] = [slope(da, db, dc), slope(level[a], level[b], level[c]), slope(light[a], light[b], light[c])];
    const top = Math.max(0, Math.ceil(Math.min(va, vb, vc)));
    const bottom = Math.min(height - 1, Math.floor(Math.max(va, vb, vc)));
    for (let v = top; v <= bottom; v++) {
      const p = 1 + -ua * pu + (v - va) * pv; // at u = 0
      const q = -ua * qu + (v - va) * qv;
      let [left, right] = [0, width - 1];
      for (let k = 0; k < 3; k++) {
        const [at, by] = k === 0 ? [p, pu] : k === 1 ? [q, qu] : [1 - p - q, -pu - qu];
        if (by > 0) left = Math.max(left, (-SEAM - at) / by);
        else if (by < 0) right = Math.min(right, (-SEAM - at) / by);
        else if (at < -SEAM) right = -1;
      }
      const first = Math.ceil(left);
      const [x, y] = [p + first * pu, q + first * qu];
      let depth = dc + x * (da - dc) + y * (db - dc);
      let one = level[c] + x * (level[a] - level[c]) + y * (level[b] - level[c]);
      let lit = light[c] + x * (light[a] - light[c]) + y * (light[b] - light[c]);
      for (let at = v * width + first, last = v * width + Math.floor(right); at <= last; at++) {
        if (depth > depths[at]) {
          depths[at] = depth;
          levels[at] = one;
          lights[at] = lit;
        }
        depth += depthStep;
        one += levelStep;
        lit += lightStep;
      }
    }
  }
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const k = j * columns + i;
      if (Number.isNaN(level[k] + level[k + 1] + level[k + columns] + level[k + columns + 1])) continue;
      triangle(k, k + 1, k + columns + 1);
      triangle(k, k + columns + 1, k + columns);
    }
  }
  return { width, height, levels, lights, depths };
}

// The picture of it: darker the higher, darker still on lines between levels.
/** @type {(raster: Raster, dark: boolean) => ImageData} */
function painted({ width, height, levels, lights }, dark) {
  const image = new ImageData(width, height);
  const [low, high] = dark ? [[46, 66, 92], [164, 202, 240]] : [[222, 231, 243], [38, 84, 143]];
  const [red, green, blue] = low;
  const [reds, greens, blues] = high.map((channel, k) => channel - low[k]);
  const { data } = image;
  const line = Math.max(1, Math.round(width / 900));
  /** @type {(k: number) => number} */
  const step = (k) => (levels[k] >= 0 ? (levels[k] * LEVELS) | 0 : -1); // -1 outside of the surface
  for (let k = 0; k < levels.length; k++) {
    const level = levels[k];
    if (!(level >= 0)) continue;
    const here = step(k);
    const bright = lights[k] * (step(k + line) !== here || step(k + line * width) !== here ? 0.8 : 1);
    data[4 * k] = (red + level * reds) * bright;
    data[4 * k + 1] = (green + level * greens) * bright;
    data[4 * k + 2] = (blue + level * blues) * bright;
    data[4 * k + 3] = 255;
  }
  return image;
}

// Lets a chart show its map as a surface, next to it or, where the map is all of it, in its place. Returns what switches it.
/** @type {(place: HTMLElement, view: Drawn, data: ChartData, options?: { heights?: Partial<HeightsByName>, posed?: (pose: Pose) => void }) => (on: boolean) => void} */
export function raisable(place, view, data, { heights, posed } = {}) {
  const sheet = element("div", "burlab-relief-view", null, { hidden: true });
  place.after(sheet);
  let latest = { data, heights };
  let relief = /** @type {ReturnType<typeof drawRelief> | null} */ (null);
  const { update, close } = view;
  view.update = (next, fields) => {
    update(next, fields);
    latest = { data: { ...data, ...next }, heights: fields };
    if (!sheet.hidden) relief?.update(latest.data, latest.heights);
  };
  view.close = () => {
    relief?.close();
    close();
  };
  return (on) => {
    sheet.hidden = !on;
    place.hidden = on && latest.data.parts.length <= 1;
    if (!on) return;
    relief ??= drawRelief(sheet, { posed });
    relief.update(latest.data, latest.heights);
  };
}

// Draws maps in an element. posed(pose) gets where from it is seen, once it rests. Returns {update(data, heights), close()}.
/** @type {(el: HTMLElement, options?: { posed?: (pose: Pose) => void }) => { update(data: ChartData, heights?: Partial<HeightsByName>): void, close(): void }} */
export function drawRelief(el, { posed = () => {} } = {}) {
  const canvas = element("canvas", "burlab-relief", el);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  /** @type {State} */
  const state = { pose: { ...FIRST_POSE }, map: null, grid: null, version: null, theme: null, palette: [], frames: 0 };
  let waiting = 0;
  let rest = 0;
  let moving = false;
  const redraw = () => (waiting ||= requestAnimationFrame(draw));

  function draw() {
    waiting = 0;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    const theme = (state.theme ??= themeOf(el, state.palette));
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = /** @type {Pen} */ (canvas.getContext("2d"));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { grid, map } = state;
    if (!grid || !map) return;
    const project = projection(state.pose);
    const scale = state.pose.zoom * Math.min(width / 1.5, height / 1.4);
    /** @type {(fine: number) => Project} */
    const seen = (fine) => (x, y, z) => {
      const [across, up, depth] = project(x, y, z);
      return [(width / 2 + scale * across) * fine, (height / 2 - scale * up) * fine, depth];
    };
    const base = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(([x, y]) => seen(1)(x, y, -RISE / 2));
    pen.strokeStyle = theme.edge;
    pen.beginPath();
    base.forEach(([u, v]) => pen.lineTo(u, v));
    pen.closePath();
    pen.stroke();
    const fine = moving ? Math.min(ratio, 1) : Math.max(ratio, 2);
    const picture = rastered(grid, seen(fine), Math.round(width * fine), Math.round(height * fine));
    const sheet = new OffscreenCanvas(picture.width, picture.height);
    /** @type {OffscreenCanvasRenderingContext2D} */ (sheet.getContext("2d")).putImageData(painted(picture, theme.dark), 0, 0);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(sheet, 0, 0, width, height);
    drawLabels(pen, seen(1), map, theme);
    drawOn(pen, seen(1), picture, fine, map, grid, theme);
    state.frames += 1;
    canvas.dataset.frames = String(state.frames);
    canvas.dataset.drawn = moving ? "coarse" : "fine";
    canvas.dataset.pose = [state.pose.turn, state.pose.lift, state.pose.zoom].map((one) => one.toFixed(2)).join(" ");
  }

  // The names of the axes and their ends, along the edges that are near.
  /** @type {(pen: Pen, seen: Project, map: MapPart, theme: Theme) => void} */
  function drawLabels(pen, seen, map, theme) {
    const turn = (state.pose.turn * Math.PI) / 180;
    const [front, side] = [Math.cos(turn) > 0 ? -0.56 : 0.56, Math.sin(turn) >= 0 ? -0.56 : 0.56];
    pen.font = `12px ${theme.font}`;
    pen.fillStyle = rgba(theme.soft);
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const { x, y } = map;
    /** @type {(text: string, at: number, along: boolean) => void} */
    const put = (text, at, along) => {
      const far = at === 0 ? 1.12 : 1;
      const [u, v] = along ? seen(at, front * far, -RISE / 2) : seen(side * far, at, -RISE / 2);
      pen.fillText(text, u, v + 4);
    };
    for (const [axis, along] of /** @type {const} */ ([[x, true], [y, false]])) {
      put(formatNumber(axis.low, "", 3), -0.5, along);
      put(axis.label, 0, along);
      put(formatNumber(axis.high, "", 3), 0.5, along);
    }
  }

  // Curves and the last of the dots, on the surface: faint where a hill hides them.
  /** @type {(pen: Pen, seen: Project, picture: Raster, fine: number, map: MapPart, grid: Grid, theme: Theme) => void} */
  function drawOn(pen, seen, picture, fine, map, grid, theme) {
    const [left, right] = [Number(map.x.low), Number(map.x.high)];
    const [bottom, top] = [Number(map.y.low), Number(map.y.high)];
    const levels = { x: { low: 0, high: 1 }, y: { low: 0, high: 1 }, heights: /** @type {any} */ ({ ...grid, values: grid.level }) };
    /** @type {(x: number, y: number) => { u: number, v: number, hidden: boolean } | null} */
    const on = (x, y) => {
      const [a, b] = [(x - left) / (right - left), (y - bottom) / (top - bottom)];
      const level = heightAt(levels, a, b);
      if (Number.isNaN(level)) return null;
      const [u, v, depth] = seen(a - 0.5, b - 0.5, (level - 0.5) * RISE);
      const k = Math.round(v * fine) * picture.width + Math.round(u * fine);
      return { u, v, hidden: picture.depths[k] > depth + 0.02 };
    };
    for (const curve of map.curves) {
      let before = null;
      for (let k = 0; k + 1 < curve.x.length; k++) {
        const [dx, dy] = [curve.x[k + 1] - curve.x[k], curve.y[k + 1] - curve.y[k]];
        const parts = Math.max(1, Math.min(60, Math.ceil(60 * Math.max(Math.abs(dx) / (right - left), Math.abs(dy) / (top - bottom)))));
        for (let n = 0; n <= parts; n++) {
          const place = on(curve.x[k] + (n / parts) * dx, curve.y[k] + (n / parts) * dy);
          if (place && before) {
            pen.strokeStyle = rgba(theme.curve(curve.colour), place.hidden ? 0.25 : 1);
            pen.lineWidth = 2;
            pen.beginPath();
            pen.moveTo(before.u, before.v);
            pen.lineTo(place.u, place.v);
            pen.stroke();
          }
          before = place;
        }
      }
    }
    for (const dots of map.dots) {
      const place = dots.x.length ? on(dots.x[dots.x.length - 1], dots.y[dots.y.length - 1]) : null;
      if (place) drawShape(pen, "dot", place.u, place.v, theme.curve(dots.colour), theme, 4.5);
    }
  }

  /** @type {(change: Partial<Pose>) => void} */
  function move(change) {
    const { turn, lift, zoom } = { ...state.pose, ...change };
    state.pose = { turn: ((turn % 360) + 360) % 360, lift: Math.max(5, Math.min(90, lift)), zoom: Math.max(0.3, Math.min(8, zoom)) };
    moving = true;
    canvas.dataset.drawn = "coarse";
    clearTimeout(rest);
    rest = setTimeout(() => {
      moving = false;
      redraw();
      posed(state.pose);
    }, REFINE_AFTER);
    redraw();
  }

  const ending = new AbortController();
  const on = listener(canvas, ending.signal);
  let drag = /** @type {{ x: number, y: number } | null} */ (null);
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.clientX, y: event.clientY };
  });
  on("pointermove", (event) => {
    if (!drag) return;
    move({ turn: state.pose.turn + (event.clientX - drag.x) * 0.5, lift: state.pose.lift + (event.clientY - drag.y) * 0.4 });
    drag = { x: event.clientX, y: event.clientY };
  });
  for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) on(end, () => (drag = null));
  on("dblclick", () => move(FIRST_POSE));
  const own = ownWheel(canvas, ending.signal);
  on("wheel", (event) => {
    if (!own(event)) return;
    event.preventDefault();
    event.stopPropagation();
    move({ zoom: state.pose.zoom * Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) * 0.002) });
  }, { passive: false });
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = event.shiftKey ? 20 : 5;
    const { turn, lift, zoom } = state.pose;
    /** @type {Record<string, Partial<Pose>>} */
    const acts = {
      ArrowLeft: { turn: turn - by }, ArrowRight: { turn: turn + by }, ArrowUp: { lift: lift - by }, ArrowDown: { lift: lift + by },
      "+": { zoom: zoom * 1.25 }, "=": { zoom: zoom * 1.25 }, "-": { zoom: zoom / 1.25 }, 0: FIRST_POSE,
    };
    if (!acts[event.key]) return;
    move(acts[event.key]);
    event.preventDefault();
    event.stopPropagation();
  });
  const sizes = new ResizeObserver(redraw);
  sizes.observe(canvas);
  const stopTheme = onTheme(() => {
    state.theme = null;
    redraw();
  });

  return {
    update(data, heights) {
      state.palette = data.palette;
      const map = unpacked(data, heights).find((part) => part.kind === "map") ?? null;
      const version = map?.heights ? map.version : null;
      if (!map?.heights) state.grid = null;
      else if (state.version !== version) state.grid = gridOf(map.heights);
      Object.assign(state, { map, version });
      canvas.ariaLabel = `${data.about} as a surface. Drag or use arrow keys to turn it, the wheel or + and − to zoom, 0 for the first view.`;
      canvas.title = "Drag or arrow keys turn it, the wheel or + and − zoom, 0 is the first view";
      redraw();
    },
    close() {
      cancelAnimationFrame(waiting);
      clearTimeout(rest);
      ending.abort();
      sizes.disconnect();
      stopTheme();
    },
  };
}
