// @ts-check
// Numbers of a step, and the tools that say how the curves are drawn and that save them.

/** @import { Panel, PanelIntent } from "../messages" */
import { choices, element, find, setText, showIn, throttled } from "../dom.js";

const TOOLS = `
<label>smoothing <input type="range" class="burlab-smoothing" aria-label="smoothing" min="0" max="1" step="0.05" value="0"></label>
<button type="button" class="burlab-split" hidden title="Compile a timed twin of the kernels, and show what each part of a step takes">parts of a step</button>
<select aria-label="axis" class="burlab-against" title="What the curves are drawn over"></select>
<select aria-label="axis scale" class="burlab-axis" title="The scale of the axis below the plots">
  <option value="auto">scale: auto</option><option value="linear">scale: linear</option>
  <option value="log">scale: logarithmic</option></select>
<button type="button" class="burlab-png" title="Save a picture of the plots">PNG</button>
<button type="button" class="burlab-svg" title="Save a drawing of the plots, as lines and letters">SVG</button>
<button type="button" class="burlab-csv" title="Save the points of the curves in sight">CSV</button>`;

// Builds the tools: their element, and the function that draws a state in it. saves: what the buttons do that save.
/** @type {(act: (intent: PanelIntent) => void, saves: { png: () => void, svg: () => void, csv: () => void }) => { el: HTMLElement, draw: (state: Panel) => void }} */
export function buildTools(act, { png, svg, csv }) {
  const el = element("div", "burlab-curve-tools", null, { role: "toolbar", ariaLabel: "curves", innerHTML: TOOLS });
  const part = (/** @type {string} */ selector) => find(el, selector);
  const [against, axis, smoothing, split] = [".burlab-against", ".burlab-axis", ".burlab-smoothing", ".burlab-split"].map(part);
  against.addEventListener("change", () => act({ type: "against", value: against.value }));
  axis.addEventListener("change", () => act({ type: "axis", value: axis.value }));
  split.addEventListener("click", () => act({ type: "split" }));
  const smooth = throttled((/** @type {number} */ value) => act({ type: "smoothing", value }));
  smoothing.addEventListener("input", () => smooth(Number(smoothing.value)));
  part(".burlab-png").addEventListener("click", png);
  part(".burlab-svg").addEventListener("click", svg);
  part(".burlab-csv").addEventListener("click", csv);
  const draw = (/** @type {Panel} */ state) => {
    choices(against, state.axes, state.against);
    showIn(axis, state.axis);
    showIn(smoothing, state.smoothing);
    smoothing.style.setProperty("--part", smoothing.value);
    split.hidden = !state.splits;
  };
  return { el, draw };
}

/** @type {(list: HTMLElement, readouts: Panel["readouts"]) => void} */
export function drawReadouts(list, readouts) {
  if (list.childElementCount !== readouts.length) {
    list.innerHTML = "<div><span></span><b></b></div>".repeat(readouts.length);
  }
  readouts.forEach((texts, k) => {
    texts.forEach((text, j) => setText(list.children[k].children[j], text));
  });
}
