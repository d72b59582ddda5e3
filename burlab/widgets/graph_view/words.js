// @ts-check
// The texts around a graph: the selection, the step of a sweep, and the meaning of the colours.
/** @import { Detail, GraphMarks, GraphWords, Picture, Sweep } from "../messages" */

import { element } from "../dom.js";

// An element with a class, text and children. Text never becomes markup.
/** @type {(name: keyof HTMLElementTagNameMap, className?: string, text?: string | null, children?: (Node | string)[]) => HTMLElement} */
export function part(name, className = "", text = null, children = []) {
  const created = element(name, className, null, text === null ? {} : { textContent: text });
  created.append(...children);
  return created;
}

/** @type {(parent: HTMLElement) => (detail: Detail | null) => void} */
export function detailPanel(parent) {
  let shown = "";
  return (detail) => {
    const now = JSON.stringify(detail);
    if (now === shown) return;
    shown = now;
    if (!detail) {
      parent.replaceChildren(
        part("p", "burlab-hint", "Click a box: its line of Python, its C++ and its cost stand here. A group opens."),
        part("p", "burlab-hint", "Drag to move, wheel or + and − to zoom, 0 for all of it. / searches, arrows up and down " +
          "choose, Enter opens and closes, arrows left and right step through the computation, with shift they move."),
      );
      return;
    }
    const rows = detail.rows.flatMap(([name, text]) => [part("dt", "", name), part("dd", "", text)]);
    const code = [];
    if (detail.python) {
      code.push(part("h5", "", detail.python.place), part("pre", "burlab-python", detail.python.text || "(its text is not at hand)"));
    }
    if (detail.cpp.length) code.push(part("h5", "", "C++"), part("pre", "burlab-cpp", detail.cpp.join("\n")));
    parent.replaceChildren(part("div", "burlab-known", null, [part("h4", "", detail.title), part("dl", "", null, rows)]),
      part("div", "burlab-code", null, code));
  };
}

/** @type {(parent: HTMLElement) => (sweep: Sweep | null) => void} */
export function sweepPanel(parent) {
  return (sweep) => {
    if (!sweep) {
      parent.replaceChildren(part("span", "burlab-hint", "Step through the computation, forward and backward, node by node."));
      return;
    }
    const at = part("b", "", `${sweep.phase || "start"} ${sweep.done} of ${sweep.length}`);
    at.dataset.phase = sweep.phase;
    const rules = sweep.rules.map(([rule, number]) =>
      part("span", "burlab-rule", null, [part("code", "", rule), part("span", "burlab-number", number)]));
    const reads = sweep.reads.map(([letter, number]) =>
      part("span", "burlab-read", null, [part("code", "", `${letter} =`), ` ${number}`]));
    parent.replaceChildren(part("div", "", null, [at, " ", part("span", "", sweep.title)]),
      part("div", "burlab-rules", null, rules), part("div", "burlab-reads", null, reads));
  };
}

/** @type {Record<string, string>} */
const KEYS = {
  forward: "forward", back: "backward", input: "input", output: "output", group: "closed group", moves: "only moves numbers",
  added: "added", removed: "removed", affected: "same operation, other numbers", same: "same", fault: "nan or inf",
};

// What the colours mean, of those that are there.
/** @type {(parent: HTMLElement, words: GraphWords, picture: Picture, marks: GraphMarks) => void} */
export function legend(parent, words, picture, marks) {
  const there = new Set([...picture.boxes, ...picture.frames].flatMap((row) => row[5].split(" ")));
  const names = words.diff ? ["same", "affected", "added", "removed"] : ["input", "forward", "back", "output", "group", "moves"];
  const shown = names.filter((name) => there.has(name) || (name === "forward" && !words.diff));
  if (Object.keys(marks.faults).length) shown.push("fault");
  parent.replaceChildren(...shown.map((name) => part("span", "", null, [part("i", `burlab-swatch ${name}`), KEYS[name]])));
}
