// @ts-check
// The panel of a run: head, chart and controls in one view. Buttons answer at once, and Python's answer replaces that.


/** @import { ChartIntent, PanelIntent, PanelState, View } from "../messages" */
/** @import { State } from "./head.js" */
import { drawChart } from "../chart/chart.js";
import { element, find, throttled } from "../dom.js";
import { announcer, begin, presence } from "../live/live.js";
import { buildBreaks } from "./breaks.js";
import { buildHead } from "./head.js";
import { onPanelKeys } from "./keys.js";
import { buildKnobs } from "./knobs.js";

const PATIENCE = 30000; // milliseconds for which the page shows what it expects, if no answer at all comes

// What a state will be when an intent has been handled.
/** @type {(intent: PanelIntent, state: State) => Partial<State>} */
export function expected(intent, { playing, length, step: now }) {
  switch (intent.type) {
    case "play":
    case "back":
      return { playing: true, tone: "running" };
    case "pause":
      return { playing: false, ...(playing ? { tone: "paused" } : {}) };
    case "reset":
      return { playing: false, step: 0 };
    case "rewind":
      return { playing: false, step: Math.max(0, now - intent.count) };
    case "seek":
      return Number(intent.step) >= 0 ? { playing: false, step: Math.min(Math.round(Number(intent.step)), length) } : {};
    default:
      return {};
  }
}

/** @type {(view: View<PanelState, any>) => () => void} */
function render({ model, el }) {
  const { view, send, releaseKeys } = begin(model, el, "");
  let [serial, awaited, sent, handled] = [0, 0, 0, 0]; // sent: when; or when the last answer came
  let changes = /** @type {Partial<State>} */ ({});
  // Whether Python has handled an intent, by its number, or was given long enough. A kernel that answers one intent after
  // the other, slowly, will come to this one, too: an answer to an earlier one would undo what was done since.
  const answered = (/** @type {number} */ number) => {
    const now = model.get("state").handled[view] ?? 0;
    if (now > handled) [handled, sent] = [now, performance.now()];
    return now >= number || performance.now() > sent + PATIENCE;
  };
  const state = () => (answered(awaited) ? model.get("state") : { ...model.get("state"), ...changes });
  // Sends an intent; returns its number.
  const act = (/** @type {PanelIntent} */ intent) => {
    const known = state();
    const found = expected(intent, known);
    send({ ...intent, serial: ++serial });
    sent = performance.now();
    if (!Object.keys(found).length) return serial;
    [awaited, changes] = [serial, found];
    if (found.step !== undefined) chart.cursor(found.step < known.length ? found.step : null);
    head();
    return serial;
  };

  el.classList.add("burlab-panel");
  const place = (/** @type {string} */ name) => element("div", name, el);
  const head = buildHead(place("burlab-head"), act, state);
  const seek = throttled((/** @type {number} */ step) => act({ type: "seek", step }));
  const chart = drawChart(place("burlab-plots"), model.get("data"), {
    heights: model.get("heights"),
    onIntent: (/** @type {ChartIntent} */ intent) => {
      if (intent.type === "zoom") act(intent);
      if (intent.type === "seek") seek(Math.max(0, Math.round(intent.x)));
    },
  });
  const knobs = buildKnobs(place("burlab-controls"), act, answered, () => model.get("texts"));
  const breaks = buildBreaks(place("burlab-breaks"), act);
  const announce = announcer(el);
  find(el, ".burlab-png").addEventListener("click", chart.png);
  find(el, ".burlab-csv").addEventListener("click", chart.csv);

  const draw = () => {
    head();
    knobs(model.get("state"));
    breaks(model.get("state"));
    announce(model.get("state"));
    el.dataset.ready = view; // the mark that tests wait for
    const { tick } = model.get("state");
    requestAnimationFrame(() => send({ type: "drawn", tick }));
  };
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  const unkeyed = onPanelKeys(el, act, () => state().playing);
  const leave = presence(el, send);
  model.on("change:state", draw);
  model.on("change:data", redraw);
  draw();
  return () => {
    model.off("change:state", draw);
    model.off("change:data", redraw);
    releaseKeys();
    unkeyed();
    chart.close();
    leave();
  };
}

export default { render };
