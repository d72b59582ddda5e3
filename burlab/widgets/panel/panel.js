// @ts-check
// The panel of a run or of a watched loop: transport, head, chart and controls in one view.

/** @import { ChartIntent, LiveState, Panel, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { element, find, throttled } from "../dom.js";
import { begin, follow } from "../live/live.js";
import { buildTransport, foresee } from "../live/transport.js";
import { buildBreaks } from "./breaks.js";
import { buildHead } from "./head.js";
import { buildKnobs } from "./knobs.js";

/** @type {(view: View<LiveState<Panel>, any>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, "");
  const { act, state, answered } = foresee(live, ({ step }) => {
    if (step !== undefined) chart.cursor(step < model.get("state").length ? step : null);
    drawHead();
  });
  const transport = buildTransport(el, "run", act, state);
  const place = (/** @type {string} */ name) => element("div", name, el);
  const head = buildHead(place("burlab-head"), act, state);
  const drawHead = () => {
    transport.draw();
    head();
  };
  const seek = throttled((/** @type {number} */ step) => act({ type: "seek", step }));
  const chart = drawChart(place("burlab-plots"), model.get("data"), {
    heights: model.get("heights"),
    onIntent: (/** @type {ChartIntent} */ intent) => {
      if (intent.type === "zoom") act(intent);
      if (intent.type === "seek" && state().seekable) seek(Math.max(0, Math.round(intent.x)));
    },
  });
  const knobs = buildKnobs(place("burlab-controls"), act, answered, () => model.get("texts"));
  const breaks = buildBreaks(place("burlab-breaks"), act);
  find(el, ".burlab-png").addEventListener("click", chart.png);
  find(el, ".burlab-csv").addEventListener("click", chart.csv);
  const unfollow = follow(live, chart, (found) => {
    drawHead();
    knobs(found);
    breaks(found);
  });
  return () => {
    transport.close();
    unfollow();
  };
}

export default { render };
