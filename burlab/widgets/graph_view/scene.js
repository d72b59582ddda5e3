// @ts-check
// The boxes and arrows of a graph on a surface. Of a large graph only those in sight are elements of the page.

import { shape } from "../surface/surface.js";

const LINE = 16; // pixels from one line of text to the next, as Python lays boxes out
const PAD = 8;
const CROWD = 400; // boxes from which on those out of sight are left away
const FAR = 0.32; // pixels per unit below which text cannot be read

// Gives { draw(picture), mark(marks), moved(view), frame(item) }: `draw` puts up a picture, `mark` what changes in it.
export function graphScene(scene, seen) {
  const layers = ["frames", "links", "boxes"].map((name) => scene.appendChild(shape("g", { class: `burlab-${name}` })));
  const [frames, links, boxes] = layers;
  let picture = { boxes: [], frames: [], links: [] };
  let marks = { lines: {}, heat: {}, faults: {}, flows: [], waits: [], found: [] };
  const rows = new Map(); // item -> its row, of boxes and frames
  const drawn = new Map(); // row -> its element

  const overlaps = (x, y, width, height, part) =>
    x <= part.x + part.width && x + width >= part.x && y <= part.y + part.height && y + height >= part.y;

  function keep(parent, row, wanted, make) {
    const there = drawn.get(row);
    if (wanted && !there) {
      const made = make(row);
      drawn.set(row, made);
      parent.append(made);
    } else if (!wanted && there) {
      there.remove();
      drawn.delete(row);
    }
  }

  function moved(view) {
    scene.classList.toggle("burlab-far", view.k < FAR);
    const whole = picture.boxes.length <= CROWD;
    const part = seen();
    for (const row of picture.boxes) keep(boxes, row, whole || overlaps(row[1], row[2], row[3], row[4], part), makeBox);
    for (const row of picture.links) keep(links, row, whole || overlaps(row[4], row[5], row[6], row[7], part), makeLink);
  }

  function makeBox(row) {
    const [item, x, y, width, height, kind, hint] = row;
    const box = shape("g", { class: `burlab-box ${kind}`, transform: `translate(${x} ${y})`, "data-item": item });
    box.append(shape("title", {}, hint), shape("rect", { width, height, rx: 6 }));
    if (kind.includes("group")) box.append(shape("path", { class: "burlab-more", d: `M${width - 14} 9h8m-4 -4v8` }));
    dress(box, row);
    return box;
  }

  function makeLink([d, a, b, kind]) {
    return shape("path", { class: `burlab-link ${kind}`, d, "data-a": a, "data-b": b });
  }

  function makeFrame(row) {
    const [item, x, y, width, height, kind, title] = row;
    const frame = shape("g", { class: `burlab-frame ${kind}`, transform: `translate(${x} ${y})`, "data-item": item });
    const head = shape("g", { class: "burlab-title" });
    head.append(
      shape("title", {}, `${title}: click to close`),
      shape("rect", { class: "burlab-handle", width, height: 22, rx: 6 }),
      shape("text", { x: PAD, y: LINE }, title),
      shape("path", { class: "burlab-more", d: `M${width - 14} 11h8` }),
    );
    frame.append(shape("rect", { width, height, rx: 8 }), head);
    return frame;
  }

  // What may change in a box: its words, its colour, and what it is just now.
  function dress(box, [item, , , , , kind]) {
    const words = marks.lines[item] ?? [];
    const old = box.querySelectorAll("text");
    if (old.length !== words.length || words.some((word, k) => old[k].textContent !== word)) {
      for (const text of old) text.remove();
      words.forEach((word, k) =>
        box.append(shape("text", { class: k ? "burlab-small" : "burlab-head", x: PAD, y: (k + 1) * LINE + 1 }, word)));
    }
    colour(box, item);
    box.classList.toggle("burlab-waits", marks.waits.includes(item));
    box.classList.toggle("burlab-flows", marks.flows.includes(item));
    box.classList.toggle("burlab-found", marks.found.includes(item));
    box.classList.toggle("burlab-now", marks.now === item);
    box.dataset.phase = marks.now === item ? marks.phase : "";
    box.setAttribute("aria-label", `${kind} ${words.join(", ")}`);
  }
  function colour(element, item) {
    const heat = marks.heat[item];
    element.classList.toggle("burlab-hot", Boolean(heat));
    element.style.setProperty("--heat", heat ? `${Math.round(100 * heat[0])}%` : "0%");
    element.classList.toggle("burlab-fault", item in marks.faults);
    element.classList.toggle("burlab-chosen", marks.selected === item);
  }

  function draw(next) {
    picture = next;
    for (const layer of layers) layer.replaceChildren();
    drawn.clear();
    rows.clear();
    for (const row of [...picture.frames, ...picture.boxes]) rows.set(row[0], row);
    for (const row of picture.frames) keep(frames, row, true, makeFrame);
  }
  function mark(next) {
    marks = next;
    for (const row of picture.boxes) if (drawn.has(row)) dress(drawn.get(row), row);
    for (const row of picture.frames) colour(drawn.get(row), row[0]);
  }
  // Arrows to and from what the mouse is over stand out.
  function point(item) {
    for (const link of links.children) {
      link.classList.toggle("burlab-near", item !== null && (link.dataset.a === item || link.dataset.b === item));
    }
  }
  // Where an item stands; of a frame its upper left part, for it may be larger than the surface.
  function place(item) {
    const row = rows.get(item);
    if (!row) return null;
    return { x: row[1], y: row[2], width: Math.min(row[3], 700), height: Math.min(row[4], 300) };
  }
  return { draw, mark, moved, point, place, items: () => picture.boxes.map((row) => row[0]) };
}
