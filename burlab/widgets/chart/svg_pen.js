// @ts-check
// A pen that writes SVG: what charts call of a canvas's pen, as elements of text.

const ANCHORS = { left: "start", right: "end", center: "middle", start: "start", end: "end" };
const BASELINES = { middle: "central", top: "hanging", bottom: "text-after-edge", alphabetic: "alphabetic", hanging: "hanging", ideographic: "text-after-edge" };
const STYLE = /** @type {const} */ (["fillStyle", "strokeStyle", "lineWidth", "lineJoin", "font", "textAlign", "textBaseline", "dash", "moves", "clipping"]);

/** @type {(text: string) => string} */
export const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
/** @type {(number: number) => string} */
const short = (number) => String(Math.round(100 * number) / 100);

let clips = 0; // clip paths so far: their names are unique in a page

/** Fills `elements` with the text of SVG elements. */
export class SvgPen {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  lineJoin = "miter";
  font = "10px sans-serif";
  textAlign = /** @type {CanvasTextAlign} */ ("start");
  textBaseline = /** @type {CanvasTextBaseline} */ ("alphabetic");
  dash = /** @type {number[]} */ ([]);
  moves = ""; // the transform
  clipping = ""; // the name of the clip path
  path = "";
  elements = /** @type {string[]} */ ([]);
  #saved = /** @type {Record<string, unknown>[]} */ ([]);
  #ruler = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d"));

  save() {
    this.#saved.push(Object.fromEntries(STYLE.map((name) => [name, this[name]])));
  }
  restore() {
    Object.assign(this, this.#saved.pop());
  }
  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.moves += `translate(${short(x)} ${short(y)})`;
  }
  /** @param {number} angle */
  rotate(angle) {
    this.moves += `rotate(${short((180 * angle) / Math.PI)})`;
  }
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }
  /** @param {string} text */
  measureText(text) {
    this.#ruler.font = this.font;
    return this.#ruler.measureText(text);
  }

  beginPath() {
    this.path = "";
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`;
  }
  closePath() {
    this.path += "Z";
  }
  /** Whole circles only. @param {number} x @param {number} y @param {number} radius */
  arc(x, y, radius) {
    const [r, across] = [short(radius), short(2 * radius)];
    this.path += `M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${across} 0a${r} ${r} 0 1 0 -${across} 0`;
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  roundRect(x, y, width, height) {
    this.rect(x, y, width, height);
  }
  clip() {
    this.clipping = `burlab-clip-${(clips += 1)}`;
    this.elements.push(`<clipPath id="${this.clipping}"><path d="${this.path}"/></clipPath>`);
  }

  fill() {
    this.#put("path", { d: this.path, fill: this.fillStyle });
  }
  stroke() {
    this.#put("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth), "stroke-linejoin": this.lineJoin, "stroke-dasharray": this.dash.join(" ") });
  }
  clearRect() {} // there is nothing yet
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.#put("rect", { x: short(x), y: short(y), width: short(width), height: short(height), fill: this.fillStyle });
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.#put("rect", { x: short(x), y: short(y), width: short(width), height: short(height), fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth) });
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.#text(text, x, y, { fill: this.fillStyle });
  }
  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.#text(text, x, y, { fill: "none", stroke: this.strokeStyle, "stroke-width": short(this.lineWidth), "stroke-linejoin": this.lineJoin });
  }
  /** @param {OffscreenCanvas} image @param {number} x @param {number} y @param {number} width @param {number} height */
  drawImage(image, x, y, width, height) {
    const sheet = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d")).drawImage(image, 0, 0);
    this.#put("image", { href: sheet.toDataURL(), x: short(x), y: short(y), width: short(width), height: short(height), preserveAspectRatio: "none" });
  }

  /** @param {string} text @param {number} x @param {number} y @param {Record<string, string>} style */
  #text(text, x, y, style) {
    const font = { style: `font:${this.font}`, "text-anchor": ANCHORS[this.textAlign], "dominant-baseline": BASELINES[this.textBaseline] };
    this.#put("text", { x: short(x), y: short(y), ...font, ...style }, escaped(text));
  }
  /** @param {string} name @param {Record<string, string>} attributes @param {string} [inside] */
  #put(name, attributes, inside = "") {
    const placed = `<${name}${written({ ...attributes, transform: this.moves })}${inside ? `>${inside}</${name}>` : "/>"}`;
    this.elements.push(this.clipping ? `<g clip-path="url(#${this.clipping})">${placed}</g>` : placed);
  }
}

/** @type {(attributes: Record<string, string>) => string} */
const written = (attributes) =>
  Object.entries(attributes).filter(([, value]) => value !== "").map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
