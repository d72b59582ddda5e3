// @ts-check
// Light or dark: as the system has it, until someone switches it.

import { element } from "../dom.js";

const THEMES = { auto: "theme: as the system", light: "theme: light", dark: "theme: dark" };

/** @type {(header: Element | null) => void} */
export function buildTheme(header) {
  const choice = element("select", "burlab-theme", header, { ariaLabel: "theme" });
  for (const [name, text] of Object.entries(THEMES)) choice.append(new Option(text, name));
  choice.addEventListener("change", () => {
    document.documentElement.dataset.theme = choice.value;
  });
}
