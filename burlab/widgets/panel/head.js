// @ts-check
// The head of a panel: what plays the run, what it is doing, and the way back through its record.
// Python owns the state and the words; this draws them and sends intents.

import { say } from "../chart/parts.js";
import { showIn } from "../keys.js";

export const REFUSED = 1000; // milliseconds after which a field shows again what is, and not a text that was refused
const ICON = {
  back: "M11 1.5v11L2 7z",
  play: "M3 1.5v11l9-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  step: "M2 2v10l6-5zM9.5 2H12v10H9.5z",
  steps: "M1 2v10l4.5-5zM5.5 2v10L10 7zM10.8 2H13v10h-2.2z",
  reset: "M2 2h2.2v10H2zM12 2v10L5 7z",
};
const SPEEDS = [[-1, "growing speed"], [0, "full speed"], [1000, "1,000 steps/s"], [100, "100 steps/s"], [10, "10 steps/s"], [1, "1 step/s"]];

export const button = (intent, text, hint) =>
  `<button type="button" data-intent="${intent}" title="${hint}"><svg viewBox="0 0 14 14" aria-hidden="true">` +
  `<path d="${ICON[intent]}"/></svg>${text}</button>`;

const HEAD = `
<div class="burlab-gone" role="alert">The kernel of this panel is gone: it was restarted or shut down.
  Run this cell again.</div>
<div class="burlab-bar" role="toolbar" aria-label="run">
  ${button("play", "Play", "Run until paused, or until a criterion stops it (space)")}
  ${button("pause", "Pause", "Rest at the step reached (space)")}
  ${button("back", "Back", "Play backwards through the record")}
  ${button("step", "Step", "Do one step (right arrow; left arrow: one back; with shift: ten)")}
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="100">
  ${button("steps", "Step n", "Do so many steps")}</span>
  ${button("reset", "Reset", "Back to step 0; the record stays")}
  <select aria-label="speed" class="burlab-speed" title="How fast Play and Back go: a growing speed does ten times as many steps every five seconds">
    ${SPEEDS.map(([value, text]) => `<option value="${value}">${text}</option>`).join("")}</select>
</div>
<div class="burlab-status"><i></i><span></span><em></em></div>
<div class="burlab-seek"><span>step</span><input type="range" aria-label="step" min="0" max="0" step="1" value="0">
  <input class="burlab-at" aria-label="go to step" inputmode="numeric" value="0"><span class="burlab-length"></span>
  <span class="burlab-no-way-back" hidden>A loop of your own: it can be paused and stepped, but not taken back.</span></div>
<div class="burlab-readouts"></div>
<div class="burlab-tools" role="toolbar" aria-label="curves">
  <label>smoothing <input type="range" class="burlab-smoothing" aria-label="smoothing" min="0" max="1" step="0.05" value="0"></label>
  <button type="button" class="burlab-split" hidden title="Compile a timed twin of the kernels, and show what each part of a step takes">parts of a step</button>
  <select aria-label="step axis" class="burlab-axis" title="The axis of the steps in the plots">
    <option value="auto">steps: auto</option><option value="linear">steps: linear</option>
    <option value="log">steps: logarithmic</option></select>
  <button type="button" class="burlab-png" title="Save a picture of the plots">PNG</button>
  <button type="button" class="burlab-csv" title="Save the points of the curves in sight">CSV</button>
</div>`;

// At most one message per `pause` milliseconds while something is dragged, and always the last one.
export function throttled(send, pause = 60) {
  let waiting = null;
  let timer = 0;
  const fire = () => {
    timer = 0;
    if (waiting === null) return;
    send(waiting);
    waiting = null;
    timer = setTimeout(fire, pause);
  };
  return (message) => {
    waiting = message;
    if (!timer) fire();
  };
}

// Enter acts; Escape leaves the field with what it `was`, before anybody wrote in it.
// A listener, never `onkeydown = ...`: a handler set like that cancels the key where it returns false.
export function onKeys(field, act, was) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") act();
    if (event.key !== "Escape") return;
    field.value = was();
    field.blur();
  });
}

