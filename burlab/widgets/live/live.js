// @ts-check
// What live views have in common: skeleton, icons, announcements, and messages about whether a page shows them.

/** @import { Chart } from "../chart/types" */
/** @import { LiveState, Model, Presence, Status, TransportButton } from "../messages" */
/** @import { Drawn } from "../chart/chart.js" */
import { rgba, themed, onTheme } from "../chart/theme.js";
import { element, find, keepKeys, onChange, sender, setText } from "../dom.js";

const ANNOUNCE_AFTER = 300; // milliseconds that a status must last
const ANNOUNCE_EVERY = 4000; // milliseconds between two announcements
const PULSE = 15000; // milliseconds between two signs of life
const PAGE = String(performance.timeOrigin); // one per load of the page

/** @type {Record<TransportButton | "step" | "steps" | "fork", string>} */
const ICONS = {
  back: "M11 1.5v11L2 7z",
  play: "M3 1.5v11l9-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  step: "M2 2v10l6-5zM9.5 2H12v10H9.5z",
  steps: "M1 2v10l4.5-5zM5.5 2v10L10 7zM10.8 2H13v10h-2.2z",
  reset: "M2 2h2.2v10H2zM12 2v10L5 7z",
  fork: "M3 1.5v11M3 9c0-3 7-2 7-6M10 5.5V1.5",
};

/** @type {(intent: keyof typeof ICONS, text: string, hint: string) => string} */
export const action = (intent, text, hint) =>
  `<button type="button" data-intent="${intent}" title="${hint}"><svg viewBox="0 0 14 14" aria-hidden="true">` +
  `<path d="${ICONS[intent]}"/></svg>${text}</button>`;

export const GONE = `<div class="burlab-gone" role="alert">The kernel of this panel is gone: it was restarted or shut down.
  Run this cell again.</div>`;

/**
 * A view that has begun: its name, a way to Python, its elements.
 * @template State
 * @typedef {{
 *   model: Model<State, any>, el: HTMLElement, view: string, send: (message: any) => void,
 *   part: (selector: string) => any, releaseKeys: () => void,
 * }} Live
 */

/**
 * Begin a view: its skeleton, its name, keys that stay in it, and a way to Python.
 * @template State
 * @param {Model<State, any>} model
 * @param {HTMLElement} el
 * @param {string} html
 * @returns {Live<State>}
 */
export function begin(model, el, html) {
  const view = Math.random().toString(36).slice(2);
  const sendAny = sender(model);
  el.innerHTML = html;
  const releaseKeys = keepKeys(el);
  return { model, el, view, send: (message) => sendAny({ ...message, view }), part: (selector) => find(el, selector), releaseKeys };
}

/**
 * Report to Python whether a page shows the view, until the function that it returns is called.
 * @type {(el: Element, send: (message: Presence) => void) => () => void}
 */
export function presence(el, send) {
  let inSight = true;
  const report = () => send({ type: "watch", page: PAGE, visible: inSight && !document.hidden });
  const observer = new IntersectionObserver((entries) => {
    inSight = entries[entries.length - 1].isIntersecting;
    report();
  });
  observer.observe(el);
  document.addEventListener("visibilitychange", report);
  const pulse = setInterval(report, PULSE);
  report();
  return () => {
    observer.disconnect();
    clearInterval(pulse);
    document.removeEventListener("visibilitychange", report);
    send({ type: "leave" });
  };
}

/** Return what announces a status to screen readers: when it changes in kind, and not with every step. @type {(el: Element) => (state: Status) => void} */
export function announcer(el) {
  const line = element("div", "burlab-voice", el, { role: "status" });
  let [announced, last, timer] = ["", -Infinity, 0];
  return ({ tone, status }) => {
    const text = tone === "running" ? "Running" : status;
    if (text === announced) return;
    announced = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      setText(line, announced);
    }, Math.max(ANNOUNCE_AFTER, last + ANNOUNCE_EVERY - performance.now()));
  };
}

/** @type {(el: Element, state: Status) => void} */
export function drawStatus(el, { tone, status, title }) {
  find(el, ".burlab-status").dataset.tone = tone;
  setText(find(el, ".burlab-status span"), status);
  setText(find(el, ".burlab-status em"), title);
}

/** The colour of a curve, as the chart draws it. @type {(chart: Chart, k: number) => string} */
export const inkOf = (chart, k) => {
  const theme = themed(chart);
  return theme ? rgba(theme.curve(k)) : "gray";
};

/**
 * Keep one row per name in a parent, in the order of the names. rows: those that there are; create(name): another one.
 * @template {HTMLElement} Row
 * @param {Element} parent
 * @param {Map<string, Row>} rows
 * @param {string[]} names
 * @param {(name: string) => Row} create
 * @returns {Row[]}
 */
export function keepRows(parent, rows, names, create) {
  for (const [name, row] of [...rows]) {
    if (names.includes(name)) continue;
    row.remove();
    rows.delete(name);
  }
  return names.map((name, k) => {
    const row = rows.get(name) ?? create(name);
    rows.set(name, row);
    if (parent.children[k] !== row) parent.insertBefore(row, parent.children[k] ?? null);
    return row;
  });
}

/**
 * Draw now, and again when Python sends something new or the theme changes. Returns the clean-up.
 * @template State
 * @param {Live<LiveState<State>>} live
 * @param {Drawn} chart
 * @param {(state: LiveState<State>["state"]) => void} draw
 * @returns {() => void}
 */
export function follow({ model, el, view, send, releaseKeys }, chart, draw) {
  el.classList.add("burlab-panel"); // here, for front ends that hear of no classes from Python
  const announce = announcer(el);
  const show = () => {
    const state = model.get("state");
    draw(state);
    announce(state);
    el.dataset.ready = view; // the mark that tests wait for
    requestAnimationFrame(() => send({ type: "drawn", tick: state.tick }));
  };
  const redraw = () => chart.update(model.get("data"), model.get("heights"));
  const stops = [onChange(model, ["data", "heights"], redraw), onChange(model, ["state"], show)];
  show();
  const stopTheme = onTheme(show);
  const leave = presence(el, send);
  return () => {
    for (const stop of stops) stop();
    releaseKeys();
    stopTheme();
    chart.close();
    leave();
  };
}
