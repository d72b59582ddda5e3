// @ts-check
// The panel of a tree of branches. Python owns the state, the words and the chart; this draws them and sends intents.

/** @import { Chart, Pen } from "../chart/types" */
/** @import { Branch, Branches, BranchesIntent, ChartIntent, LiveState, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { choices, element, onEnter, setText, showIn, targetOf } from "../dom.js";
import { action, begin, drawStatus, follow, GONE, inkOf, keepRows } from "../live/live.js";

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
  <select aria-label="axis" title="What branches are compared against"></select></div>
<div class="burlab-live-chart"></div>`;

/** @type {(view: View<LiveState<Branches>, BranchesIntent>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, HTML);
  const { part } = live;
  const send = /** @type {(intent: BranchesIntent) => void} */ (live.send);
  el.classList.add("burlab-branches");
  const labelled = (/** @type {string} */ name) => part(`[aria-label="${name}"]`);
  const [slider, at, field, value, count] = ["cursor", "fork at step", "field", "new value", "number of steps"].map(labelled);
  const fork = () => {
    send({ type: "fork", name: field.value, text: value.value });
    value.value = "";
  };
  const go = () => send({ type: "go", count: count.value });
  part("[data-intent=fork]").addEventListener("click", fork);
  part("[data-intent=steps]").addEventListener("click", go);
  part("[data-intent=pause]").addEventListener("click", () => send({ type: "pause" }));
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
  labelled("axis").addEventListener("change", (/** @type {Event} */ event) => send({ type: "against", value: targetOf(event).value }));
  const onIntent = (/** @type {ChartIntent} */ intent) => {
    if (intent.type === "seek") send({ type: "cursor", step: intent.x });
  };
  const chart = drawChart(part(".burlab-live-chart"), model.get("data"), { heights: model.get("heights"), onIntent });

  /** @type {Map<string, HTMLLIElement>} */
  const rows = new Map();
  function createRow(/** @type {string} */ name) {
    const row = element("li", "burlab-branch", null, { tabIndex: 0 });
    const box = element("input", "", row, { type: "checkbox", ariaLabel: `compare ${name}` });
    box.addEventListener("click", (event) => event.stopPropagation());
    box.addEventListener("change", () => send({ type: "choose", name, value: box.checked }));
    element("canvas", "", row, { ariaHidden: "true" });
    const words = element("span", "", row);
    element("b", "", words, { textContent: name });
    element("span", "", words);
    element("small", "", words);
    const cost = element("span", "burlab-cost", row);
    element("b", "", cost);
    element("small", "", cost);
    const pick = () => send({ type: "current", name });
    row.addEventListener("click", pick);
    row.addEventListener("keydown", (event) => {
      const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
      if (event.target !== row) return;
      if (event.key === "Enter" || event.key === " ") pick();
      else if (next) /** @type {HTMLElement} */ (next).focus();
      else return;
      event.preventDefault();
    });
    return row;
  }

  return follow(live, chart, (state) => {
    drawStatus(el, state);
    const drawn = keepRows(part(".burlab-tree"), rows, state.rows.map(({ name }) => name), createRow);
    state.rows.forEach((branch, k) => {
      const row = drawn[k];
      row.style.setProperty("--depth", String(branch.depth));
      row.ariaCurrent = String(branch.name === state.current);
      row.ariaLabel = `branch ${branch.name}, ${branch.message}${branch.origin && ` ${branch.origin}`}, value ${branch.value}`;
      const [box, canvas, words, cost] = row.children;
      showIn(box, branch.chosen, "checked");
      setText(words.children[1], ` ${branch.message}`);
      setText(words.children[2], branch.origin ? `${branch.origin}, ${branch.length} steps` : `${branch.length} steps`);
      setText(cost.children[0], branch.value);
      setText(cost.children[1], `${branch.gradients} gradients, ${branch.seconds}`);
      drawThumbnail(/** @type {HTMLCanvasElement} */ (canvas), branch, chart.chart);
    });
    slider.max = state.length;
    if (!dragged) showIn(slider, state.cursor);
    slider.style.setProperty("--part", String(state.length ? slider.value / state.length : 0));
    if (!dragged) showIn(at, state.cursor);
    choices(field, state.hypers, field.value || (state.hypers[0]?.[0] ?? ""));
    choices(labelled("axis"), state.axes, state.against);
    part("[data-intent=pause]").disabled = !state.running;
  });
}

// A small picture of a branch: the past that it shares with its parent in grey, then its own way.
/** @type {(canvas: HTMLCanvasElement, branch: Branch, chart: Chart) => void} */
function drawThumbnail(canvas, { own, past, colour }, chart) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth || 92, canvas.clientHeight || 32];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = /** @type {Pen} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const [points, k, thick] of /** @type {const} */ ([[past, -1, 1], [own, colour, 1.8]])) {
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(2 + x * (width - 4), height - 3 - y * (height - 6));
    pen.strokeStyle = inkOf(chart, k);
    pen.lineWidth = thick;
    pen.stroke();
  }
}

export default { render };
