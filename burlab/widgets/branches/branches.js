// @ts-check
// The panel of a tree of branches. Python owns the state, the words and the chart; this draws them and sends intents.

import { drawChart } from "../chart/chart.js";
import { element } from "../chart/parts.js";
import { showIn } from "../keys.js";
import { GONE, action, begin, choices, follow, inkOf, keepRows, onEnter, put, status } from "../live/live.js";

const HTML = `${GONE}
<div class="burlab-status"><i></i><span></span><em></em></div>
<ul class="burlab-tree" aria-label="branches"></ul>
<div class="burlab-form" role="group" aria-label="fork"><span>at step</span>
  <input type="range" aria-label="cursor" min="0" max="0" step="1" value="0">
  <input class="burlab-cursor" aria-label="fork at step" inputmode="numeric" value="0">
  <select aria-label="field"></select><span>=</span>
  <input aria-label="new value" placeholder="unchanged" inputmode="decimal">
  ${action("fork", "Fork here", "A new branch leaves at the cursor")}</div>
<div class="burlab-form" role="group" aria-label="continue">
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="1000">
  ${action("steps", "Go on", "So many steps more from where the branch is")}</span>
  ${action("pause", "Pause", "Rest at the step reached")}
  <select aria-label="axis" class="burlab-spread" title="What branches are compared against"></select></div>
<div class="burlab-live-chart"></div>`;

function render({ model, el }) {
  const { view, send, find } = begin(model, el, HTML);
  el.classList.add("burlab-branches");
  const labelled = (name) => find(`[aria-label="${name}"]`);
  const [slider, at, field, value, count] = ["cursor", "fork at step", "field", "new value", "number of steps"].map(labelled);
  const tree = find(".burlab-tree");
  const fork = () => {
    send({ type: "fork", name: field.value, text: value.value });
    value.value = "";
  };
  const go = () => send({ type: "go", count: count.value });
  find("[data-intent=fork]").addEventListener("click", fork);
  find("[data-intent=steps]").addEventListener("click", go);
  find("[data-intent=pause]").addEventListener("click", () => send({ type: "pause" }));
  onEnter(value, fork);
  onEnter(count, go);
  let dragged = false;
  slider.addEventListener("input", () => {
    dragged = true;
    at.value = slider.value;
  });
  slider.addEventListener("change", () => {
    dragged = false;
    send({ type: "cursor", step: slider.value });
  });
  at.addEventListener("change", () => send({ type: "cursor", step: at.value }));
  onEnter(at, () => at.blur());
  labelled("axis").addEventListener("change", (event) => send({ type: "against", value: event.target.value }));
  const onIntent = ({ type, x }) => {
    if (type === "seek") send({ type: "cursor", step: x });
  };
  const place = find(".burlab-live-chart");
  const chart = drawChart(place, model.get("data"), { heights: model.get("heights"), onIntent });

  const rows = new Map();
  function rowOf(name) {
    const row = element("li", "burlab-branch");
    row.tabIndex = 0;
    const box = element("input", "", row);
    box.type = "checkbox";
    box.ariaLabel = `compare ${name}`;
    box.addEventListener("click", (event) => event.stopPropagation());
    box.addEventListener("change", () => send({ type: "choose", name, value: box.checked }));
    const canvas = element("canvas", "", row);
    canvas.ariaHidden = "true";
    const said = element("span", "", row);
    element("b", "", said).textContent = name;
    element("span", "", said);
    element("small", "", said);
    const cost = element("span", "burlab-cost", row);
    element("b", "", cost);
    element("small", "", cost);
    const pick = () => send({ type: "current", name });
    row.addEventListener("click", pick);
    row.addEventListener("keydown", (event) => {
      const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
      if (event.target !== row) return;
      if (event.key === "Enter" || event.key === " ") pick();
      else if (next) next.focus();
      else return;
      event.preventDefault();
    });
    return row;
  }

  function draw(state) {
    status(find, state);
    keepRows(tree, rows, state.rows.map(({ name }) => name), rowOf);
    state.rows.forEach((branch) => {
      const { name } = branch;
      const row = rows.get(name);
      row.style.setProperty("--depth", branch.depth);
      row.ariaCurrent = String(name === state.current);
      row.ariaLabel = `branch ${name}, ${branch.message}${branch.origin && ` ${branch.origin}`}, value ${branch.value}`;
      const [box, canvas, said, cost] = row.children;
      showIn(box, branch.chosen, "checked");
      put(said.children[1], ` ${branch.message}`);
      put(said.children[2], branch.origin ? `${branch.origin}, ${branch.length} steps` : `${branch.length} steps`);
      put(cost.children[0], branch.value);
      put(cost.children[1], `${branch.gradients} gradients, ${branch.seconds}`);
      small(canvas, branch, place.chart);
    });
    slider.max = state.length;
    if (!dragged) showIn(slider, state.cursor);
    slider.style.setProperty("--part", state.length ? slider.value / state.length : 0);
    if (!dragged) showIn(at, state.cursor);
    choices(field, state.hypers, field.value || (state.hypers[0]?.[0] ?? ""));
    choices(labelled("axis"), state.axes, state.against);
    find("[data-intent=pause]").disabled = !state.running;
  }

  return follow({ model, el, view, send }, chart, draw);
}

// A small picture of a branch: the past that it shares with its parent in grey, then its own way.
function small(canvas, { own, past, colour }, chart) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth || 92, canvas.clientHeight || 32];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const [points, ink, thick] of [[past, inkOf(chart, -1), 1], [own, inkOf(chart, colour), 1.8]]) {
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(2 + x * (width - 4), height - 3 - y * (height - 6));
    pen.strokeStyle = ink;
    pen.lineWidth = thick;
    pen.stroke();
  }
}

export default { render };
