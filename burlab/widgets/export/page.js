// @ts-check
// A page without a kernel: each section replaces its still picture.

/** @import { Section } from "../messages" */
import { raisable } from "../chart/relief.js";
import { button, element, find } from "../dom.js";
import { buildGraph } from "./graph.js";
import { buildRecord } from "./record.js";
import { buildTabs } from "./tabs.js";
import { buildTheme } from "./theme.js";

/** @type {(place: HTMLElement, section: Section) => void} */
function start(place, section) {
  place.replaceChildren();
  if (section.kind === "graph") return buildGraph(place, section.data);
  const view = section.kind === "record" ? buildRecord(place, section.data) : buildTabs(place, section.data);
  const bar = element("div", "burlab-save");
  button(bar, "PNG", "", () => view.png());
  button(bar, "SVG", "", () => view.svg());
  button(bar, "CSV", "", () => view.csv());
  place.after(bar);
  const chart = section.kind === "record" ? section.data.chart : section.data.charts[0];
  if (!chart.parts.some((part) => part.kind === "map" && part.heights)) return;
  const raise = raisable(place, view, chart);
  const toggle = button(bar, "Surface", "", () => {
    const on = toggle.ariaPressed !== "true";
    toggle.ariaPressed = String(on);
    raise(on);
  });
  toggle.ariaPressed = "false";
}

buildTheme(document.querySelector("header"));
const sections = /** @type {Section[]} */ (JSON.parse(find(document.body, "#burlab-data").textContent));
document.querySelectorAll(".burlab-place").forEach((place, k) => start(/** @type {HTMLElement} */ (place), sections[k]));
document.documentElement.dataset.ready = "true"; // the mark that tests wait for
