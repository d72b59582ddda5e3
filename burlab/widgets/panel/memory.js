// @ts-check
// What the memory of a run is used for, as a bar.

/** @import { Memory } from "../messages" */
import { element } from "../dom.js";

// A bar with a share for each kind of bytes, and its key.
/** @type {(parent: Element, memory: Memory) => void} */
export function drawMemory(parent, { total, kinds }) {
  const key = JSON.stringify([total, kinds]);
  if (parent.getAttribute("data-key") === key) return;
  parent.setAttribute("data-key", key);
  const whole = element("span", "burlab-total");
  whole.append("memory ");
  element("b", "", whole).textContent = total;
  const bar = element("div", "burlab-meter");
  const words = element("div", "burlab-key");
  for (const [name, text, share, colour] of kinds) {
    const part = element("i", "", bar);
    part.style.flexGrow = String(share);
    const entry = element("span", "", words);
    element("i", "", entry);
    entry.append(`${name} `);
    element("b", "", entry).textContent = text;
    part.dataset.kind = entry.dataset.kind = String(colour);
  }
  parent.replaceChildren(whole, bar, words);
}
