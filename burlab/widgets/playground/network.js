// @ts-check
// The picture of a network: what each neuron answers over the plane, and lines whose width and colour are its weights.
// Buttons add and remove neurons and layers.

/** @import { Chart, Theme } from "../chart/types" */
/** @import { Playground, PlaygroundIntent } from "../messages" */
import { mixed, rgba, themed } from "../chart/theme.js";
import { button, element, setText } from "../dom.js";

const SIZE = 36; // pixels of a neuron, as in the style sheet
const THICKEST = 6; // pixels of a line
const NAMES = ["x₁", "x₂"];
const SVG = "http://www.w3.org/2000/svg";

/**
 * Build the picture in an element. chart: gives the chart whose theme it takes.
 * @type {(el: HTMLElement, send: (intent: PlaygroundIntent) => void, chart: () => Chart) => { draw: (state: Playground) => void, close: () => void }}
 */
export function buildNetwork(el, send, chart) {
  const bar = element("div", "burlab-layers", el);
  const less = button(bar, "−", "Remove the last hidden layer", () => send({ type: "layers", by: -1 }));
  const more = button(bar, "+", "Add a hidden layer", () => send({ type: "layers", by: 1 }));
  const count = element("span", "", bar);
  less.ariaLabel = less.title;
  more.ariaLabel = more.title;
  const board = element("div", "burlab-board", el);
  const lines = document.createElementNS(SVG, "svg");
  board.append(lines);
  let drawn = ""; // the widths that the elements were built for
  /** @type {HTMLCanvasElement[][]} */
  let neurons = [];
  /** @type {Playground | null} */
  let last = null;

  function build(/** @type {Playground} */ { network: { widths }, room }) {
    for (const old of board.querySelectorAll(":scope > :not(svg)")) old.remove();
    neurons = widths.map((width, layer) => {
      const column = element("div", "burlab-layer", board);
      const hidden = layer > 0 && layer < widths.length - 1;
      const head = element("div", "burlab-layer-head", column);
      if (hidden) {
        for (const [text, by, off] of /** @type {[string, number, boolean][]} */ ([["−", -1, width === 1], ["+", 1, width === room[1]]])) {
          const one = button(head, text, `${by < 0 ? "Remove" : "Add"} a neuron`, () => send({ type: "neurons", layer: layer - 1, by }));
          one.ariaLabel = `${one.title} ${by < 0 ? "from" : "to"} layer ${layer}`;
          one.disabled = off;
        }
      }
      setText(element("span", "", column), hidden ? `${width} neuron${width > 1 ? "s" : ""}` : layer ? "output" : "inputs");
      return Array.from({ length: width }, (_, k) => neuron(column, layer, k, hidden || layer === 0));
    });
  }

  /** @type {(column: HTMLElement, layer: number, k: number, looks: boolean) => HTMLCanvasElement} */
  function neuron(column, layer, k, looks) {
    const name = layer === 0 ? NAMES[k] : `neuron ${k + 1} of layer ${layer}`;
    const canvas = element("canvas", "burlab-neuron", column, { title: name, role: "img", ariaLabel: name, tabIndex: 0 });
    if (!looks) return canvas;
    const look = () => send({ type: "probe", layer, neuron: k });
    const away = () => send({ type: "probe", layer: null, neuron: null });
    for (const type of ["pointerenter", "focus"]) canvas.addEventListener(type, look);
    for (const type of ["pointerleave", "blur"]) canvas.addEventListener(type, away);
    return canvas;
  }

  function paint() {
    const theme = themed(chart());
    if (!last || !theme) return;
    const { pictures, weights } = last.network;
    neurons.forEach((column, layer) => column.forEach((canvas, k) => drawNeuron(canvas, pictures[layer][k], theme)));
    const [width, height] = [board.clientWidth, board.clientHeight];
    lines.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const most = Math.max(1e-9, ...weights.flat().flatMap((row) => row.slice(0, -1).map(Math.abs)));
    lines.replaceChildren(...weights.flatMap((layer, depth) => layer.flatMap((row, k) => row.slice(0, -1).map((weight, j) =>
      line(neurons[depth][j], neurons[depth + 1][k], weight, Math.abs(weight) / most, theme)))));
  }

  const sizes = new ResizeObserver(paint);
  sizes.observe(board);
  return {
    draw(state) {
      last = state;
      const { widths } = state.network;
      const key = JSON.stringify([widths, state.room]);
      if (key !== drawn) build(state);
      drawn = key;
      const layers = widths.length - 2;
      setText(count, `${layers} hidden layer${layers === 1 ? "" : "s"}`);
      less.disabled = layers === 0;
      more.disabled = !state.room[0];
      paint();
    },
    close: () => sizes.disconnect(),
  };
}

/** @type {(from: HTMLElement, to: HTMLElement, weight: number, share: number, theme: Theme) => SVGElement} */
function line(from, to, weight, share, theme) {
  const path = document.createElementNS(SVG, "path");
  const [x, y] = [from.offsetLeft + SIZE, from.offsetTop + SIZE / 2];
  const [u, v] = [to.offsetLeft, to.offsetTop + SIZE / 2];
  const half = (x + u) / 2;
  path.setAttribute("d", `M${x} ${y}C${half} ${y} ${half} ${v} ${u} ${v}`);
  path.setAttribute("stroke", rgba(theme.sides[weight < 0 ? 0 : 1], 0.25 + 0.75 * share));
  path.setAttribute("stroke-width", String(Math.max(0.6, THICKEST * share)));
  const title = document.createElementNS(SVG, "title");
  title.textContent = `weight ${weight}`;
  path.append(title);
  return path;
}

/** @type {(canvas: HTMLCanvasElement, packed: string, theme: Theme) => void} */
function drawNeuron(canvas, packed, theme) {
  const bytes = Int8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const side = Math.round(Math.sqrt(bytes.length));
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  bytes.forEach((byte, k) => {
    const row = side - 1 - Math.floor(k / side);
    const colour = mixed(theme.ground, theme.sides[byte < 0 ? 0 : 1], Math.abs(byte) / 127);
    image.data.set([...colour, 255], 4 * (row * side + (k % side)));
  });
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).putImageData(image, 0, 0);
}
