// @ts-check
// Light or dark: as the system has it, until someone turns the switch.

import { element } from "../chart/parts.js";

const THEMES = { auto: "theme: as the system", light: "theme: light", dark: "theme: dark" };

export function buildTheme(header) {
  const choice = element("select", "burlab-theme", header);
  choice.ariaLabel = "theme";
  for (const [name, text] of Object.entries(THEMES)) choice.append(new Option(text, name));
  choice.addEventListener("change", () => {
    document.documentElement.dataset.theme = choice.value;
  });
}
