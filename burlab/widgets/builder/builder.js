// @ts-check
// The widget of a GraphBuilder. Python owns the document, the places and the words; this draws them and sends
// requests. Every message is one call of the builder.
/** @import { Desk } from "./dragging.js" */
/** @import { Block, BuilderExport, BuilderIntent, BuilderState, View } from "../messages" */

import { blockLayer, spoken } from "./blocks.js";
import { dragging } from "./dragging.js";
import { formulaField } from "./formula.js";
import { inspector } from "./inspector.js";
import { paletteOf } from "./palette.js";
import { button, element, find, keepKeys, sender, targetOf } from "../dom.js";
import { shape, surface } from "../surface/surface.js";

const REASON_TIME = 6000; // milliseconds for which a reason is shown at a block
const NUDGE_PIXELS = 12; // pixels that a key moves a block
const READABLE_SCALE = 0.6; // pixels per unit below which words could not be read: then the beginning of the graph is shown

/** @type {Record<string, [dx: number, dy: number]>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ENDINGS = { NumPy: "py", LaTeX: "tex", "C++": "cpp", Python: "py", JSON: "json", DOT: "dot", SVG: "svg" }; // of files
const TOOLS = [
  ["undo", "Undo", "Ctrl-Z", "M4 5h5a3 3 0 0 1 0 6H6M4 5l3-3M4 5l3 3"],
  ["redo", "Redo", "Ctrl-Shift-Z", "M10 5H5a3 3 0 0 0 0 6h3M10 5L7 2M10 5L7 8"],
  ["delete", "Delete", "Delete", "M3 4h8M5.5 4V2.5h3V4M4 4l.7 8h4.6L10 4"],
  ["arrange", "Arrange", "where the layout has everything", "M2 3h3v3H2zM2 9h3v3H2zM9 6h3v3H9zM5 4.5h2v6H5M7 7.5h2"],
  ["fit", "Fit", "0 on the canvas", "M2 5V2h3M9 2h3v3M12 9v3H9M5 12H2V9"],
];

/** @type {(parent: HTMLElement, acts: Record<string, () => void>, save: (format: string) => void) => void} */
function toolbar(parent, acts, save) {
  for (const [name, text, hint, icon] of TOOLS) {
    const tool = button(parent, "", `${text} (${hint})`, acts[name]);
    tool.ariaLabel = text;
    tool.dataset.act = name;
    const svg = shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    svg.append(shape("path", { d: icon }));
    tool.append(svg);
  }
  element("span", "burlab-gap", parent);
  const menu = element("select", "", parent, { ariaLabel: "export", title: "The graph as text" });
  menu.append(new Option("Export", ""), ...Object.keys(ENDINGS).map((name) => new Option(name, name)));
  menu.addEventListener("change", () => {
    if (menu.value) save(menu.value);
    menu.value = "";
  });
  button(parent, "Minimize", "A run over the inputs and the parameters of layers; constants such as 2.0 are sliders", acts.minimize, "burlab-minimize");
  button(parent, "Keep", "Give inputs, constants and layers the values that the run has found", acts.keep, "burlab-keep");
}

// What was exported: to copy, or as a file.
/** @type {(parent: HTMLElement, message: BuilderExport) => void} */
function showExport(parent, { name, text }) {
  parent.replaceChildren();
  const area = element("textarea", "", parent, { readOnly: true, value: text, ariaLabel: `${name} of the graph`, rows: 12, spellcheck: false });
  const tools = element("div", "burlab-tools", parent);
  const copy = button(tools, "Copy", "", () => {
    area.select();
    navigator.clipboard?.writeText(text).catch(() => document.execCommand("copy"));
    copy.textContent = "Copied";
  });
  const href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  element("a", "", tools, { href, download: `graph.${ENDINGS[name]}`, textContent: "Download" });
  button(tools, "Close", "", () => parent.replaceChildren());
  area.focus({ preventScroll: true });
  area.select();
}

// The block that lies next in a direction.
/** @type {(blocks: Block[], from: Block, key: string) => Block | null} */
export function nextBlock(blocks, from, key) {
  const along = DIRECTIONS[key];
  let [best, shortest] = [/** @type {Block | null} */ (null), Infinity];
  for (const block of blocks) {
    const [x, y] = [block.x - from.x, block.y - from.y];
    const ahead = x * along[0] + y * along[1];
    const aside = Math.abs(x * along[1]) + Math.abs(y * along[0]);
    if (block.key === from.key || ahead <= 1) continue;
    if (ahead + 2 * aside < shortest) [best, shortest] = [block, ahead + 2 * aside];
  }
  return best;
}

