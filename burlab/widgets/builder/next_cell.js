// @ts-check
// A new cell of code below that of a widget. JupyterLab and Notebook 7 have a button for it at the cell that is active.

const INSERT = "[data-command='notebook:insert-cell-below']";
const PATIENCE = 3000; // milliseconds for the new cell to appear

/** The cell that an element is in, where it can have one inserted below. @type {(el: Element) => Element | null} */
export function cellOf(el) {
  const cell = el.closest(".jp-Cell");
  return cell?.querySelector(INSERT) ? cell : null;
}

/**
 * Insert a cell with a text below a cell. Resolves to whether that was done.
 * @type {(cell: Element, text: string) => Promise<boolean>}
 */
export async function toNextCell(cell, text) {
  const notebook = cell.closest(".jp-Notebook");
  /** @type {HTMLElement | null} */ (cell.querySelector(INSERT))?.click();
  const end = performance.now() + PATIENCE;
  while (performance.now() < end) {
    await new Promise(requestAnimationFrame);
    const active = notebook?.querySelector(".jp-Cell.jp-mod-active");
    const editor = active === cell ? null : /** @type {HTMLElement | null | undefined} */ (active?.querySelector(".cm-content"));
    if (!editor || editor.textContent?.trim()) continue;
    editor.focus();
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })); // as a user would
    return true;
  }
  return false;
}
