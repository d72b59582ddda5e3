// @ts-check
// The view of the canvas: what of the graph is in sight, and how it glides there.
/** @import { ReactFlowInstance } from "@xyflow/react" */

/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */
/** @typedef {{ x: number, y: number, zoom: number }} Placement */

const MARGIN_PIXELS = 16; // around what is fitted
const READABLE_ZOOM = 0.6; // pixels per unit below which words could not be read: then the beginning of the graph is shown
const BEGINNING_ZOOM = 0.8; // pixels per unit at which it is shown
const GLIDE_TIME = 180; // milliseconds from one view to the next
const STEP_PIXELS = 60; // that a key moves the view

/** What of a rectangle's graph fits, in the middle of a frame, not larger than it is. @type {(box: Rectangle, frame: { width: number, height: number }) => Placement} */
export function fitted(box, { width, height }) {
  const zoom = Math.min((width - 2 * MARGIN_PIXELS) / box.width, (height - 2 * MARGIN_PIXELS) / box.height, 1);
  if (zoom >= READABLE_ZOOM) return centred(box, { width, height }, zoom);
  return { zoom: BEGINNING_ZOOM, x: MARGIN_PIXELS - BEGINNING_ZOOM * box.x, y: height / 2 - BEGINNING_ZOOM * (box.y + box.height / 2) };
}
/** @type {(box: Rectangle, frame: { width: number, height: number }, zoom: number) => Placement} */
const centred = (box, { width, height }, zoom) =>
  ({ zoom, x: width / 2 - zoom * (box.x + box.width / 2), y: height / 2 - zoom * (box.y + box.height / 2) });

/** @type {(surface: HTMLElement) => ReturnType<typeof create>} */
export const viewport = (surface) => create(surface);

/** @param {HTMLElement} surface */
function create(surface) {
  /** @type {ReactFlowInstance | null} */
  let instance = null;
  let waiting = /** @type {(() => void) | null} */ (null); // what to do as soon as React Flow is there
  let goal = /** @type {{ view: Placement, until: number } | null} */ (null); // where a glide leads: what moves the view meanwhile starts from there
  const frame = () => ({ width: surface.clientWidth || 1, height: surface.clientHeight || 1 });
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden;
  const now = () => (goal && performance.now() < goal.until ? goal.view : (instance?.getViewport() ?? { x: 0, y: 0, zoom: 1 }));

  /** @type {(next: Placement, glide?: boolean) => void} */
  function go(next, glide = true) {
    if (!instance) {
      waiting = () => go(next, glide);
      return;
    }
    const duration = glide && !still() ? GLIDE_TIME : 0;
    goal = { view: next, until: performance.now() + duration };
    instance.setViewport(next, duration ? { duration } : undefined);
  }
  /** @type {(box: Rectangle, glide?: boolean) => void} */
  const fit = (box, glide = true) => go(fitted(box, frame()), glide);
  // Move as little as it takes to see a box, at a size that can be read.
  /** @type {(box: Rectangle) => void} */
  function show(box) {
    const { width, height } = frame();
    const from = now();
    const zoom = Math.max(from.zoom, READABLE_ZOOM);
    const [left, top] = [zoom * box.x + from.x, zoom * box.y + from.y];
    const inside = left >= MARGIN_PIXELS && top >= MARGIN_PIXELS && left + zoom * box.width <= width - MARGIN_PIXELS && top + zoom * box.height <= height - MARGIN_PIXELS;
    if (zoom !== from.zoom || !inside) go(centred(box, frame(), zoom));
  }
  /** @type {(factor: number) => void} */
  function zoomBy(factor) {
    const { width, height } = frame();
    const from = now();
    const zoom = Math.min(Math.max(from.zoom * factor, 0.02), 4);
    const part = zoom / from.zoom;
    go({ zoom, x: width / 2 - (width / 2 - from.x) * part, y: height / 2 - (height / 2 - from.y) * part }, false);
  }
  return {
    fit, show,
    /** @type {(ready: ReactFlowInstance) => void} */
    start(ready) {
      instance = ready;
      waiting?.();
    },
    /** The part of the graph that is in sight. @type {() => Rectangle} */
    seen() {
      const [{ width, height }, { x, y, zoom }] = [frame(), now()];
      return { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom };
    },
    /** Where an event of the mouse lies in the graph. @type {(event: { clientX: number, clientY: number }) => { x: number, y: number }} */
    place({ clientX, clientY }) {
      const { left, top } = surface.getBoundingClientRect();
      const { x, y, zoom } = now();
      return { x: (clientX - left - x) / zoom, y: (clientY - top - y) / zoom };
    },
    /** Keys of the view itself; true where it has taken one. @type {(key: string) => boolean} */
    key(key) {
      const step = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] })[key];
      const { x, y, zoom } = now();
      if (step) go({ zoom, x: x + STEP_PIXELS * step[0], y: y + STEP_PIXELS * step[1] }, false);
      else if (key === "+" || key === "=") zoomBy(1.25);
      else if (key === "-") zoomBy(0.8);
      else return false;
      return true;
    },
  };
}
