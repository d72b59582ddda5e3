// @ts-check
// What a playground gives away: its code, in a box with a button that copies it, and its page as a file.
import { save } from "../chart/export.js";
import { button, element } from "../dom.js";

const COPIED_FOR = 1500; // milliseconds for which the button says so

/** Show a text in a box, or close the box if it shows the same text. @type {(box: HTMLElement, text: string) => void} */
export function showCode(box, text) {
  const shown = box.querySelector("pre")?.textContent === text;
  box.replaceChildren();
  if (shown) return;
  const head = element("div", "", box);
  const copy = button(head, "Copy", "Copy the lines", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_FOR);
  });
  button(head, "Close", "Close the lines", () => box.replaceChildren());
  element("pre", "", box, { textContent: text, tabIndex: 0 });
  box.scrollIntoView({ block: "nearest" });
}

/** Save a page as a file. @type {(text: string) => void} */
export const savePage = (text) => save(new Blob([text], { type: "text/html" }), "playground.html");
