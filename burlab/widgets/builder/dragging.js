// @ts-check
// What the mouse does on the canvas: it selects and drags blocks and connects arguments.
/** @import { Surface } from "../surface/surface.js" */
/** @import { Block, BuilderIntent } from "../messages" */

import { outPlace, portPlace, wire } from "./blocks.js";
import { targetOf } from "../dom.js";
import { CLICK_PIXELS, shape } from "../surface/surface.js";

/**
 * What the parts of a builder share: what there is, and what can be done.
 * @typedef {object} Desk
 * @property {number[]} selected
 * @property {number[] | null} held blocks that the next ones are added to, by keys
 * @property {boolean} drawn
 * @property {(key: number | null | undefined) => Block | undefined} block
 * @property {() => Block[]} blocks
 * @property {(message: BuilderIntent) => void} send
 * @property {(keys: number[]) => void} select
 * @property {(by: { x: number, y: number } | null) => void} shift shows the selected blocks displaced
 * @property {(by: { x: number, y: number }) => void} move
 * @property {(key: number) => void} open
 */
/**
 * @typedef {{ kind: "wire", source: number, was: { key: number, port: number } | null }
 *   | { kind: "back", key: number, port: number }
 *   | { kind: "block", key: number, held: boolean, shift: boolean, from: { x: number, y: number }, moving: boolean, by: { x: number, y: number } }} Started
 */
/** @typedef {Started & { x: number, y: number, id: number }} Drag */

// What lies under the mouse: a block's key, and the argument if it is the place of one.
/** @type {(svg: SVGSVGElement, event: MouseEvent) => { key: number, port: number | null, out: boolean } | null} */
function under(svg, event) {
  const root = /** @type {Document | ShadowRoot} */ (svg.getRootNode());
  const element = root.elementFromPoint(event.clientX, event.clientY);
  const block = /** @type {SVGElement | null | undefined} */ (element?.closest(".burlab-block"));
  if (!element || !block) return null;
  const port = /** @type {SVGElement | null} */ (element.closest(".burlab-port"));
  return { key: Number(block.dataset.key), port: port ? Number(port.dataset.port) : null, out: !!element.closest(".burlab-out") };
}

/** @type {(view: Surface, desk: Desk) => void} */
export function dragging(view, desk) {
  const thread = shape("path", { class: "burlab-thread" });
  view.scene.append(thread);
  /** @type {Drag | null} */
  let drag = null; // { kind: "block" | "wire", ... }

  /** @type {(event: PointerEvent, hit: { key: number, port: number | null, out: boolean }) => Started} */
  const begin = (event, { key, port, out }) => {
    const source = port === null ? null : (desk.block(key)?.operands[port] ?? null);
    if (out) return { kind: "wire", source: key, was: null };
    if (port !== null && source !== null) return { kind: "wire", source, was: { key, port } };
    if (port !== null) return { kind: "back", key, port };
    const held = desk.selected.includes(key);
    if (event.shiftKey) desk.select(held ? desk.selected.filter((one) => one !== key) : [...desk.selected, key]);
    else if (!held) desk.select([key]);
    return { kind: "block", key, held, shift: event.shiftKey, from: view.place(event), moving: false, by: { x: 0, y: 0 } };
  };
  /** @type {(event: PointerEvent) => void} */
  const start = (event) => {
    if (event.button !== 0) return;
    const hit = under(view.svg, event);
    if (!hit) {
      if (!event.shiftKey) desk.select([]);
      return; // the surface moves
    }
    event.stopPropagation();
    event.preventDefault();
    view.svg.focus({ preventScroll: true });
    drag = { ...begin(event, hit), x: event.clientX, y: event.clientY, id: event.pointerId };
    view.svg.setPointerCapture(event.pointerId);
  };

  /** @type {(event: PointerEvent) => void} */
  const move = (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    event.stopPropagation();
    const here = view.place(event);
    if (drag.kind !== "block") {
      const block = desk.block(drag.kind === "wire" ? drag.source : drag.key);
      if (block) thread.setAttribute("d", drag.kind === "wire" ? wire(outPlace(block), here) : wire(here, portPlace(block, drag.port)));
      return;
    }
    if (!drag.moving && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < CLICK_PIXELS) return;
    drag.moving = true;
    drag.by = { x: here.x - drag.from.x, y: here.y - drag.from.y };
    desk.shift(drag.by);
  };

  /** @type {(event: PointerEvent) => void} */
  const end = (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    event.stopPropagation();
    const done = drag;
    drag = null;
    thread.removeAttribute("d");
    view.svg.releasePointerCapture(event.pointerId);
    if (event.type === "pointercancel") return desk.shift(null);
    const hit = under(view.svg, event);
    if (done.kind === "block") {
      if (done.moving) desk.move(done.by);
      else if (!done.shift && done.held) desk.select([done.key]);
    } else if (done.kind === "back") {
      if (hit && hit.key !== done.key) desk.send({ type: "connect", source: hit.key, key: done.key, port: done.port });
    } else if (hit && !hit.out && !(done.was && hit.key === done.was.key && hit.port === done.was.port)) {
      if (hit.key === done.source && hit.port === null) return;
      desk.send({ type: "connect", source: done.source, key: hit.key, port: hit.port });
    } else if (!hit && done.was) desk.send({ type: "disconnect", ...done.was });
  };

  /** @type {(event: MouseEvent) => void} */
  const enter = (event) => {
    const hit = under(view.svg, event);
    if (hit && hit.port === null && !hit.out) desk.open(hit.key);
  };

  view.scene.addEventListener("pointerdown", (event) => start(event));
  /** @type {(event: PointerEvent) => void} */
  const ground = (event) => {
    if (!targetOf(event).closest(".burlab-block")) start(event);
  };
  view.svg.addEventListener("pointerdown", ground);
  view.svg.addEventListener("pointermove", move);
  view.svg.addEventListener("pointerup", end);
  view.svg.addEventListener("pointercancel", end);
  view.svg.addEventListener("dblclick", enter);
}
