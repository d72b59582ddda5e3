// @ts-check
// The record of a run: a chart, and a slider that moves a cursor, the numbers of a step, and the point on a map.

import { drawChart } from "../chart/chart.js";
import { floats, unpacked } from "../chart/data.js";
import { element, say } from "../chart/parts.js";
import { formatNumber } from "../chart/scales.js";

const PLAYING = 40; // milliseconds between two pictures
const WHOLE = 8000; // milliseconds for the whole record

// data: chart; step: where the run stands; steps, columns: {title, values, texts} of rows that were kept; places: x and y
// on the map at these steps.
export function buildRecord(place, { chart, step: now, steps, columns, places }) {
  const rows = floats(steps);
  const numbers = columns.map(({ title, unit, values }) => ({ title, unit, values: floats(values) }));
  const at = places && { x: floats(places.x), y: floats(places.y) };
  const bar = element("div", "burlab-seek");
  const play = element("button", "", bar);
  play.type = "button";
  const slider = element("input", "", bar);
  Object.assign(slider, { type: "range", min: 0, max: Math.max(rows.length - 1, 0), step: 1, ariaLabel: "step" });
  const field = element("input", "burlab-at", bar);
  Object.assign(field, { inputMode: "numeric", ariaLabel: "go to step" });
  const list = element("div", "burlab-readouts");
  const shown = numbers.map(({ title }) => {
    const box = element("div", "", list);
    element("span", "", box).textContent = title;
    return element("b", "", box);
  });
  place.before(bar, list);

  const base = { ...chart, parts: unpacked(chart) };
  const view = drawChart(place, base, { onIntent: (intent) => intent.type === "seek" && goTo(intent.x) });
  let timer = 0;

  // The row of a step, or of the one before it.
  function rowOf(step) {
    let [low, high] = [0, rows.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (rows[middle] <= step) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  function goTo(step) {
    slider.value = rowOf(step);
    show();
  }
  function show() {
    const k = Number(slider.value);
    slider.style.setProperty("--part", rows.length > 1 ? k / (rows.length - 1) : 0);
    slider.ariaValueText = `step ${rows[k]}`;
    if (document.activeElement !== field) field.value = rows.length ? rows[k] : 0;
    numbers.forEach(({ unit, values }, j) => say(shown[j], formatNumber(values[k], unit)));
    const parts = base.parts.map((part) => (part.kind === "map" ? onMap(part, k) : { ...part, marks: marked(part, k) }));
    view.update({ ...base, parts });
  }
  const marked = (part, k) =>
    [...part.marks.filter(({ kind }) => kind !== "cursor"), ...(k < rows.length - 1 ? [{ at: rows[k], label: "", axis: "x", kind: "cursor" }] : [])];
  const onMap = (part, k) =>
    at ? { ...part, dots: part.dots.map((one) => (one.label === "here" ? { ...one, x: at.x.slice(k, k + 1), y: at.y.slice(k, k + 1) } : one)) } : part;

  function rest() {
    clearInterval(timer);
    timer = 0;
    say(play, "Play");
  }
  function run() {
    if (timer) return rest();
    if (Number(slider.value) >= rows.length - 1) slider.value = 0;
    const started = performance.now() - (Number(slider.value) / rows.length) * WHOLE;
    say(play, "Pause");
    timer = setInterval(() => {
      slider.value = Math.min(rows.length - 1, Math.floor(((performance.now() - started) / WHOLE) * rows.length));
      show();
      if (Number(slider.value) >= rows.length - 1) rest();
    }, PLAYING);
  }
  play.addEventListener("click", run);
  slider.addEventListener("input", () => {
    rest();
    show();
  });
  // As in a live panel: space plays, and arrows with shift go ten rows.
  slider.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? { ArrowLeft: -10, ArrowRight: 10 }[event.key] : 0;
    if (event.key === " ") run();
    else if (by) {
      rest();
      slider.value = Number(slider.value) + by;
      show();
    } else return;
    event.preventDefault();
  });
  field.addEventListener("change", () => {
    rest();
    const step = Number(field.value.replaceAll(",", ""));
    if (Number.isFinite(step)) goTo(step);
    field.value = rows[Number(slider.value)];
  });
  rest();
  goTo(now);
  if (rows.length < 2) bar.hidden = true;
  return view;
}
