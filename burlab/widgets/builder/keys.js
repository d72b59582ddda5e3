// @ts-check
// Keys on the canvas: arrows go from block to block, C connects, and letters do what buttons do.
/** @import { Desk } from "./desk" */
/** @import { Block } from "../messages" */

import { DIRECTIONS, nextBlock } from "./blocks.js";

const NUDGE_PIXELS = 12; // pixels that a key moves a block

/**
 * Let keys act on the canvas. `invite` says again whose value the keyboard carries.
 * @param {HTMLElement} surface
 * @param {Desk} desk
 * @param {{ remove: () => void, fit: () => void, show: (block: Block) => void, view: (key: string) => boolean, announce: (words: string) => void }} acts
 */
export function canvasKeys(surface, desk, { remove, fit, show, view, announce }) {
  let connecting = /** @type {number | null} */ (null); // the block whose value the keyboard is carrying to another

  function stopConnecting() {
    connecting = null;
    surface.classList.remove("burlab-connecting");
  }
  /** @type {(target: number, port: number | null) => void} */
  function connect(target, port) {
    if (connecting !== null) desk.send({ type: "connect", source: connecting, key: target, port });
    stopConnecting();
  }
  function invite() {
    const from = desk.block(connecting);
    if (from) announce(`connect ${from.name} to another block: arrows choose it, Enter or the number of its argument connects`);
  }
  /** @type {(key: string, shift: boolean, now: Block | undefined) => void} */
  function arrow(key, shift, now) {
    if (shift && now) {
      const [dx, dy] = DIRECTIONS[key];
      desk.send({ type: "move", keys: desk.selected, by: [NUDGE_PIXELS * dx, NUDGE_PIXELS * dy] });
      return;
    }
    const next = now ? nextBlock(desk.blocks(), now, key) : desk.blocks()[0];
    if (!next) return;
    desk.select(desk.held && now ? [...desk.held, next.key] : [next.key]);
    show(next);
  }
  /** @type {(now: Block | undefined) => Record<string, () => void>} */
  const actions = (now) => ({
    " ": () => {
      desk.held = desk.selected; // and what the arrows come to next
      announce(`${desk.selected.length} selected: arrows add another`);
    },
    Escape: () => {
      desk.held = null;
      if (connecting !== null) stopConnecting();
      else desk.select([]);
    },
    Enter: () => {
      if (now && connecting !== null) connect(now.key, null);
      else if (now) desk.open(now.key);
    },
    Delete: remove,
    Backspace: remove,
    0: fit,
    o: () => {
      if (now) desk.send({ type: "choose", key: now.key });
    },
    c: () => {
      if (!now) return;
      connecting = now.key;
      surface.classList.add("burlab-connecting");
      invite();
    },
  });

  // With Ctrl or Cmd. What copies and pastes is an event of its own: see clipboard.js.
  /** @type {Record<string, () => void>} */
  const commands = {
    a: () => desk.select(desk.blocks().map((block) => block.key)),
    d: () => {
      if (desk.selected.length) desk.send({ type: "duplicate", keys: desk.selected });
    },
  };
  surface.addEventListener("keydown", (event) => {
    if (event.target !== surface || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      const command = commands[event.key.toLowerCase()];
      if (!command || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      command();
      return;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const now = desk.block(desk.selected.at(-1));
    const action = actions(now)[key];
    if (key in DIRECTIONS && desk.blocks().length) arrow(key, event.shiftKey, now);
    else if (connecting !== null && now && /^[1-9]$/.test(key)) connect(now.key, Number(key) - 1);
    else if (action) action();
    else if (!view(event.key)) return;
    event.preventDefault();
  });
  return { invite };
}
