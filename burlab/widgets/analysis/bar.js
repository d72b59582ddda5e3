// @ts-check
// The bar over a landscape: which plane, drawn as what, again, and what is being done. It tells Python who looks.

import { showIn } from "../keys.js";
import { begin, choices, presence, put } from "../live/live.js";

const SHAPES = [["contour", "contour"], ["surface", "surface"]];

function render({ model, el }) {
  el.classList.add("burlab-plane-bar");
  const { send } = begin(model, el, "");
  const add = (kind, parent = el) => parent.appendChild(document.createElement(kind));
  const menu = (name, pairs) => {
    const label = add("label");
    label.append(`${name} `);
    const select = add("select", label);
    choices(select, pairs, pairs[0]?.[0]);
    return select;
  };
  const plane = menu("plane", model.get("planes"));
  const shape = menu("as", SHAPES);
  const again = add("button");
  again.type = "button";
  again.textContent = "Again";
  again.title = "A plane from where a run is now; other random directions";
  const status = add("span");
  status.setAttribute("role", "status");
  plane.addEventListener("change", () => send({ type: "look", plane: plane.value }));
  shape.addEventListener("change", () => send({ type: "show", shape: shape.value }));
  again.addEventListener("click", () => send({ type: "again" }));
  const changed = () => {
    showIn(plane, model.get("plane"));
    showIn(shape, model.get("shape"));
    put(status, model.get("status"));
  };
  changed();
  model.on("change:plane change:shape change:status", changed);
  const leave = presence(el.closest(".jp-OutputArea-child") ?? el, send);
  return () => {
    model.off("change:plane change:shape change:status", changed);
    leave();
  };
}

export default { render };
