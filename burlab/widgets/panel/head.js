// @ts-check
// The head of a panel: the way back through the record of a run. Python owns the state; this draws it and sends intents.

/** @import { Panel, PanelIntent, Transport } from "../messages" */
import { find, onEnter, setText, showIn, throttled } from "../dom.js";

export const RESTORE_AFTER = 1000; // milliseconds after which a field shows again what is, and not a text that was refused

const HEAD = `
<div class="burlab-seek"><span>step</span><input type="range" aria-label="step" min="0" max="0" step="1" value="0">
  <input class="burlab-at" aria-label="go to step" inputmode="numeric" value="0"><span class="burlab-length"></span></div>
<div class="burlab-no-way-back" hidden>You can pause this loop or step forward, but not back.</div>`;

// Builds the head in an element. `act` sends an intent; `state` returns the state to be shown.
// Returns the function that draws it.
/** @type {(el: HTMLElement, act: (intent: PanelIntent) => void, state: () => Panel & Transport) => () => void} */
export function buildHead(el, act, state) {
  el.innerHTML = HEAD;
  const part = (/** @type {string} */ selector) => find(el, selector);
  const [slider, at] = [".burlab-seek [type=range]", ".burlab-at"].map(part);
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
    const { step, length, seekable } = state();
    part(".burlab-seek").hidden = !seekable;
    part(".burlab-no-way-back").hidden = seekable;
    slider.max = length;
    slider.disabled = at.disabled = length === 0;
    if (!dragged) slider.value = step;
    slider.style.setProperty("--part", length ? slider.value / length : 0);
    showStep();
    setText(part(".burlab-length"), `of ${length.toLocaleString("en")}`);
  };
}
