// @ts-check
// The palette: kinds of blocks, found by a few letters. Enter adds the first one, arrows go through the list.
/** @import { BlockKind } from "../messages" */

import { button as createButton, element, targetOf } from "../dom.js";

const CLICK_PIXELS = 6; // that the mouse may move during a click

/** How well a kind fits what is searched: the smaller the better, null for not at all. @type {(kind: BlockKind, text: string) => number | null} */
export function rank({ name, group, symbol }, text) {
  if (!`${name} ${group} ${symbol}`.toLowerCase().includes(text)) return null;
  const word = name.replace("nn.", "").toLowerCase();
  return !text || group === "" ? 0 : word === text ? -2 : word.startsWith(text) ? -1 : 0;
}

// add(kind): of a click or a key; drop(kind, event): where it was dragged to.
/** @type {(parent: HTMLElement, kinds: BlockKind[], acts: { add(kind: string): void, drop(kind: string, event: PointerEvent): void }) => void} */
export function paletteOf(parent, kinds, { add, drop }) {
  const search = element("input", "burlab-search", parent, {
    type: "search", placeholder: "Search operations", ariaLabel: "search operations", autocomplete: "off", spellcheck: false,
  });
  const list = element("div", "burlab-kinds", parent, { role: "group", ariaLabel: "operations" });
  /** @type {{ kind: BlockKind, button: HTMLButtonElement }[]} */
  const rows = [];
  let group = "";
  for (const kind of kinds) {
    if (kind.group !== group) element("h5", "", list, { textContent: (group = kind.group) });
    const button = createButton(list, "", kind.doc, () => add(kind.name), "burlab-kind");
    button.tabIndex = -1; // Tab comes to one of them, and arrows to the others
    button.dataset.kind = kind.name;
    element("span", "", button, { textContent: kind.name.replace("nn.", "") });
    element("i", "", button, { textContent: kind.symbol });
    rows.push({ kind, button });
    grab(button, kind.name);
  }

  function find() {
    const text = search.value.trim().toLowerCase();
    for (const { kind, button } of rows) {
      const order = rank(kind, text);
      button.hidden = order === null;
      button.style.order = text ? String(order) : "";
    }
    list.classList.toggle("burlab-found", text !== "");
    stopAt(shown()[0]);
  }
  /** The one that Tab comes to. @type {(next: HTMLElement | undefined) => void} */
  function stopAt(next) {
    for (const { button } of rows) button.tabIndex = button === next ? 0 : -1;
  }
  const shown = () => rows.filter(({ button }) => !button.hidden)
    .sort((a, b) => Number(a.button.style.order) - Number(b.button.style.order)).map(({ button }) => button);
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    const [first] = shown();
    if (event.key === "Enter" && first) {
      add(first.dataset.kind ?? "");
      search.value = "";
      find();
    } else if (event.key === "ArrowDown" && first) first.focus();
    else if (event.key === "Escape") {
      search.value = "";
      find();
    } else return;
    event.preventDefault();
  });
  list.addEventListener("keydown", (event) => {
    const all = shown();
    const at = all.indexOf(targetOf(event));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    (all[to] ?? search).focus();
  });
  list.addEventListener("focusin", (event) => stopAt(targetOf(event)));
  find();

  // A click adds; a drag carries the kind to the canvas.
  /** @type {(button: HTMLElement, kind: string) => void} */
  function grab(button, kind) {
    let from = /** @type {{ x: number, y: number } | null} */ (null);
    let ghost = /** @type {HTMLElement | null} */ (null);
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY };
      button.setPointerCapture(event.pointerId); // a quick hand has left the button by its first move
    });
    button.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (!ghost && Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK_PIXELS) {
        ghost = element("div", "burlab-ghost", document.body, { textContent: kind }); // over everything
      }
      if (ghost) ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
    });
    const end = (/** @type {PointerEvent} */ event) => {
      if (ghost && event.type === "pointerup") drop(kind, event);
      if (ghost) {
        // the click that follows a drag is none
        const swallow = (/** @type {Event} */ click) => click.stopImmediatePropagation();
        button.addEventListener("click", swallow, { capture: true, once: true });
        setTimeout(() => button.removeEventListener("click", swallow, { capture: true }), 0);
      }
      ghost?.remove();
      from = ghost = null;
    };
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
  }
}
