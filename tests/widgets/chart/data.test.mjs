// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { floats, heightAt, nearest, widen } from "../../../burlab/widgets/chart/data.js";
import { columnsOf } from "../../../burlab/widgets/chart/parts.js";
import { selected } from "../../../burlab/widgets/chart/plot.js";
import { scaled } from "../../../burlab/widgets/chart/scales.js";

test("floats are read from views at any offset, and from base64", () => {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer, 4, 16);
  view.setFloat64(0, 0.5, true);
  view.setFloat64(8, -3, true);
  assert.deepEqual([...floats(view)], [0.5, -3]);
  assert.deepEqual([...floats(btoa(String.fromCharCode(...bytes.slice(4))))], [0.5, -3]);
});

test("an axis is widened by what it can show, in the window alone", () => {
  assert.deepEqual(widen([Infinity, -Infinity], [0, -1, 3, NaN, Infinity], { log: false }), [-1, 3]);
  assert.deepEqual(widen([Infinity, -Infinity], [0, -1, 3, 8], { log: true }), [3, 8]);
  assert.deepEqual(widen([Infinity, -Infinity], [5, 6, 7], {}, [0, 1, 2], [1, 2]), [6, 7]);
});

test("the nearest point is found by pixels and is never a gap", () => {
  const x = Float64Array.of(1, 10, 100);
  const scale = scaled({ log: true }, [1, 100], 0, 200);
  assert.equal(nearest(x, Float64Array.of(1, 1, 1), scale, 120), 1);
  assert.equal(nearest(x, Float64Array.of(1, NaN, 1), scale, 120), 2);
  assert.equal(nearest(x, Float64Array.of(NaN, NaN, NaN), scale, 120), -1);
});

test("a height lies between the four points around it", () => {
  const values = Float64Array.of(0, 1, 2, 3);
  const map = { x: { low: 0, high: 1 }, y: { low: 0, high: 2 }, heights: { rows: 2, columns: 2, values, shade: values } };
  assert.equal(heightAt(map, 0.5, 1), 1.5);
  assert.equal(heightAt(map, 1, 2), 3);
  assert.ok(Number.isNaN(heightAt(map, 1.1, 1)));
});

/** @type {(kind: "plot" | "map", name: string, tall?: number) => any} */
const part = (kind, name, tall = 1) => ({ kind, name, ...(kind === "plot" ? { tall } : {}) });
/** @type {(parts: any[]) => string[][]} */
const names = (parts) => columnsOf(parts).map((column) => column.map(({ name }) => name));

test("parts stand in two columns of like height, a single map at the top of the right one", () => {
  assert.deepEqual(names([part("plot", "a"), part("plot", "b"), part("plot", "c"), part("plot", "d")]), [["a", "b"], ["c", "d"]]);
  assert.deepEqual(names([part("plot", "a", 3), part("plot", "b"), part("map", "m")]), [["a", "b"], ["m"]]);
  assert.deepEqual(names([part("plot", "a")]), [["a"]]);
});

test("a flat drag means all of the other axis", () => {
  const frame = { left: 50, right: 250, top: 10, bottom: 110 };
  assert.deepEqual(selected({ u: 200, v: 60 }, { u: 100, v: 64 }, frame), [100, 200, 10, 110]);
  assert.deepEqual(selected({ u: 120, v: 20 }, { u: 123, v: 80 }, frame), [50, 250, 20, 80]);
  assert.deepEqual(selected({ u: 0, v: 20 }, { u: 100, v: 300 }, frame), [50, 100, 20, 110]);
});
