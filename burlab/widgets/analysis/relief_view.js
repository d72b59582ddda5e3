// @ts-check
// A surface as a widget of its own. Python gets where from it is seen, for its still picture.

/** @import { ChartState, ReliefIntent, View } from "../messages" */
import { keepKeys } from "../dom.js";
import { drawRelief } from "./relief.js";

/** @type {(view: View<ChartState, ReliefIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-relief-view");
  const releaseKeys = keepKeys(el);
  const relief = drawRelief(el, { posed: (pose) => model.send({ type: "pose", ...pose }) });
  const redraw = () => relief.update(model.get("data"), model.get("heights"));
  redraw();
  model.on("change:data change:heights", redraw);
  return () => {
    model.off("change:data change:heights", redraw);
    releaseKeys();
    relief.close();
  };
}

export default { render };
