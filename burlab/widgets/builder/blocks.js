// @ts-check
// What a block is for React Flow, and what is said of it. Places are centres, in pixels of the scene.
/** @import { Block } from "../messages" */
/** @import { Edge, Node } from "@xyflow/react" */

const DOT_PIXELS = 9; // pixels across the place of an argument

/** @type {Record<string, [dx: number, dy: number]>} */
export const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The number of places for arguments: a block that takes any number has one for one more. @type {(block: Pick<Block, "ports" | "many">) => number} */
export const portCount = (block) => block.ports.length + (block.many ? 1 : 0);

/** How far below the top of a block the place of argument `port` is. @type {(block: Pick<Block, "height" | "ports" | "many">, port: number) => number} */
export const portTop = (block, port) => ((port + 0.5) * block.height) / portCount(block);

// What a screen reader reads out for a block.
/** @type {(block: Block) => string} */
export function spoken(block) {
  const parts = [
    block.name, block.label ? block.kind : "", block.value && `value ${block.value}`, block.gradient && `gradient ${block.gradient}`,
    block.output ? "output" : "", block.fault, block.open, block.odd,
  ];
  return parts.filter(Boolean).join(", ");
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

/** @type {(block: Block, place: { x: number, y: number }, chosen: boolean) => Node} */
export function nodeOf(block, place, chosen) {
  const { key, width, height } = block;
  const tone = block.fault ? "fault" : block.open ? "open" : block.leaf ? "leaf" : "plain";
  const names = ["burlab-block", `burlab-${tone}`, block.output && "burlab-root", chosen && "burlab-chosen"];
  const dot = { width: DOT_PIXELS, height: DOT_PIXELS };
  const ports = Array.from({ length: portCount(block) }, (_, port) => (
    { id: String(port), type: "target", position: "left", x: -DOT_PIXELS / 2, y: portTop(block, port) - DOT_PIXELS / 2, ...dot }));
  const out = { id: "out", type: "source", position: "right", x: width - DOT_PIXELS / 2, y: (height - DOT_PIXELS) / 2, ...dot };
  return /** @type {any} */ ({
    id: String(key), type: "block", position: place, width, height, measured: { width, height }, handles: [...ports, out],
    selected: chosen, data: { block }, className: names.filter(Boolean).join(" "), ariaRole: "img", ariaLabel: spoken(block),
    domAttributes: { "data-key": key, title: [block.kind, block.fault || block.odd || block.doc].filter(Boolean).join(": ") },
  });
}

/** The path of a wire through points: at each one it goes from left to right. As `drawing.curve` in Python. @type {(route: [x: number, y: number][]) => string} */
export const curve = (route) => route.map(([x, y], k) => {
  if (k === 0) return `M${x} ${y}`;
  const [u, v] = route[k - 1];
  return `C${(u + x) / 2} ${v} ${(u + x) / 2} ${y} ${x} ${y}`;
}).join("");

/** The name of the wire into an argument. @type {(key: number, port: number) => string} */
export const wireName = (key, port) => `${key}-${port}`;

/** The argument that a wire of this name leads to. @type {(name: string) => [key: number, port: number]} */
export const wireEnd = (name) => /** @type {[number, number]} */ (name.split("-").map(Number));

/** The wires into a block that is there. @type {(block: Block, selected: Set<number>, wires: Set<string>, over?: string | null, moved?: (key: number) => boolean) => Edge[]} */
export function edgesOf(block, selected, wires, over = null, moved = () => false) {
  return block.operands.flatMap((source, port) => {
    if (source === null) return [];
    const id = wireName(block.key, port);
    const names = [selected.has(block.key) && "burlab-into", selected.has(source) && "burlab-from", wires.has(id) && "burlab-chosen", id === over && "burlab-over"];
    return [{
      id, type: "wire", data: { bends: moved(source) || moved(block.key) ? [] : (block.bends[port] ?? []) }, source: String(source), sourceHandle: "out", target: String(block.key), targetHandle: String(port),
      className: names.filter(Boolean).join(" "), selected: wires.has(id), reconnectable: /** @type {const} */ ("target"), ariaLabel: null,
      ariaRole: /** @type {const} */ ("presentation"),
    }];
  }).map((edge) => /** @type {Edge} */ (/** @type {unknown} */ (edge)));
}
