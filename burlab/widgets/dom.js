// @ts-check
// Elements of a page: how they are created, written and listened to.

/** @import { Model } from "./messages" */

/**
 * Create an element with a class, at the end of its parent.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {Element | null} [parent]
 * @param {Partial<HTMLElementTagNameMap[Tag]>} [properties]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", parent = null, properties = {}) {
  const created = Object.assign(document.createElement(tag), properties);
  if (className) created.className = className;
  parent?.append(created);
  return created;
}

/** @type {(parent: Element | null, text: string, title: string, act: () => void, className?: string) => HTMLButtonElement} */
export function button(parent, text, title, act, className = "") {
  const created = element("button", className, parent, { type: "button", textContent: text, title });
  created.addEventListener("click", act);
  return created;
}

/**
 * Call a function when one of these traits of a model changes; the result ends that. Front ends other than Jupyter take
 * one event at a time.
 * @template State, Intent
 * @param {Model<State, Intent>} model
 * @param {(keyof State & string)[]} names
 * @param {() => void} act
 */
export function onChange(model, names, act) {
  for (const name of names) model.on(`change:${name}`, act);
  return () => {
    for (const name of names) model.off(`change:${name}`, act);
  };
}

/** Write a text unless it is there: what has not changed is not laid out anew. @type {(place: Element, text: string) => void} */
export function setText(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** Return the element of a selector, which the skeleton of the view has. @type {(el: Element, selector: string) => any} */
export function find(el, selector) {
  const found = el.querySelector(selector);
  if (!found) throw new Error(`the view has no ${selector}`);
  return found;
}

/** The element of an event. @type {(event: Event) => any} */
export const targetOf = (event) => event.target;

/** The element with the focus, if it is a control. @returns {any} */
export const focused = () => document.activeElement;

const EDITING = ["a", "c", "v", "x", "y", "z"]; // what a text field and the builder do with Ctrl

/**
 * Keep keys that are pressed in a view from being shortcuts of the notebook: "d d" would delete the cell. Those with Ctrl or
 * Cmd reach it, as Ctrl-S, which saves, besides those that edit a text.
 * Notebook 7 checks the element with the focus alone, before the view gets the key. Returns what ends the listening.
 * @type {(el: HTMLElement) => () => void}
 */
export function keepKeys(el) {
  const ending = new AbortController();
  const { signal } = ending;
  const passes = (/** @type {KeyboardEvent} */ { key, ctrlKey, metaKey }) => (ctrlKey || metaKey) && !EDITING.includes(key.toLowerCase());
  const suppress = (/** @type {HTMLElement} */ part, /** @type {boolean} */ on) => part.toggleAttribute("data-lm-suppress-shortcuts", on);
  suppress(el, true);
  el.addEventListener("focusin", (event) => suppress(targetOf(event), true), { signal });
  el.addEventListener("keydown", (event) => passes(event) || event.stopPropagation(), { signal });
  // before the notebook looks at the key
  window.addEventListener("keydown", (event) => {
    if (!el.contains(targetOf(event))) return;
    for (const part of [el, targetOf(event)]) suppress(part, !passes(event));
  }, { capture: true, signal });
  return () => ending.abort();
}

/**
 * Return a function that adds listeners to an element, which end with a signal.
 * @type {(el: Element, signal: AbortSignal) => <E extends keyof HTMLElementEventMap>(type: E, act: (event: HTMLElementEventMap[E]) => void, options?: AddEventListenerOptions) => void}
 */
export const listener = (el, signal) => (type, act, options) => el.addEventListener(type, /** @type {any} */ (act), { signal, ...options });

/**
 * Return a test of wheel events: the wheel scrolls the page, unless Ctrl is held, as by a pinch of a touchpad, or what was
 * clicked last is the element.
 * @type {(el: Element, signal: AbortSignal) => (event: WheelEvent) => boolean}
 */
export function ownWheel(el, signal) {
  let clicked = false;
  window.addEventListener("pointerdown", (event) => (clicked = el.contains(targetOf(event))), { capture: true, passive: true, signal });
  return (event) => clicked || event.ctrlKey || event.metaKey;
}

/**
 * Make the buttons of a group one stop of the Tab key: arrows, Home and End move among them. Returns what puts them in order
 * after they have changed.
 * @type {(group: HTMLElement, keys?: [back: string, on: string]) => () => void}
 */
export function roving(group, [back, on] = ["ArrowLeft", "ArrowRight"]) {
  const entries = () => /** @type {HTMLButtonElement[]} */ ([...group.querySelectorAll("button:not(:disabled)")]);
  const settle = () => {
    const all = entries();
    const at = Math.max(0, all.findIndex((entry) => entry.hasAttribute("data-roves")));
    for (const [k, entry] of all.entries()) entry.tabIndex = k === at ? 0 : -1;
  };
  group.addEventListener("focusin", ({ target }) => {
    for (const entry of entries()) entry.toggleAttribute("data-roves", entry === target);
    settle();
  });
  group.addEventListener("keydown", (event) => {
    const all = entries();
    const at = all.indexOf(targetOf(event));
    const steps = { [back]: at - 1, [on]: at + 1, Home: 0, End: all.length - 1 };
    if (at < 0 || !(event.key in steps) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation(); // they step through a run elsewhere
    all[(steps[event.key] + all.length) % all.length].focus();
  });
  return settle;
}

/**
 * Show a value of Python's in a control, unless it has the focus: the answer to a key would undo the next one.
 * @type {(control: any, value: unknown, property?: string) => void}
 */
export function showIn(control, value, property = "value") {
  if (control.getRootNode().activeElement !== control) control[property] = value;
}

/**
 * Call `act` at Enter. At Escape restore the text that the field had, `previous`, and leave it.
 * A listener, never `onkeydown = ...`: such a handler cancels the key where it returns false.
 * @type {(field: HTMLInputElement, act: () => void, previous?: () => string | number) => void}
 */
export function onEnter(field, act, previous) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") act();
    if (event.key !== "Escape" || !previous) return;
    field.value = String(previous());
    field.blur();
  });
}

/**
 * Fill a menu with pairs of a value and its text, unless it has them, and choose one.
 * @type {(select: HTMLSelectElement, pairs: [value: string | number, text: string][], value: string | number) => void}
 */
export function choices(select, pairs, value) {
  const key = JSON.stringify(pairs);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...pairs.map(([one, text]) => new Option(text, String(one))));
  }
  if (pairs.some(([one]) => String(one) === select.value)) showIn(select, value);
  else select.value = String(value);
}

/**
 * Return the sender of a view's messages. Without a kernel they are dropped: the page shows that it is gone.
 * @template Intent
 * @param {{ send(message: Intent): void }} model
 * @returns {(message: Intent) => void}
 */
export function sender(model) {
  return (message) => {
    try {
      model.send(message);
    } catch {
      // there is no kernel
    }
  };
}

/** Let at most one message per `pause` milliseconds through while something is dragged, and always the last one.
 * @template T
 * @param {(message: T) => void} send
 * @returns {(message: T) => void}
 */
export function throttled(send, pause = 60) {
  /** @type {{ message: T } | null} */
  let waiting = null;
  let timer = 0;
  const fire = () => {
    timer = 0;
    if (waiting === null) return;
    send(waiting.message);
    waiting = null;
    timer = setTimeout(fire, pause);
  };
  return (message) => {
    waiting = { message };
    if (!timer) fire();
  };
}
