// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { byScope, formatTime, sorted } from "../../../burlab/widgets/profile/table.js";

/** @type {(index: number, name: string, nanoseconds: number, scope: string) => import("../../../burlab/widgets/messages").ProfileRow} */
const row = (index, name, nanoseconds, scope) => ({ index, start: 0, nanoseconds, nbytes: 8 * nanoseconds, name, phase: "forward", shape: "", lines: "", scope });
const rows = [row(0, "tanh", 30, "layer"), row(1, "add", 500, ""), row(2, "exp", 40, "layer")];

test("rows are sorted by numbers or by text, and stay as they are without a column", () => {
  assert.deepEqual(sorted(rows, "nanoseconds", true).map(({ index }) => index), [1, 2, 0]);
  assert.deepEqual(sorted(rows, "name", false).map(({ name }) => name), ["add", "exp", "tanh"]);
  assert.equal(sorted(rows, "", true), rows);
});

test("a scope has the sums of its rows", () => {
  const [layer, none] = byScope(rows);
  assert.deepEqual([layer.sum.name, layer.sum.nanoseconds, layer.sum.nbytes, layer.members.length], ["layer", 70, 560, 2]);
  assert.deepEqual([none.sum.name, none.sum.nanoseconds], ["", 500]);
});

test("times are microseconds with two digits", () => assert.equal(formatTime(1234567), "1,234.57 µs"));
