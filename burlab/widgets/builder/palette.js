// @ts-check
// The palette: what can be added, found by a few letters. Enter adds the first one, arrows go through the list.

import { element } from "./inspector.js";

// add(kind, event): of a click or a key; drop(kind, event): where it was dragged to.
export function paletteOf(parent, kinds, { add, drop }) {
  const search = element("input", {
    type: "search", className: "burlab-search", placeholder: "Search operations",
    ariaLabel: "search operations", autocomplete: "off", spellcheck: false,
  });
  const list = element("div", { className: "burlab-kinds", role: "group", ariaLabel: "operations" });
  parent.append(search, list);
  const rows = [];
  let group = "";
  for (const kind of kinds) {
    if (kind.group !== group) list.append(element("h5", { textContent: (group = kind.group) }));
    const button = element("button", { type: "button", title: kind.doc, className: "burlab-kind" });
    button.dataset.kind = kind.name;
    button.append(element("span", { textContent: kind.name.replace("nn.", "") }), element("i", { textContent: kind.symbol }));
    list.append(button);
    rows.push({ kind, button, words: `${kind.name} ${kind.group} ${kind.symbol}`.toLowerCase() });
    grab(button, kind.name);
  }

  function find() {
    const text = search.value.trim().toLowerCase();
    for (const { kind, button, words } of rows) {
      button.hidden = !words.includes(text);
      const name = kind.name.replace("nn.", "").toLowerCase();
      button.style.order = !text || kind.group === "" ? "" : name === text ? -2 : name.startsWith(text) ? -1 : 0;
    }
    list.classList.toggle("burlab-found", text !== "");
  }
  const shown = () => rows.filter(({ button }) => !button.hidden)
    .sort((a, b) => Number(a.button.style.order) - Number(b.button.style.order)).map(({ button }) => button);
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    const [first] = shown();
    if (event.key === "Enter" && first) {
      add(first.dataset.kind, event);
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
    const at = all.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    (all[to] ?? search).focus();
  });

  // A click adds; a drag carries the kind to the canvas.
  function grab(button, kind) {
    let from = null;
    let ghost = null;
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY };
      button.setPointerCapture(event.pointerId); // a quick hand has left the button by its first move
    });
    button.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (!ghost && Math.hypot(event.clientX - from.x, event.clientY - from.y) > 6) {
        ghost = element("div", { className: "burlab-ghost", textContent: kind });
        document.body.append(ghost); // over everything
      }
      if (ghost) ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
    });
    const end = (event) => {
      if (ghost && event.type === "pointerup") drop(kind, event);
      if (ghost) {
        // the click that follows a drag is none
        const swallow = (click) => click.stopImmediatePropagation();
        button.addEventListener("click", swallow, { capture: true, once: true });
        setTimeout(() => button.removeEventListener("click", swallow, { capture: true }), 0);
      }
      ghost?.remove();
      from = ghost = null;
    };
    button.addEventListener("pointerup", end);
    button.addEventListener("pointercancel", end);
    button.addEventListener("click", (event) => add(kind, event));
  }
}
