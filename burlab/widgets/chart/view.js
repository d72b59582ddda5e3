// @ts-check
// A chart as a widget of its own, with buttons that save it.

/** @import { ChartIntent, ChartState, View } from "../messages" */
import { button, element, keepKeys } from "../dom.js";
import { drawChart } from "./chart.js";

/** @type {(view: View<ChartState, ChartIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-chart-view");
  const releaseKeys = keepKeys(el);
  const place = element("div", "", el);
  const onIntent = (/** @type {ChartIntent} */ intent) => model.send(intent);
  const chart = drawChart(place, model.get("data"), { heights: model.get("heights"), onIntent });
  const bar = element("div", "burlab-save", el);
  button(bar, "PNG", "Save a picture of this", chart.png);
  button(bar, "CSV", "Save the points in sight", chart.csv);
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  model.on("change:data change:heights", redraw);
  return () => {
    model.off("change:data change:heights", redraw);
    releaseKeys();
    chart.close();
  };
}

export default { render };
