// @ts-check
// What plays a run, a watched loop or a race: buttons, speed, keys and the status line. What the subject cannot do, such
// as going back, is hidden. Buttons answer at once with what Python will say, and its answer replaces that.

/** @import { LiveState, Transport, TransportButton, TransportIntent } from "../messages" */
/** @import { Live } from "./live.js" */
import { choices, element, find, focused, onEnter, targetOf } from "../dom.js";
import { action, drawStatus, GONE } from "./live.js";

const PATIENCE = 30000; // milliseconds for which the page shows what it expects, if no answer at all comes
/** Speeds of Play, in steps per second. @type {[value: string, text: string][]} */
const SPEEDS = [["-1", "growing speed"], ["0", "full speed"], ["1000", "1,000 steps/s"], ["100", "100 steps/s"], ["10", "10 steps/s"], ["1", "1 step/s"]];
const WITH_RECORD = ["back", "reset"]; // buttons that are hidden where there is no way back
const TEXT = "input:not([type=range]), textarea, [contenteditable=true]";
const ARROW_CONTROLS = ".burlab-knob input[type=range], .burlab-smoothing"; // arrows, Home and End are theirs

/** @type {(name: string) => string} */
const barOf = (name) => `${GONE}
<div class="burlab-bar" role="toolbar" aria-label="${name}">
  ${action("play", "Play", "Go on until paused, or until a criterion ends it (space)")}
  ${action("pause", "Pause", "Rest at the step reached (space)")}
  ${action("back", "Back", "Play backwards through the record")}
  ${action("step", "Step", "Do one step (right arrow; left arrow: one back, where that is possible; with shift: ten)")}
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="100">
  ${action("steps", "Step n", "Do so many steps")}</span>
  ${action("reset", "Reset", "Back to step 0; the record stays")}
  <select aria-label="speed" class="burlab-speed" title="How fast Play and Back go: a growing speed does ten times as many steps every five seconds"></select>
</div>
<div class="burlab-status"><i></i><span></span><em></em></div>`;

/** Return what a state will be when an intent has been handled. @type {(intent: { type: string, count?: any, step?: any }, state: Transport) => Partial<Transport>} */
export function expected(intent, { playing, length, step: now }) {
  switch (intent.type) {
    case "play":
    case "back":
      return { playing: true, tone: "running" };
    case "pause":
      return { playing: false, ...(playing ? { tone: "paused" } : {}) };
    case "reset":
      return { playing: false, step: 0 };
    case "rewind":
      return { playing: false, step: Math.max(0, now - intent.count) };
    case "seek":
      return Number(intent.step) >= 0 ? { playing: false, step: Math.min(Math.round(Number(intent.step)), length) } : {};
    default:
      return {};
  }
}

/**
 * Number the intents of a view, and foresee their answers.
 * @template {Transport} State
 * @param {Live<LiveState<State>>} live
 * @param {(changes: Partial<Transport>) => void} show draws what is foreseen
 * @returns {{ act: (intent: any) => number, state: () => State & { handled: Record<string, number> }, answered: (serial: number) => boolean }}
 */
export function foresee({ model, view, send }, show) {
  let [serial, awaited, sent, handled] = [0, 0, 0, 0]; // sent: when; or when the last answer came
  let changes = /** @type {Partial<Transport>} */ ({});
  // Whether Python has handled an intent, by its number, or was given long enough. A kernel that answers one intent after
  // the other, slowly, will come to this one, too: an answer to an earlier one would undo what was done since.
  const answered = (/** @type {number} */ number) => {
    const now = model.get("state").handled[view] ?? 0;
    if (now > handled) [handled, sent] = [now, performance.now()];
    return now >= number || performance.now() > sent + PATIENCE;
  };
  const state = () => (answered(awaited) ? model.get("state") : { ...model.get("state"), ...changes });
  const act = (/** @type {any} */ intent) => {
    const found = expected(intent, state());
    send({ ...intent, serial: ++serial });
    sent = performance.now();
    if (Object.keys(found).length) {
      [awaited, changes] = [serial, found];
      show(found);
    }
    return serial;
  };
  return { act, state, answered };
}

