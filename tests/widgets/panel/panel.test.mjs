// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { throttled } from "../../../burlab/widgets/dom.js";
import { expected } from "../../../burlab/widgets/live/transport.js";

/** @type {any} */
const state = { playing: true, length: 100, step: 40 };

test("a button shows at once what Python will answer", () => {
  assert.deepEqual(expected({ type: "play" }, state), { playing: true, tone: "running" });
  assert.deepEqual(expected({ type: "pause" }, state), { playing: false, tone: "paused" });
  assert.deepEqual(expected({ type: "rewind", count: 50 }, state), { playing: false, step: 0 });
  assert.deepEqual(expected({ type: "axis", value: "log" }, state), {});
});

test("a typed step is a number within the record, or changes nothing", () => {
  assert.deepEqual(expected({ type: "seek", step: "12.4" }, state), { playing: false, step: 12 });
  assert.deepEqual(expected({ type: "seek", step: "1e9" }, state), { playing: false, step: 100 });
  assert.deepEqual(expected({ type: "seek", step: "-1" }, state), {});
  assert.deepEqual(expected({ type: "seek", step: "soon" }, state), {});
});

test("of a drag the first and the last place are sent", async () => {
  /** @type {number[]} */
  const sent = [];
  const send = throttled((/** @type {number} */ place) => sent.push(place), 1);
  for (const place of [1, 2, 3]) send(place);
  await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(sent, [1, 3]);
});
