// @ts-check
// Help for a run that has come to inf or nan: what made it first, a way back, and the graph of the function at that place.

/** @import { Panel, PanelIntent } from "../messages" */
import { button, element, setText } from "../dom.js";

// Builds the help in an element; returns the function that draws a state in it.
/** @type {(el: HTMLElement, act: (intent: PanelIntent) => void) => (state: Panel) => void} */
export function buildCliff(el, act) {
  el.role = "alert";
  const cause = element("span", "", el);
  const back = button(el, "", "Go back to where the value was lowest, and branch off there", () => act({ type: "rescue" }), "burlab-rescue");
  const graph = button(el, "Show it in the graph", "The graph of the function, at the operation where inf or nan begins", () => act({ type: "cause" }));
  return ({ cliff }) => {
    el.hidden = cliff === null;
    if (cliff === null) return;
    setText(cause, cliff.cause);
    back.hidden = cliff.back === null;
    setText(back, cliff.back ?? "");
    graph.hidden = !cliff.graph;
  };
}
