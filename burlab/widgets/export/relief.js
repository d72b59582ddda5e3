// @ts-check
// The map of a chart as a surface, next to it or in its place, on request: rotated by mouse and keys.

/** @import { Drawn } from "../chart/chart.js" */
/** @import { ChartData } from "../messages" */
import { drawRelief } from "../analysis/relief.js";
import { button, element } from "../dom.js";

// bar: where the switch goes. view: the chart, whose updates the surface follows.
/** @type {(place: HTMLElement, bar: Element, view: Drawn, data: ChartData) => void} */
export function buildRelief(place, bar, view, data) {
  if (!data.parts.some((part) => part.kind === "map" && part.heights)) return;
  const alone = data.parts.length === 1;
  const sheet = element("div", "burlab-relief-view", null, { hidden: true });
  place.after(sheet);
  let latest = data;
  let relief = /** @type {ReturnType<typeof drawRelief> | null} */ (null);
  const { update } = view;
  view.update = (next) => {
    update(next);
    latest = { ...data, ...next };
    if (!sheet.hidden) relief?.update(latest);
  };
  const toggle = button(bar, "Surface", "", () => {
    sheet.hidden = !sheet.hidden;
    place.hidden = alone && !sheet.hidden;
    toggle.ariaPressed = String(!sheet.hidden);
    if (sheet.hidden) return;
    relief ??= drawRelief(sheet);
    relief.update(latest);
  });
  toggle.ariaPressed = "false";
}
