// @ts-check
// The choices of a playground: a button with a picture for each data set, and menus.

/** @import { Playground, PlaygroundIntent, PlaygroundMenu, PlaygroundOffers } from "../messages" */
import { button, choices, element } from "../dom.js";

const SIDE = 34; // pixels of a picture
const REACH = 2.7; // half the side of what it shows
const USER_DATA = "your arrays";
const ROUNDING = "How the network is rounded after a step: to the nearest number, or by chance, which is right on average";
/** @type {[name: PlaygroundMenu, title: string][]} */
const MENUS = [
  ["activation", "The function of each hidden neuron"],
  ["optimizer", "Another optimizer begins at step 0; the loss of the one before stays in the picture"],
  ["dtype", "The numbers that the network computes with"],
  ["numbers", "A format that network, loss and gradient are rounded to: another run begins at step 0"],
  ["rounding", ROUNDING],
];
const ROUNDS_NOTHING = "Exact numbers are not rounded: choose a format first";

// Builds the choices in an element; returns the function that draws a state in them.
/** @type {(el: HTMLElement, offers: PlaygroundOffers, send: (intent: PlaygroundIntent) => void) => (state: Playground) => void} */
export function buildMenus(el, offers, send) {
  const choose = (/** @type {PlaygroundMenu} */ name, /** @type {string} */ value) => send({ type: "choose", name, value });
  const sets = element("span", "burlab-sets", el, { role: "group", ariaLabel: "data" });
  /** @type {[name: string, button: HTMLButtonElement][]} */
  const buttons = [...Object.keys(offers.data), USER_DATA].map((name) => {
    const one = button(sets, "", name, () => choose("data", name));
    one.ariaLabel = name;
    if (name === USER_DATA) one.textContent = name;
    else drawPoints(element("canvas", "", one, { width: 2 * SIDE, height: 2 * SIDE }), offers.data[name]);
    return [name, one];
  });
  const menus = MENUS.map(([name, title]) => {
    const menu = element("select", "", el, { ariaLabel: name, title });
    menu.addEventListener("change", () => choose(name, menu.value));
    return /** @type {[PlaygroundMenu, HTMLSelectElement]} */ ([name, menu]);
  });
  const rounding = menus[menus.length - 1][1];
  return ({ setting }) => {
    for (const [name, one] of buttons) {
      one.hidden = name === USER_DATA && !setting.own;
      one.ariaPressed = String(setting.data === name);
    }
    for (const [name, menu] of menus) {
      const offered = offers[/** @type {Exclude<PlaygroundMenu, "data">} */ (name)];
      choices(menu, offered.map((one) => (typeof one === "string" ? [one, one] : one)), setting[name]);
    }
    rounding.disabled = setting.numbers === "exact";
    rounding.title = rounding.disabled ? ROUNDS_NOTHING : ROUNDING;
  };
}

/** @type {(canvas: HTMLCanvasElement, points: [x: number, y: number, kind: number][]) => void} */
function drawPoints(canvas, points) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const at = (/** @type {number} */ x) => ((x + REACH) / (2 * REACH)) * canvas.width;
  for (const [x, y, kind] of points) {
    pen.fillStyle = kind ? "#d55e00" : "#0072b2";
    pen.beginPath();
    pen.arc(at(x), canvas.height - at(y), 3, 0, 7);
    pen.fill();
  }
}
