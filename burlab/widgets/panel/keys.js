// @ts-check
// The keyboard of a panel: space plays and pauses, arrows go one step, with shift ten. A race has it, too.


import { targetOf } from "../dom.js";

const TEXT = "input:not([type=range]), textarea, [contenteditable=true]";
const ARROW_CONTROLS = ".burlab-knob input[type=range], .burlab-smoothing"; // arrows are theirs

// playing: returns true while the run plays. back: whether there is a way back. Returns what ends the listening.
/** @type {(el: HTMLElement, act: (intent: any) => void, playing: () => boolean, back?: boolean) => () => void} */
export function onPanelKeys(el, act, playing, back = true) {
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
    " ": () => act({ type: playing() ? "pause" : "play" }),
    ArrowRight: (count) => act({ type: "step", count }),
    ...(back ? { ArrowLeft: (count) => act({ type: "rewind", count }) } : {}),
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
