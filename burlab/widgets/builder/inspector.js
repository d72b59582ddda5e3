// @ts-check
// Details of the selected block, with fields for its names, options, shape and arguments.
/** @import { Desk } from "./desk" */
/** @import { Block } from "../messages" */

import { button, choices, element, focused, setText, showIn } from "../dom.js";

/** @typedef {{ row: HTMLElement, show: (text: string, words: [value: string, text: string][]) => void, input: HTMLInputElement | HTMLSelectElement }} Field */

// A field with a name. commit(text) is called when it is left or Enter is pressed, and its text is another one.
/** @type {(label: string, commit: (text: string) => void) => Field} */
function field(label, commit) {
  const row = element("label", "burlab-row");
  element("span", "", row, { textContent: label });
  const input = element("input", "burlab-field", row, { ariaLabel: label, autocomplete: "off", spellcheck: false });
  let was = "";
  const done = () => {
    if (input.value === was) return;
    const text = input.value;
    was = text;
    commit(text);
  };
  input.addEventListener("change", done);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") done();
    if (event.key === "Escape") input.value = was;
  });
  const show = (/** @type {string} */ text) => {
    was = text;
    showIn(input, text);
  };
  return { row, show, input };
}

// A choice among words, pairs of a value and its text. They may be others each time it is shown.
/** @type {(label: string, commit: (value: string) => void) => Field} */
function choice(label, commit) {
  const row = element("label", "burlab-row");
  element("span", "", row, { textContent: label });
  const input = element("select", "", row, { ariaLabel: label });
  input.addEventListener("change", () => commit(input.value));
  return { row, show: (value, words) => choices(input, words, value), input };
}

/** Return True if a text is a float as Python writes it: with a point or an exponent. @type {(text: string) => boolean} */
export const isFloat = (text) => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(text) && /[.e]/.test(text);

/** Return a number with four digits, as a float of Python. @type {(number: number) => string} */
export function formatFloat(number) {
  const text = String(Number(number.toPrecision(4)));
  return /[.e]/.test(text) ? text : `${text}.0`;
}

// A slider over a number: it moves around where the number was when it was selected.
/** @type {(send: (text: string, tag: string) => void) => Field} */
function slider(send) {
  const input = element("input", "", null, { type: "range", min: "-1", max: "1", step: "0.01", ariaLabel: "slide the value" });
  let middle = 0;
  let reach = 1;
  let serial = 0;
  input.addEventListener("pointerdown", () => serial++);
  input.addEventListener("keydown", () => serial++);
  input.addEventListener("input", () => {
    send(formatFloat(middle + Number(input.value) * reach), `slide ${serial}`);
  });
  const show = (/** @type {string} */ text) => {
    input.hidden = !isFloat(text);
    if (input.hidden || input === focused()) return;
    middle = Number(text);
    reach = Math.max(2 * Math.abs(middle), 1);
    input.value = "0";
  };
  return { row: input, show, input };
}

