// @ts-check
// The controls of a panel: a knob per hyperparameter, and what the run's memory is used for.
// A knob's slider has places from 0 to 1; Python knows what they mean, and has sent what the field says at each of them.

import { element } from "../chart/parts.js";
import { showIn } from "../keys.js";
import { REFUSED } from "./head.js";

const KNOB = `
<label></label><span class="burlab-low"></span><input type="range" min="0" max="1">
<span class="burlab-high"></span><input class="burlab-field"><button type="button" class="burlab-schedule"></button>`;

// Builds the controls in an element; gives the function that draws a state in them. send: sends an intent and gives its
// number; answered(number): whether it was carried out; texts(): by knob, what its field says at each place.
export function buildKnobs(el, send, answered, texts) {
  el.innerHTML = `<div class="burlab-knobs"></div><div class="burlab-memory"></div>`;
  const [knobs, memory] = el.children;
  const rows = new Map();
  return (state) => {
    for (const knob of state.knobs) {
      if (!rows.has(knob.name)) rows.set(knob.name, knobRow(knobs, knob.name, send, answered, () => texts()[knob.name]));
      rows.get(knob.name)(knob);
    }
    const longest = Math.max(...state.knobs.map((knob) => knob.name.length), 2);
    knobs.style.setProperty("--label", `${longest}ch`);
    knobs.toggleAttribute("data-schedules", state.knobs.some((knob) => knob.schedule));
    drawMemory(memory, state.memory);
  };
}

// Builds a row and gives the function that draws a knob in it. A control that is being used is left alone: until the last
// place was heard, Python speaks of an earlier one, from which the next key would move the slider.
function knobRow(parent, name, send, answered, texts) {
  const row = document.createElement("div");
  row.className = "burlab-knob";
  row.innerHTML = KNOB;
  parent.append(row);
  const [label, low, slider, high, field, schedule] = row.children;
  label.textContent = name;
  slider.ariaLabel = name;
  field.ariaLabel = `${name} value`;
  schedule.ariaLabel = `${name} schedule`;
  let dragged = false;
  let asked = 0;
  let last = 0;
  let timer = 0;
  let text = ""; // of the knob
  const slide = () => {
    clearTimeout(timer);
    const wait = last + 60 - performance.now();
    if (wait > 0) return void (timer = setTimeout(slide, wait));
    last = performance.now();
    asked = send({ type: "slide", name, place: Number(slider.value) });
  };
  const show = () => {
    showIn(field, text);
    slider.style.setProperty("--part", slider.value);
  };
  // Listeners, never `onkeydown = ...`: a handler set like that cancels the key where it returns false.
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
    setTimeout(show, REFUSED);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.value = text;
    if (event.key === "Enter" || event.key === "Escape") field.blur();
  });
  schedule.addEventListener("click", () => send({ type: schedule.dataset.next, name }));

  return (knob) => {
    low.textContent = knob.low;
    high.textContent = knob.high;
    slider.step = 1 / (texts().length - 1);
    if (!dragged && answered(asked)) [slider.value, text] = [knob.place, knob.text];
    slider.style.setProperty("--decades", knob.decades);
    row.toggleAttribute("data-decades", knob.decades > 0);
    show();
    row.dataset.schedule = knob.schedule;
    schedule.hidden = !knob.schedule;
    schedule.dataset.next = knob.schedule === "follows" ? "hold" : "follow";
    schedule.ariaPressed = String(knob.schedule === "follows");
    schedule.textContent = knob.schedule === "follows" ? "schedule" : "by hand";
    schedule.title = knob.schedule === "follows" ? "Follows its schedule; press to hold it" : "Press to follow the schedule again";
  };
}

// A bar with a share for each kind of bytes, and its key.
function drawMemory(parent, { total, kinds }) {
  const key = JSON.stringify([total, kinds]);
  if (parent.dataset.key === key) return;
  parent.dataset.key = key;
  const whole = element("span", "burlab-total");
  whole.append("memory ");
  element("b", "", whole).textContent = total;
  const bar = element("div", "burlab-meter");
  const words = element("div", "burlab-key");
  for (const [name, text, share, colour] of kinds) {
    const part = element("i", "", bar);
    part.style.flexGrow = share;
    const entry = element("span", "", words);
    element("i", "", entry);
    entry.append(`${name} `);
    element("b", "", entry).textContent = text;
    part.dataset.kind = entry.dataset.kind = colour;
  }
  parent.replaceChildren(whole, bar, words);
}
