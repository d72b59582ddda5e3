// @ts-check
// The widget of a GraphBuilder. Python owns the document, the places and the words; this draws them and sends
// requests. Every message is one call of the builder.
/** @import { Desk } from "./desk" */
/** @import { Block, BuilderExport, BuilderIntent, BuilderState, View } from "../messages" */

import { spoken, wireEnd, wireName } from "./blocks.js";
import { clipboard } from "./clipboard.js";
import { flow, wireUnder } from "./flow.js";
import { formulaField } from "./formula.js";
import { inspector } from "./inspector.js";
import { canvasKeys } from "./keys.js";
import { paletteOf } from "./palette.js";
import { requests } from "./requests.js";
import { showExport, toolbar } from "./toolbar.js";
import { viewport } from "./viewport.js";
import { element, find, keepKeys, sender, targetOf } from "../dom.js";

const REASON_TIME = 6000; // milliseconds for which a reason is shown at a block

/** @type {(block: Block) => { x: number, y: number, width: number, height: number }} */
const around = ({ x, y, width, height }) => ({ x: x - width / 2, y: y - height / 2, width, height });

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
  const surface = place("surface", { tabIndex: 0, role: "group", ariaLabel: "the graph: wires go from block to block" }, ground);
  const note = place("note", { role: "status" });
  const text = place("export");

  /** @type {Block[]} */
  let blocks = [];
  let callout = /** @type {{ key: number, words: string } | null} */ (null);
  let snap = true; // to the grid, of what is dragged
  let refused = 0;
  let hush = 0;
  const tool = (/** @type {string} */ name) => find(tools, `[data-act=${name}], .burlab-${name}`);
  const block = (/** @type {number | null | undefined} */ key) => blocks.find((one) => one.key === key);
  const send = sender(model);
  const announce = (/** @type {string} */ words, tone = "") => {
    note.textContent = words;
    note.dataset.tone = tone;
  };
  const redraw = () => canvas.draw({ blocks, selected: desk.selected, wires: desk.wires, callout, snap });
  /** @type {Desk} */
  const desk = {
    selected: [], wires: [], held: null, drawn: false, block, send,
    blocks: () => blocks,
    select(keys, wires = []) {
      [desk.selected, desk.wires] = [keys, wires];
      redraw();
      panel.draw(block(keys.at(-1)));
      tool("delete").disabled = keys.length + wires.length === 0;
      const last = block(keys.at(-1));
      if (last) announce(spoken(last));
    },
    open(key) {
      desk.select([key]);
      panel.focus(block(key)?.leaf ? "value" : "label");
    },
  };
  const view = viewport(surface);
  const canvas = flow(surface, {
    select: desk.select,
    open: desk.open,
    move: (keys, { x, y }) => send({ type: "move", keys, by: [x, y] }), // by so much: what this page knows of their places may be old
    connect: (source, key, port, was) => send({ type: "connect", source, key, port, ...(was ? { was: [was.key, was.port] } : {}) }),
    disconnect: (argument) => send({ type: "disconnect", ...argument }),
    search: (point, wiring) => asked.search(point, wiring),
    insert: (key, wire, { x, y }) => send({ type: "insert", key, wire: wireEnd(wire), by: [x, y] }),
  }, view.start);
  const panel = inspector(side, desk);

  const whole = () => {
    const boxes = blocks.map(around);
    const [left, right] = [Math.min(...boxes.map((box) => box.x)), Math.max(...boxes.map((box) => box.x + box.width))];
    const [top, bottom] = [Math.min(...boxes.map((box) => box.y)), Math.max(...boxes.map((box) => box.y + box.height))];
    return { x: left - 16, y: top - 16, width: right - left + 32, height: bottom - top + 32 };
  };
  const fit = (glide = true) => {
    if (blocks.length) view.fit(whole(), glide);
  };
  const acts = {
    undo: () => send({ type: "undo" }),
    redo: () => send({ type: "redo" }),
    delete: () => {
      if (desk.selected.length + desk.wires.length) send({ type: "delete", keys: desk.selected, wires: desk.wires.map(wireEnd) });
    },
    arrange: () => send({ type: "arrange" }),
    fit: () => fit(),
    snap: () => {
      snap = !snap;
      tool("snap").ariaPressed = String(snap);
      redraw();
    },
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
      const frame = surface.getBoundingClientRect();
      const { clientX: x, clientY: y } = event;
      if (x < frame.left || x > frame.right || y < frame.top || y > frame.bottom) return;
      const [at, wire] = [view.place(event), wireUnder(surface, event)];
      send({ type: "add", kind, operands: [], place: [at.x, at.y], ...(wire ? { wire: wireEnd(wire) } : {}) });
    },
  });
  const asked = requests(ground, surface, desk, model.get("kinds"), view.place, acts, announce);
  const releaseClipboard = clipboard(surface, desk, view, acts.delete);
  const keys = canvasKeys(surface, desk, { remove: acts.delete, fit: acts.fit, show: (one) => view.show(around(one)), view: view.key, announce });

  // Show the reason of a refusal at its block.
  /** @type {(key: number, words: string) => void} */
  function callOut(key, words) {
    clearTimeout(hush);
    callout = { key, words };
    announce(words, "refused");
    hush = setTimeout(() => {
      callout = null;
      redraw();
    }, REASON_TIME);
  }

  el.addEventListener("keydown", (event) => {
    const writing = targetOf(event).matches("input:not([type=range]), textarea");
    const key = event.key.toLowerCase();
    if (event.key === "Escape" && targetOf(event).matches(".burlab-inspector *")) surface.focus({ preventScroll: true });
    if (writing || !(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    acts[key === "y" || event.shiftKey ? "redo" : "undo"]();
  });

  let seen = model.get("state").added[1]; // how often blocks were added
  function update() {
    const state = model.get("state");
    const many = blocks.length;
    blocks = state.blocks;
    canvas.settle();
    tool("undo").disabled = !state.undo;
    tool("redo").disabled = !state.redo;
    tool("minimize").disabled = blocks.length === 0;
    tool("keep").hidden = !state.minimized;
    el.toggleAttribute("data-empty", blocks.length === 0);
    const remaining = desk.selected.filter((key) => block(key));
    const fresh = state.added[1] === seen ? [] : state.added[0].filter((key) => block(key));
    seen = state.added[1];
    if (fresh.length || remaining.length !== desk.selected.length || !desk.drawn) desk.held = null;
    desk.drawn = true;
    if (state.refused && state.refused[2] !== refused) callOut(state.refused[0], state.refused[1]);
    else if (!state.refused) callout = null;
    const there = new Set(blocks.flatMap((one) => one.operands.flatMap((source, port) => (source === null ? [] : wireName(one.key, port)))));
    desk.select(fresh.length ? fresh : remaining, fresh.length ? [] : desk.wires.filter((wire) => there.has(wire)));
    keys.invite(); // an answer of the kernel leaves it there
    const isRefused = state.refused !== null && state.refused[2] !== refused;
    formula.settle(isRefused);
    if (isRefused) announce(state.refused?.[1] ?? "", "refused");
    else if (state.note && !desk.selected.length) announce(state.note);
    refused = state.refused ? state.refused[2] : refused;
    if (blocks.length && many !== blocks.length) keepInSight(block(fresh.at(-1)));
    el.dataset.ready = String(blocks.length);
  }
  // A new block is seen: by all of the graph, as long as that can be read.
  /** @type {(fresh: Block | undefined) => void} */
  function keepInSight(fresh) {
    const frame = view.seen();
    const outside = blocks.map(around).some((box) => box.x < frame.x || box.x + box.width > frame.x + frame.width ||
      box.y < frame.y || box.y + box.height > frame.y + frame.height);
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
  update();
  requestAnimationFrame(() => fit(false));
  return () => {
    clearTimeout(hush);
    sized.disconnect();
    releaseKeys();
    model.off("change:state", update);
    model.off("msg:custom", answer);
    releaseClipboard();
    asked.close();
    canvas.close();
  };
}

export default { render };
