// @ts-check
// The bar of buttons above the canvas, and the text of an export below it.
/** @import { BuilderExport } from "../messages" */

import { cellOf, toNextCell } from "./next_cell.js";
import { button, element } from "../dom.js";
import { shape } from "../surface/surface.js";

const ENDINGS = { NumPy: "py", LaTeX: "tex", "C++": "cpp", Python: "py", JSON: "json", DOT: "dot", SVG: "svg" }; // of files
const PYTHON = ["NumPy", "Python"]; // what can be a cell of code
const TOOLS = [
  ["undo", "Undo", "Ctrl-Z", "M4 5h5a3 3 0 0 1 0 6H6M4 5l3-3M4 5l3 3"],
  ["redo", "Redo", "Ctrl-Shift-Z", "M10 5H5a3 3 0 0 0 0 6h3M10 5L7 2M10 5L7 8"],
  ["delete", "Delete", "Delete", "M3 4h8M5.5 4V2.5h3V4M4 4l.7 8h4.6L10 4"],
  ["arrange", "Arrange", "where the layout has everything", "M2 3h3v3H2zM2 9h3v3H2zM9 6h3v3H9zM5 4.5h2v6H5M7 7.5h2"],
  ["snap", "Snap", "what is dragged comes to the grid", "M2 2v10M7 2v10M12 2v10M2 2h10M2 7h10M2 12h10"],
  ["fit", "Fit", "0 on the canvas", "M2 5V2h3M9 2h3v3M12 9v3H9M5 12H2V9"],
];

/** @type {(parent: HTMLElement, acts: Record<string, () => void>, save: (format: string) => void) => void} */
export function toolbar(parent, acts, save) {
  for (const [name, text, hint, icon] of TOOLS) {
    const tool = button(parent, "", `${text} (${hint})`, acts[name]);
    tool.ariaLabel = text;
    tool.dataset.act = name;
    if (name === "snap") tool.ariaPressed = "true";
    const svg = shape("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    svg.append(shape("path", { d: icon }));
    tool.append(svg);
  }
  element("span", "burlab-gap", parent);
  const menu = element("select", "", parent, { ariaLabel: "export", title: "The graph as text" });
  menu.append(new Option("Export", ""), ...Object.keys(ENDINGS).map((name) => new Option(name, name)));
  menu.addEventListener("change", () => {
    if (menu.value) save(menu.value);
    menu.value = "";
  });
  button(parent, "Minimize", "A run over the inputs and the parameters of layers; constants such as 2.0 are sliders", acts.minimize, "burlab-minimize");
  button(parent, "Keep", "Give inputs, constants and layers the values that the run has found", acts.keep, "burlab-keep");
}

// What was exported: to copy, or as a file.
/** @type {(parent: HTMLElement, message: BuilderExport) => void} */
export function showExport(parent, { name, text }) {
  parent.replaceChildren();
  const area = element("textarea", "", parent, { readOnly: true, value: text, ariaLabel: `${name} of the graph`, rows: 12, spellcheck: false });
  const tools = element("div", "burlab-tools", parent);
  const copy = button(tools, "Copy", "", () => {
    area.select();
    navigator.clipboard?.writeText(text).catch(() => document.execCommand("copy"));
    copy.textContent = "Copied";
  });
  const cell = cellOf(parent);
  if (cell && PYTHON.includes(name)) {
    const next = button(tools, "To next cell", "Insert a cell with this text below", async () => {
      next.textContent = (await toNextCell(cell, text)) ? "Inserted" : "Copy it instead";
    });
  }
  const href = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  element("a", "", tools, { href, download: `graph.${ENDINGS[name]}`, textContent: "Download" });
  button(tools, "Close", "", () => parent.replaceChildren());
  area.focus({ preventScroll: true });
  area.select();
}
