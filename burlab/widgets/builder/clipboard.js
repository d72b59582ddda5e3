// @ts-check
// Blocks on the clipboard: as the JSON of a builder, which other builders and Python read.
/** @import { Desk } from "./desk" */
/** @import { Block } from "../messages" */

/** The JSON of some blocks. Wires from others are not in it. @type {(blocks: Block[]) => string} */
export function clipOf(blocks) {
  const keys = new Set(blocks.map((block) => block.key));
  const rows = blocks.map(({ key, kind, label, operands, options, x, y }) => ({
    key, kind, label, place: [x, y],
    inputs: operands.map((source) => (source !== null && keys.has(source) ? source : null)),
    options: Object.fromEntries(options),
  }));
  return JSON.stringify({ burlab_builder: 1, output: null, blocks: rows });
}

/** Add what a text of the clipboard stands for: blocks as JSON, or else a formula. @type {(desk: Desk, text: string, at: { x: number, y: number } | null) => void} */
export function pasteText(desk, text, at) {
  if (text.startsWith("{")) desk.send({ type: "paste", text, ...(at ? { place: [at.x, at.y] } : {}) });
  else if (text) desk.send({ type: "formula", text });
}

/**
 * Let the keys that copy, cut and paste act on blocks while the canvas has the focus. Returns what ends that.
 * @type {(surface: HTMLElement, desk: Desk, view: { place: (event: { clientX: number, clientY: number }) => { x: number, y: number } }, remove: () => void) => () => void}
 */
export function clipboard(surface, desk, view, remove) {
  const ending = new AbortController();
  const { signal } = ending;
  let pointer = /** @type {{ clientX: number, clientY: number } | null} */ (null); // where the mouse is on the canvas
  surface.addEventListener("pointermove", ({ clientX, clientY }) => (pointer = { clientX, clientY }), { capture: true, signal });
  surface.addEventListener("pointerleave", () => (pointer = null), { signal });

  /** @type {(event: ClipboardEvent) => boolean} */
  const ours = (event) => /** @type {Document | ShadowRoot} */ (surface.getRootNode()).activeElement === surface && event.clipboardData !== null;
  /** @type {(event: ClipboardEvent) => void} */
  function copy(event) {
    const blocks = desk.blocks().filter((block) => desk.selected.includes(block.key));
    if (!ours(event) || !blocks.length) return;
    event.clipboardData?.setData("text/plain", clipOf(blocks));
    event.preventDefault();
    event.stopPropagation();
    if (event.type === "cut") remove();
  }
  /** @type {(event: ClipboardEvent) => void} */
  function paste(event) {
    if (!ours(event)) return;
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    event.preventDefault();
    event.stopPropagation();
    const at = pointer && view.place(pointer);
    pasteText(desk, text, at);
  }
  // wherever the page has a text selected: there such an event comes from
  for (const [type, act] of /** @type {const} */ ([["copy", copy], ["cut", copy], ["paste", paste]])) {
    document.addEventListener(type, act, { capture: true, signal });
  }
  return () => ending.abort();
}
