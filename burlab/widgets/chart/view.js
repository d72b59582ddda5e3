// @ts-check
// A chart as a widget of its own, with buttons that save it.

import { drawChart } from "./chart.js";
import { element } from "./parts.js";
import { keepKeys } from "../keys.js";

function render({ model, el }) {
  el.classList.add("burlab-chart-view");
  keepKeys(el);
  const stopped = (event) => event.stopPropagation();
  el.addEventListener("keydown", stopped);
  const place = element("div", "", el);
  const send = (intent) => model.send(intent);
  const chart = drawChart(place, model.get("data"), { heights: model.get("heights"), onIntent: send });
  const bar = element("div", "burlab-save", el);
  for (const [text, hint, act] of [["PNG", "Save a picture of this", chart.png], ["CSV", "Save the points in sight", chart.csv]]) {
    const made = element("button", "", bar);
    made.type = "button";
    made.textContent = text;
    made.title = hint;
    made.addEventListener("click", act);
  }
  const changed = () => chart.update(model.get("data"), model.get("heights"));
  model.on("change:data change:heights", changed);
  return () => {
    model.off("change:data change:heights", changed);
    el.removeEventListener("keydown", stopped);
    chart.close();
  };
}

export default { render };
