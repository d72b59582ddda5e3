// @ts-check
// The boxes and arrows of a graph on a surface. Of a large graph only those in sight are elements of the page.
/** @import { Placement, Rectangle } from "../surface/surface.js" */
/** @import { Box, GraphMarks, Link, Picture } from "../messages" */

import { shape } from "../surface/surface.js";

const LINE_PIXELS = 16; // pixels from one line of text to the next, as Python lays boxes out
const PADDING = 8;
const MAX_DRAWN_BOXES = 400; // boxes from which on those out of sight are left away
const READABLE_SCALE = 0.32; // pixels per unit below which text cannot be read

/**
 * `draw` puts up a picture, `mark` what changes in it.
 * @typedef {object} Scene
 * @property {(picture: Picture) => void} draw
 * @property {(marks: GraphMarks) => void} mark
 * @property {(view: Placement) => void} onView
 * @property {(item: string | null) => void} point
 * @property {(item: number | null) => Rectangle | null} place
 * @property {() => number[]} items
 */

/** @type {(scene: SVGElement, seen: () => Rectangle) => Scene} */
export function graphScene(scene, seen) {
  const layers = ["frames", "links", "boxes"].map((name) => scene.appendChild(shape("g", { class: `burlab-${name}` })));
  const [frames, links, boxes] = layers;
  /** @type {Picture} */
  let picture = { width: 0, height: 0, boxes: [], frames: [], links: [] };
  /** @type {GraphMarks} */
  let marks = { lines: {}, heat: {}, faults: {}, selected: null, now: null, phase: "", flows: [], waits: [], found: [] };
  /** @type {Map<number | null, Box>} */
  const rows = new Map(); // item -> its row, of boxes and frames
  /** @type {Map<Box | Link, SVGElement>} */
  const drawn = new Map(); // row -> its element

  /** @type {(x: number, y: number, width: number, height: number, part: Rectangle) => boolean} */
  const overlaps = (x, y, width, height, part) =>
    x <= part.x + part.width && x + width >= part.x && y <= part.y + part.height && y + height >= part.y;

  /** @type {<Row extends Box | Link>(parent: SVGElement, row: Row, wanted: boolean, make: (row: Row) => SVGElement) => void} */
  function keep(parent, row, wanted, make) {
    const there = drawn.get(row);
    if (wanted && !there) {
      const created = make(row);
      drawn.set(row, created);
      parent.append(created);
    } else if (!wanted && there) {
      there.remove();
      drawn.delete(row);
    }
  }

  /** @type {(view: Placement) => void} */
  function onView(view) {
    scene.classList.toggle("burlab-far", view.k < READABLE_SCALE);
    const whole = picture.boxes.length <= MAX_DRAWN_BOXES;
    const part = seen();
    for (const row of picture.boxes) keep(boxes, row, whole || overlaps(row[1], row[2], row[3], row[4], part), makeBox);
    for (const row of picture.links) keep(links, row, whole || overlaps(row[4], row[5], row[6], row[7], part), makeLink);
  }

  /** @type {(row: Box) => SVGElement} */
  function makeBox(row) {
    const [item, x, y, width, height, kind, hint] = row;
    const box = shape("g", { class: `burlab-box ${kind}`, transform: `translate(${x} ${y})`, "data-item": item });
    box.append(shape("title", {}, hint), shape("rect", { width, height, rx: 6 }));
    if (kind.includes("group")) box.append(shape("path", { class: "burlab-more", d: `M${width - 14} 9h8m-4 -4v8` }));
    dress(box, row);
    return box;
  }

  /** @type {(row: Link) => SVGElement} */
  function makeLink([d, a, b, kind]) {
    return shape("path", { class: `burlab-link ${kind}`, d, "data-a": a, "data-b": b });
  }

  /** @type {(row: Box) => SVGElement} */
  function makeFrame(row) {
    const [item, x, y, width, height, kind, title] = row;
    const frame = shape("g", { class: `burlab-frame ${kind}`, transform: `translate(${x} ${y})`, "data-item": item });
    const head = shape("g", { class: "burlab-title" });
    head.append(
      shape("title", {}, `${title}: click to close`),
      shape("rect", { class: "burlab-handle", width, height: 22, rx: 6 }),
      shape("text", { x: PADDING, y: LINE_PIXELS }, title),
      shape("path", { class: "burlab-more", d: `M${width - 14} 11h8` }),
    );
    frame.append(shape("rect", { width, height, rx: 8 }), head);
    return frame;
  }

  // What may change in a box: its words, its colour, and what it is just now.
  /** @type {(box: SVGElement, row: Box) => void} */
  function dress(box, [item, , , , , kind]) {
    const words = marks.lines[item] ?? [];
    const old = box.querySelectorAll("text");
    if (old.length !== words.length || words.some((word, k) => old[k].textContent !== word)) {
      for (const text of old) text.remove();
      words.forEach((word, k) =>
        box.append(shape("text", { class: k ? "burlab-small" : "burlab-head", x: PADDING, y: (k + 1) * LINE_PIXELS + 1 }, word)));
    }
    colour(box, item);
    box.classList.toggle("burlab-waits", marks.waits.includes(item));
    box.classList.toggle("burlab-flows", marks.flows.includes(item));
    box.classList.toggle("burlab-found", marks.found.includes(item));
    box.classList.toggle("burlab-now", marks.now === item);
    box.dataset.phase = marks.now === item ? marks.phase : "";
    box.setAttribute("aria-label", `${kind} ${words.join(", ")}`);
  }
  /** @type {(element: SVGElement, item: number) => void} */
  function colour(element, item) {
    const heat = marks.heat[item];
    element.classList.toggle("burlab-hot", Boolean(heat));
    element.style.setProperty("--heat", heat ? `${Math.round(100 * heat[0])}%` : "0%");
    element.classList.toggle("burlab-fault", item in marks.faults);
    element.classList.toggle("burlab-chosen", marks.selected === item);
  }

  /** @type {(next: Picture) => void} */
  function draw(next) {
    picture = next;
    for (const layer of layers) layer.replaceChildren();
    drawn.clear();
    rows.clear();
    for (const row of [...picture.frames, ...picture.boxes]) rows.set(row[0], row);
    for (const row of picture.frames) keep(frames, row, true, makeFrame);
  }
  /** @type {(next: GraphMarks) => void} */
  function mark(next) {
    marks = next;
    for (const row of picture.boxes) {
      const box = drawn.get(row);
      if (box) dress(box, row);
    }
    for (const row of picture.frames) {
      const frame = drawn.get(row);
      if (frame) colour(frame, row[0]);
    }
  }
  // Arrows to and from what the mouse is over stand out.
  /** @type {(item: string | null) => void} */
  function point(item) {
    for (const link of links.children) {
      const { a, b } = /** @type {SVGElement} */ (link).dataset;
      link.classList.toggle("burlab-near", item !== null && (a === item || b === item));
    }
  }
  // Where an item stands; of a frame its upper left part, for it may be larger than the surface.
  /** @type {(item: number | null) => Rectangle | null} */
  function place(item) {
    const row = rows.get(item);
    if (!row) return null;
    return { x: row[1], y: row[2], width: Math.min(row[3], 700), height: Math.min(row[4], 300) };
  }
  return { draw, mark, onView, point, place, items: () => picture.boxes.map((row) => row[0]) };
}
