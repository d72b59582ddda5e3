// @ts-check
// The bar over a landscape: which plane, drawn as what, again, and what is being done. It reports whether a page shows it.

/** @import { Choice, LandscapeBar, LandscapeIntent, View } from "../messages" */
import { button, choices, element, onChange, setText, showIn } from "../dom.js";
import { begin, presence } from "../live/live.js";

/** @type {Choice[]} */
const SHAPES = [["contour", "contour"], ["surface", "surface"]];

/** @type {(view: View<LandscapeBar, LandscapeIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-plane-bar");
  const { send, releaseKeys } = begin(model, el, "");
  const menu = (/** @type {string} */ name, /** @type {Choice[]} */ pairs) => {
    const label = element("label", "", el);
    label.append(`${name} `);
    const select = element("select", "", label);
    choices(select, pairs, pairs[0]?.[0]);
    return select;
  };
  const plane = menu("plane", model.get("planes"));
  const shape = menu("as", SHAPES);
  button(el, "Again", "A plane from where a run is now; other random directions", () => send({ type: "again" }));
  const status = element("span", "", el, { role: "status" });
  plane.addEventListener("change", () => send({ type: "plane", plane: plane.value }));
  shape.addEventListener("change", () => send({ type: "show", shape: shape.value }));
  const show = () => {
    showIn(plane, model.get("plane"));
    showIn(shape, model.get("shape"));
    setText(status, model.get("status"));
  };
  show();
  const stop = onChange(model, ["plane", "shape", "status"], show);
  const leave = presence(el.closest(".jp-OutputArea-child") ?? el, send);
  return () => {
    stop();
    releaseKeys();
    leave();
  };
}

export default { render };
