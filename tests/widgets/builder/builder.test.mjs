// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { portPlace, wire } from "../../../burlab/widgets/builder/blocks.js";
import { nextBlock } from "../../../burlab/widgets/builder/builder.js";
import { formatFloat, isFloat } from "../../../burlab/widgets/builder/inspector.js";

test("a slider stands next to floats of Python alone", () => {
  for (const text of ["0.5", "-3.", "+.5", "1e-3", "2.5e10"]) assert.ok(isFloat(text), text);
  for (const text of ["3", "", "nan", "1.2.3", "[1.0]", "x + 1.0", "1e"]) assert.ok(!isFloat(text), text);
});

test("a number that is slid stays a float", () => {
  assert.deepEqual([3, 0.123456, -1e-12, 123456].map(formatFloat), ["3.0", "0.1235", "-1e-12", "123500.0"]);
  for (const number of [3, 0.1, 1e21, -7e-9]) assert.ok(isFloat(formatFloat(number)));
});

test("arguments stand on the left side, with a place for one more", () => {
  const block = { x: 100, y: 50, width: 40, height: 30, ports: ["a", "b"], many: true };
  assert.deepEqual([0, 1, 2].map((port) => portPlace(block, port)), [{ x: 80, y: 40 }, { x: 80, y: 50 }, { x: 80, y: 60 }]);
  assert.equal(wire({ x: 0, y: 0 }, { x: 100, y: 10 }), "M0 0C50 0 50 10 100 10");
});

test("an arrow goes to the next block in its direction", () => {
  const blocks = /** @type {any[]} */ ([{ key: 0, x: 0, y: 0 }, { key: 1, x: 100, y: 0 }, { key: 2, x: 60, y: 90 }]);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowRight")?.key, 1);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowDown")?.key, 2);
  assert.equal(nextBlock(blocks, blocks[0], "ArrowLeft"), null);
});
