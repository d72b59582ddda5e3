// @ts-check
// The menu of the right button, and of the key for menus. Arrows go through it, Escape leaves it.

import { button, element, targetOf } from "../dom.js";

/** @typedef {[text: string, hint: string, act: () => void] | null} Item a line, or null between two groups */

/**
 * Create the menu of a canvas, which is put into `ground` and gives the focus back to `surface`.
 * @type {(ground: HTMLElement, surface: HTMLElement) => { open: (at: { clientX: number, clientY: number }, items: Item[]) => void, close: () => void }}
 */
export function menuOf(ground, surface) {
  let close = () => {};

  /** @type {(at: { clientX: number, clientY: number }, items: Item[]) => void} */
  function open({ clientX, clientY }, items) {
    close();
    const menu = element("div", "burlab-menu", ground, { role: "menu", ariaLabel: "what can be done here" });
    for (const item of items) {
      if (!item) {
        element("hr", "", menu);
        continue;
      }
      const [text, hint, act] = item;
      const line = button(menu, "", "", () => {
        close();
        surface.focus({ preventScroll: true });
        act();
      });
      line.setAttribute("role", "menuitem");
      line.removeAttribute("title");
      line.tabIndex = -1;
      line.append(element("span", "", null, { textContent: text }), element("kbd", "", null, { textContent: hint }));
    }
    const frame = ground.getBoundingClientRect();
    menu.style.left = `${Math.max(0, Math.min(clientX - frame.left, frame.width - menu.offsetWidth))}px`;
    menu.style.top = `${Math.max(0, Math.min(clientY - frame.top, frame.height - menu.offsetHeight))}px`;
    const lines = [...menu.querySelectorAll("button")];
    menu.addEventListener("keydown", (event) => {
      const at = lines.indexOf(targetOf(event));
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
      if (to !== undefined) lines.at(to % lines.length)?.focus();
      else if (event.key === "Escape" || event.key === "Tab") surface.focus({ preventScroll: true });
      else return;
      event.preventDefault();
    });
    const away = (/** @type {FocusEvent} */ event) => {
      if (!menu.contains(/** @type {Node | null} */ (event.relatedTarget))) close();
    };
    menu.addEventListener("focusout", away);
    close = () => {
      close = () => {};
      menu.removeEventListener("focusout", away);
      menu.remove();
    };
    lines[0]?.focus({ preventScroll: true });
  }
  return { open, close: () => close() };
}
