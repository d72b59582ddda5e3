// @ts-check
// The colours of a chart: those of the page it stands in, in a light or a dark theme.
/** @import { Chart, Colour, Pen, Theme } from "./types" */

const READ_AFTER = [0, 80, 400, 1200]; // milliseconds after which a theme that changes is read again: its styles come late

/** @type {(colour: Colour, alpha?: number) => string} */
export const rgba = ([red, green, blue], alpha = 1) => `rgba(${red}, ${green}, ${blue}, ${alpha})`;
/** @type {(a: Colour, b: Colour, share: number) => Colour} */
export const mixed = (a, b, share) => a.map((channel, k) => Math.round(channel + (b[k] - channel) * share));
/** @type {(hex: string) => Colour} */
const channelsOfHex = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

// Red, green and blue of any colour that CSS knows.
/** @type {(colour: string) => Colour} */
function channels(colour) {
  const pen = /** @type {Pen} */ (new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = "#808080";
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

/** @type {(el: Element, palette: string[]) => Theme} */
export function themeOf(el, palette) {
  const style = getComputedStyle(el);
  const ink = channels(style.color);
  const dark = 0.299 * ink[0] + 0.587 * ink[1] + 0.114 * ink[2] > 128;
  const curves = palette.map(channelsOfHex).map((colour) => (dark ? mixed(colour, [255, 255, 255], 0.28) : colour));
  const tints = palette.slice(0, 4).map(channelsOfHex).map((colour) => mixed(colour, [255, 255, 255], 0.5)); // as palette.TINTS
  const ground = dark ? [17, 17, 17] : [255, 255, 255];
  return {
    dark,
    ink,
    ground,
    soft: mixed(ink, ground, 0.36),
    grid: rgba(ink, dark ? 0.13 : 0.1),
    edge: rgba(ink, 0.3),
    font: style.fontFamily || "system-ui, sans-serif",
    curve: (k) => (k < -1 ? tints[-2 - k] : k < 0 ? mixed(ink, ground, 0.2) : curves[k % curves.length]),
    cursor: dark ? [255, 145, 60] : [213, 94, 0],
    shade: dark ? [96, 158, 222] : [58, 118, 186],
    sides: curves.slice(0, 2), // below and above the middle of a map that has one
  };
}

// The theme of a chart, which it keeps; null before it is in the page, where it has colours.
/** @type {(chart: Chart) => Theme | null} */
export const themed = (chart) => (chart.theme ??= chart.el.isConnected ? themeOf(chart.el, chart.palette) : null);

// Calls `then` whenever the theme of the page may have changed; returns what ends that.
/** @type {(then: () => void) => () => void} */
export function onTheme(then) {
  let timers = /** @type {number[]} */ ([]);
  const changed = () => {
    timers.forEach((timer) => clearTimeout(timer));
    timers = READ_AFTER.map((wait) => setTimeout(then, wait));
  };
  const observer = new MutationObserver(changed);
  const options = { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-name", "data-jp-theme-light", "data-theme"] };
  observer.observe(document.documentElement, options);
  observer.observe(document.body, options);
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  return () => {
    timers.forEach((timer) => clearTimeout(timer));
    observer.disconnect();
    system.removeEventListener("change", changed);
  };
}
