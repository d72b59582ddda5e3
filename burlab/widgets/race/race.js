// @ts-check
// The panel of a race. Python owns the state, the words and the chart; this draws them and sends intents.

/** @import { ChartIntent, LiveState, Race, RaceIntent, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { striped } from "../chart/parts.js";
import { button, choices, element, onEnter, roving, setText } from "../dom.js";
import { begin, follow, inkOf, keepRows } from "../live/live.js";
import { buildTransport, foresee } from "../live/transport.js";

const HTML = `
<table class="burlab-table"><thead><tr><td></td><th>racer</th><th class="burlab-right burlab-unit"></th>
  <th class="burlab-right burlab-wide" title="How many times as high as the leader">of the leader</th><th class="burlab-right">steps</th>
  <td class="burlab-wide"></td><td></td></tr></thead><tbody></tbody></table>
<div class="burlab-form" role="group" aria-label="add a racer"><span>Add</span>
  <select aria-label="optimizer"></select>
  <label>lr <input aria-label="learning rate" placeholder="default" inputmode="decimal"></label>
  <button type="button" class="burlab-add">Add</button></div>
<div class="burlab-live-chart"></div>`;

const CELLS = ["burlab-right", "", "burlab-right", "burlab-right burlab-wide", "burlab-right", "burlab-message burlab-wide", ""];

/** @type {(view: View<LiveState<Race>, RaceIntent>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, "");
  const { part } = live;
  el.classList.add("burlab-race");
  const { act, state } = foresee(live, () => transport.draw());
  const transport = buildTransport(el, "race", act, state);
  const send = /** @type {(intent: RaceIntent) => void} */ (act);
  el.insertAdjacentHTML("beforeend", HTML);
  const select = (/** @type {string} */ name) => part(`select[aria-label="${name}"]`);
  const rate = part("[aria-label='learning rate']");
  for (const [ariaLabel, title, type] of /** @type {const} */ ([["axis", "What racers are compared against", "against"], ["column", "What is compared", "of"]])) {
    const menu = element("select", "", part(".burlab-bar"), { ariaLabel, title });
    menu.addEventListener("change", () => send({ type, value: menu.value }));
  }
  const add = () => {
    send({ type: "add", name: select("optimizer").value, lr: rate.value });
    rate.value = "";
  };
  part(".burlab-add").addEventListener("click", add);
  onEnter(rate, add);
  const chart = drawChart(part(".burlab-live-chart"), model.get("data"), {
    heights: model.get("heights"),
    onIntent: (/** @type {ChartIntent} */ intent) => {
      if (intent.type === "pick" && intent.part === "paths" && model.get("state").movable) send({ type: "start", x: intent.x, y: intent.y });
    },
  });

  const rove = roving(part("tbody"), ["ArrowUp", "ArrowDown"]);
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

  const unfollow = follow(live, chart, (state) => {
    transport.draw();
    choices(select("axis"), state.axes, state.against);
    choices(select("column"), state.columns, state.of);
    choices(select("optimizer"), state.optimizers, select("optimizer").value || "Adam");
    setText(part(".burlab-unit"), state.unit);
    const drawn = keepRows(part("tbody"), rows, state.rows.map(({ name }) => name), createRow);
    state.rows.forEach(({ rank, colour, dash, value, behind, step, message }, k) => {
      const { cells } = drawn[k];
      drawn[k].classList.toggle("burlab-first", rank === 1);
      /** @type {HTMLElement} */ (cells[1].firstChild).style.background = striped(inkOf(chart.chart, colour), dash);
      [rank ? String(rank) : "", null, value, behind, step, message].forEach((text, cell) => {
        if (text !== null) setText(cells[cell], text);
      });
      drawn[k].title = message;
      /** @type {HTMLButtonElement} */ (cells[6].firstChild).disabled = drawn.length < 2;
    });
    rove();
  });
  return () => {
    transport.close();
    unfollow();
  };
}

export default { render };