// A disabled button hears no keys: its focus goes from Play to Pause and back, else to the panel.
function handOn(button, el) {
  const next = el.querySelector(`[data-intent=${button.dataset.intent === "play" ? "pause" : "play"}]:enabled`);
  (next ?? el.parentElement).focus({ preventScroll: true });
}

// Builds the head in an element. `act` sends an intent; `state` gives what is to be shown.
// Gives the function that draws the state.
export function buildHead(el, act, state) {
  el.innerHTML = HEAD;
  const find = (selector) => el.querySelector(selector);
  const [slider, at, count, axis, speed, smoothing] =
    [".burlab-seek [type=range]", ".burlab-at", ".burlab-count", ".burlab-axis", ".burlab-speed", ".burlab-smoothing"].map(find);
  const intents = {
    steps: () => act({ type: "step", count: count.value }),
    step: () => act({ type: "step", count: 1 }),
  };
  for (const one of el.querySelectorAll("button[data-intent]")) {
    const type = one.dataset.intent;
    one.addEventListener("click", intents[type] ?? (() => act({ type })));
  }
  let counted = count.value;
  count.addEventListener("change", () => (counted = count.value));
  onKeys(count, intents.steps, () => counted);
  axis.addEventListener("change", () => act({ type: "axis", value: axis.value }));
  speed.addEventListener("change", () => act({ type: "speed", value: Number(speed.value) }));
  find(".burlab-split").addEventListener("click", () => act({ type: "split" }));
  const smooth = throttled((value) => act({ type: "smoothing", value }));
  smoothing.addEventListener("input", () => smooth(Number(smoothing.value)));
  const seek = throttled((step) => act({ type: "seek", step }));
  let dragged = false;
  slider.addEventListener("input", () => {
    dragged = true;
    at.value = slider.value;
    seek(Number(slider.value));
  });
  slider.addEventListener("change", () => {
    dragged = false;
    seek(Number(slider.value));
  });
  const showStep = () => {
    if (!dragged) showIn(at, state().step);
  };
  at.addEventListener("change", () => {
    act({ type: "seek", step: at.value });
    setTimeout(showStep, REFUSED);
  });
  onKeys(at, () => at.blur(), () => state().step);

  return () => {
    const { step, length, playing, tone, seekable, ended, status, title, readouts, ...chosen } = state();
    const off = { play: playing || ended, step: ended, steps: ended, pause: !playing, reset: step === 0 && !playing, back: step === 0 };
    const focused = document.activeElement;
    for (const [intent, disabled] of Object.entries(off)) find(`[data-intent=${intent}]`).disabled = disabled;
    if (el.contains(focused) && focused.disabled) handOn(focused, el);
    for (const part of ["[data-intent=reset]", "[data-intent=back]", ".burlab-seek span"]) find(part).hidden = !seekable;
    slider.hidden = at.hidden = !seekable;
    find(".burlab-no-way-back").hidden = seekable;
    find(".burlab-length").hidden = !seekable;
    find(".burlab-status").dataset.tone = tone;
    say(find(".burlab-status span"), status);
    say(find(".burlab-status em"), title);
    slider.max = length;
    slider.disabled = at.disabled = length === 0;
    if (!dragged) slider.value = step;
    slider.style.setProperty("--part", length ? slider.value / length : 0);
    showStep();
    showIn(speed, chosen.speed);
    showIn(axis, chosen.axis);
    showIn(smoothing, chosen.smoothing);
    smoothing.style.setProperty("--part", smoothing.value);
    find(".burlab-split").hidden = !chosen.splits;
    say(find(".burlab-length"), seekable ? `of ${length.toLocaleString("en")}` : "");
    drawReadouts(find(".burlab-readouts"), readouts);
  };
}

function drawReadouts(list, readouts) {
  if (list.childElementCount !== readouts.length) {
    list.innerHTML = "<div><span></span><b></b></div>".repeat(readouts.length);
  }
  readouts.forEach(([title, text], k) => {
    const [name, value] = list.children[k].children;
    say(name, title);
    say(value, text);
  });
}
