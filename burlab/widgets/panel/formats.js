// @ts-check
// The switch for formats of numbers: a menu for each thing that has one, and a button with which the run goes on in them.
// What is chosen stays until the run has other formats, or goes to a step that had others.

/** @import { Choice, FormatField, Formats, PanelIntent } from "../messages" */
import { button, choices, element, focused } from "../dom.js";

const MIXED = "mixed"; // of the menu for all: they have several
/** @type {[name: FormatField, text: string, title: string][]} */
const FIELDS = [
  ["params", "x", "The x at which the loss is computed"],
  ["compute", "loss", "All operations of the loss"],
  ["gradients", "gradient", "The gradient of a step, where it would be stored or sent"],
  ["state", "state", "Arrays of the optimizer, such as moments"],
];
const ROUNDING = "How the state, and an x without a master copy, are rounded: stochastic rounding is right on average";
const NO_CHANCE = "Only the state, and an x without a master copy, are rounded by chance";
const MASTER = "Keep an exact x beside the rounded one, so that steps below its unit count";
const SCALE = "Multiply the loss so that small gradients do not become 0, and divide them by the same number afterwards";

/** Build the switch in a fold; returns what draws a state in it. @type {(place: HTMLElement, act: (intent: PanelIntent) => void) => (formats: Formats | null) => void} */
export function buildFormats(place, act) {
  const el = element("div", "burlab-form burlab-formats", place, { role: "group", ariaLabel: "formats of numbers" });
  const all = labelled(el, "all", element("select", "", null, { title: "One format for all four" }), "format of all");
  const menus = FIELDS.map(([name, text, title]) => [name, labelled(el, text, element("select", "", null, { title }), `format of ${text}`)]);
  const menu = /** @type {Record<FormatField, HTMLSelectElement>} */ (Object.fromEntries(menus));
  const rounding = labelled(el, "rounding", element("select"), "rounding");
  choices(rounding, [["stochastic", "stochastic"], ["nearest", "to the nearest"]], "stochastic");
  const master = labelled(el, "master copy of x", element("input", "", null, { type: "checkbox", title: MASTER }));
  const scaled = labelled(el, "loss scale", element("input", "", null, { type: "checkbox", title: SCALE }));
  const send = () => act({ type: "formats", ...read() });
  const apply = button(el, "Go on in these", "From this step on: their step is compiled, and the record so far stays", send, "burlab-apply");
  const reason = element("span", "burlab-reason", el);
  const controls = [all, ...Object.values(menu), rounding, master, scaled];
  let known = /** @type {Formats | null} */ (null);

  const read = () => ({
    params: menu.params.value,
    compute: menu.compute.value,
    gradients: menu.gradients.value,
    state: menu.state.value,
    stochastic: rounding.value === "stochastic",
    master: master.checked,
    scaled: scaled.checked,
  });
  const settle = () => {
    if (!known) return;
    const now = read();
    const values = FIELDS.map(([name]) => menu[name].value);
    all.value = values.every((value) => value === values[0]) ? values[0] : MIXED;
    const off = known.refused !== "" || known.compiling;
    for (const control of controls) control.disabled = off;
    menu.compute.disabled ||= known.exact_loss !== "";
    menu.compute.title = known.exact_loss || FIELDS[1][2];
    rounding.disabled ||= !(now.state || (now.params && !now.master));
    rounding.title = rounding.disabled ? NO_CHANCE : ROUNDING;
    master.disabled ||= !now.params;
    const same = JSON.stringify(now) === JSON.stringify(saved(known));
    if (focused() === apply && (off || same)) el.closest("details")?.querySelector("summary")?.focus({ preventScroll: true });
    apply.disabled = off || same;
  };
  all.addEventListener("change", () => {
    for (const [name] of FIELDS) if (!(name === "compute" && known?.exact_loss) && all.value !== MIXED) menu[name].value = all.value;
    settle();
  });
  for (const control of controls.slice(1)) control.addEventListener("change", settle);

  return (formats) => {
    place.hidden = formats === null;
    const key = JSON.stringify(formats);
    if (!formats || el.dataset.key === key) return;
    el.dataset.key = key;
    const anew = !known || JSON.stringify(saved(known)) !== JSON.stringify(saved(formats));
    known = formats;
    choices(all, [...formats.choices, [MIXED, "several"]], all.value);
    for (const [name] of FIELDS) {
      const own = /** @type {Choice[]} */ (formats.own[name] ? [["own", formats.own[name]]] : []);
      choices(menu[name], [...formats.choices, ...own], menu[name].value);
    }
    if (anew) put(menu, rounding, master, scaled, formats);
    reason.textContent = formats.refused || (formats.compiling ? "compiling …" : "");
    settle();
  };
}

/** What the run has, as the controls say it. @type {(formats: Formats) => Record<string, unknown>} */
const saved = ({ values, stochastic, master, scaled }) => ({
  params: values.params, compute: values.compute, gradients: values.gradients, state: values.state, stochastic, master, scaled,
});

/** @type {(menu: Record<FormatField, HTMLSelectElement>, rounding: HTMLSelectElement, master: HTMLInputElement, scaled: HTMLInputElement, formats: Formats) => void} */
function put(menu, rounding, master, scaled, { values, ...formats }) {
  for (const [name] of FIELDS) menu[name].value = values[name];
  rounding.value = formats.stochastic ? "stochastic" : "nearest";
  master.checked = formats.master;
  scaled.checked = formats.scaled;
}

/**
 * Put a control into a label. name: for screen readers, where the text alone does not say it.
 * @template {HTMLInputElement | HTMLSelectElement} Control
 * @param {Element} parent
 * @param {string} text
 * @param {Control} control
 * @param {string} [name]
 * @returns {Control}
 */
function labelled(parent, text, control, name) {
  const label = element("label", "", parent);
  if (name) control.ariaLabel = name;
  label.append(...(control.type === "checkbox" ? [control, text] : [text, control]));
  return control;
}
