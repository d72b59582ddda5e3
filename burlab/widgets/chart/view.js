// @ts-check
// A chart as a widget of its own, with buttons that save it; a map may be shown as a surface.

/** @import { ChartIntent, ChartViewState, View } from "../messages" */
import { button, element, keepKeys, onChange } from "../dom.js";
import { drawChart } from "./chart.js";
import { raisable } from "./relief.js";

/** @type {(view: View<ChartViewState, ChartIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-chart-view");
  const releaseKeys = keepKeys(el);
  const place = element("div", "", el);
  const onIntent = (/** @type {ChartIntent} */ intent) => model.send(intent);
  const [data, heights] = [model.get("data"), model.get("heights")];
  const chart = drawChart(place, data, { heights, onIntent });
  const raise = raisable(place, chart, data, { heights, posed: (pose) => onIntent({ type: "pose", ...pose }) });
  const bar = element("div", "burlab-save", el);
  button(bar, "PNG", "Save a picture of this", () => chart.png());
  button(bar, "SVG", "Save a drawing of this, as lines and letters", () => chart.svg());
  button(bar, "CSV", "Save the points in sight", () => chart.csv());
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  const show = () => {
    const raised = model.get("shape") === "surface";
    bar.style.display = raised ? "none" : "";
    raise(raised);
  };
  show();
  const stops = [onChange(model, ["data", "heights"], redraw), onChange(model, ["shape"], show)];
  return () => {
    for (const stop of stops) stop();
    releaseKeys();
    chart.close();
  };
}

export default { render };
