// @ts-check
// The breakpoints of a run: a line that adds one, those that there are, each to be switched off or removed, and where
// the run was stopped by one, each place a button that goes there.

/** @import { Panel, PanelIntent } from "../messages" */
import { button, element, focused, onEnter } from "../dom.js";

const CONDITIONS = [["rises", "value rises by (%)", "0"], ["grad_norm", "gradient norm above", "1e3"], ["every", "every so many steps", "1000"], ["non_finite", "inf or nan", ""]];

// Builds the line in an element; returns the function that draws a state in it.
/** @type {(place: HTMLElement, act: (intent: PanelIntent) => void) => (state: Panel) => void} */
export function buildBreaks(place, act) {
  const el = element("div", "burlab-breaks", place);
  const line = element("label", "", el);
  line.append("break when ");
  const kind = element("select", "", line, { ariaLabel: "breakpoint condition" });
  const field = element("input", "burlab-break-value", el, { ariaLabel: "breakpoint value", inputMode: "decimal" });
  const add = () => act({ type: "break", kind: kind.value, text: field.value });
  button(el, "Add", "Rest there, again and again. In Python: run.breakpoints.add(..., when=lambda rows: ...)", add, "burlab-break-add");
  const list = element("span", "burlab-breaks-list", el);
  const hits = element("div", "burlab-hits", el, { role: "group", ariaLabel: "where breakpoints were hit" });
  const onKind = () => {
    field.value = CONDITIONS.find(([value]) => value === kind.value)?.[2] ?? "";
    field.hidden = kind.value === "non_finite";
  };
  const offer = (/** @type {string[]} */ names) => {
    if (kind.options.length === names.length) return;
    kind.replaceChildren(...CONDITIONS.filter(([value]) => names.includes(value)).map(([value, text]) => new Option(text, value)));
    onKind();
  };
  kind.addEventListener("change", onKind);
  onEnter(field, add, () => field.value);

  return (state) => {
    const { breakpoints, conditions } = state;
    place.hidden = breakpoints === null;
    offer(conditions);
    drawHits(hits, state, act);
    const key = JSON.stringify(breakpoints);
    if (el.dataset.key === key) return;
    el.dataset.key = key;
    list.replaceChildren(...(breakpoints ?? []).map(({ number, text, on }) => {
      const chip = element("span", "burlab-break");
      button(chip, text, "Switch on or off", () => act({ type: "break_switch", number, on: !on })).ariaPressed = String(on);
      button(chip, "×", "", () => act({ type: "break_remove", number })).ariaLabel = `remove breakpoint: ${text}`;
      return chip;
    }));
  };
}

// The last hits, the newest first. What has the focus keeps it while the run is stopped further on.
/** @type {(list: HTMLElement, state: Panel, act: (intent: PanelIntent) => void) => void} */
function drawHits(list, { hits, stops, seekable }, act) {
  list.hidden = !hits.length;
  const key = JSON.stringify([hits, stops, seekable]);
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const before = list.contains(focused()) ? focused().dataset.step : undefined;
  const more = stops - hits.length;
  const places = hits.map(({ step, text, value }) => {
    const hit = button(null, "", "Go to this step", () => act({ type: "seek", step }), "burlab-hit");
    hit.dataset.step = String(step);
    hit.disabled = !seekable;
    element("b", "", hit, { textContent: step.toLocaleString("en") });
    element("span", "", hit, { textContent: `${text}, value ${value}` });
    return hit;
  });
  list.replaceChildren("stopped at", ...places, ...(more > 0 ? [`and ${more.toLocaleString("en")} before`] : []));
  places.find(({ dataset }) => dataset.step === before)?.focus();
}
