// @ts-check
// Blocks and the arrows between them, as SVG. Places are centres, in pixels of the scene.
/** @import { Block } from "../messages" */

import { shape } from "../surface/surface.js";

const LINE_PIXELS = 16; // pixels from one line of text to the next

// Where argument `port` of a block is; a block that takes any number has a place for one more.
/** @type {(block: Pick<Block, "x" | "y" | "width" | "height" | "ports" | "many">, port: number) => { x: number, y: number }} */
export function portPlace(block, port) {
  const count = block.ports.length + (block.many ? 1 : 0);
  return { x: block.x - block.width / 2, y: block.y - block.height / 2 + ((port + 0.5) * block.height) / count };
}
/** @type {(block: Block) => { x: number, y: number }} */
export const outPlace = (block) => ({ x: block.x + block.width / 2, y: block.y });

// A smooth line from left to right.
/** @type {(from: { x: number, y: number }, to: { x: number, y: number }) => string} */
export function wire(from, to) {
  const reach = Math.max(24, Math.abs(to.x - from.x) / 2);
  return `M${from.x} ${from.y}C${from.x + reach} ${from.y} ${to.x - reach} ${to.y} ${to.x} ${to.y}`;
}

// What a screen reader reads out for a block.
/** @type {(block: Block) => string} */
export function spoken(block) {
  const parts = [
    block.name, block.label ? block.kind : "", block.value && `value ${block.value}`, block.gradient && `gradient ${block.gradient}`,
    block.output ? "output" : "", block.fault, block.open, block.odd,
  ];
  return parts.filter(Boolean).join(", ");
}

/** @type {(block: Block) => SVGElement} */
function drawBlock(block) {
  const tone = block.fault ? "fault" : block.open ? "open" : block.leaf ? "leaf" : "plain";
  const group = shape("g", {
    class: `burlab-block burlab-${tone}${block.output ? " burlab-root" : ""}`,
    "data-key": block.key, role: "img", "aria-label": spoken(block),
  });
  const left = -block.width / 2;
  const top = -block.height / 2;
  const hint = [block.kind, block.fault || block.odd || block.doc].filter(Boolean).join(": ");
  group.append(shape("title", {}, hint));
  group.append(shape("rect", { x: left, y: top, width: block.width, height: block.height, rx: 6 }));
  const first = -((block.lines.length - 1) * LINE_PIXELS) / 2 + 4;
  block.lines.forEach(([what, text], k) => {
    group.append(shape("text", { class: `burlab-${what}`, x: left + 10, y: first + k * LINE_PIXELS }, text));
  });
  const count = block.ports.length + (block.many ? 1 : 0);
  for (let k = 0; k < count; k++) {
    const more = k === block.ports.length;
    const free = more || block.operands[k] === null;
    const at = portPlace({ ...block, x: 0, y: 0 }, k);
    const port = shape("g", { class: `burlab-port${free ? " burlab-free" : ""}`, "data-port": k });
    port.append(shape("title", {}, more ? "one argument more" : block.ports[k]));
    port.append(shape("circle", { class: "burlab-reach", cx: at.x, cy: at.y, r: 11 }));
    port.append(shape("circle", { cx: at.x, cy: at.y, r: more ? 3 : 4.5 }));
    group.append(port);
  }
  const out = shape("g", { class: "burlab-out" });
  out.append(shape("title", {}, "drag to an argument of another block"));
  out.append(shape("circle", { class: "burlab-reach", cx: block.width / 2, cy: 0, r: 11 }));
  out.append(shape("circle", { cx: block.width / 2, cy: 0, r: 4.5 }));
  group.append(out);
  if (block.fault || block.odd) {
    const badge = shape("g", { class: "burlab-badge", transform: `translate(${-left - 2} ${top + 2})` });
    badge.append(shape("circle", { r: 8 }), shape("text", { y: 4 }, "!"));
    group.append(badge);
  }
  return group;
}

// Draws blocks into a group, and again only those that have changed.
/** @type {(scene: SVGElement) => { draw(blocks: Block[]): void, mark(selected: number[]): void, element(key: number): SVGElement | undefined }} */
export function blockLayer(scene) {
  const wires = shape("g", { class: "burlab-wires" });
  const group = shape("g");
  scene.append(wires, group);
  /** @type {Map<number, { text: string, element: SVGElement }>} */
  const drawn = new Map();
  return {
    draw(blocks) {
      const there = new Map(blocks.map((block) => [block.key, block]));
      for (const [key, { element }] of drawn) {
        if (there.has(key)) continue;
        element.remove();
        drawn.delete(key);
      }
      for (const block of blocks) {
        const { x, y, ...rest } = block;
        const text = JSON.stringify(rest);
        const old = drawn.get(block.key);
        if (old?.text !== text) {
          const element = drawBlock(block);
          if (old) old.element.replaceWith(element);
          else group.append(element);
          drawn.set(block.key, { text, element });
        }
        drawn.get(block.key)?.element.setAttribute("transform", `translate(${x} ${y})`);
      }
      wires.replaceChildren(...blocks.flatMap((block) => block.operands.flatMap((source, port) => {
        const from = source === null ? undefined : there.get(source);
        if (!from) return [];
        return shape("path", { d: wire(outPlace(from), portPlace(block, port)), "data-from": from.key, "data-to": block.key });
      })));
    },
    mark(selected) {
      for (const [key, { element }] of drawn) element.classList.toggle("burlab-chosen", selected.includes(key));
      for (const path of wires.children) {
        const { from, to } = /** @type {SVGElement} */ (path).dataset;
        path.classList.toggle("burlab-into", selected.includes(Number(to)));
        path.classList.toggle("burlab-from", selected.includes(Number(from)));
      }
    },
    element: (key) => drawn.get(key)?.element,
  };
}
