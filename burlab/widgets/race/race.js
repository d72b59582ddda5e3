// @ts-check
// The panel of a race. Python owns the state, the words and the chart; this draws them and sends intents.

import { drawChart } from "../chart/chart.js";
import { element } from "../chart/parts.js";
import { GONE, action, begin, choices, follow, inkOf, keepRows, onEnter, put, status } from "../live/live.js";
import { onPanelKeys } from "../panel/keys.js";

const SPEEDS = [["-1", "growing speed"], ["0", "full speed"], ["1000", "1,000 steps/s"], ["100", "100 steps/s"], ["10", "10 steps/s"], ["1", "1 step/s"]];

const HTML = `${GONE}
<div class="burlab-bar" role="toolbar" aria-label="race">
  ${action("play", "Play", "Let all racers step until paused (space)")}
  ${action("pause", "Pause", "Rest at the steps reached (space)")}
  ${action("step", "Step", "One step each (right arrow; with shift: ten)")}
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="100">
  ${action("steps", "Step n", "So many steps each")}</span>
  <select aria-label="speed" title="How fast Play goes: a growing speed does ten times as many steps every five seconds"></select>
  <select class="burlab-spread" aria-label="axis" title="What racers are compared against"></select>
  <select aria-label="column" title="What is compared"></select>
</div>
<div class="burlab-status"><i></i><span></span><em></em></div>
<table class="burlab-table"><thead><tr><th></th><th>racer</th><th class="burlab-right burlab-unit"></th>
  <th class="burlab-right burlab-wide" title="How many times as high as the leader">of the leader</th><th class="burlab-right">steps</th>
  <th class="burlab-wide"></th><th></th></tr></thead><tbody></tbody></table>
<div class="burlab-form" role="group" aria-label="add a racer"><span>Add</span>
  <select aria-label="optimizer"></select>
  <label>lr <input aria-label="learning rate" placeholder="default" inputmode="decimal"></label>
  <button type="button" class="burlab-add">Add</button></div>
<div class="burlab-live-chart"></div>`;

function render({ model, el }) {
  const { view, send, find } = begin(model, el, HTML);
  el.classList.add("burlab-race");
  const count = find(".burlab-count");
  const select = (name) => find(`select[aria-label="${name}"]`);
  const rate = find("[aria-label='learning rate']");
  const intents = {
    step: () => act({ type: "step", count: 1 }),
    steps: () => act({ type: "step", count: count.value }),
  };
  const act = (intent) => {
    if (["play", "pause", "step"].includes(intent.type)) press(intent.type === "play"); // at once: the answer comes when it comes
    send(intent);
  };
  for (const one of el.querySelectorAll("[data-intent]")) {
    const type = one.dataset.intent;
    one.addEventListener("click", intents[type] ?? (() => act({ type })));
  }
  onEnter(count, intents.steps);
  for (const [name, type] of [["speed", "speed"], ["axis", "against"], ["column", "of"]]) {
    select(name).addEventListener("change", (event) => send({ type, value: event.target.value }));
  }
  const add = () => {
    send({ type: "add", name: select("optimizer").value, lr: rate.value });
    rate.value = "";
  };
  find(".burlab-add").addEventListener("click", add);
  onEnter(rate, add);
  const chart = drawChart(find(".burlab-live-chart"), model.get("data"), { heights: model.get("heights") });
  const inner = find(".burlab-live-chart").chart;

  const pause = find("[data-intent=pause]");
  function press(playing) {
    const [play, focused] = [find("[data-intent=play]"), document.activeElement];
    [play.disabled, pause.disabled] = [playing, !playing];
    if ([play, pause].includes(focused) && focused.disabled) (playing ? pause : play).focus({ preventScroll: true });
  }

  const rows = new Map();
  function rowOf(name) {
    const row = element("tr");
    for (const kind of ["burlab-right", "", "burlab-right", "burlab-right burlab-wide", "burlab-right", "burlab-says burlab-wide", ""]) element("td", kind, row);
    element("i", "burlab-swatch", row.cells[1]);
    element("span", "", row.cells[1]).textContent = name;
    const drop = element("button", "burlab-drop", row.cells[6]);
    drop.type = "button";
    drop.textContent = "×";
    drop.ariaLabel = drop.title = `drop ${name}`;
    drop.addEventListener("click", () => send({ type: "drop", name }));
    return row;
  }

  function draw(state) {
    press(state.playing);
    for (const intent of ["play", "step", "steps"]) find(`[data-intent=${intent}]`).disabled ||= state.finished;
    status(find, state);
    choices(select("speed"), SPEEDS, String(state.speed));
    choices(select("axis"), state.axes, state.against);
    choices(select("column"), state.columns, state.of);
    choices(select("optimizer"), state.optimizers, select("optimizer").value || "Adam");
    put(find(".burlab-unit"), state.unit);
    const names = state.rows.map(({ name }) => name);
    keepRows(find("tbody"), rows, names, rowOf);
    state.rows.forEach(({ name, rank, colour, value, behind, step, message }) => {
      const row = rows.get(name);
      row.classList.toggle("burlab-first", rank === 1);
      row.cells[1].firstChild.style.background = inkOf(inner, colour);
      [rank ? String(rank) : "", null, value, behind, step, message, null].forEach((text, cell) => {
        if (text !== null) put(row.cells[cell], text);
      });
      row.title = message;
      row.cells[6].firstChild.disabled = names.length < 2;
    });
  }

  const unkeyed = onPanelKeys(el, act, () => !pause.disabled, false);
  const unfollow = follow({ model, el, view, send }, chart, draw);
  return () => {
    unkeyed();
    unfollow();
  };
}

export default { render };
