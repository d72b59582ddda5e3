// @ts-check
// The breakpoints of a run: a line that adds one, those that there are, each to be switched off or taken away, and
// where the run was stopped by one, each place a button that goes there.

import { element } from "../chart/parts.js";
import { onKeys } from "./head.js";

const CONDITIONS = [["rises", "value rises by (%)", "0"], ["grad_norm", "gradient norm above", "1e3"], ["every", "every so many steps", "1000"], ["non_finite", "inf or nan", ""]];

// Builds the line in an element; gives the function that draws a state in it.
export function buildBreaks(el, act) {
  const line = element("label", "", el);
  line.append("break when ");
  const kind = element("select", "", line);
  kind.ariaLabel = "breakpoint condition";
  const field = element("input", "burlab-break-value", el);
  field.ariaLabel = "breakpoint value";
  field.inputMode = "decimal";
  const button = element("button", "burlab-break-add", el);
  button.type = "button";
  button.textContent = "Add";
  button.title = "Rest there, again and again. In Python: run.breakpoints.add(..., when=lambda rows: ...)";
  const list = element("span", "burlab-breaks-list", el);
  const hits = element("div", "burlab-hits", el);
  hits.role = "group";
  hits.ariaLabel = "where breakpoints were hit";
  const offer = (names) => {
    if (kind.options.length === names.length) return;
    kind.replaceChildren(...CONDITIONS.filter(([value]) => names.includes(value)).map(([value, text]) => new Option(text, value)));
    chosen();
  };
  const chosen = () => {
    field.value = CONDITIONS.find(([value]) => value === kind.value)[2];
    field.hidden = kind.value === "non_finite";
  };
  const add = () => act({ type: "break", kind: kind.value, text: field.value });
  kind.addEventListener("change", chosen);
  button.addEventListener("click", add);
  onKeys(field, add, () => field.value);

  return (state) => {
    const { breakpoints, conditions } = state;
    el.hidden = breakpoints === null;
    offer(conditions);
    drawHits(hits, state, act);
    const key = JSON.stringify(breakpoints);
    if (el.dataset.key === key) return;
    el.dataset.key = key;
    list.replaceChildren(...(breakpoints ?? []).map(({ number, text, on }) => {
      const chip = element("span", "burlab-break");
      const toggle = element("button", "", chip);
      toggle.type = "button";
      toggle.textContent = text;
      toggle.title = "Switch on or off";
      toggle.ariaPressed = String(on);
      toggle.addEventListener("click", () => act({ type: "break_switch", number, on: !on }));
      const gone = element("button", "", chip);
      gone.type = "button";
      gone.textContent = "×";
      gone.ariaLabel = `remove breakpoint: ${text}`;
      gone.addEventListener("click", () => act({ type: "break_remove", number }));
      return chip;
    }));
  };
}

// The last hits, the newest first. What has the focus keeps it while the run is stopped further on.
function drawHits(list, { hits, stops, seekable }, act) {
  list.hidden = !hits.length;
  const key = JSON.stringify([hits, stops, seekable]);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.step : undefined;
  const more = stops - hits.length;
  const places = hits.map(({ step, text, value }) => {
    const hit = element("button", "burlab-hit");
    hit.type = "button";
    hit.dataset.step = step;
    hit.disabled = !seekable;
    hit.title = "Go to this step";
    element("b", "", hit).textContent = step.toLocaleString("en");
    element("span", "", hit).textContent = `${text}, value ${value}`;
    hit.addEventListener("click", () => act({ type: "seek", step }));
    return hit;
  });
  list.replaceChildren("stopped at", ...places, ...(more > 0 ? [`and ${more.toLocaleString("en")} before`] : []));
  list.querySelector(`[data-step="${focused}"]`)?.focus();
}
