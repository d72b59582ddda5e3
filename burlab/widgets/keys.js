// @ts-check
// Keys that are pressed in a view belong to it, and are no shortcuts of the notebook: "d d" would delete the cell.
// Notebook 7 asks before the view hears the key, and asks the element with the focus alone.

export function keepKeys(el) {
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("focusin", ({ target }) => (target.dataset.lmSuppressShortcuts = "true"));
}

// Shows in a control what Python says. One with the focus is left alone: the answer to a key would undo the next one.
export function showIn(control, value, property = "value") {
  if (control.getRootNode().activeElement !== control) control[property] = value;
}
