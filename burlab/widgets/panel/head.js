// @ts-check
// The head of a panel: what plays the run, what it is doing, and the way back through its record.
// Python owns the state and the words; this draws them and sends intents.

/** @import { LiveState, Panel, PanelIntent } from "../messages" */
import { choices, find, focused, onEnter, setText, showIn, throttled } from "../dom.js";
import { action, bindIntents, drawStatus, GONE, SPEEDS } from "../live/live.js";

/** @typedef {LiveState<Panel>["state"]} State */

export const RESTORE_AFTER = 1000; // milliseconds after which a field shows again what is, and not a text that was refused

const HEAD = `${GONE}
<div class="burlab-bar" role="toolbar" aria-label="run">
  ${action("play", "Play", "Run until paused, or until a criterion stops it (space)")}
  ${action("pause", "Pause", "Rest at the step reached (space)")}
  ${action("back", "Back", "Play backwards through the record")}
  ${action("step", "Step", "Do one step (right arrow; left arrow: one back; with shift: ten)")}
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="100">
  ${action("steps", "Step n", "Do so many steps")}</span>
  ${action("reset", "Reset", "Back to step 0; the record stays")}
  <select aria-label="speed" class="burlab-speed" title="How fast Play and Back go: a growing speed does ten times as many steps every five seconds"></select>
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

// A disabled button gets no keys: its focus goes from Play to Pause and back, else to the panel.
/** @type {(button: HTMLElement, el: HTMLElement) => void} */
function passFocus(button, el) {
  const next = el.querySelector(`[data-intent=${button.dataset.intent === "play" ? "pause" : "play"}]:enabled`);
  /** @type {HTMLElement} */ (next ?? el.parentElement).focus({ preventScroll: true });
}

// Builds the head in an element. `act` sends an intent; `state` returns the state to be shown.
// Returns the function that draws it.
/** @type {(el: HTMLElement, act: (intent: PanelIntent) => void, state: () => State) => () => void} */
export function buildHead(el, act, state) {
  el.innerHTML = HEAD;
  const part = (/** @type {string} */ selector) => find(el, selector);
  const [slider, at, count, axis, speed, smoothing] =
    [".burlab-seek [type=range]", ".burlab-at", ".burlab-count", ".burlab-axis", ".burlab-speed", ".burlab-smoothing"].map(part);
  const steps = () => act({ type: "step", count: count.value });
  bindIntents(el, act, { steps, step: () => act({ type: "step", count: 1 }) });
  choices(speed, SPEEDS, "-1");
  let counted = count.value;
  count.addEventListener("change", () => (counted = count.value));
  onEnter(count, steps, () => counted);
  axis.addEventListener("change", () => act({ type: "axis", value: axis.value }));
  speed.addEventListener("change", () => act({ type: "speed", value: Number(speed.value) }));
  part(".burlab-split").addEventListener("click", () => act({ type: "split" }));
  const smooth = throttled((/** @type {number} */ value) => act({ type: "smoothing", value }));
  smoothing.addEventListener("input", () => smooth(Number(smoothing.value)));
  const seek = throttled((/** @type {number} */ step) => act({ type: "seek", step }));
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
    setTimeout(showStep, RESTORE_AFTER);
  });
  onEnter(at, () => at.blur(), () => state().step);

  return () => {
    const { step, length, playing, seekable, ended, readouts, ...others } = state();
    const off = { play: playing || ended, step: ended, steps: ended, pause: !playing, reset: step === 0 && !playing, back: step === 0 };
    const before = focused();
    for (const [intent, disabled] of Object.entries(off)) part(`[data-intent=${intent}]`).disabled = disabled;
    if (el.contains(before) && before.disabled) passFocus(before, el);
    for (const selector of ["[data-intent=reset]", "[data-intent=back]", ".burlab-seek span"]) part(selector).hidden = !seekable;
    slider.hidden = at.hidden = !seekable;
    part(".burlab-no-way-back").hidden = seekable;
    part(".burlab-length").hidden = !seekable;
    drawStatus(el, others);
    slider.max = length;
    slider.disabled = at.disabled = length === 0;
    if (!dragged) slider.value = step;
    slider.style.setProperty("--part", length ? slider.value / length : 0);
    showStep();
    showIn(speed, others.speed);
    showIn(axis, others.axis);
    showIn(smoothing, others.smoothing);
    smoothing.style.setProperty("--part", smoothing.value);
    part(".burlab-split").hidden = !others.splits;
    setText(part(".burlab-length"), seekable ? `of ${length.toLocaleString("en")}` : "");
    drawReadouts(part(".burlab-readouts"), readouts);
  };
}

/** @type {(list: HTMLElement, readouts: Panel["readouts"]) => void} */
function drawReadouts(list, readouts) {
  if (list.childElementCount !== readouts.length) {
    list.innerHTML = "<div><span></span><b></b></div>".repeat(readouts.length);
  }
  readouts.forEach((texts, k) => {
    texts.forEach((text, j) => setText(list.children[k].children[j], text));
  });
}
