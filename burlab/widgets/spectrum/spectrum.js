// @ts-check
// The spectrum of a run. Python owns the words and the chart; this draws them and sends intents.

import { drawChart } from "../chart/chart.js";
import { GONE, begin, choices, presence, status } from "../live/live.js";

const HTML = `${GONE}
<div class="burlab-bar" role="toolbar" aria-label="spectrum">
  <select aria-label="part" title="Of which part of the Hessian"></select>
</div>
<div class="burlab-status" role="status"><i></i><span></span><em></em></div>
<div class="burlab-live-chart"></div>`;

function render({ model, el }) {
  const { view, send, find } = begin(model, el, HTML);
  const part = find("select");
  part.addEventListener("change", () => send({ type: "part", value: part.value }));
  const chart = drawChart(find(".burlab-live-chart"), model.get("data"), { heights: model.get("heights") });

  function draw() {
    const state = model.get("state");
    status(find, state);
    choices(part, state.parts, state.part);
    el.dataset.ready = view; // the mark that tests wait for
    requestAnimationFrame(() => send({ type: "drawn", tick: state.tick }));
  }
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  model.on("change:data change:heights", redraw);
  model.on("change:state", draw);
  draw();
  const leave = presence(el, send);
  return () => {
    model.off("change:data change:heights", redraw);
    model.off("change:state", draw);
    chart.close();
    leave();
  };
}

export default { render };
