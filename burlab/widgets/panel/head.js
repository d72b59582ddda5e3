// @ts-check
// The head of a panel: the way back through the record of a run, numbers of the step, and how curves are drawn.
// Python owns the state and the words; this draws them and sends intents.

/** @import { Panel, PanelIntent, Transport } from "../messages" */
import { find, onEnter, setText, showIn, throttled } from "../dom.js";

export const RESTORE_AFTER = 1000; // milliseconds after which a field shows again what is, and not a text that was refused

const HEAD = `
<div class="burlab-seek"><span>step</span><input type="range" aria-label="step" min="0" max="0" step="1" value="0">
  <input class="burlab-at" aria-label="go to step" inputmode="numeric" value="0"><span class="burlab-length"></span></div>
<div class="burlab-no-way-back" hidden>You can pause this loop or step forward, but not back.</div>
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

// Builds the head in an element. `act` sends an intent; `state` returns the state to be shown.
// Returns the function that draws it.
/** @type {(el: HTMLElement, act: (intent: PanelIntent) => void, state: () => Panel & Transport) => () => void} */
export function buildHead(el, act, state) {
  el.innerHTML = HEAD;
  const part = (/** @type {string} */ selector) => find(el, selector);
  const [slider, at, axis, smoothing] = [".burlab-seek [type=range]", ".burlab-at", ".burlab-axis", ".burlab-smoothing"].map(part);
  axis.addEventListener("change", () => act({ type: "axis", value: axis.value }));
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
    const { step, length, seekable, readouts, ...others } = state();
    part(".burlab-seek").hidden = !seekable;
    part(".burlab-no-way-back").hidden = seekable;
    slider.max = length;
    slider.disabled = at.disabled = length === 0;
    if (!dragged) slider.value = step;
    slider.style.setProperty("--part", length ? slider.value / length : 0);
    showStep();
    showIn(axis, others.axis);
    showIn(smoothing, others.smoothing);
    smoothing.style.setProperty("--part", smoothing.value);
    part(".burlab-split").hidden = !others.splits;
    setText(part(".burlab-length"), `of ${length.toLocaleString("en")}`);
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
