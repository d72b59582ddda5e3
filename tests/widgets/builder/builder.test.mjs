// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { edgesOf, nextBlock, nodeOf, wireEnd } from "../../../burlab/widgets/builder/blocks.js";
import { alignLeft, alignTop, distributeAcross, distributeDown } from "../../../burlab/widgets/builder/alignment.js";
import { formatFloat, isFloat } from "../../../burlab/widgets/builder/inspector.js";
import { fitted } from "../../../burlab/widgets/builder/viewport.js";

test("a slider stands next to floats of Python alone", () => {
  for (const text of ["0.5", "-3.", "+.5", "1e-3", "2.5e10"]) assert.ok(isFloat(text), text);
  for (const text of ["3", "", "nan", "1.2.3", "[1.0]", "x + 1.0", "1e"]) assert.ok(!isFloat(text), text);
});

test("a number that is slid stays a float", () => {
  assert.deepEqual([3, 0.123456, -1e-12, 123456].map(formatFloat), ["3.0", "0.1235", "-1e-12", "123500.0"]);
  for (const number of [3, 0.1, 1e21, -7e-9]) assert.ok(isFloat(formatFloat(number)));
});

test("arguments stand on the left side, with a place for one more", () => {
  const block = /** @type {any} */ ({ key: 7, x: 100, y: 50, width: 40, height: 30, ports: ["a", "b"], many: true, operands: [3, null], lines: [], bends: {} });
  const { handles = [] } = nodeOf(block, { x: 100, y: 50 }, false);
  assert.deepEqual(handles.map(({ id, x, y, height = 0 }) => [id, Math.sign(x), y + height / 2]), [["0", -1, 5], ["1", -1, 15], ["2", -1, 25], ["out", 1, 15]]);
  const [edge, ...others] = edgesOf(block, new Set([3]), new Set());
  assert.deepEqual([edge.source, edge.target, edge.targetHandle, edge.className, others], ["3", "7", "0", "burlab-from", []]);
  assert.deepEqual(wireEnd(edge.id), [7, 0]);
});

test("what fits lies in the middle, and of the rest the beginning is shown", () => {
  const frame = { width: 400, height: 200 };
  assert.deepEqual(fitted({ x: 0, y: 0, width: 100, height: 50 }, frame), { zoom: 1, x: 150, y: 75 });
  assert.deepEqual(fitted({ x: 0, y: 0, width: 4000, height: 50 }, frame), { zoom: 0.8, x: 16, y: 80 });
});

test("an arrow goes to the next block in its direction", () => {
  const blocks = /** @type {any[]} */ ([{ key: 0, x: 0, y: 0 }, { key: 1, x: 100, y: 0 }, { key: 2, x: 60, y: 90 }]);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowRight")?.key, 1);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowDown")?.key, 2);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowLeft"), null);
});

test("blocks are aligned and distributed", () => {
  const row = /** @type {any[]} */ ([[1, 50, 0, 100, 20], [2, 400, 30, 40, 40], [3, 200, 100, 20, 60]])
    .map(([key, x, y, width, height]) => ({ key, x, y, width, height }));
  assert.deepEqual(alignLeft(row), [[1, 50, 0], [2, 20, 30], [3, 10, 100]]);
  assert.deepEqual(alignTop(row), [[1, 50, 0], [2, 400, 10], [3, 200, 20]]);
  assert.deepEqual(distributeAcross(row), [[1, 50, 0], [3, 240, 100], [2, 400, 30]]); // gaps of 130
  assert.deepEqual(distributeDown(row), [[1, 50, 0], [2, 400, 40], [3, 200, 100]]); // gaps of 10
});
