// @ts-check
// Where selected blocks go when they are aligned or distributed: places of centres, by key.
/** @import { Block } from "../messages" */

/** @typedef {[key: number, x: number, y: number]} Place */

/** Put the left edges above each other, where the leftmost is. @type {(blocks: Block[]) => Place[]} */
export function alignLeft(blocks) {
  const left = Math.min(...blocks.map(({ x, width }) => x - width / 2));
  return blocks.map(({ key, y, width }) => [key, left + width / 2, y]);
}

/** Put the upper edges beside each other, where the highest is. @type {(blocks: Block[]) => Place[]} */
export function alignTop(blocks) {
  const top = Math.min(...blocks.map(({ y, height }) => y - height / 2));
  return blocks.map(({ key, x, height }) => [key, x, top + height / 2]);
}

/** Leave the same gap between blocks side by side; the first and the last stay. @type {(blocks: Block[]) => Place[]} */
export const distributeAcross = (blocks) => spread(blocks, "x", "width").map(([{ key, y }, x]) => [key, x, y]);

/** Leave the same gap between blocks above each other; the first and the last stay. @type {(blocks: Block[]) => Place[]} */
export const distributeDown = (blocks) => spread(blocks, "y", "height").map(([{ key, x }, y]) => [key, x, y]);

/** @type {(blocks: Block[], axis: "x" | "y", size: "width" | "height") => [Block, number][]} */
function spread(blocks, axis, size) {
  const row = [...blocks].sort((a, b) => a[axis] - b[axis]);
  const [first, last] = [row[0], row[row.length - 1]];
  const room = last[axis] + last[size] / 2 - (first[axis] - first[size] / 2);
  const gap = (room - row.reduce((sum, block) => sum + block[size], 0)) / Math.max(row.length - 1, 1);
  let at = first[axis] - first[size] / 2;
  return row.map((block) => {
    const middle = at + block[size] / 2;
    at += block[size] + gap;
    return [block, middle];
  });
}
