// @ts-check
// A playground: a small network learns in front of the user, who changes its data, shape and optimizer. Python owns the
// state and the words; this draws them and sends intents.

/** @import { ChartIntent, Playground, PlaygroundIntent, PlaygroundState, PlaygroundText, View } from "../messages" */
import { drawChart } from "../chart/chart.js";
import { button, element, find, throttled } from "../dom.js";
import { begin, follow } from "../live/live.js";
import { buildTransport, foresee } from "../live/transport.js";
import { buildKnobs } from "../panel/knobs.js";
import { buildMenus } from "./menus.js";
import { buildNetwork } from "./network.js";
import { showCode, savePage } from "./texts.js";

/** @type {[type: "fork" | "again" | "code" | "page", text: string, title: string][]} */
const ACTIONS = [
  ["fork", "Branch", "Go on in a branch from this step; the loss of the present run stays in the picture"],
  ["again", "New seed", "Draw other data and another start"],
  ["code", "Code", "Show the lines of Python that make this very run"],
  ["page", "Page", "Save what is shown as one HTML file"],
];

/** @type {(view: View<PlaygroundState, any>) => () => void} */
function render({ model, el }) {
  const live = begin(model, el, "");
  el.classList.add("burlab-playground");
  const { act, state, answered } = foresee(live, ({ step }) => {
    if (step !== undefined) chart.cursor(step < model.get("state").length ? step : null);
    transport.draw();
  });
  const transport = buildTransport(el, "playground", act, state);
  const send = /** @type {(intent: PlaygroundIntent) => number} */ (act);
  const place = (/** @type {string} */ name, parent = el) => element("div", name, parent);
  const actions = element("span", "burlab-actions", find(el, ".burlab-bar"));
  for (const [type, text, title] of ACTIONS) button(actions, text, title, () => send({ type })).dataset.does = type;
  const stage = place("burlab-stage");
  const side = place("burlab-side", stage);
  const menus = buildMenus(place("burlab-menus burlab-form", side), model.get("offers"), send);
  const knobs = buildOwnKnobs(place("burlab-controls", side), (box) => buildKnobs(box, act, answered, () => model.get("texts")));
  const network = buildNetwork(place("burlab-network", side), send, () => chart.chart);
  const seek = throttled((/** @type {number} */ step) => act({ type: "seek", step }));
  const chart = drawChart(place("burlab-plots", stage), model.get("data"), {
    heights: model.get("heights"),
    onIntent: (/** @type {ChartIntent} */ intent) => {
      if (intent.type === "zoom") act(intent);
      if (intent.type === "seek") seek(Math.max(0, Math.round(intent.x)));
    },
  });
  const code = place("burlab-code");
  const answer = (/** @type {PlaygroundText} */ message) => {
    if (message.type === "code") showCode(code, message.text);
    else savePage(message.text);
  };
  model.on("msg:custom", answer);
  const unfollow = follow(live, chart, (found) => {
    transport.draw();
    menus(found);
    knobs(found);
    network.draw(found);
  });
  requestAnimationFrame(() => send({ type: "begin" }));
  return () => {
    model.off("msg:custom", answer);
    network.close();
    transport.close();
    unfollow();
  };
}

// Another optimizer has other knobs: they are built again where their names differ.
/** @type {(el: HTMLElement, build: (el: HTMLElement) => (state: any) => void) => (state: Playground) => void} */
function buildOwnKnobs(el, build) {
  let [names, draw] = ["", (/** @type {Playground} */ _) => {}];
  return (state) => {
    const now = state.knobs.map(({ name }) => name).join();
    if (now !== names) {
      el.replaceChildren();
      [names, draw] = [now, build(el)];
    }
    draw(state);
  };
}

export default { render };
