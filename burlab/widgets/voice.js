// @ts-check
// What a panel tells those who do not see it.

import { element, say } from "./chart/parts.js";

const QUIET = 4000; // milliseconds between two things that are said aloud

// A line for screen readers: says where the run is when that changes in kind, and not with every step.
export function buildVoice(el) {
  const line = element("div", "burlab-voice", el);
  line.role = "status";
  let [told, last, timer] = ["", -Infinity, 0];
  return ({ tone, status }) => {
    const text = tone === "running" ? "Running" : status;
    if (text === told) return;
    told = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      say(line, told);
    }, Math.max(300, last + QUIET - performance.now()));
  };
}
