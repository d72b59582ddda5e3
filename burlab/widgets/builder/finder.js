// @ts-check
// The search on the canvas: where the mouse was double-clicked, a wire was dropped, or Tab was pressed.
/** @import { BlockKind } from "../messages" */

import { rank } from "./palette.js";
import { element, targetOf } from "../dom.js";

const SHOWN_KINDS = 8; // kinds in the list
const WIDTH_PIXELS = 200;
const HEIGHT_PIXELS = 270;

/**
 * Create the search of a canvas. `open` shows it at a point of the page; `choose` is called with the kind that is picked.
 * @type {(ground: HTMLElement, surface: HTMLElement, kinds: BlockKind[]) => { open: (at: { clientX: number, clientY: number }, choose: (kind: string, value: string) => void) => void, close: () => void }}
 */
export function finderOf(ground, surface, kinds) {
  let close = () => {};

  /** @type {(at: { clientX: number, clientY: number }, choose: (kind: string, value: string) => void) => void} */
  function open({ clientX, clientY }, choose) {
    close();
    const box = element("div", "burlab-finder", ground);
    const frame = ground.getBoundingClientRect();
    box.style.left = `${Math.max(0, Math.min(clientX - frame.left, frame.width - WIDTH_PIXELS))}px`;
    box.style.top = `${Math.max(0, Math.min(clientY - frame.top, frame.height - HEIGHT_PIXELS))}px`;
    const field = element("input", "", box, { type: "text", placeholder: "An operation, or a number", ariaLabel: "add an operation", autocomplete: "off", spellcheck: false });
    const list = element("div", "", box, { id: `burlab-finder-${Math.random().toString(36).slice(2)}`, role: "listbox", ariaLabel: "operations" });
    for (const [name, value] of [["role", "combobox"], ["aria-expanded", "true"], ["aria-controls", list.id], ["aria-autocomplete", "list"]]) field.setAttribute(name, value);
    let at = 0;
    let isNumber = false; // what is written is the value of a constant
    let found = /** @type {BlockKind[]} */ ([]);

    function draw() {
      const rows = found.map((kind, k) => {
        const row = element("div", "burlab-kind", null, { id: `${list.id}-${k}`, role: "option", ariaSelected: String(k === at), title: kind.doc });
        row.append(element("span", "", null, { textContent: kind.name.replace("nn.", "") }), element("i", "", null, { textContent: kind.symbol }));
        row.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          pick(kind);
        });
        return row;
      });
      list.replaceChildren(...rows);
      field.setAttribute("aria-activedescendant", found.length ? `${list.id}-${at}` : "");
    }
    function find() {
      const text = field.value.trim().toLowerCase();
      isNumber = /^[-+]?[.\d]/.test(text);
      const ranked = kinds.map((kind) => ({ kind, order: isNumber ? (kind.name === "constant" ? 0 : null) : rank(kind, text) })).filter(({ order }) => order !== null);
      found = ranked.sort((a, b) => Number(a.order) - Number(b.order)).slice(0, SHOWN_KINDS).map(({ kind }) => kind);
      at = 0;
      draw();
    }
    /** @type {(kind: BlockKind | undefined) => void} */
    function pick(kind) {
      if (!kind) return;
      const value = isNumber ? field.value.trim() : "";
      close();
      surface.focus({ preventScroll: true });
      choose(kind.name, value);
    }
    field.addEventListener("input", find);
    field.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) at = (at + step + found.length) % Math.max(found.length, 1);
      if (step) draw();
      else if (event.key === "Enter") pick(found[at]);
      else if (event.key === "Escape") surface.focus({ preventScroll: true });
      else return; // Tab goes on to what comes after the canvas
      event.preventDefault();
    });
    const away = (/** @type {FocusEvent} */ event) => {
      if (!box.contains(/** @type {Node | null} */ (event.relatedTarget))) close();
    };
    box.addEventListener("focusout", away);
    box.addEventListener("dblclick", (event) => targetOf(event) !== field && event.preventDefault());
    close = () => {
      close = () => {};
      box.removeEventListener("focusout", away);
      box.remove();
    };
    find();
    field.focus({ preventScroll: true });
  }
  return { open, close: () => close() };
}
