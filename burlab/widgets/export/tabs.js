// @ts-check
// One chart of several, by choice: a race against steps, gradients, seconds and bytes.

/** @import { Drawn } from "../chart/chart.js" */
/** @import { TabsData } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { element } from "../dom.js";

/** @type {(place: HTMLElement, data: TabsData) => Drawn} */
export function buildTabs(place, { names, charts }) {
  const view = drawChart(place, charts[0]);
  if (names.length > 1) {
    const bar = element("div", "burlab-tabs");
    const choice = element("select", "", bar, { ariaLabel: "against" });
    names.forEach((name, k) => choice.append(new Option(name, String(k))));
    choice.addEventListener("change", () => view.update(charts[Number(choice.value)]));
    place.before(bar);
  }
  return view;
}
