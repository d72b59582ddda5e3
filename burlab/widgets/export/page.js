// @ts-check
// A page without a kernel: each section comes to life in the place of its still picture.

import { element } from "../chart/parts.js";
import { buildGraph } from "./graph.js";
import { buildRecord } from "./record.js";
import { buildRelief } from "./relief.js";
import { buildTabs } from "./tabs.js";
import { buildTheme } from "./theme.js";

const KINDS = { record: buildRecord, tabs: buildTabs, graph: buildGraph };

export function start() {
  buildTheme(document.querySelector("header"));
  const sections = JSON.parse(document.getElementById("burlab-data").textContent);
  document.querySelectorAll(".burlab-place").forEach((place, k) => {
    place.replaceChildren();
    const view = KINDS[sections[k].kind](place, sections[k].data);
    if (!view) return;
    const bar = element("div", "burlab-save");
    for (const [text, act] of [["PNG", view.png], ["CSV", view.csv]]) {
      const made = element("button", "", bar);
      Object.assign(made, { type: "button", textContent: text });
      made.addEventListener("click", act);
    }
    place.after(bar);
    buildRelief(place, bar, view, sections[k].data.chart ?? sections[k].data.charts[0]);
  });
  document.documentElement.dataset.ready = "true"; // the mark that tests wait for
}

start();
