// @ts-check
// What a chart shows, to keep: a picture, or a table of points.
/** @import { Chart, Colour, Part, Pen, Theme } from "./types" */
/** @import { Series } from "./parts.js" */

import { keyOf, labelOf } from "./data.js";
import { DASHES, drawShape } from "./lines.js";
import { entriesOf, placeOf } from "./parts.js";
import { drawPart } from "./plot.js";
import { escaped, SvgPen } from "./svg_pen.js";
import { rgba } from "./theme.js";

const KEY_PIXELS = 16; // pixels of the mark of an entry of a legend
const MAP_RATIO = 2; // pixels of a map in a drawing, to one of the page
const TITLE_PIXELS = 22; // pixels above each part of a picture

const MAX_NAME = 80; // letters of the name of a file

// The parts that are not folded away.
/** @type {(chart: Chart) => Part[]} */
const inSight = (chart) => chart.parts.filter((part) => placeOf(chart, part).frame.clientWidth > 0);

// The name of a file without its end: the words of a title, else of the titles of what is in sight.
/** @type {(chart: Chart, title?: string) => string} */
export function fileName(chart, title = inSight(chart).map((part) => part.title).join(" ")) {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["chart"];
  return words.join("-").slice(0, MAX_NAME);
}

// A PNG of the whole chart, as a Blob.
/** @type {(chart: Chart, ratio?: number) => Promise<Blob>} */
export function picture(chart, ratio = 2) {
  const whole = chart.el.getBoundingClientRect();
  const canvas = new OffscreenCanvas(Math.ceil(whole.width * ratio), Math.ceil((whole.height + TITLE_PIXELS) * ratio));
  const pen = /** @type {Pen} */ (canvas.getContext("2d"));
  const theme = /** @type {Theme} */ (chart.theme);
  pen.scale(ratio, ratio);
  pen.fillStyle = rgba(theme.ground);
  pen.fillRect(0, 0, whole.width, whole.height + TITLE_PIXELS);
  for (const part of inSight(chart)) {
    const { box, frame } = placeOf(chart, part);
    const [outer, inner] = [box.getBoundingClientRect(), frame.getBoundingClientRect()];
    const sheet = new OffscreenCanvas(Math.ceil(inner.width * ratio), Math.ceil(inner.height * ratio));
    const own = /** @type {Pen} */ (sheet.getContext("2d"));
    own.scale(ratio, ratio);
    drawPart({ ...chart, hover: null, drag: null }, part, own, inner.width, inner.height, ratio);
    pen.drawImage(sheet, inner.left - whole.left, inner.top - whole.top, inner.width, inner.height);
    caption(chart, part, pen, outer.left - whole.left + 4, outer.top - whole.top + 12);
  }
  return canvas.convertToBlob({ type: "image/png" });
}

// The same as lines and letters, as a Blob. Maps are pictures in it.
/** @type {(chart: Chart) => Blob} */
export function vectors(chart) {
  const whole = chart.el.getBoundingClientRect();
  const theme = /** @type {Theme} */ (chart.theme);
  const [wide, high] = [Math.ceil(whole.width), Math.ceil(whole.height + TITLE_PIXELS)];
  const groups = inSight(chart).map((part) => {
    const { box, frame } = placeOf(chart, part);
    const [outer, inner] = [box.getBoundingClientRect(), frame.getBoundingClientRect()];
    const [own, title] = [new SvgPen(), new SvgPen()];
    drawPart({ ...chart, hover: null, drag: null }, part, /** @type {any} */ (own), inner.width, inner.height, MAP_RATIO);
    caption(chart, part, /** @type {any} */ (title), outer.left - whole.left + 4, outer.top - whole.top + 12);
    return `<g transform="translate(${inner.left - whole.left} ${inner.top - whole.top})">${own.elements.join("")}</g>${title.elements.join("")}`;
  });
  const ground = `<rect width="100%" height="100%" fill="${rgba(theme.ground)}"/>`;
  const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" role="img">`;
  return new Blob([`${head}<title>${escaped(chart.about)}</title>${ground}${groups.join("")}</svg>\n`], { type: "image/svg+xml" });
}

/** @type {(chart: Chart, part: Part, pen: Pen, left: number, middle: number) => void} */
export function caption(chart, part, pen, left, middle) {
  const { font, ink, soft } = /** @type {Theme} */ (chart.theme);
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  /** @type {(text: string, style: string, colour: Colour) => void} */
  const put = (text, style, colour) => {
    pen.font = `${style} 12px ${font}`;
    pen.fillStyle = rgba(colour);
    pen.fillText(text, left, middle);
    left += pen.measureText(text).width + 10;
  };
  put(part.title, "600", ink);
  if (part.note) put(part.note, "italic", soft);
  for (const one of entriesOf(part).filter((entry) => !chart.hidden.has(keyOf(part, entry)))) {
    drawKey(pen, one, left, middle, /** @type {Theme} */ (chart.theme));
    left += KEY_PIXELS + 4;
    put(one.label, "", soft);
  }
}

// What an entry of a legend looks like in its plot: a shape, a line with its dashes, or a patch of a band.
/** @type {(pen: Pen, one: Series, left: number, middle: number, theme: Theme) => void} */
function drawKey(pen, one, left, middle, theme) {
  const colour = theme.curve(one.colour);
  if (one.shape) return drawShape(pen, one.shape, left + KEY_PIXELS / 2, middle, colour, theme, 4);
  if (one.low) {
    pen.fillStyle = rgba(colour, one.solid ? 1 : 0.4);
    return pen.fillRect(left, middle - 4, KEY_PIXELS, 8);
  }
  pen.strokeStyle = rgba(colour, one.faint ? 0.4 : 1);
  pen.lineWidth = 2;
  pen.setLineDash(DASHES[one.dashed ?? 0]);
  pen.beginPath();
  pen.moveTo(left, middle);
  pen.lineTo(left + KEY_PIXELS, middle);
  pen.stroke();
  return pen.setLineDash([]);
}

// The points in sight, a line each: plot, curve, x, y.
/** @type {(chart: Chart) => Blob} */
export function table(chart) {
  const quoted = (/** @type {string} */ text) => `"${String(text).replaceAll('"', '""')}"`;
  const rows = ["plot,curve,x,y"];
  for (const part of inSight(chart)) {
    const { sx } = part.frame;
    const shown = (/** @type {{ label: string }} */ one) => !chart.hidden.has(keyOf(part, one));
    /** @type {(label: string, x: Float64Array, y: Float64Array) => void} */
    const add = (label, x, y) => {
      const start = `${quoted(part.title)},${quoted(label)}`;
      for (let k = 0; k < x.length; k++) {
        if ((x[k] >= sx.low && x[k] <= sx.high) || (!part.x.log && Number.isNaN(x[k])) || x[k] === 0) rows.push(`${start},${x[k]},${y[k]}`);
      }
    };
    for (const one of [...part.curves, ...part.dots].filter(shown)) add(labelOf(one, part) + ("faint" in one && one.faint ? " (raw)" : ""), one.x, one.y);
    for (const band of part.bands.filter(shown)) {
      add(`${labelOf(band, part)} (low)`, band.x, band.low);
      add(`${labelOf(band, part)} (high)`, band.x, band.high);
    }
  }
  return new Blob([`${rows.join("\n")}\n`], { type: "text/csv" });
}

/** @type {(blob: Blob, name: string) => void} */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
