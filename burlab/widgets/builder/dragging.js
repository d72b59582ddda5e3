// @ts-check
// What the mouse does on the canvas: blocks are selected and moved, arguments connected.
// desk: what there is (`block(key)`, `blocks()`, `selected`), and what can be done (`send`, `select`, `shift`, `move`, `open`).

import { outPlace, portPlace, wire } from "./blocks.js";
import { SLACK, shape } from "../surface/surface.js";

// What lies under the mouse: a block's key, and the argument if it is the place of one.
function under(svg, event) {
  const element = svg.getRootNode().elementFromPoint(event.clientX, event.clientY);
  const block = element?.closest?.(".burlab-block");
  if (!block) return null;
  const port = element.closest(".burlab-port");
  return { key: Number(block.dataset.key), port: port ? Number(port.dataset.port) : null, out: !!element.closest(".burlab-out") };
}

export function dragging(view, desk) {
  const thread = shape("path", { class: "burlab-thread" });
  view.scene.append(thread);
  let drag = null; // { kind: "block" | "wire", ... }

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
    const block = desk.block(hit.key);
    if (hit.out) drag = { kind: "wire", source: hit.key, was: null };
    else if (hit.port !== null && (block.operands[hit.port] ?? null) !== null) {
      drag = { kind: "wire", source: block.operands[hit.port], was: { key: hit.key, port: hit.port } };
    } else if (hit.port !== null) drag = { kind: "back", key: hit.key, port: hit.port };
    else {
      const held = desk.selected.includes(hit.key);
      if (event.shiftKey) desk.select(held ? desk.selected.filter((key) => key !== hit.key) : [...desk.selected, hit.key]);
      else if (!held) desk.select([hit.key]);
      drag = { kind: "block", key: hit.key, held, shift: event.shiftKey, from: view.place(event), moving: false };
    }
    drag.x = event.clientX;
    drag.y = event.clientY;
    drag.id = event.pointerId;
    view.svg.setPointerCapture(event.pointerId);
  };

  const move = (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    event.stopPropagation();
    const here = view.place(event);
    if (drag.kind === "wire") return thread.setAttribute("d", wire(outPlace(desk.block(drag.source)), here));
    if (drag.kind === "back") return thread.setAttribute("d", wire(here, portPlace(desk.block(drag.key), drag.port)));
    if (!drag.moving && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < SLACK) return;
    drag.moving = true;
    drag.by = { x: here.x - drag.from.x, y: here.y - drag.from.y };
    desk.shift(drag.by);
  };

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

  const enter = (event) => {
    const hit = under(view.svg, event);
    if (hit && hit.port === null && !hit.out) desk.open(hit.key);
  };

  view.scene.addEventListener("pointerdown", start);
  const ground = (event) => {
    if (!event.target.closest(".burlab-block")) start(event);
  };
  view.svg.addEventListener("pointerdown", ground);
  view.svg.addEventListener("pointermove", move);
  view.svg.addEventListener("pointerup", end);
  view.svg.addEventListener("pointercancel", end);
  view.svg.addEventListener("dblclick", enter);
}