// Returns draw(block), which fills the place for the selected block, and focus(name).
/** @type {(parent: HTMLElement, desk: Desk) => { draw(block: Block | undefined): void, focus(name: string): void }} */
export function inspector(parent, desk) {
  let built = /** @type {string | null} */ (null); // what the fields are for
  let shown = /** @type {((block: Block) => void)[]} */ ([]);
  let fields = /** @type {Map<string, HTMLInputElement | HTMLSelectElement>} */ (new Map());

  // What an argument of a block can come from.
  /** @type {(block: Block) => [value: string, text: string][]} */
  function sources(block) {
    const others = desk.blocks().filter((other) => other.key !== block.key);
    const pairs = others.map((other) => /** @type {[string, string]} */ ([String(other.key), `${other.name} (${other.key})`]));
    return [["", "—"], ...pairs];
  }

  /** @type {(block: Block) => void} */
  function build(block) {
    const { key } = block;
    const rows = /** @type {HTMLElement[]} */ ([]);
    shown = [];
    fields = new Map();
    /** @type {(created: Field, text: (block: Block) => string, words?: (block: Block) => [value: string, text: string][]) => Field} */
    const put = (created, text, words = () => []) => {
      rows.push(created.row);
      shown.push((now) => created.show(text(now), words(now)));
      return created;
    };
    const title = element("h4");
    shown.push((now) => setText(title, now.kind));
    const doc = element("p", "burlab-doc", null, { textContent: block.doc });
    fields.set("label", put(field("label", (text) => desk.send({ type: "rename", key, text })), (now) => now.label).input);
    block.options.forEach(([name, , words], k) => {
      const commit = (/** @type {string} */ text) => desk.send({ type: "edit", key, name, text });
      const created = words.length ? choice(name, commit) : field(name, commit);
      put(created, (now) => now.options[k][1], () => words.map((word) => /** @type {[string, string]} */ ([word, word])));
      fields.set(name, created.input);
      if (name === "value") put(slider((text, tag) => desk.send({ type: "edit", key, name, text, tag: `${key} ${tag}` })), (now) => now.options[k][1]);
    });
    if (block.leaf) put(field("shape", (text) => desk.send({ type: "reshape", key, text })), (now) => now.shape);
    const count = block.ports.length + (block.many ? 1 : 0);
    for (let port = 0; port < count; port++) {
      const label = block.ports[port] ?? "one more";
      const commit = (/** @type {string} */ value) =>
        desk.send(value ? { type: "connect", key, source: Number(value), port } : { type: "disconnect", key, port });
      put(choice(label, commit), (now) => String(now.operands[port] ?? ""), sources);
    }
    const words = element("dl");
    shown.push((now) => {
      const numbers = [["value", now.value], ["gradient", now.gradient], ["‖∂ weights‖", now.weights]];
      words.replaceChildren(...numbers.filter(([, text]) => text).flatMap(([name, textContent]) =>
        [element("dt", "", null, { textContent: name }), element("dd", `burlab-${name}`, null, { textContent })]));
    });
    const why = element("p", "burlab-why");
    shown.push((now) => setText(why, now.fault || now.odd || now.open));
    const root = button(null, "Make it the output", "", () => desk.send({ type: "choose", key }));
    shown.push((now) => {
      root.disabled = now.output;
    });
    parent.replaceChildren(title, doc, ...rows, why, words, root);
  }

  return {
    draw(block) {
      if (!block) {
        built = null;
        const help = [
          "Click an operation to add it: what is selected becomes its arguments. Or drag it onto the canvas.",
          "Drag from the right of a block to the left of another to connect them; pull the end of a wire off to move it.",
          "Shift and drag selects what is in a box, a click with Shift or Ctrl one more. Ctrl-C, Ctrl-X, Ctrl-V and Ctrl-D copy, cut, paste and duplicate.",
          "A double click, Tab, or a wire that is dropped beside blocks searches for an operation; a block that is dropped onto a wire is put into it. The right button has a menu.",
          "Keys on the canvas: arrows go from block to block, Space selects several, C connects, Enter edits, O makes the output, Delete, Ctrl-Z.",
        ];
        parent.replaceChildren(...help.map((textContent) => element("p", "burlab-doc", null, { textContent })));
        return;
      }
      const next = JSON.stringify([block.key, block.ports, block.options.map(([name]) => name)]);
      let name = /** @type {string | null} */ (null); // of a field that loses the focus with its block
      if (next !== built) { // never for a name or a value: a field may be written into at this moment
        const active = focused();
        name = parent.contains(active) ? active.ariaLabel : null;
        build(block);
      }
      built = next;
      for (const show of shown) show(block);
      if (name) /** @type {HTMLElement | null} */ (parent.querySelector(`[aria-label="${CSS.escape(name)}"]`))?.focus({ preventScroll: true });
    },
    focus(name) {
      const input = fields.get(name);
      input?.focus({ preventScroll: true });
      if (input instanceof HTMLInputElement) input.select();
    },
  };
}
