// @ts-check
// What live views have in common: what they send, and that Python knows who looks.

import { onTheme, rgba, themed } from "../chart/theme.js";
import { keepKeys, showIn } from "../keys.js";
import { buildVoice } from "../voice.js";

const ICONS = {
  play: "M3 1.5v11l9-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  step: "M2 2v10l6-5zM9.5 2H12v10H9.5z",
  steps: "M1 2v10l4.5-5zM5.5 2v10L10 7zM10.8 2H13v10h-2.2z",
  fork: "M3 1.5v11M3 9c0-3 7-2 7-6M10 5.5V1.5",
};

export const action = (intent, text, hint) =>
  `<button type="button" data-intent="${intent}" title="${hint}"><svg viewBox="0 0 14 14" aria-hidden="true">` +
  `<path d="${ICONS[intent]}"/></svg>${text}</button>`;

export const GONE = `<div class="burlab-gone" role="alert">The kernel of this panel is gone: it was restarted or shut down.
  Run this cell again.</div>`;

// Begins a view: its skeleton, its name, keys that stay in it, and a way to Python.
export function begin(model, el, html) {
  const view = Math.random().toString(36).slice(2);
  const send = (message) => {
    try {
      model.send({ ...message, view });
    } catch {
      // there is no kernel: the page says so, see .burlab-gone
    }
  };
  keepKeys(el);
  el.addEventListener("keydown", (event) => event.stopPropagation());
  el.innerHTML = html;
  return { view, send, find: (selector) => el.querySelector(selector) };
}

// Tells Python who looks, until what it gives is called.
export function presence(el, send) {
  let seen = true;
  const tell = () => send({ type: "watch", visible: seen && !document.hidden });
  const observer = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    tell();
  });
  observer.observe(el);
  document.addEventListener("visibilitychange", tell);
  const pulse = setInterval(tell, 15000);
  tell();
  return () => {
    observer.disconnect();
    clearInterval(pulse);
    document.removeEventListener("visibilitychange", tell);
    send({ type: "leave" });
  };
}

// Enter in a field acts. A listener, never `onkeydown = ...`: such a handler cancels the key where it returns false.
export function onEnter(field, act) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") act();
  });
}

export const put = (place, text) => {
  if (place.textContent !== text) place.textContent = text;
};

// A menu of [value, text] pairs, changed only where they differ.
export function choices(select, pairs, value) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([one, text]) => new Option(text, one)));
  }
  if (pairs.some(([one]) => one === select.value)) showIn(select, value);
  else select.value = value;
}

export function status(find, { tone, status: text, title }) {
  find(".burlab-status").dataset.tone = tone;
  put(find(".burlab-status span"), text);
  put(find(".burlab-status em"), title);
}

// The colour of a curve, as the chart draws it.
export const inkOf = (chart, k) => {
  const theme = themed(chart);
  return theme ? rgba(theme.curve(k)) : "gray";
};

// Rows by name within a parent, in the order of the names. rows: those that are there, a Map; make(name): another one.
export function keepRows(parent, rows, names, make) {
  for (const name of [...rows.keys()]) {
    if (!names.includes(name)) rows.get(name).remove(), rows.delete(name);
  }
  names.forEach((name, k) => {
    if (!rows.has(name)) rows.set(name, make(name));
    const row = rows.get(name);
    if (parent.children[k] !== row) parent.insertBefore(row, parent.children[k] ?? null);
  });
}

// Draws now, and again when Python says something new or the theme changes; gives the clean-up.
export function follow({ model, el, view, send }, chart, draw) {
  const voice = buildVoice(el);
  const show = () => {
    draw(model.get("state"));
    voice(model.get("state"));
    el.dataset.ready = view; // the mark that tests wait for
    requestAnimationFrame(() => send({ type: "drawn", tick: model.get("state").tick }));
  };
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  model.on("change:data change:heights", redraw);
  model.on("change:state", show);
  show();
  const unthemed = onTheme(show);
  const leave = presence(el, send);
  return () => {
    model.off("change:data change:heights", redraw);
    model.off("change:state", show);
    unthemed();
    chart.close();
    leave();
  };
}
