// @ts-check
// What is known about the selected block, and fields for all of it: names, options, shape, and where arguments come from.

import { showIn } from "../keys.js";

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A field with a name. commit(text) is called when it is left or Enter is pressed, and its text is another one.
function field(label, commit) {
  const input = element("input", { className: "burlab-field", ariaLabel: label, autocomplete: "off", spellcheck: false });
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
  const show = (text) => {
    was = text;
    showIn(input, text);
  };
  return { row: element("label", { className: "burlab-row" }, element("span", {}, label), input), show, input };
}

// A choice among words, pairs of a value and its text. They may be others each time it is shown.
function choice(label, commit) {
  const select = element("select", { ariaLabel: label });
  let offered = "";
  select.addEventListener("change", () => commit(select.value));
  const show = (value, words) => {
    const now = JSON.stringify(words);
    if (now === offered) return showIn(select, value);
    select.replaceChildren(...words.map(([value, text]) => element("option", { value, textContent: text })));
    offered = now;
    select.value = value;
  };
  return { row: element("label", { className: "burlab-row" }, element("span", {}, label), select), show };
}

// A slider over a number: it moves around where the number was when it was selected.
function slider(send) {
  const input = element("input", { type: "range", min: -1, max: 1, step: 0.01, ariaLabel: "slide the value" });
  let middle = 0;
  let reach = 1;
  let serial = 0;
  input.addEventListener("pointerdown", () => serial++);
  input.addEventListener("keydown", () => serial++);
  input.addEventListener("input", () => {
    const number = middle + Number(input.value) * reach;
    const text = String(Number(number.toPrecision(4)));
    send(/[.e]/.test(text) ? text : `${text}.0`, `slide ${serial}`);
  });
  const show = (text) => {
    input.hidden = !/^[-+]?[\d.]+(e[-+]?\d+)?$/.test(text) || !/[.e]/.test(text);
    if (input.hidden || input === input.getRootNode().activeElement) return;
    middle = Number(text);
    reach = Math.max(2 * Math.abs(middle), 1);
    input.value = 0;
  };
  return { row: input, show };
}

// desk: as in dragging.js. Gives draw(block), which fills the place for the selected block, and focus(name).
export function inspector(parent, desk) {
  let built = null; // what the fields are for
  let shown = [];
  let fields = new Map();

  // What an argument of a block can come from.
  function sources(block) {
    const others = desk.blocks().filter((other) => other.key !== block.key);
    return [["", "—"], ...others.map((other) => [String(other.key), `${other.name} (${other.key})`])];
  }

  function build(block) {
    const send = (message) => desk.send({ key: block.key, ...message });
    const rows = [];
    shown = [];
    fields = new Map();
    const put = (made, text, words = () => null) => {
      rows.push(made.row);
      shown.push((now) => made.show(text(now), words(now)));
      return made;
    };
    const title = element("h4");
    shown.push((now) => (title.textContent = now.kind));
    const doc = element("p", { className: "burlab-doc", textContent: block.doc });
    fields.set("label", put(field("label", (text) => send({ type: "rename", text })), (now) => now.label).input);
    block.options.forEach(([name, , words], k) => {
      const commit = (text) => send({ type: "edit", name, text });
      const made = words.length ? choice(name, commit) : field(name, commit);
      put(made, (now) => now.options[k][1], () => words.map((word) => [word, word]));
      fields.set(name, made.input);
      if (name === "value") put(slider((text, tag) => send({ type: "edit", name, text, tag: `${block.key} ${tag}` })), (now) => now.options[k][1]);
    });
    if (block.leaf) put(field("shape", (text) => send({ type: "reshape", text })), (now) => now.shape);
    const count = block.ports.length + (block.many ? 1 : 0);
    for (let port = 0; port < count; port++) {
      const label = block.ports[port] ?? "one more";
      const commit = (value) =>
        send(value ? { type: "connect", source: Number(value), port } : { type: "disconnect", port });
      put(choice(label, commit), (now) => String(now.operands[port] ?? ""), sources);
    }
    const words = element("dl");
    shown.push((now) => {
      const told = [["value", now.value], ["gradient", now.gradient], ["‖∂ weights‖", now.weights]];
      words.replaceChildren(...told.filter(([, text]) => text).flatMap(([name, text]) =>
        [element("dt", { textContent: name }), element("dd", { textContent: text, className: `burlab-${name}` })]));
    });
    const why = element("p", { className: "burlab-why" });
    shown.push((now) => (why.textContent = now.fault || now.odd || now.open));
    const root = element("button", { type: "button", textContent: "Make it the output" });
    root.addEventListener("click", () => send({ type: "choose" }));
    shown.push((now) => (root.disabled = now.output));
    parent.replaceChildren(title, doc, ...rows, why, words, root);
  }

  return {
    draw(block) {
      if (!block) {
        built = null;
        const help = [
          "Click an operation to add it: what is selected becomes its arguments. Or drag it onto the canvas.",
          "Drag from the right of a block to the left of another to connect them.",
          "Keys on the canvas: arrows go from block to block, Space selects several, C connects, Enter edits, O makes the output, Delete, Ctrl-Z.",
        ];
        parent.replaceChildren(...help.map((textContent) => element("p", { className: "burlab-doc", textContent })));
        return;
      }
      const next = JSON.stringify([block.key, block.ports, block.options.map(([name]) => name)]);
      let name = null; // of a field that loses the focus with its block
      if (next !== built) { // never for a name or a value: a field may be written into at this moment
        const active = parent.getRootNode().activeElement;
        name = parent.contains(active) ? active.ariaLabel : null;
        build(block);
      }
      built = next;
      for (const show of shown) show(block);
      if (name) parent.querySelector(`[aria-label="${CSS.escape(name)}"]`)?.focus({ preventScroll: true });
    },
    focus(name) {
      const input = fields.get(name);
      input?.focus({ preventScroll: true });
      input?.select?.();
    },
  };
}
