// @ts-check
// The spectrum of a run. Python owns the words and the chart; this draws them and sends intents.

/** @import { LiveState, Spectrum, SpectrumIntent, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { choices } from "../dom.js";
import { begin, drawStatus, follow, GONE } from "../live/live.js";

const HTML = `${GONE}
<div class="burlab-bar" role="toolbar" aria-label="spectrum">
  <select aria-label="part" title="Of which part of the Hessian"></select>
</div>
<div class="burlab-status"><i></i><span></span><em></em></div>
<div class="burlab-live-chart"></div>`;

/** @type {(view: View<LiveState<Spectrum>, SpectrumIntent>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, HTML);
  const menu = live.part("select");
  const send = /** @type {(intent: SpectrumIntent) => void} */ (live.send);
  menu.addEventListener("change", () => send({ type: "part", value: menu.value }));
  const chart = drawChart(live.part(".burlab-live-chart"), model.get("data"), { heights: model.get("heights") });
  return follow(live, chart, (state) => {
    drawStatus(el, state);
    choices(menu, state.parts, state.part);
  });
}

export default { render };
