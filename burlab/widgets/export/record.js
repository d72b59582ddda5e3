// @ts-check
// The record of a run: a chart, and a slider that moves a cursor, the numbers of a step, and the point on a map.

/** @import { Drawn } from "../chart/chart.js" */
/** @import { MapPart, PlotPart } from "../chart/types" */
/** @import { Mark, RecordData } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { floats, unpacked } from "../chart/data.js";
import { formatNumber } from "../chart/scales.js";
import { button, element, focused, setText } from "../dom.js";

const FRAME_EVERY = 40; // milliseconds between two pictures
const WHOLE_RECORD = 8000; // milliseconds for the whole record

// chart; step: where the run stands; steps, columns: of rows that were exported; places: x and y on the map at these steps.
/** @type {(place: HTMLElement, data: RecordData) => Drawn} */
export function buildRecord(place, { chart, step: now, steps, columns, places }) {
  const rows = floats(steps);
  const numbers = columns.map(({ title, unit, values }) => ({ title, unit, values: floats(values) }));
  const at = places && { x: floats(places.x), y: floats(places.y) };
  const bar = element("div", "burlab-seek");
  const play = button(bar, "", "", () => run());
  const slider = element("input", "", bar, { type: "range", min: "0", max: String(Math.max(rows.length - 1, 0)), step: "1", ariaLabel: "step" });
  const field = element("input", "burlab-at", bar, { inputMode: "numeric", ariaLabel: "go to step" });
  const list = element("div", "burlab-readouts");
  const shown = numbers.map(({ title }) => {
    const box = element("div", "", list);
    element("span", "", box, { textContent: title });
    return element("b", "", box);
  });
  place.before(bar, list);

  const base = { ...chart, parts: unpacked(chart) };
  const view = drawChart(place, base, {
    onIntent: (intent) => {
      if (intent.type === "seek") goTo(intent.x);
    },
  });
  let timer = 0;

  // The row of a step, or of the one before it.
  function rowOf(/** @type {number} */ step) {
    let [low, high] = [0, rows.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (rows[middle] <= step) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  function goTo(/** @type {number} */ step) {
    slider.value = String(rowOf(step));
    show();
  }
  function show() {
    const k = Number(slider.value);
    slider.style.setProperty("--part", String(rows.length > 1 ? k / (rows.length - 1) : 0));
    slider.ariaValueText = `step ${rows[k]}`;
    if (focused() !== field) field.value = String(rows.length ? rows[k] : 0);
    numbers.forEach(({ unit, values }, j) => setText(shown[j], formatNumber(values[k], unit)));
    const parts = base.parts.map((part) => (part.kind === "map" ? onMap(part, k) : { ...part, marks: marked(part, k) }));
    view.update({ ...base, parts });
  }
  /** @type {(part: PlotPart, k: number) => Mark[]} */
  const marked = (part, k) => {
    const others = part.marks.filter(({ kind }) => kind !== "cursor");
    return k < rows.length - 1 ? [...others, { at: rows[k], label: "", axis: "x", kind: "cursor" }] : others;
  };
  const onMap = (/** @type {MapPart} */ part, /** @type {number} */ k) =>
    at ? { ...part, dots: part.dots.map((one) => (one.label === "here" ? { ...one, x: at.x.slice(k, k + 1), y: at.y.slice(k, k + 1) } : one)) } : part;

  function rest() {
    clearInterval(timer);
    timer = 0;
    setText(play, "Play");
  }
  function run() {
    if (timer) {
      rest();
      return;
    }
    if (Number(slider.value) >= rows.length - 1) slider.value = "0";
    const started = performance.now() - (Number(slider.value) / rows.length) * WHOLE_RECORD;
    setText(play, "Pause");
    timer = setInterval(() => {
      slider.value = String(Math.min(rows.length - 1, Math.floor(((performance.now() - started) / WHOLE_RECORD) * rows.length)));
      show();
      if (Number(slider.value) >= rows.length - 1) rest();
    }, FRAME_EVERY);
  }
  slider.addEventListener("input", () => {
    rest();
    show();
  });
  // As in a live panel: space plays, and arrows with shift go ten rows.
  slider.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? ({ ArrowLeft: -10, ArrowRight: 10 }[event.key] ?? 0) : 0;
    if (event.key === " ") run();
    else if (by) {
      rest();
      slider.value = String(Number(slider.value) + by);
      show();
    } else return;
    event.preventDefault();
  });
  field.addEventListener("change", () => {
    rest();
    const step = Number(field.value.replaceAll(",", ""));
    if (Number.isFinite(step)) goTo(step);
    field.value = String(rows[Number(slider.value)]);
  });
  rest();
  goTo(now);
  if (rows.length < 2) bar.hidden = true;
  return view;
}
