// @ts-check
// A surface with a view: what lies on it has places of its own, and the view moves by dragging, by the wheel and by keys.
// It knows nothing of what is drawn: others put elements into `scene`, an SVG group, and are called when the view moves.


import { listener, ownWheel } from "../dom.js";

/** @typedef {{ x: number, y: number, k: number }} Placement */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */
/**
 * @typedef {object} Surface
 * @property {SVGSVGElement} svg
 * @property {SVGElement} scene
 * @property {Placement} view
 * @property {(box?: Rectangle, glide?: boolean) => void} fit
 * @property {(box: Rectangle) => void} measure
 * @property {(box: Rectangle, least?: number) => void} show
 * @property {(factor: number, at?: { x: number, y: number } | null) => void} zoom
 * @property {(dx: number, dy: number) => void} pan
 * @property {(event: MouseEvent) => { x: number, y: number }} place
 * @property {() => Rectangle} seen
 * @property {(event: KeyboardEvent) => boolean} key
 * @property {() => void} close
 */

const SVG = "http://www.w3.org/2000/svg";
const MAX_SCALE = 4; // pixels per unit of the scene, at most
export const CLICK_PIXELS = 4; // pixels that the mouse may move during a click
const READABLE_SCALE = 0.8; // pixels per unit at which what is too long to be fitted begins
const GLIDE_TIME = 180; // milliseconds from one view to the next

// An SVG element with attributes and text. Text never becomes markup.
/** @type {(name: string, attributes?: Record<string, string | number>, text?: string | null) => SVGElement} */
export function shape(name, attributes = {}, text = null) {
  const created = /** @type {SVGElement} */ (document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value));
  if (text !== null) created.textContent = text;
  return created;
}

