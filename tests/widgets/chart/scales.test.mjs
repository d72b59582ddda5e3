// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatNumber, scaled, ticksOf, withRoom } from "../../../burlab/widgets/chart/scales.js";

const linear = { label: "", unit: "", log: false, low: null, high: null, floor: 0 };
const log = { ...linear, log: true };

/** @type {(axis: typeof linear, low: number, high: number, most?: number, short?: boolean) => string[]} */
const labels = (axis, low, high, most = 5, short = false) => ticksOf(axis, [low, high], most, short).labels.map(({ text }) => text);

test("ticks are numbers that people read", () => {
  assert.deepEqual(labels(linear, 0, 1), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(labels(linear, -30_000, 30_000), ["−20k", "0", "20k"]);
  assert.deepEqual(labels(linear, 0, 4e-7), ["0", "1e−7", "2e−7", "3e−7", "4e−7"]);
  assert.deepEqual(labels({ ...linear, unit: "s" }, 0, 3e-6), ["0", "1 µs", "2 µs", "3 µs"]);
});

test("ticks of logarithms are powers, and single digits where the axis is short", () => {
  assert.deepEqual(labels(log, 1e-9, 1), ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1"]);
  assert.deepEqual(labels(log, 2, 40), ["2", "5", "10", "20"]);
  assert.deepEqual(labels({ ...log, unit: "B" }, 1e3, 1e9), ["1 kB", "1 MB", "1 GB"]);
  assert.deepEqual(labels({ ...log, floor: 1e-12 }, 1e-12, 1), ["0", "10⁻⁹", "10⁻⁶", "0.001", "1"]);
  assert.deepEqual(labels(log, 1e-300, 1e300), ["10⁻³⁰⁰", "10⁻¹⁵⁰", "1", "10¹⁵⁰", "10³⁰⁰"]);
});

test("an axis has more than one number", () => {
  assert.deepEqual(labels(linear, -70, 87, 3), ["−50", "0", "50"]);
  assert.deepEqual(labels(log, 1.9, 5.2), ["2", "3", "4", "5"]);
});

test("an axis of logarithms never ends at zero, from where its numbers would count for ever", () => {
  for (const [low, high] of [[1e-308, 2.5], [5e-324, 5e-324], [5e-324, 1e300]]) {
    const [least, most] = withRoom(log, low, high, 0.07);
    assert.ok(0 < least && least <= low && low <= high && high <= most, `${least} ${low} ${high} ${most}`);
  }
  assert.ok(scaled(log, [5e-324, 1], 100, 0).back(500) > 0);
});

test("ticks of steps have prefixes", () => {
  assert.deepEqual(labels(log, 1, 1e6, 7, true), ["1", "10", "100", "1k", "10k", "100k", "1M"]);
});

test("a pixel of a value leads back to the value", () => {
  for (const axis of [linear, log]) {
    const scale = scaled(axis, [0.5, 40], 20, 320);
    for (const value of [0.5, 3, 40]) assert.ok(Math.abs(scale.back(scale.at(value)) - value) < 1e-9);
  }
});

test("numbers are formatted with four digits, and with a prefix before a unit", () => {
  const cases = /** @type {[number | null, string, string][]} */ ([
    [0, "", "0"], [1234567, "", "1,234,567"], [1.23456e-9, "", "1.235e−9"], [-0.5, "", "−0.5"], [2.5e-7, "s", "250 ns"],
    [null, "", "–"], [1536, "B", "1.54 kB"], [0, "B", "0 B"], [-Infinity, "", "−∞"], [NaN, "", "–"],
  ]);
  for (const [value, unit, expected] of cases) assert.equal(formatNumber(value, unit), expected);
});
