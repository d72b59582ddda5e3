// @ts-check
// The widget of a GraphBuilder. Python owns the document, the places and the words; this draws them and sends what is
// asked for. Every message is one call of the builder.

import { blockLayer, spoken } from "./blocks.js";
import { dragging } from "./dragging.js";
import { element, inspector } from "./inspector.js";
import { paletteOf } from "./palette.js";
import { keepKeys } from "../keys.js";
import { shape, surface } from "../surface/surface.js";

const TOLD = 6000; // milliseconds for which a reason stands at a block
const NUDGE = 12; // pixels that a key moves a block
const SMALL = 0.6; // pixels per unit below which words could not be read: then the beginning of the graph is shown

const TOOLS = [
  ["undo", "Undo", "Ctrl-Z", "M4 5h5a3 3 0 0 1 0 6H6M4 5l3-3M4 5l3 3"],
  ["redo", "Redo", "Ctrl-Shift-Z", "M10 5H5a3 3 0 0 0 0 6h3M10 5L7 2M10 5L7 8"],
  ["delete", "Delete", "Delete", "M3 4h8M5.5 4V2.5h3V4M4 4l.7 8h4.6L10 4"],
  ["arrange", "Arrange", "where the layout has everything", "M2 3h3v3H2zM2 9h3v3H2zM9 6h3v3H9zM5 4.5h2v6H5M7 7.5h2"],
  ["fit", "Fit", "0 on the canvas", "M2 5V2h3M9 2h3v3M12 9v3H9M5 12H2V9"],
];

function toolbar(parent, acts) {
  for (const [name, text, hint, icon] of TOOLS) {
    const button = element("button", { type: "button", title: `${text} (${hint})`, ariaLabel: text });
    button.dataset.act = name;
    const svg = shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    svg.append(shape("path", { d: icon }));
    button.append(svg);
    button.addEventListener("click", acts[name]);
    parent.append(button);
  }
  const save = element("select", { ariaLabel: "export", title: "The graph as text" });
  for (const name of ["Export", "Python", "JSON", "DOT", "SVG"]) {
    save.append(element("option", { value: name === "Export" ? "" : name, textContent: name }));
  }
  save.addEventListener("change", () => {
    if (save.value) acts.export(save.value);
    save.value = "";
  });
  const run = element("button", { type: "button", className: "burlab-minimize", textContent: "Minimize",
    title: "A run over the inputs and the parameters of layers; constants such as 2.0 are sliders" });
  run.addEventListener("click", acts.minimize);
  const keep = element("button", { type: "button", className: "burlab-keep", textContent: "Keep",
    title: "Give inputs, constants and layers the values that the run has found" });
  keep.addEventListener("click", acts.keep);
  parent.append(element("span", { className: "burlab-gap" }), save, run, keep);
}

// What was exported: to copy, or as a file.
function showExport(parent, { name, text }) {
  const area = element("textarea", { readOnly: true, value: text, ariaLabel: `${name} of the graph`, rows: 12, spellcheck: false });
  const copy = element("button", { type: "button", textContent: "Copy" });
  copy.addEventListener("click", () => {
    area.select();
    navigator.clipboard?.writeText(text).catch(() => document.execCommand("copy"));
    copy.textContent = "Copied";
  });
  const link = element("a", { download: `graph.${{ Python: "py", JSON: "json", DOT: "dot", SVG: "svg" }[name]}`, textContent: "Download" });
  link.href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  const close = element("button", { type: "button", textContent: "Close" });
  close.addEventListener("click", () => parent.replaceChildren());
  parent.replaceChildren(area, element("div", { className: "burlab-tools" }, copy, link, close));
  area.focus({ preventScroll: true });
  area.select();
}

// The block that lies next in a direction.
function nextBlock(blocks, from, key) {
  const along = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null;
  let least = Infinity;
  for (const block of blocks) {
    const [x, y] = [block.x - from.x, block.y - from.y];
    const ahead = x * along[0] + y * along[1];
    const aside = Math.abs(x * along[1]) + Math.abs(y * along[0]);
    if (block.key === from.key || ahead <= 1) continue;
    if (ahead + 2 * aside < least) [best, least] = [block, ahead + 2 * aside];
  }
  return best;
}

