// @ts-check
// A surface as a widget of its own. Python hears from where it is seen, for its still picture.

import { drawRelief } from "./relief.js";
import { keepKeys } from "../keys.js";

function render({ model, el }) {
  el.classList.add("burlab-relief-view");
  keepKeys(el);
  const stopped = (event) => event.stopPropagation();
  el.addEventListener("keydown", stopped);
  const relief = drawRelief(el, { posed: (pose) => model.send({ type: "pose", ...pose }) });
  const changed = () => relief.update(model.get("data"), model.get("heights"));
  changed();
  model.on("change:data change:heights", changed);
  return () => {
    model.off("change:data change:heights", changed);
    el.removeEventListener("keydown", stopped);
    relief.close();
  };
}

export default { render };
