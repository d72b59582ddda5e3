// @ts-check
// What a chart shows, to keep: a picture, or a table of points.

import { labelOf } from "./data.js";
import { entriesOf } from "./parts.js";
import { drawPart, keyOf } from "./plot.js";
import { rgba } from "./theme.js";

const TITLE = 22; // pixels above each part of a picture

// A PNG of the whole chart, as a Blob.
export function picture(chart, ratio = 2) {
  const whole = chart.el.getBoundingClientRect();
  const canvas = new OffscreenCanvas(Math.ceil(whole.width * ratio), Math.ceil((whole.height + TITLE) * ratio));
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.fillStyle = rgba(chart.theme.ground);
  pen.fillRect(0, 0, whole.width, whole.height + TITLE);
  for (const part of chart.parts) {
    const { box, frame } = chart.places.get(part.name);
    const [outer, inner] = [box.getBoundingClientRect(), frame.getBoundingClientRect()];
    const sheet = new OffscreenCanvas(Math.ceil(inner.width * ratio), Math.ceil(inner.height * ratio));
    const own = sheet.getContext("2d");
    own.scale(ratio, ratio);
    drawPart({ ...chart, hover: null, drag: null }, part, own, inner.width, inner.height, ratio);
    pen.drawImage(sheet, inner.left - whole.left, inner.top - whole.top, inner.width, inner.height);
    caption(chart, part, pen, outer.left - whole.left + 4, outer.top - whole.top + 12);
  }
  return canvas.convertToBlob({ type: "image/png" });
}

export function caption(chart, part, pen, left, middle) {
  const { font, ink, soft, curve } = chart.theme;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  const put = (text, style, colour) => {
    pen.font = `${style} 12px ${font}`;
    pen.fillStyle = rgba(colour);
    pen.fillText(text, left, middle);
    left += pen.measureText(text).width + 10;
  };
  put(part.title, "600", ink);
  if (part.note) put(part.note, "italic", soft);
  for (const one of entriesOf(part).filter((entry) => !chart.hidden.has(keyOf(part, entry)))) {
    pen.fillStyle = rgba(curve(one.colour));
    pen.fillRect(left, middle - 4, 8, 8);
    left += 12;
    put(one.label, "", soft);
  }
}

// The points in sight, a line each: plot, curve, x, y.
export function table(chart) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const rows = ["plot,curve,x,y"];
  for (const part of chart.parts) {
    const { sx } = part.frame;
    const shown = (one) => !chart.hidden.has(keyOf(part, one));
    const add = (label, x, y) => {
      const start = `${quoted(part.title)},${quoted(label)}`;
      for (let k = 0; k < x.length; k++) if (x[k] >= sx.low && x[k] <= sx.high || !part.x.log && Number.isNaN(x[k]) || x[k] === 0) rows.push(`${start},${x[k]},${y[k]}`);
    };
    for (const one of [...part.curves, ...part.dots].filter(shown)) add(labelOf(one, part) + (one.faint ? " (raw)" : ""), one.x, one.y);
    for (const band of part.bands.filter(shown)) {
      add(`${labelOf(band, part)} (low)`, band.x, band.low);
      add(`${labelOf(band, part)} (high)`, band.x, band.high);
    }
  }
  return new Blob([`${rows.join("\n")}\n`], { type: "text/csv" });
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