// parent: where it goes; it fills it. label: for screen readers. margin: pixels around what is fitted. least: pixels per
// unit below which that could not be read; its beginning is shown then, in a size that can.
// onView(view): after each change, at most once per frame; view: { x, y, k }, a point p of the scene lies at k * p + (x, y).
/** @type {(parent: HTMLElement, options: { label: string, onView?: (view: Placement) => void, margin?: number, least?: number }) => Surface} */
export function surface(parent, { label, onView = () => {}, margin = 16, least = 0 }) {
  const svg = /** @type {SVGSVGElement} */ (shape("svg", { class: "burlab-surface", tabindex: 0, role: "group", "aria-label": label }));
  const scene = shape("g");
  svg.append(scene);
  parent.append(svg);
  const view = { x: 0, y: 0, k: 1 };
  let whole = { x: 0, y: 0, width: 1, height: 1 }; // of what is on it
  let frame = 0;
  let flight = 0;
  let fitted = /** @type {Placement | null} */ (null); // the view in which everything was fitted, and which another size of the surface changes
  let goal = /** @type {Placement | null} */ (null); // the view that a glide leads to; what moves the view meanwhile starts from there, so that no key is lost

  const size = () => ({ width: svg.clientWidth || 1, height: svg.clientHeight || 1 });

  function draw() {
    frame = 0;
    scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
    onView(view);
  }
  /** @type {(next: Placement) => void} */
  function change(next) {
    Object.assign(view, next);
    frame ||= requestAnimationFrame(draw);
  }
  const furthest = () => {
    const { width, height } = size();
    return Math.min(0.5, 0.5 * Math.min(width / whole.width, height / whole.height));
  };
  /** @type {(k: number) => number} */
  const bounded = (k) => Math.min(Math.max(k, furthest()), MAX_SCALE);

  // Glide to a view, so that the eye can follow; at once for those who want no motion.
  /** @type {(next: Placement) => void} */
  function go(next) {
    stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) return change(next);
    goal = next;
    const from = { ...view };
    const start = performance.now();
    const advance = (/** @type {number} */ now) => {
      const part = Math.min(Math.max((now - start) / GLIDE_TIME, 0), 1);
      const ease = part * (2 - part);
      change({
        x: from.x + ease * (next.x - from.x),
        y: from.y + ease * (next.y - from.y),
        k: from.k + ease * (next.k - from.k),
      });
      if (part < 1) flight = requestAnimationFrame(advance);
      else goal = null;
    };
    flight = requestAnimationFrame(advance);
  }
  function stop() {
    cancelAnimationFrame(flight);
    goal = null;
  }
  /** @type {(next: Placement) => void} */
  const steer = (next) => (goal ? go(next) : change(next));

  // The view in which a box lies in the middle, `k` as given.
  /** @type {(box: Rectangle, k: number) => Placement} */
  function centred(box, k) {
    const { width, height } = size();
    return { k, x: width / 2 - k * (box.x + box.width / 2), y: height / 2 - k * (box.y + box.height / 2) };
  }
  // The view of the beginning of a box, its left edge in the middle of the height.
  /** @type {(box: Rectangle) => Placement} */
  const atBeginning = (box) => ({ k: READABLE_SCALE, x: margin - READABLE_SCALE * box.x, y: size().height / 2 - READABLE_SCALE * (box.y + box.height / 2) });
  // All of a box, not larger than it is, or its beginning. glide: whether the eye sees the way.
  /** @type {(box?: Rectangle, glide?: boolean) => void} */
  function fit(box = whole, glide = true) {
    whole = box;
    const { width, height } = size();
    const k = Math.min((width - 2 * margin) / box.width, (height - 2 * margin) / box.height, 1);
    const next = k < least ? atBeginning(box) : centred(box, Math.max(k, 0.01));
    fitted = next;
    if (glide) return go(next);
    stop();
    change(next);
  }
  // How large what lies on it is, where that has changed and the view stays.
  /** @type {(box: Rectangle) => void} */
  const measure = (box) => {
    whole = box;
    fitted = null;
  };
  // Move as little as it takes to see a box, at a size that can be read.
  /** @type {(box: Rectangle, least?: number) => void} */
  function show(box, least = 0.6) {
    const { width, height } = size();
    const from = goal ?? view;
    const k = from.k < least ? Math.min(1, Math.max(least, from.k)) : from.k;
    const left = k * box.x + from.x;
    const top = k * box.y + from.y;
    const inside = left >= margin && top >= margin;
    if (k === from.k && inside && left + k * box.width <= width - margin && top + k * box.height <= height - margin) return;
    go(centred(box, k));
  }
  /** @type {(factor: number, at?: { x: number, y: number } | null) => void} */
  function zoom(factor, at = null) {
    const { width, height } = size();
    const { x, y } = at ?? { x: width / 2, y: height / 2 };
    const from = goal ?? view;
    const k = bounded(from.k * factor);
    steer({ k, x: x - ((x - from.x) * k) / from.k, y: y - ((y - from.y) * k) / from.k });
  }
  /** @type {(dx: number, dy: number) => void} */
  function pan(dx, dy) {
    const from = goal ?? view;
    steer({ k: from.k, x: from.x + dx, y: from.y + dy });
  }

  /** @type {(event: MouseEvent) => { x: number, y: number }} */
  const local = (event) => {
    const frame = svg.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  // Where an event of the mouse lies in the scene.
  /** @type {(event: MouseEvent) => { x: number, y: number }} */
  const place = (event) => {
    const { x, y } = local(event);
    return { x: (x - view.x) / view.k, y: (y - view.y) / view.k };
  };
  // The part of the scene that is in sight.
  const seen = () => {
    const { width, height } = size();
    return { x: -view.x / view.k, y: -view.y / view.k, width: width / view.k, height: height / view.k };
  };

  // Keys of the surface itself; true where it has taken one.
  /** @type {(event: KeyboardEvent) => boolean} */
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    /** @type {[dx: number, dy: number] | undefined} */
    const step = /** @type {any} */ ({ ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] })[event.key];
    if (step) pan(...step);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return false;
    event.preventDefault();
    return true;
  }

  const ending = new AbortController();
  const on = listener(svg, ending.signal);
  // A drag begins anywhere that nobody else has taken: they call stopPropagation on `pointerdown`.
  /** @type {{ id: number, x: number, y: number, moving: boolean } | null} */
  let drag = null;
  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    stop();
    drag = { id: event.pointerId, x: event.clientX, y: event.clientY, moving: false };
  });
  on("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    if (!drag.moving && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < CLICK_PIXELS) return;
    if (!drag.moving) svg.setPointerCapture(event.pointerId);
    if (drag.moving) pan(event.clientX - drag.x, event.clientY - drag.y);
    drag = { ...drag, x: event.clientX, y: event.clientY, moving: true };
    svg.classList.add("burlab-dragged");
  });
  const release = () => {
    if (drag?.moving) {
      // the click that follows a drag is none
      const swallow = (/** @type {Event} */ event) => event.stopPropagation();
      svg.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => svg.removeEventListener("click", swallow, { capture: true }), 0);
    }
    drag = null;
    svg.classList.remove("burlab-dragged");
  };
  on("pointerup", release);
  on("pointercancel", release);

  const own = ownWheel(svg, ending.signal);
  on("wheel", (event) => {
    if (!own(event)) return;
    event.preventDefault();
    event.stopPropagation();
    stop();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-Math.max(Math.min(event.deltaY * lines, 200), -200) * 0.002), local(event));
  }, { passive: false });

  const resized = new ResizeObserver(() => {
    const left = fitted && view.x === fitted.x && view.y === fitted.y && view.k === fitted.k;
    if (left && svg.clientWidth) fit(whole, false);
    frame ||= requestAnimationFrame(draw);
  });
  resized.observe(svg);

  function close() {
    stop();
    cancelAnimationFrame(frame);
    resized.disconnect();
    ending.abort();
    svg.remove();
  }
  return { svg, scene, view, fit, measure, show, zoom, pan, place, seen, key, close };
}
