// @ts-check
// The panel of a run: head, chart and controls in one view. Buttons answer at once, and Python's answer replaces that.

import { drawChart } from "../chart/chart.js";
import { element } from "../chart/parts.js";
import { keepKeys } from "../keys.js";
import { buildBreaks } from "./breaks.js";
import { buildHead, throttled } from "./head.js";
import { onPanelKeys } from "./keys.js";
import { buildKnobs } from "./knobs.js";
import { onSight } from "./watch.js";
import { buildVoice } from "../voice.js";

const PATIENCE = 30000; // milliseconds for which the page shows what it expects, if no answer at all comes

// What a state will be when an intent has been carried out.
function expected({ type, step, count }, { playing, length, step: now }) {
  if (type === "play" || type === "back") return { playing: true, tone: "running" };
  if (type === "pause") return { playing: false, tone: playing ? "paused" : undefined };
  if (type === "reset") return { playing: false, step: 0 };
  if (type === "rewind") return { playing: false, step: Math.max(0, now - count) };
  if (type !== "seek" || !(Number(step) >= 0)) return {};
  return { playing: false, step: Math.min(Math.round(Number(step)), length) };
}

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2);
  let [serial, awaited, changes, asked, heard] = [0, 0, {}, 0, 0]; // asked: when; or when the last answer came
  const send = (message) => {
    try {
      model.send({ ...message, view });
    } catch {
      // there is no kernel: the page says so, see .burlab-gone
    }
  };
  // Whether Python has carried out an intent, by its number, or was given long enough. Who answers one intent after the
  // other, slowly, will come to this one, too: an answer to an earlier one would take back what was done since.
  const answered = (number) => {
    const now = model.get("state").heard[view] ?? 0;
    if (now > heard) [heard, asked] = [now, performance.now()];
    return now >= number || performance.now() > asked + PATIENCE;
  };
  const state = () => (answered(awaited) ? model.get("state") : { ...model.get("state"), ...changes });
  // Sends an intent; gives its number.
  const act = (intent) => {
    const known = { ...state() };
    const found = Object.fromEntries(Object.entries(expected(intent, known)).filter(([, value]) => value !== undefined));
    send({ ...intent, serial: ++serial });
    asked = performance.now();
    if (!Object.keys(found).length) return serial;
    [awaited, changes] = [serial, found];
    if ("step" in found) chart.cursor(found.step < known.length ? found.step : null);
    head();
    return serial;
  };

  el.classList.add("burlab-panel");
  keepKeys(el);
  const stopped = (event) => event.stopPropagation();
  el.addEventListener("keydown", stopped);
  const place = (name) => element("div", name, el);
  const head = buildHead(place("burlab-head"), act, state);
  const seek = throttled((step) => act({ type: "seek", step }));
  const chart = drawChart(place("burlab-plots"), model.get("data"), {
    heights: model.get("heights"),
    onIntent: (intent) => {
      if (intent.type === "zoom") act(intent);
      if (intent.type === "seek") seek(Math.max(0, Math.round(intent.x)));
    },
  });
  const knobs = buildKnobs(place("burlab-controls"), act, answered, () => model.get("texts"));
  const breaks = buildBreaks(place("burlab-breaks"), act);
  const voice = buildVoice(el);
  el.querySelector(".burlab-png").addEventListener("click", chart.png);
  el.querySelector(".burlab-csv").addEventListener("click", chart.csv);

  const draw = () => {
    head();
    knobs(model.get("state"));
    breaks(model.get("state"));
    voice(model.get("state"));
    el.dataset.ready = view; // the mark that tests wait for
    const { tick } = model.get("state");
    requestAnimationFrame(() => send({ type: "drawn", tick }));
  };
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  const keys = onPanelKeys(el, act, () => state().playing);
  const sight = onSight(el, send);
  model.on("change:state", draw);
  model.on("change:data", redraw);
  draw();
  return () => {
    model.off("change:state", draw);
    model.off("change:data", redraw);
    el.removeEventListener("keydown", stopped);
    keys();
    sight();
    chart.close();
    send({ type: "leave" });
  };
}

export default { render };