/** @type {(view: View<BuilderState, BuilderIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-builder");
  const releaseKeys = keepKeys(el);
  const place = (/** @type {string} */ name, /** @type {Partial<HTMLDivElement>} */ properties = {}, parent = el) =>
    element("div", `burlab-${name}`, parent, properties);
  place("gone", { role: "alert", textContent: "The kernel of this builder is gone: it was restarted or shut down. Run this cell again." });
  const tools = place("tools", { role: "toolbar", ariaLabel: "builder" });
  const line = place("formula");
  const bench = place("bench");
  const [shelf, ground, side] = ["palette", "canvas", "inspector"].map((name) => place(name, {}, bench));
  const note = place("note", { role: "status" });
  const text = place("export");

  /** @type {Block[]} */
  let blocks = [];
  /** @type {{ x: number, y: number } | null} */
  let offset = null; // how far the selected blocks are being dragged
  /** @type {number | null} */
  let connecting = null; // the block whose value the keyboard is carrying to another
  let refused = 0;
  let hush = 0;
  const tool = (/** @type {string} */ name) => find(tools, `[data-act=${name}], .burlab-${name}`);
  const block = (/** @type {number | null | undefined} */ key) => blocks.find((one) => one.key === key);
  const send = sender(model);
  /** @type {Desk} */
  const desk = {
    selected: [], held: null, drawn: false, block, send,
    blocks: () => blocks,
    select(keys) {
      desk.selected = keys;
      layer.mark(keys);
      panel.draw(block(keys.at(-1)));
      tool("delete").disabled = keys.length === 0;
      const last = block(keys.at(-1));
      if (last) announce(spoken(last));
    },
    shift(by) {
      offset = by;
      draw();
    },
    move({ x, y }) { // by so much: what this page knows of their places may be old
      send({ type: "move", keys: desk.selected, by: [x, y] });
    },
    open(key) {
      desk.select([key]);
      panel.focus(block(key)?.leaf ? "value" : "label");
    },
  };

  const view = surface(ground, { label: "the graph: arrows go from block to block", least: READABLE_SCALE });
  const layer = blockLayer(view.scene);
  const panel = inspector(side, desk);
  dragging(view, desk);
  const callout = shape("g", { class: "burlab-callout" });
  view.scene.append(callout);

  /** @type {(block: Block) => { x: number, y: number, width: number, height: number }} */
  const around = ({ x, y, width, height }) => ({ x: x - width / 2, y: y - height / 2, width, height });
  const announce = (/** @type {string} */ words, tone = "") => {
    note.textContent = words;
    note.dataset.tone = tone;
  };
  const invite = () => {
    const from = block(connecting);
    if (from) announce(`connect ${from.name} to another block: arrows choose it, Enter or the number of its argument connects`);
  };
  const whole = () => {
    const [left, right] = [Math.min(...blocks.map((b) => b.x - b.width / 2)), Math.max(...blocks.map((b) => b.x + b.width / 2))];
    const [top, bottom] = [Math.min(...blocks.map((b) => b.y - b.height / 2)), Math.max(...blocks.map((b) => b.y + b.height / 2))];
    return { x: left - 16, y: top - 16, width: right - left + 32, height: bottom - top + 32 };
  };
  const fit = (glide = true) => {
    if (blocks.length) view.fit(whole(), glide);
  };
  const acts = {
    undo: () => send({ type: "undo" }),
    redo: () => send({ type: "redo" }),
    delete: () => {
      if (desk.selected.length) send({ type: "delete", keys: desk.selected });
    },
    arrange: () => send({ type: "arrange" }),
    fit: () => fit(),
    minimize: () => send({ type: "minimize" }),
    keep: () => send({ type: "keep" }),
  };
  toolbar(tools, acts, (format) => send({ type: "export", format }));
  const formula = formulaField(line, model.get("examples"), (written) => send({ type: "formula", text: written }));
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

  // Show the reason of a refusal at its block.
  /** @type {(key: number, words: string) => void} */
  function callOut(key, words) {
    clearTimeout(hush);
    const at = block(key);
    callout.replaceChildren();
    announce(words, "refused");
    if (!at) return;
    const lines = words.match(/.{1,44}(\s|$)/g) ?? [words];
    const height = 16 * lines.length + 10;
    const width = 7 * Math.max(...lines.map((line) => line.length)) + 16;
    const top = at.y + at.height / 2 + 6;
    callout.append(shape("rect", { x: at.x - width / 2, y: top, width, height, rx: 6 }));
    lines.forEach((line, k) => callout.append(shape("text", { x: at.x, y: top + 17 + 16 * k }, line.trim())));
    hush = setTimeout(() => callout.replaceChildren(), REASON_TIME);
  }

  /** @type {(target: number, port: number | null) => void} */
  function connect(target, port) {
    if (connecting !== null) send({ type: "connect", source: connecting, key: target, port });
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
        const [dx, dy] = DIRECTIONS[key];
        desk.move({ x: NUDGE_PIXELS * dx, y: NUDGE_PIXELS * dy });
      } else {
        const next = now ? nextBlock(blocks, now, key) : blocks[0];
        if (next) desk.select(desk.held && now ? [...desk.held, next.key] : [next.key]);
        if (next) view.show(around(next));
      }
      event.preventDefault();
      return;
    }
    /** @type {(() => void) | undefined} */
    const acted = /** @type {Record<string, () => void>} */ ({
      " ": () => {
        desk.held = desk.selected; // and what the arrows come to next
        announce(`${desk.selected.length} selected: arrows add another`);
      },
      Escape: () => {
        desk.held = null;
        if (connecting !== null) stopConnecting();
        else desk.select([]);
      },
      Enter: () => {
        if (now && connecting !== null) connect(now.key, null);
        else if (now) desk.open(now.key);
      },
      Delete: acts.delete, Backspace: acts.delete,
      o: () => {
        if (now) send({ type: "choose", key: now.key });
      },
      c: () => {
        if (!now) return;
        connecting = now.key;
        view.svg.classList.add("burlab-connecting");
        invite();
      },
    })[key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (connecting !== null && now && /^[1-9]$/.test(key)) connect(now.key, Number(key) - 1);
    else if (acted) acted();
    else if (!view.key(event)) return;
    event.preventDefault();
  });
  el.addEventListener("keydown", (event) => {
    const writing = targetOf(event).matches("input:not([type=range]), textarea");
    const key = event.key.toLowerCase();
    if (event.key === "Escape" && targetOf(event).matches(".burlab-inspector *")) view.svg.focus({ preventScroll: true });
    if (writing || !(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    acts[key === "y" || event.shiftKey ? "redo" : "undo"]();
  });

  let seen = /** @type {number | null} */ (null); // the block that was added last
  function draw() {
    const state = model.get("state");
    const many = blocks.length;
    blocks = state.blocks.map((one) => {
      const by = offset && desk.selected.includes(one.key) ? offset : { x: 0, y: 0 };
      return { ...one, x: one.x + by.x, y: one.y + by.y };
    });
    layer.draw(blocks);
    tool("undo").disabled = !state.undo;
    tool("redo").disabled = !state.redo;
    tool("minimize").disabled = blocks.length === 0;
    tool("keep").hidden = !state.minimized;
    el.toggleAttribute("data-empty", blocks.length === 0);
    return { state, many };
  }
  function update() {
    offset = null;
    const { state, many } = draw();
    const remaining = desk.selected.filter((key) => block(key));
    const fresh = state.added !== seen ? block(state.added) : undefined;
    seen = state.added;
    if (fresh || remaining.length !== desk.selected.length || !desk.drawn) desk.held = null;
    desk.drawn = true;
    desk.select(fresh ? [fresh.key] : remaining);
    invite(); // an answer of the kernel leaves it there
    formula.settle(state.refused !== null && state.refused[2] !== refused);
    if (state.refused && state.refused[2] !== refused) callOut(state.refused[0], state.refused[1]);
    else if (state.note && !desk.selected.length) announce(state.note);
    if (!state.refused) callout.replaceChildren();
    refused = state.refused ? state.refused[2] : refused;
    if (blocks.length) view.measure(whole());
    if (blocks.length && many !== blocks.length) keepInSight(fresh);
    el.dataset.ready = String(blocks.length);
  }
  // A new block is seen: by all of the graph, as long as that can be read.
  /** @type {(fresh: Block | undefined) => void} */
  function keepInSight(fresh) {
    const frame = view.seen();
    const outside = blocks.some((b) => b.x - b.width / 2 < frame.x || b.x + b.width / 2 > frame.x + frame.width ||
      b.y - b.height / 2 < frame.y || b.y + b.height / 2 > frame.y + frame.height);
    if (!outside && fresh) return;
    fit(false);
    if (fresh) view.show(around(fresh));
  }
  /** @type {(message: BuilderExport) => void} */
  const answer = (message) => {
    if (message.type === "export") showExport(text, message);
  };
  const sized = new ResizeObserver(() => {
    if (el.clientWidth !== Number(el.dataset.width)) fit(false);
    el.dataset.width = String(el.clientWidth);
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
    releaseKeys();
    model.off("change:state", update);
    model.off("msg:custom", answer);
    view.close();
  };
}

export default { render };