// A disabled button gets no keys: its focus goes from Play to Pause and back, else to the panel.
/** @type {(button: HTMLElement, el: HTMLElement) => void} */
function passFocus(button, el) {
  const next = el.querySelector(`[data-intent=${button.dataset.intent === "play" ? "pause" : "play"}]:enabled`);
  /** @type {HTMLElement} */ (next ?? el).focus({ preventScroll: true });
}

/**
 * Build the bar at the end of a view, and listen to the keys of the view.
 * @param {HTMLElement} el of the view
 * @param {string} name of the bar
 * @param {(intent: TransportIntent) => void} act sends an intent
 * @param {() => Transport} state returns the state to be shown
 * @returns {{ draw: () => void, close: () => void }} what draws the state, and what ends the listening
 */
export function buildTransport(el, name, act, state) {
  const box = element("div", "burlab-transport", el, { innerHTML: barOf(name) });
  const part = (/** @type {string} */ selector) => find(box, selector);
  const [count, speed] = [".burlab-count", ".burlab-speed"].map(part);
  const steps = () => act({ type: "step", count: count.value });
  const acts = /** @type {Record<string, () => void>} */ ({ steps, step: () => act({ type: "step", count: 1 }) });
  for (const button of box.querySelectorAll("button")) {
    const type = /** @type {TransportButton} */ (button.dataset.intent);
    button.addEventListener("click", acts[type] ?? (() => act({ type })));
  }
  let counted = count.value;
  count.addEventListener("change", () => (counted = count.value));
  onEnter(count, steps, () => counted);
  speed.addEventListener("change", () => act({ type: "speed", value: Number(speed.value) }));
  const close = onKeys(el, act, state);
  const draw = () => {
    const known = state();
    const { step, playing, seekable, ended } = known;
    const off = { play: playing || ended, step: ended, steps: ended, pause: !playing, reset: step === 0 && !playing, back: step === 0 };
    const before = focused();
    for (const [intent, disabled] of Object.entries(off)) part(`[data-intent=${intent}]`).disabled = disabled;
    if (box.contains(before) && before.disabled) passFocus(before, el);
    for (const intent of WITH_RECORD) part(`[data-intent=${intent}]`).hidden = !seekable;
    choices(speed, SPEEDS, known.speed);
    drawStatus(el, known);
  };
  return { draw, close };
}

// Space plays and pauses, arrows go one step, with shift ten, Home and End to the ends. Returns what ends the listening.
/** @type {(el: HTMLElement, act: (intent: TransportIntent) => void, state: () => Transport) => () => void} */
function onKeys(el, act, state) {
  const ending = new AbortController();
  /** @type {<E extends keyof HTMLElementEventMap>(type: E, then: (event: HTMLElementEventMap[E]) => void) => void} */
  const on = (type, then) => el.addEventListener(type, then, { capture: true, signal: ending.signal });
  let pressed = false; // whether what has the focus got it from the mouse: a button keeps its own keys for the others
  el.tabIndex = -1;
  on("pointerdown", (event) => {
    pressed = true;
    if (!targetOf(event).closest("input, select, button, canvas, summary")) el.focus({ preventScroll: true });
  });
  /** @type {Record<string, (count: number) => void>} */
  const acts = {
    " ": () => act({ type: state().playing ? "pause" : "play" }),
    ArrowRight: (count) => act({ type: "step", count }),
    ArrowLeft: (count) => state().seekable && act({ type: "rewind", count }),
    Home: () => state().seekable && act({ type: "seek", step: 0 }),
    End: () => state().seekable && act({ type: "seek", step: state().length }),
  };
  const meant = (/** @type {KeyboardEvent} */ event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const target = targetOf(event);
    if (!acts[key] || ctrlKey || metaKey || altKey || target.closest(TEXT)) return false;
    if (key === " ") return pressed || !target.closest("button, select, summary");
    return !target.closest(ARROW_CONTROLS) && (pressed || !target.closest("select, canvas"));
  };
  on("keydown", (event) => {
    if (event.key === "Tab") pressed = false;
    if (!meant(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key !== " " || !event.repeat) acts[event.key](event.shiftKey ? 10 : 1);
  });
  on("keyup", (event) => {
    if (event.key === " " && meant(event)) event.preventDefault(); // else it presses a button
  });
  return () => ending.abort();
}
