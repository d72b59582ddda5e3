// @ts-check
// A chart in a page, with or without a kernel behind it.

import { unpacked } from "./data.js";
import { picture, save, table } from "./export.js";
import { zoomTo } from "./gestures.js";
import { build, stand, word } from "./parts.js";
import { drawPart } from "./plot.js";
import { onTheme, themed } from "./theme.js";

const FRAME = 12000; // points that are drawn in one frame: what is more waits for the next one, and the page answers
const OWN = 600; // of a part: its axes and letters take as much

// Draws `data` (see encode.py) in an element. onIntent hears {type: "zoom" | "seek" | "pick", ...}.
// Gives {update(data, heights), cursor(x or null), reset(), png(), csv(), close()}.
export function drawChart(el, data, { heights = {}, onIntent = () => {} } = {}) {
  const chart = { el, parts: [], places: new Map(), zooms: new Map(), hidden: new Set(), hover: null, drag: null, scrolled: -Infinity, frames: 0, onIntent };
  let waiting = 0;
  let [due, next] = [0, 0]; // how many parts are to be drawn, and the first of them: in turn, so that none is left behind
  el.classList.add("burlab-chart");
  chart.redraw = () => {
    due = chart.parts.length;
    waiting ||= requestAnimationFrame(draw);
  };
  chart.sizes = new ResizeObserver(chart.redraw);
  chart.sizes.observe(el);

  function draw() {
    waiting = 0;
    if (!el.clientWidth) return;
    themed(chart);
    stand(chart);
    word(chart);
    const ratio = devicePixelRatio || 1;
    for (let spent = 0; due > 0 && spent < FRAME; due--, next++) {
      const part = chart.parts[next % chart.parts.length];
      spent += costOf(part);
      const { frame, canvas } = chart.places.get(part.name);
      const [width, height] = [frame.clientWidth, frame.clientHeight];
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      const pen = canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawPart(chart, part, pen, width, height, ratio);
    }
    if (due > 0) waiting = requestAnimationFrame(draw);
    if (next < chart.parts.length) return; // a page that is told more all the while has frames, too
    next %= chart.parts.length || 1;
    chart.frames += 1;
    el.dataset.frames = String(chart.frames);
  }

  function update(next, fields = {}) {
    const before = namesOf(chart.parts);
    const drawn = new Map(chart.parts.map(({ name, frame }) => [name, frame]));
    chart.about = next.about;
    chart.palette = next.palette;
    chart.parts = unpacked(next, fields);
    el.role = "group";
    if (el.ariaLabel !== next.about) el.ariaLabel = next.about;
    if (namesOf(chart.parts) !== before) build(chart);
    for (const part of chart.parts) {
      part.cache = chart.places.get(part.name).cache;
      part.frame = drawn.get(part.name); // what is seen until it is drawn: a mouse that is let go of now means that
    }
    chart.redraw();
  }

  // The wheel of a page that scrolls by is not meant for the plot that comes under the mouse.
  const scrolled = (event) => {
    if (!el.contains(event.target)) chart.scrolled = event.timeStamp;
  };
  window.addEventListener("wheel", scrolled, { capture: true, passive: true });
  const unthemed = onTheme(() => {
    chart.theme = null;
    themed(chart);
    chart.redraw();
  });
  const density = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  density.addEventListener("change", chart.redraw);

  update(data, heights);
  el.chart = chart; // for the console, and for tests
  return {
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
    png: () => picture(chart).then((blob) => save(blob, `${chart.parts[0]?.name ?? "chart"}.png`)),
    csv: () => save(table(chart), `${chart.parts[0]?.name ?? "chart"}.csv`),
    close: () => {
      cancelAnimationFrame(waiting);
      chart.places.forEach(({ end }) => end());
      chart.sizes.disconnect();
      unthemed();
      density.removeEventListener("change", chart.redraw);
      window.removeEventListener("wheel", scrolled, { capture: true });
    },
  };
}

// What it takes to draw a part, in points.
const costOf = (part) => [...part.curves, ...part.bands, ...part.dots].reduce((sum, { x }) => sum + x.length, OWN);
const namesOf = (parts) => JSON.stringify(parts.map(({ kind, name, tall }) => [kind, name, tall]));
