// @ts-check
// The map of a chart as a surface, beside it or in its place, for who asks for it: turned by mouse and keys.

import { drawRelief } from "../analysis/relief.js";
import { element } from "../chart/parts.js";

// bar: where the switch goes. view: the chart, whose updates the surface follows. data: the chart, see encode.py.
export function buildRelief(place, bar, view, data) {
  if (!data.parts.some(({ kind, heights }) => kind === "map" && heights)) return;
  const alone = data.parts.length === 1;
  const sheet = element("div", "burlab-relief-view");
  sheet.hidden = true;
  place.after(sheet);
  const button = element("button", "", bar);
  Object.assign(button, { type: "button", textContent: "Surface" });
  let [latest, relief] = [data, null];
  const { update } = view;
  view.update = (next) => {
    update(next);
    latest = { ...data, ...next };
    if (!sheet.hidden) relief.update(latest);
  };
  button.addEventListener("click", () => {
    sheet.hidden = !sheet.hidden;
    place.hidden = alone && !sheet.hidden;
    button.ariaPressed = String(!sheet.hidden);
    if (sheet.hidden) return;
    relief ??= drawRelief(sheet);
    relief.update(latest);
  });
  button.ariaPressed = "false";
}
