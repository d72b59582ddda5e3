// @ts-check
// The formula field: Enter adds the blocks of what is written, an example is one choice.

import { element } from "../dom.js";

/**
 * Create the field. `settle(refused)` is called with each answer of Python: a formula that was read leaves the field.
 * @type {(parent: HTMLElement, examples: Record<string, string>, write: (text: string) => void) => { settle: (refused: boolean) => void }}
 */
export function formulaField(parent, examples, write) {
  const field = element("input", "", parent, {
    type: "text", placeholder: "A formula: (a + b)**2 / 2", ariaLabel: "formula", autocomplete: "off", spellcheck: false,
    title: "Operations of NumPy; new names are inputs, a = 2 gives one its value. Enter adds the blocks.",
  });
  const menu = element("select", "", parent, { ariaLabel: "example formulas", title: "Formulas to begin with" });
  menu.append(new Option("Examples", ""), ...Object.entries(examples).map(([name, text]) => new Option(name, text)));
  let sent = ""; // what Python has not answered yet
  const send = (/** @type {string} */ text) => {
    sent = text;
    write(text);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && field.value.trim()) send(field.value);
    else if (event.key === "Escape") field.value = "";
    else return;
    event.preventDefault();
  });
  menu.addEventListener("change", () => {
    if (menu.value) {
      field.value = menu.value;
      send(menu.value);
    }
    menu.value = "";
  });
  return {
    settle(refused) {
      if (sent && !refused && field.value === sent) field.value = "";
      sent = "";
    },
  };
}