function render({ model, el }) {
  el.classList.add("burlab-builder");
  keepKeys(el);
  el.addEventListener("keydown", (event) => event.stopPropagation());
  const place = (name, attributes = {}) => {
    const made = element("div", { className: `burlab-${name}`, ...attributes });
    el.append(made);
    return made;
  };
  place("gone", { role: "alert", textContent: "The kernel of this builder is gone: it was restarted or shut down. Run this cell again." });
  const tools = place("tools", { role: "toolbar", ariaLabel: "builder" });
  const bench = place("bench");
  const parts = ["palette", "canvas", "inspector"].map((name) => element("div", { className: `burlab-${name}` }));
  bench.append(...parts);
  const [shelf, ground, side] = parts;
  const said = place("said", { role: "status" });
  const text = place("export");

  let blocks = [];
  let moved = null; // how far the selected blocks are being dragged
  let connecting = null; // the block whose value the keyboard is carrying to another
  let refused = 0;
  let hush = 0;
  const block = (key) => blocks.find((one) => one.key === key);
  const send = (message) => {
    try {
      model.send(message);
    } catch {
      // there is no kernel: the page says so, see .burlab-gone
    }
  };
  const desk = {
    selected: [], block, send,
    blocks: () => blocks,
    select(keys) {
      desk.selected = keys;
      layer.mark(keys);
      panel.draw(block(keys.at(-1)));
      tools.querySelector("[data-act=delete]").disabled = keys.length === 0;
      if (keys.length) tell(spoken(block(keys.at(-1))));
    },
    shift(by) {
      moved = by;
      draw();
    },
    move({ x, y }) { // by so much: what this page knows of their places may be old
      send({ type: "move", keys: desk.selected, by: [x, y] });
    },
    open(key) {
      desk.select([key]);
      panel.focus(block(key).leaf ? "value" : "label");
    },
  };

  const view = surface(ground, { label: "the graph: arrows go from block to block", least: SMALL });
  const layer = blockLayer(view.scene);
  const panel = inspector(side, desk);
  dragging(view, desk);
  const callout = shape("g", { class: "burlab-callout" });
  view.scene.append(callout);

  const around = ({ x, y, width, height }) => ({ x: x - width / 2, y: y - height / 2, width, height });
  const tell = (words, tone = "") => {
    said.textContent = words;
    said.dataset.tone = tone;
  };
  const whole = () => {
    const [left, top] = ["x", "y"].map((at) => Math.min(...blocks.map((b) => b[at] - (at === "x" ? b.width : b.height) / 2)));
    const [right, bottom] = ["x", "y"].map((at) => Math.max(...blocks.map((b) => b[at] + (at === "x" ? b.width : b.height) / 2)));
    return { x: left - 16, y: top - 16, width: right - left + 32, height: bottom - top + 32 };
  };
  const fit = (glide = true) => {
    if (blocks.length) view.fit(whole(), glide);
  };
  const acts = {
    undo: () => send({ type: "undo" }),
    redo: () => send({ type: "redo" }),
    delete: () => desk.selected.length && send({ type: "delete", keys: desk.selected }),
    arrange: () => send({ type: "arrange" }),
    fit: () => fit(),
    export: (format) => send({ type: "export", format }),
    minimize: () => send({ type: "minimize" }),
    keep: () => send({ type: "keep" }),
  };
  toolbar(tools, acts);
  paletteOf(shelf, model.get("kinds"), {
    add(kind) {
      send({ type: "add", kind, operands: desk.selected });
    },
    drop(kind, event) {
      const frame = view.svg.getBoundingClientRect();
      const { clientX: x, clientY: y } = event;
      if (x < frame.left || x > frame.right || y < frame.top || y > frame.bottom) return;
      const at = view.place(event);
      send({ type: "add", kind, operands: [], place: [at.x, at.y] });
    },
  });

  // Why something was refused, at the block where it was.
  function callOut(key, words) {
    clearTimeout(hush);
    const at = block(key);
    callout.replaceChildren();
    tell(words, "refused");
    if (!at) return;
    const lines = words.match(/.{1,44}(\s|$)/g) ?? [words];
    const height = 16 * lines.length + 10;
    const width = 7 * Math.max(...lines.map((line) => line.length)) + 16;
    const top = at.y + at.height / 2 + 6;
    callout.append(shape("rect", { x: at.x - width / 2, y: top, width, height, rx: 6 }));
    lines.forEach((line, k) => callout.append(shape("text", { x: at.x, y: top + 17 + 16 * k }, line.trim())));
    hush = setTimeout(() => callout.replaceChildren(), TOLD);
  }

  function connect(target, port) {
    send({ type: "connect", source: connecting, key: target, port });
    stopConnecting();
  }
  function stopConnecting() {
    connecting = null;
    view.svg.classList.remove("burlab-connecting");
  }

  view.svg.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const now = block(desk.selected.at(-1));
    if (key.startsWith("Arrow") && blocks.length && !event.ctrlKey && !event.metaKey) {
      if (event.shiftKey && now) {
        const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
        desk.move({ x: NUDGE * dx, y: NUDGE * dy });
      } else {
        const next = now ? nextBlock(blocks, now, key) : blocks[0];
        if (next) desk.select(desk.held && now ? [...desk.held, next.key] : [next.key]);
        if (next) view.show(around(next));
      }
      return event.preventDefault();
    }
    const acted = {
      " ": () => {
        desk.held = desk.selected; // and what the arrows come to next
        tell(`${desk.held.length} selected: arrows add another`);
      },
      Escape: () => {
        desk.held = null;
        if (connecting !== null) stopConnecting();
        else desk.select([]);
      },
      Enter: () => now && (connecting !== null ? connect(now.key, null) : desk.open(now.key)),
      Delete: acts.delete, Backspace: acts.delete,
      o: () => now && send({ type: "choose", key: now.key }),
      c: () => {
        if (!now) return;
        connecting = now.key;
        view.svg.classList.add("burlab-connecting");
        tell(`connect ${now.name} to another block: arrows choose it, Enter or the number of its argument connects`);
      },
    }[key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (connecting !== null && now && /^[1-9]$/.test(key)) connect(now.key, Number(key) - 1);
    else if (acted) acted();
    else if (!view.key(event)) return;
    event.preventDefault();
  });
  el.addEventListener("keydown", (event) => {
    const writing = event.target.matches("input:not([type=range]), textarea");
    const key = event.key.toLowerCase();
    if (event.key === "Escape" && event.target.matches(".burlab-inspector *")) view.svg.focus({ preventScroll: true });
    if (writing || !(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    acts[key === "y" || event.shiftKey ? "redo" : "undo"]();
  });

  let seen = 0; // the block that was added last
  function draw() {
    const state = model.get("state");
    const many = blocks.length;
    blocks = state.blocks.map((one) => {
      const by = moved && desk.selected.includes(one.key) ? moved : { x: 0, y: 0 };
      return { ...one, x: one.x + by.x, y: one.y + by.y };
    });
    layer.draw(blocks);
    tools.querySelector("[data-act=undo]").disabled = !state.undo;
    tools.querySelector("[data-act=redo]").disabled = !state.redo;
    tools.querySelector(".burlab-minimize").disabled = blocks.length === 0;
    tools.querySelector(".burlab-keep").hidden = !state.minimized;
    el.toggleAttribute("data-empty", blocks.length === 0);
    return { state, many };
  }
  function update() {
    moved = null;
    const { state, many } = draw();
    const kept = desk.selected.filter((key) => block(key));
    const fresh = state.added !== seen && block(state.added) ? [state.added] : null;
    seen = state.added;
    if (fresh || kept.length !== desk.selected.length || !desk.drawn) desk.held = null;
    desk.drawn = true;
    desk.select(fresh ?? kept);
    if (state.refused && state.refused[2] !== refused) callOut(state.refused[0], state.refused[1]);
    else if (state.note && !desk.selected.length) tell(state.note);
    if (!state.refused) callout.replaceChildren();
    refused = state.refused ? state.refused[2] : refused;
    if (blocks.length) view.measure(whole());
    if (blocks.length && many !== blocks.length) keepInSight(fresh ? block(fresh[0]) : null);
    el.dataset.ready = String(blocks.length);
  }
  // A new block is seen: by all of the graph, as long as that can be read.
  function keepInSight(fresh) {
    const frame = view.seen();
    const outside = blocks.some((b) => b.x - b.width / 2 < frame.x || b.x + b.width / 2 > frame.x + frame.width ||
      b.y - b.height / 2 < frame.y || b.y + b.height / 2 > frame.y + frame.height);
    if (!outside && fresh) return;
    fit(false);
    if (fresh) view.show(around(fresh));
  }
  const answer = (message) => {
    if (message.type === "export") showExport(text, message);
  };
  const sized = new ResizeObserver(() => {
    if (el.clientWidth !== Number(el.dataset.width)) fit(false);
    el.dataset.width = el.clientWidth;
  });
  sized.observe(el);
  model.on("change:state", update);
  model.on("msg:custom", answer);
  seen = model.get("state").added;
  update();
  requestAnimationFrame(() => fit(false));
  return () => {
    clearTimeout(hush);
    sized.disconnect();
    model.off("change:state", update);
    model.off("msg:custom", answer);
    view.close();
  };
}

export default { render };
