// @ts-check
// What the canvas is asked for at a point of it: a search whose block is connected there, or a menu.
/** @import { Desk } from "./desk" */
/** @import { Block, BlockKind, BuilderIntent } from "../messages" */

import { alignLeft, alignTop, distributeAcross, distributeDown } from "./alignment.js";
import { wireEnd } from "./blocks.js";
import { pasteText } from "./clipboard.js";
import { finderOf } from "./finder.js";
import { menuOf } from "./menu.js";
import { targetOf } from "../dom.js";

/** @typedef {{ clientX: number, clientY: number }} Point */
/** How a block that is chosen is connected. @typedef {Pick<Extract<BuilderIntent, { type: "add" }>, "to" | "wire"> & { operands: number[] }} Wiring */

/**
 * Open searches and menus on a canvas. Returns `search`, for wires that are dropped into the void, and what ends the listening.
 * @param {HTMLElement} ground
 * @param {HTMLElement} surface
 * @param {Desk} desk
 * @param {BlockKind[]} kinds
 * @param {(point: Point) => { x: number, y: number }} place
 * @param {Record<string, () => void>} acts what buttons do
 * @param {(words: string, tone: string) => void} announce
 */
export function requests(ground, surface, desk, kinds, place, acts, announce) {
  const ending = new AbortController();
  const { signal } = ending;
  const finder = finderOf(ground, surface, kinds);
  const menu = menuOf(ground, surface);

  /** @type {(point: Point, wiring: Wiring) => void} */
  function search(point, wiring) {
    const at = place(point);
    finder.open(point, (kind, value) => desk.send({ type: "add", kind, ...wiring, place: [at.x, at.y], ...options(value) }));
  }
  const options = (/** @type {string} */ value) => (value ? { options: { value } } : {});
  /** The middle of the canvas. @type {() => Point} */
  function middle() {
    const { left, top, width, height } = surface.getBoundingClientRect();
    return { clientX: left + width / 2 - 100, clientY: top + height / 4 };
  }
  // Tab: what is selected becomes the arguments, as of a click in the palette.
  const searchByKey = () => finder.open(middle(), (kind, value) => desk.send({ type: "add", kind, operands: desk.selected, ...options(value) }));
  const clip = (/** @type {string} */ command) => () => document.execCommand(command); // of the page: see clipboard.js
  // A browser may keep the clipboard from pages: always where the page comes over plain HTTP from another machine.
  /** @type {(point: Point) => Promise<void>} */
  async function paste(point) {
    const at = place(point);
    const text = await navigator.clipboard?.readText().catch(() => undefined);
    if (text === undefined) announce("the browser does not let this page read the clipboard: press Ctrl-V", "refused");
    else pasteText(desk, text.trim(), at);
  }

  /** @type {(key: number) => import("./menu.js").Item[]} */
  const ofBlock = (key) => [
    ["Edit", "Enter", () => desk.open(key)],
    ["Make it the output", "O", () => desk.send({ type: "choose", key })],
    null,
    ...ofSelection(),
  ];
  /** @type {(text: string, least: number, places: (blocks: Block[]) => [number, number, number][]) => import("./menu.js").Item[]} */
  const aligned = (text, least, places) => {
    const blocks = desk.blocks().filter((block) => desk.selected.includes(block.key));
    return blocks.length < least ? [] : [[text, "", () => desk.send({ type: "place", places: places(blocks) })]];
  };
  const ofSeveral = () => [
    ...aligned("Align left", 2, alignLeft),
    ...aligned("Align top", 2, alignTop),
    ...aligned("Distribute across", 3, distributeAcross),
    ...aligned("Distribute down", 3, distributeDown),
    null,
    ...ofSelection(),
  ];
  /** @type {() => import("./menu.js").Item[]} */
  const ofSelection = () => [
    ["Duplicate", "Ctrl-D", () => desk.send({ type: "duplicate", keys: desk.selected })],
    ["Copy", "Ctrl-C", clip("copy")],
    ["Cut", "Ctrl-X", clip("cut")],
    ["Delete", "Delete", acts.delete],
  ];
  /** @type {(point: Point, name: string) => import("./menu.js").Item[]} */
  const ofWire = (point, name) => [
    ["Insert an operation", "", () => search(point, { operands: [], wire: wireEnd(name) })],
    ["Delete", "Delete", acts.delete],
  ];
  /** @type {(point: Point) => import("./menu.js").Item[]} */
  const ofCanvas = (point) => [
    ["Add an operation", "Tab", () => search(point, { operands: [] })],
    ["Paste", "Ctrl-V", () => paste(point)],
    null,
    ["Select all", "Ctrl-A", () => desk.select(desk.blocks().map((block) => block.key))],
    ["Arrange", "", acts.arrange],
    ["Fit", "0", acts.fit],
  ];

  surface.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const block = targetOf(event).closest("[data-key]");
    const wire = targetOf(event).closest(".react-flow__edge");
    const key = block ? Number(block.dataset.key) : targetOf(event) === surface ? desk.selected.at(-1) : undefined; // by a key
    if (key !== undefined && !desk.selected.includes(key)) desk.select([key]);
    if (wire) desk.select([], [wire.dataset.id]);
    const items = wire ? ofWire(event, wire.dataset.id) : key === undefined ? ofCanvas(event) : desk.selected.length > 1 ? ofSeveral() : ofBlock(key);
    menu.open(event, items);
  }, { signal });
  surface.addEventListener("dblclick", (event) => {
    if (targetOf(event).matches(".react-flow__pane")) search(event, { operands: [] });
  }, { signal });
  surface.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || event.shiftKey || event.ctrlKey || event.altKey || event.target !== surface) return;
    event.preventDefault();
    searchByKey();
  }, { signal });
  return {
    search,
    close() {
      ending.abort();
      finder.close();
      menu.close();
    },
  };
}
