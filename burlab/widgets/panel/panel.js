// @ts-check
// The panel of a run or of a watched loop: transport, knobs, numbers and chart in one view, and below it what is folded.

/** @import { ChartData, ChartIntent, HeightsByName, LiveState, Panel, View } from "../messages" */
/** @import { Drawn } from "../chart/chart.js" */
import { drawChart } from "../chart/chart.js";
import { raisable } from "../chart/relief.js";
import { button, element, throttled } from "../dom.js";
import { fold } from "../folds.js";
import { begin, follow } from "../live/live.js";
import { buildTransport, foresee } from "../live/transport.js";
import { buildBreaks } from "./breaks.js";
import { buildCliff } from "./cliff.js";
import { buildFormats } from "./formats.js";
import { buildHead } from "./head.js";
import { buildKnobs } from "./knobs.js";
import { drawMemory } from "./memory.js";
import { buildTools, drawReadouts } from "./tools.js";

/** @type {(view: View<LiveState<Panel>, any>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, "");
  const overSteps = () => model.get("state").against === "step";
  const { act, state, answered } = foresee(live, ({ step }) => {
    if (step !== undefined && overSteps()) chart.cursor(step < model.get("state").length ? step : null);
    drawHead();
  });
  const transport = buildTransport(el, "run", act, state);
  const place = (/** @type {string} */ name) => element("div", name, el);
  const head = buildHead(place("burlab-head"), act, state);
  const drawHead = () => {
    transport.draw();
    head();
  };
  const cliff = buildCliff(place("burlab-cliff"), act);
  const knobs = buildKnobs(place("burlab-controls"), act, answered, () => model.get("texts"));
  const readouts = place("burlab-readouts");
  const seek = throttled((/** @type {number} */ step) => act({ type: "seek", step }));
  const seekPlace = throttled((/** @type {number} */ place) => act({ type: "seek", place })); // Python knows the step there
  const called = () => `${state().title} step ${state().step}`;
  const tools = buildTools(act, { png: () => chart.png(called()), svg: () => chart.svg(called()), csv: () => chart.csv(called()) });
  const memory = element("div", "burlab-memory");
  const plots = place("burlab-plots");
  const chart = drawChart(plots, model.get("data"), {
    heights: model.get("heights"),
    below: { "": tools.el, memory },
    folds: true,
    onIntent: (/** @type {ChartIntent} */ intent) => {
      if (intent.type === "zoom") act(intent);
      if (intent.type === "pick" && intent.part === "plane" && model.get("state").movable) act({ type: "start", x: intent.x, y: intent.y });
      if (intent.type !== "seek" || !state().seekable) return;
      if (overSteps()) return seek(Math.max(0, Math.round(intent.x)));
      chart.cursor(intent.x);
      seekPlace(intent.x);
    },
  });
  const breaks = buildBreaks(fold(el, "breakpoints"), act);
  const formats = buildFormats(fold(el, "formats of numbers"), act);
  const surface = buildSurface(plots, chart, model.get("data"), model.get("heights"));
  const unfollow = follow(live, chart, (found) => {
    surface(found.movable);
    drawHead();
    cliff(found);
    knobs(found);
    drawReadouts(readouts, found.readouts);
    tools.draw(found);
    drawMemory(memory, found.memory);
    breaks(found);
    formats(found.formats);
  });
  return () => {
    transport.close();
    unfollow();
  };
}

// A button next to the title of the plane, which shows it as a surface below the plots. Returns what puts it there again after
// the plots were built anew, and says whether a click on the plane begins there.
/** @type {(plots: HTMLElement, chart: Drawn, data: ChartData, heights: HeightsByName) => (movable: boolean) => void} */
function buildSurface(plots, chart, data, heights) {
  const raise = raisable(plots, chart, data, { heights });
  const toggle = button(null, "Surface", "Show the plane as a surface, which can be turned", () => {
    const on = toggle.ariaPressed !== "true";
    toggle.ariaPressed = String(on);
    raise(on);
  }, "burlab-entry");
  toggle.ariaPressed = "false";
  return (movable) => {
    const plane = chart.chart.places.get("plane");
    if (!plane) return;
    if (!plane.box.contains(toggle)) plane.title.after(toggle);
    plane.canvas.title = movable ? "Click to start there, or drag the dot; drag elsewhere to zoom in" : "";
  };
}

export default { render };
