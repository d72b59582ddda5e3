// Keys that are pressed in a view belong to it, and are no shortcuts of the notebook: "d d" would delete the cell.
// Notebook 7 asks before the view hears the key, and asks the element with the focus alone.
function keepKeys(el) {
  el.dataset.lmSuppressShortcuts = "true";
  el.addEventListener("focusin", ({ target }) => (target.dataset.lmSuppressShortcuts = "true"));
}
