// @ts-check
// Folds: parts of a view under a heading, closed until someone opens them. Each notebook remembers which are open.

import { element } from "./dom.js";

// The address names the notebook in JupyterLab and in Notebook 7.
/** @type {(title: string) => string} */
const keyOf = (title) => `burlab fold ${location.pathname} ${title}`;

/** Create a fold at the end of an element. @type {(parent: Element, title: string) => HTMLDetailsElement} */
export function fold(parent, title) {
  const created = element("details", "burlab-fold", parent);
  element("summary", "", created, { textContent: title });
  created.open = remembered(title);
  created.addEventListener("toggle", () => remember(title, created.open));
  return created;
}

// A page may be allowed no storage: then a fold is closed when it appears.
/** @type {(title: string) => boolean} */
function remembered(title) {
  try {
    return localStorage.getItem(keyOf(title)) === "open";
  } catch {
    return false;
  }
}

/** @type {(title: string, open: boolean) => void} */
function remember(title, open) {
  try {
    if (open) localStorage.setItem(keyOf(title), "open");
    else localStorage.removeItem(keyOf(title));
  } catch {
    // nothing is remembered
  }
}
