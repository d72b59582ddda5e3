// @ts-check
// A chart in a page, with or without a kernel behind it.
/** @import { Chart, Part } from "./types" */
/** @import { ChartData, ChartIntent, HeightsByName } from "../messages" */

import { unpacked } from "./data.js";
import { ownWheel } from "../dom.js";
import { fileName, picture, save, table, vectors } from "./export.js";
import { zoomTo } from "./gestures.js";
import { buildParts, labelParts, placeFeet, placeOf, sectionOf } from "./parts.js";
import { drawPart, GUTTER } from "./plot.js";
import { onTheme, themed } from "./theme.js";

/**
 * @typedef {object} Drawn
 * @property {Chart} chart
 * @property {(data: ChartData, heights?: Partial<HeightsByName>) => void} update
 * @property {(at: number | null) => void} cursor
 * @property {() => void} reset
 * @property {(title?: string) => void} png saves a picture in a file that is called like the title, or else like the parts
 * @property {(title?: string) => void} svg the same as lines and letters
 * @property {(title?: string) => void} csv the same of a table
 * @property {() => void} close
 */

const POINTS_PER_FRAME = 12000; // points that are drawn in one frame: what is more waits for the next one, and the page answers
const POINTS_PER_PART = 600; // of a part: its axes and letters take as much

// Draws `data` (see `encode_chart.py`) in an element. onIntent receives the user's actions. below: by section, what stands
// below its parts. folds: whether sections can be folded away.
/** @type {(el: HTMLElement, data: ChartData, options?: { heights?: Partial<HeightsByName>, onIntent?: (intent: ChartIntent) => void, below?: Record<string, HTMLElement>, folds?: boolean }) => Drawn} */
export function drawChart(el, data, { heights = {}, onIntent = () => {}, below = {}, folds = false } = {}) {
  const ending = new AbortController();
  /** @type {Chart} */
  const chart = {
    el, below: new Map(Object.entries(below)), folds, about: "", palette: [], parts: [], places: new Map(), zooms: new Map(), hidden: new Set(), hover: null, drag: null, gutter: GUTTER,
    ownWheel: ownWheel(el, ending.signal), frames: 0, theme: null, onIntent, sizes: new ResizeObserver(() => chart.redraw()),
    redraw() {
      due = chart.parts.length;
      waiting ||= requestAnimationFrame(draw);
    },
  };
  let waiting = 0;
  let [due, next] = [0, 0]; // how many parts are to be drawn, and the first of them: round robin, so that none is left behind
  el.classList.add("burlab-chart");
  chart.sizes.observe(el);

  function draw() {
    waiting = 0;
    if (!el.clientWidth) return;
    themed(chart);
    placeFeet(chart);
    labelParts(chart);
    const ratio = devicePixelRatio || 1;
    for (let spent = 0; due > 0 && spent < POINTS_PER_FRAME; due--, next++) {
      const part = chart.parts[next % chart.parts.length];
      const { frame, canvas } = placeOf(chart, part);
      const [width, height] = [frame.clientWidth, frame.clientHeight];
      if (!width) continue; // it is folded away
      spent += costOf(part);
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawPart(chart, part, pen, width, height, ratio);
    }
    if (due > 0) waiting = requestAnimationFrame(draw);
    if (next < chart.parts.length) return; // a page that gets updates all the while has frames, too
    next %= chart.parts.length || 1;
    chart.frames += 1;
    el.dataset.frames = String(chart.frames);
  }

  /** @type {(next: ChartData, fields?: Partial<HeightsByName>) => void} */
  function update(next, fields = {}) {
    const before = namesOf(chart.parts);
    const drawn = new Map(chart.parts.map(({ name, frame }) => [name, frame]));
    chart.about = next.about;
    chart.palette = next.palette;
    chart.parts = unpacked(next, fields);
    el.role = "group";
    if (el.ariaLabel !== next.about) el.ariaLabel = next.about;
    if (namesOf(chart.parts) !== before || !chart.el.firstChild) buildParts(chart);
    for (const part of chart.parts) {
      part.cache = placeOf(chart, part).cache;
      part.frame = drawn.get(part.name) ?? part.frame; // what is seen until it is drawn: a mouse that is released now means that
    }
    chart.redraw();
  }

  const stopTheme = onTheme(() => {
    chart.theme = null;
    themed(chart);
    chart.redraw();
  });
  const density = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  density.addEventListener("change", chart.redraw);

  update(data, heights);
  Object.assign(el, { chart }); // for the console, and for tests
  return {
    chart,
    update,
    cursor: (at) => {
      for (const part of chart.parts.filter(({ kind }) => kind === "plot")) {
        part.marks = part.marks.filter(({ kind }) => kind !== "cursor");
        if (at !== null) part.marks.push({ at, label: "", axis: "x", kind: "cursor" });
      }
      chart.redraw();
    },
    reset: () => {
      for (const part of chart.parts) zoomTo(chart, part, null, null);
    },
    png: (title) => picture(chart).then((blob) => save(blob, `${fileName(chart, title)}.png`)),
    svg: (title) => save(vectors(chart), `${fileName(chart, title)}.svg`),
    csv: (title) => save(table(chart), `${fileName(chart, title)}.csv`),
    close: () => {
      cancelAnimationFrame(waiting);
      chart.places.forEach(({ end }) => end());
      chart.sizes.disconnect();
      stopTheme();
      density.removeEventListener("change", chart.redraw);
      ending.abort();
    },
  };
}

// What it takes to draw a part, in points.
/** @type {(part: Part) => number} */
const costOf = (part) => [...part.curves, ...part.bands, ...part.dots].reduce((sum, { x }) => sum + x.length, POINTS_PER_PART);
/** @type {(parts: Part[]) => string} */
const namesOf = (parts) => JSON.stringify(parts.map((part) => [part.kind, part.name, part.kind === "plot" && part.tall, sectionOf(part)]));
