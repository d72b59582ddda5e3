// @ts-check
// The panel of a race. Python owns the state, the words and the chart; this draws them and sends intents.

/** @import { LiveState, Race, RaceIntent, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { button, choices, element, focused, onEnter, setText, targetOf } from "../dom.js";
import { action, begin, bindIntents, drawStatus, follow, GONE, inkOf, keepRows, SPEEDS } from "../live/live.js";
import { onPanelKeys } from "../panel/keys.js";

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

const CELLS = ["burlab-right", "", "burlab-right", "burlab-right burlab-wide", "burlab-right", "burlab-message burlab-wide", ""];

/** @type {(view: View<LiveState<Race>, RaceIntent>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, HTML);
  const { part } = live;
  const send = /** @type {(intent: RaceIntent) => void} */ (live.send);
  el.classList.add("burlab-race");
  const count = part(".burlab-count");
  const select = (/** @type {string} */ name) => part(`select[aria-label="${name}"]`);
  const rate = part("[aria-label='learning rate']");
  const act = (/** @type {RaceIntent} */ intent) => {
    if (["play", "pause", "step"].includes(intent.type)) press(intent.type === "play"); // at once: the answer comes when it comes
    send(intent);
  };
  const steps = () => act({ type: "step", count: count.value });
  bindIntents(el, act, { step: () => act({ type: "step", count: 1 }), steps });
  onEnter(count, steps);
  for (const [name, type] of /** @type {const} */ ([["speed", "speed"], ["axis", "against"], ["column", "of"]])) {
    select(name).addEventListener("change", (/** @type {Event} */ event) => send({ type, value: targetOf(event).value }));
  }
  const add = () => {
    send({ type: "add", name: select("optimizer").value, lr: rate.value });
    rate.value = "";
  };
  part(".burlab-add").addEventListener("click", add);
  onEnter(rate, add);
  const chart = drawChart(part(".burlab-live-chart"), model.get("data"), { heights: model.get("heights") });

  const [play, pause] = [part("[data-intent=play]"), part("[data-intent=pause]")];
  function press(/** @type {boolean} */ playing) {
    const before = focused();
    [play.disabled, pause.disabled] = [playing, !playing];
    if ([play, pause].includes(before) && before.disabled) (playing ? pause : play).focus({ preventScroll: true });
  }

  /** @type {Map<string, HTMLTableRowElement>} */
  const rows = new Map();
  function createRow(/** @type {string} */ name) {
    const row = element("tr");
    for (const kind of CELLS) element("td", kind, row);
    element("i", "burlab-swatch", row.cells[1]);
    element("span", "", row.cells[1], { textContent: name });
    button(row.cells[6], "×", `drop ${name}`, () => send({ type: "drop", name }), "burlab-drop").ariaLabel = `drop ${name}`;
    return row;
  }

  const unkeyed = onPanelKeys(el, act, () => !pause.disabled, false);
  const unfollow = follow({ model, el, ...live }, chart, (state) => {
    press(state.playing);
    for (const intent of ["play", "step", "steps"]) part(`[data-intent=${intent}]`).disabled ||= state.finished;
    drawStatus(el, state);
    choices(select("speed"), SPEEDS, String(state.speed));
    choices(select("axis"), state.axes, state.against);
    choices(select("column"), state.columns, state.of);
    choices(select("optimizer"), state.optimizers, select("optimizer").value || "Adam");
    setText(part(".burlab-unit"), state.unit);
    const drawn = keepRows(part("tbody"), rows, state.rows.map(({ name }) => name), createRow);
    state.rows.forEach(({ rank, colour, value, behind, step, message }, k) => {
      const { cells } = drawn[k];
      drawn[k].classList.toggle("burlab-first", rank === 1);
      /** @type {HTMLElement} */ (cells[1].firstChild).style.background = inkOf(chart.chart, colour);
      [rank ? String(rank) : "", null, value, behind, step, message].forEach((text, cell) => {
        if (text !== null) setText(cells[cell], text);
      });
      drawn[k].title = message;
      /** @type {HTMLButtonElement} */ (cells[6].firstChild).disabled = drawn.length < 2;
    });
  });
  return () => {
    unkeyed();
    unfollow();
  };
}

export default { render };
