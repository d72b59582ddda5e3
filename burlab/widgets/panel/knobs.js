// @ts-check
// The controls of a panel: a knob per hyperparameter.
// A knob's slider has places from 0 to 1; Python knows what they mean, and has sent the text of the field at each of them.


/** @import { Knob, Panel, PanelIntent } from "../messages" */
import { element, onEnter, showIn } from "../dom.js";
import { RESTORE_AFTER } from "./head.js";

const SLIDE_EVERY = 60; // milliseconds between two places of a slider that are sent
const KNOB = `
<label></label><span class="burlab-low"></span><input type="range" min="0" max="1">
<span class="burlab-high"></span><input class="burlab-field"><button type="button" class="burlab-schedule"></button>`;

// Builds the controls in an element; returns the function that draws a state in them. send: sends an intent and
// returns its number; answered(number): whether it was handled; texts(): by knob, the text of its field at each place.
/** @type {(el: HTMLElement, send: (intent: PanelIntent) => number, answered: (serial: number) => boolean, texts: () => Record<string, string[]>) => (state: Panel) => void} */
export function buildKnobs(el, send, answered, texts) {
  const knobs = element("div", "burlab-knobs", el);
  /** @type {Map<string, (knob: Knob) => void>} */
  const rows = new Map();
  return (state) => {
    for (const knob of state.knobs) {
      const draw = rows.get(knob.name) ?? knobRow(knobs, knob.name, send, answered, () => texts()[knob.name]);
      rows.set(knob.name, draw);
      draw(knob);
    }
    const longest = Math.max(...state.knobs.map((knob) => knob.name.length), 2);
    knobs.style.setProperty("--label", `${longest}ch`);
    knobs.toggleAttribute("data-schedules", state.knobs.some((knob) => knob.schedule !== ""));
  };
}

// Builds a row and returns the function that draws a knob in it. A control that is being used is left alone: until the last
// place was handled, Python sends an earlier one, from which the next key would move the slider.
/** @type {(parent: Element, name: string, send: (intent: PanelIntent) => number, answered: (serial: number) => boolean, texts: () => string[]) => (knob: Knob) => void} */
function knobRow(parent, name, send, answered, texts) {
  const row = element("div", "burlab-knob", parent, { innerHTML: KNOB });
  const [label, low, slider, high, field, schedule] = /** @type {any[]} */ ([...row.children]);
  label.textContent = name;
  slider.ariaLabel = name;
  field.ariaLabel = `${name} value`;
  schedule.ariaLabel = `${name} schedule`;
  let dragged = false;
  let drag = 0; // its number: from the press of the button, or of a key, to its release
  let sent = 0; // the number of the last slide
  let last = 0;
  let timer = 0;
  let text = ""; // of the knob
  const slide = () => {
    clearTimeout(timer);
    const wait = last + SLIDE_EVERY - performance.now();
    if (wait > 0) return void (timer = setTimeout(slide, wait));
    last = performance.now();
    sent = send({ type: "slide", name, place: Number(slider.value), drag });
  };
  const show = () => {
    showIn(field, text);
    slider.style.setProperty("--part", slider.value);
  };
  slider.addEventListener("pointerdown", () => (drag += 1));
  slider.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => (drag += Number(!event.repeat)));
  slider.addEventListener("input", () => {
    dragged = true;
    const all = texts();
    text = all[Math.round(slider.value * (all.length - 1))];
    show();
    slide();
  });
  slider.addEventListener("change", () => {
    dragged = false;
    last = 0; // at once: an answer to an earlier place would move the slider back before this one is sent
    slide();
  });
  field.addEventListener("change", () => {
    send({ type: "enter", name, text: field.value });
    setTimeout(show, RESTORE_AFTER);
  });
  onEnter(field, () => field.blur(), () => text);
  schedule.addEventListener("click", () => send({ type: schedule.dataset.next, name }));

  return (knob) => {
    low.textContent = knob.low;
    high.textContent = knob.high;
    slider.step = 1 / (texts().length - 1);
    if (!dragged && answered(sent)) [slider.value, text] = [knob.place, knob.text];
    slider.style.setProperty("--decades", knob.decades);
    row.toggleAttribute("data-decades", knob.decades > 0);
    show();
    row.dataset.schedule = knob.schedule;
    schedule.hidden = !knob.schedule;
    const follows = knob.schedule === "follows";
    schedule.dataset.next = follows ? "hold" : "follow";
    schedule.ariaPressed = String(follows);
    schedule.textContent = follows ? "schedule" : "by hand";
    schedule.title = follows ? "Follows its schedule; press to hold it" : "Press to follow the schedule again";
  };
}
