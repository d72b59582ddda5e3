// @ts-check
// The canvas: React Flow draws blocks and wires, and says what the mouse does. What there is, Python's state says.
/** @import { Connection, Edge, FinalConnectionState, Node, NodeChange } from "@xyflow/react" */
/** @import { Block } from "../messages" */

import "@xyflow/react/dist/base.css";
import { Background, BaseEdge, getBezierPath, Handle, MiniMap, Position, ReactFlow, ViewportPortal } from "@xyflow/react";
import { h, render } from "preact";
import { curve, edgesOf, nodeOf, portCount, portTop, wireEnd, wireName } from "./blocks.js";
import { ownWheel, targetOf } from "../dom.js";

const GRID_PIXELS = 10; // that places of blocks are multiples of
const CLICK_PIXELS = 4; // pixels that the mouse may move during a click
const MAX_DRAWN_BLOCKS = 200; // blocks from which on those out of sight are left away
const MAPPED_BLOCKS = 12; // blocks from which on there is a map of all of them

/** @typedef {{ key: number, port: number }} Argument */
/** @typedef {{ key: number, words: string } | null} Callout */
/**
 * What there is to draw. wires: names of the selected ones. snap: whether a block that is dragged comes to the grid.
 * @typedef {{ blocks: Block[], selected: number[], wires: string[], callout: Callout, snap: boolean }} Scene
 */
/**
 * What the canvas asks for.
 * @typedef {object} Acts
 * @property {(keys: number[], wires: string[]) => void} select
 * @property {(keys: number[], by: { x: number, y: number }) => void} move
 * @property {(source: number, key: number, port: number | null, was: Argument | null) => void} connect
 * @property {(argument: Argument) => void} disconnect
 * @property {(key: number) => void} open
 * @property {(point: { clientX: number, clientY: number }, wiring: import("./requests.js").Wiring) => void} search
 * @property {(key: number, wire: string, by: { x: number, y: number }) => void} insert
 */

/** A block: its words, and the places of its arguments. @type {(properties: { data: { block: Block } }) => any} */
function BlockNode({ data: { block } }) {
  const ports = Array.from({ length: portCount(block) }, (_, port) => {
    const more = port === block.ports.length;
    const free = more || block.operands[port] === null;
    return h(/** @type {any} */ (Handle), {
      key: port, type: "target", position: Position.Left, id: String(port), style: { top: portTop(block, port) }, "data-port": port,
      className: `burlab-port${free ? " burlab-free" : ""}${more ? " burlab-more" : ""}`, title: more ? "one argument more" : block.ports[port],
    });
  });
  const out = { key: "out", type: "source", position: Position.Right, id: "out", className: "burlab-out", title: "drag to an argument of another block" };
  return [
    ...block.lines.map(([what, text], k) => h("div", { key: `line ${k}`, className: `burlab-${what}` }, text)),
    ...ports, h(/** @type {any} */ (Handle), out),
    block.fault || block.odd ? h("span", { key: "badge", className: "burlab-badge", "aria-hidden": true }, "!") : null,
  ];
}
const NODE_TYPES = { block: BlockNode };

/** A wire: smooth, or around blocks. @type {(properties: import("@xyflow/react").EdgeProps & { data: { bends: [number, number][] } }) => any} */
function Wire(properties) {
  const { data: { bends }, sourceX, sourceY, targetX, targetY } = properties;
  const path = bends.length ? curve([[sourceX, sourceY], ...bends, [targetX, targetY]]) : getBezierPath(properties)[0];
  return h(BaseEdge, /** @type {any} */ ({ path, interactionWidth: 16 }));
}
const EDGE_TYPES = { wire: Wire };

/** @type {(surface: HTMLElement) => Document | ShadowRoot} */
const rootOf = (surface) => /** @type {any} */ (surface.getRootNode());

/** The name of the wire under the mouse, below blocks. @type {(surface: HTMLElement, event: { clientX: number, clientY: number }) => string | null} */
export function wireUnder(surface, { clientX, clientY }) {
  const wires = rootOf(surface).elementsFromPoint(clientX, clientY).map((one) => /** @type {HTMLElement | null} */ (one.closest(".react-flow__edge")));
  return wires.find((wire) => wire && surface.contains(wire))?.dataset.id ?? null;
}

/** The block under the mouse. @type {(surface: HTMLElement, event: MouseEvent | TouchEvent) => number | null} */
function keyUnder(surface, event) {
  const { clientX, clientY } = "changedTouches" in event ? event.changedTouches[0] : event;
  const block = /** @type {HTMLElement | null | undefined} */ (rootOf(surface).elementFromPoint(clientX, clientY)?.closest("[data-key]"));
  return block && surface.contains(block) ? Number(block.dataset.key) : null;
}

/**
 * Put the canvas into an element, which has the focus and the keys. `draw` shows a scene; `settle` forgets where blocks were dragged to.
 * @type {(surface: HTMLElement, acts: Acts, started: (instance: import("@xyflow/react").ReactFlowInstance) => void) => { draw: (next: Scene) => void, settle: () => void, close: () => void }}
 */
export function flow(surface, acts, started) {
  const ending = new AbortController();
  const { signal } = ending;
  let scene = /** @type {Scene} */ ({ blocks: [], selected: [], wires: [], callout: null, snap: true });
  let shift = false; // held while the mouse was pressed: it draws a box around what it selects
  let boxing = /** @type {{ before: number[], inside: Set<number> } | null} */ (null); // what was selected before, and what is in that box
  let instance = /** @type {import("@xyflow/react").ReactFlowInstance | null} */ (null);
  let over = /** @type {string | null} */ (null); // the wire under the block that is dragged, which would be inserted there
  let pressed = /** @type {{ x: number, y: number } | undefined} */ (undefined); // where the mouse was pressed, in the graph
  /** @type {Map<number, { x: number, y: number }>} */
  const dragged = new Map(); // where the mouse has blocks that Python has elsewhere
  /** @type {Map<number, { text: string, node: Node }>} */
  const nodes = new Map(); // what was drawn last: React Flow draws again what is another object

  /** @type {(block: Block) => Node} */
  function node(block) {
    const place = dragged.get(block.key) ?? { x: block.x, y: block.y };
    const chosen = scene.selected.includes(block.key);
    const text = JSON.stringify([block, place, chosen]);
    const old = nodes.get(block.key);
    if (old?.text === text) return old.node;
    const made = { text, node: nodeOf(block, place, chosen) };
    nodes.set(block.key, made);
    return made.node;
  }

  const blockOf = (/** @type {number | undefined} */ key) => scene.blocks.find((block) => block.key === key);
  const snapped = (/** @type {number} */ place) => (scene.snap ? GRID_PIXELS * Math.round(place / GRID_PIXELS) : place);

  // The centre of the block under the mouse comes to the grid, and all others that are dragged keep their distance from it.
  /** @type {(event: MouseEvent, lead: Node, moved: Node[]) => void} */
  function onNodeDrag(event, { id }, moved) {
    const [lead, at] = [blockOf(Number(id)), instance?.screenToFlowPosition({ x: event.clientX, y: event.clientY })];
    if (!lead || !at || !pressed) return;
    const by = { x: snapped(lead.x + at.x - pressed.x) - lead.x, y: snapped(lead.y + at.y - pressed.y) - lead.y };
    for (const block of moved.map((one) => blockOf(Number(one.id)))) if (block) dragged.set(block.key, { x: block.x + by.x, y: block.y + by.y });
    over = moved.length === 1 && isLoose(lead) ? wireUnder(surface, event) : null;
    draw();
  }
  /** Whether a block would stand well in a wire: no wire is at it, and it takes an argument. @type {(block: Block) => boolean} */
  const isLoose = (block) => block.operands.length > 0 && block.operands.every((source) => source === null) &&
    !scene.blocks.some((other) => other.operands.includes(block.key));

  /** @type {(changes: NodeChange[]) => void} */
  function onNodesChange(changes) {
    for (const change of changes) {
      if (change.type === "select" && boxing) boxing.inside[change.selected ? "add" : "delete"](Number(change.id));
    }
    if (boxing) acts.select([...new Set([...boxing.before, ...boxing.inside])], []);
  }
  /** @type {(event: { shiftKey: boolean, ctrlKey: boolean, metaKey: boolean }) => boolean} */
  const adds = ({ shiftKey, ctrlKey, metaKey }) => shiftKey || ctrlKey || metaKey;
  /** A list with one more, or without it if it was there. @type {<Item>(list: Item[], item: Item) => Item[]} */
  const toggled = (list, item) => (list.includes(item) ? list.filter((one) => one !== item) : [...list, item]);

  // A wire that is dropped on a block, but not on an argument, goes to the first free one.
  /** @type {(event: MouseEvent | TouchEvent, state: FinalConnectionState) => void} */
  function onConnectEnd(event, { isValid, fromHandle, fromNode }) {
    if (isValid || !fromHandle || !fromNode || held) return;
    const [from, hit] = [Number(fromNode.id), keyUnder(surface, event)];
    if (hit === from) return;
    if (hit === null) {
      const point = "changedTouches" in event ? event.changedTouches[0] : event;
      const wiring = fromHandle.type === "source" ? { operands: [from] } : { operands: [], to: /** @type {[number, number]} */ ([from, Number(fromHandle.id)]) };
      if (surface.contains(rootOf(surface).elementFromPoint(point.clientX, point.clientY))) acts.search(point, wiring);
      return;
    }
    if (fromHandle.type === "source") acts.connect(from, hit, null, null);
    else acts.connect(hit, from, Number(fromHandle.id), null);
  }
  /** @type {(connection: Connection) => void} */
  const onConnect = ({ source, target, targetHandle }) => acts.connect(Number(source), Number(target), Number(targetHandle), null);

  // The end of a wire is pulled off: to another argument, or to nowhere.
  let held = /** @type {Edge | null} */ (null);
  /** @type {(edge: Edge) => Argument} */
  const endOf = (edge) => {
    const [key, port] = wireEnd(edge.id);
    return { key, port };
  };
  /** @type {(edge: Edge, connection: Connection) => void} */
  const onReconnect = (edge, { target, targetHandle }) => {
    if (wireName(Number(target), Number(targetHandle)) !== edge.id) acts.connect(Number(edge.source), Number(target), Number(targetHandle), endOf(edge));
  };
  /** @type {(event: MouseEvent | TouchEvent, edge: Edge, type: string, state: FinalConnectionState) => void} */
  const onReconnectEnd = (event, edge, _type, { isValid }) => {
    held = null;
    if (isValid) return;
    const hit = keyUnder(surface, event);
    if (hit === null) acts.disconnect(endOf(edge));
    else if (hit !== Number(edge.source) && hit !== Number(edge.target)) acts.connect(Number(edge.source), hit, null, endOf(edge));
  };

  function draw() {
    const there = new Set(scene.blocks.map((block) => block.key));
    for (const key of nodes.keys()) if (!there.has(key)) nodes.delete(key);
    const [selected, wires] = [new Set(scene.selected), new Set(scene.wires)];
    const at = blockOf(scene.callout?.key);
    const callout = at && scene.callout && h("div", { className: "burlab-callout", style: { left: at.x, top: at.y + at.height / 2 + 6 } }, scene.callout.words);
    const properties = {
      nodes: scene.blocks.map(node), edges: scene.blocks.flatMap((block) => edgesOf(block, selected, wires, over, (key) => dragged.has(key))), nodeTypes: NODE_TYPES, edgeTypes: EDGE_TYPES,
      nodeOrigin: [0.5, 0.5], minZoom: 0.02, maxZoom: 4, onlyRenderVisibleElements: scene.blocks.length > MAX_DRAWN_BLOCKS,
      nodeDragThreshold: CLICK_PIXELS, nodeClickDistance: CLICK_PIXELS, paneClickDistance: CLICK_PIXELS,
      nodesFocusable: false, edgesFocusable: false, disableKeyboardA11y: true, selectNodesOnDrag: false, connectOnClick: false, zoomOnDoubleClick: false,
      deleteKeyCode: null, selectionKeyCode: null, multiSelectionKeyCode: null, panActivationKeyCode: null, zoomActivationKeyCode: null,
      selectionOnDrag: shift, panOnDrag: !shift, selectionMode: "partial", elevateNodesOnSelect: false, attributionPosition: "bottom-left",
      onInit: (/** @type {import("@xyflow/react").ReactFlowInstance} */ ready) => started(instance = ready), onNodesChange, onNodeDrag, onConnect, onConnectEnd, onReconnect, onReconnectEnd,
      onReconnectStart: (/** @type {unknown} */ _event, /** @type {Edge} */ edge) => (held = edge),
      onSelectionStart: () => (boxing = { before: scene.selected, inside: new Set() }),
      onSelectionEnd: () => (boxing = null),
      onPaneClick: (/** @type {MouseEvent} */ event) => adds(event) || acts.select([], []),
      onNodeClick: (/** @type {MouseEvent} */ event, /** @type {Node} */ { id }) =>
        adds(event) ? acts.select(toggled(scene.selected, Number(id)), scene.wires) : acts.select([Number(id)], []),
      onNodeDoubleClick: (/** @type {unknown} */ _event, /** @type {Node} */ { id }) => acts.open(Number(id)),
      onEdgeClick: (/** @type {MouseEvent} */ event, /** @type {Edge} */ { id }) =>
        adds(event) ? acts.select(scene.selected, toggled(scene.wires, id)) : acts.select([], [id]),
      onNodeDragStart: (/** @type {unknown} */ _event, /** @type {Node} */ { id }) => {
        if (!scene.selected.includes(Number(id))) acts.select([Number(id)], []);
      },
      onNodeDragStop: (/** @type {unknown} */ _event, /** @type {Node} */ { id }, /** @type {Node[]} */ moved) => {
        const [block, place] = [blockOf(Number(id)), dragged.get(Number(id))];
        const by = block && place ? { x: place.x - block.x, y: place.y - block.y } : null;
        if (block && by && over) acts.insert(block.key, over, by);
        else if (by) acts.move(moved.map((one) => Number(one.id)), by);
        over = null;
      },
    };
    const map = { key: "map", pannable: true, ariaLabel: "all of the graph", nodeColor: "var(--soft)", maskColor: "var(--mask)", style: { width: 120, height: 80 } };
    const inside = [scene.blocks.length >= MAPPED_BLOCKS && h(/** @type {any} */ (MiniMap), map), h(Background, { key: "ground", gap: 2 * GRID_PIXELS, size: 2, color: "var(--edge)" }), h(ViewportPortal, /** @type {any} */ ({ key: "callout" }), callout)];
    render(h(/** @type {any} */ (ReactFlow), properties, inside), surface);
  }

  surface.addEventListener("pointerdown", (event) => {
    if (!surface.contains(targetOf(event))) return;
    surface.focus({ preventScroll: true });
    pressed = instance?.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    if (shift === event.shiftKey) return;
    shift = event.shiftKey;
    draw();
  }, { capture: true, signal });
  // The mouse on a connected argument takes the end of its wire, and with Shift on the ground it does not move the view.
  surface.addEventListener("mousedown", (event) => {
    const port = /** @type {HTMLElement | null} */ (targetOf(event).closest(".burlab-port:not(.burlab-free)"));
    const block = /** @type {HTMLElement | null} */ (targetOf(event).closest("[data-key]"));
    const end = port && block && surface.querySelector(`[data-id="${wireName(Number(block.dataset.key), Number(port.dataset.port))}"] .react-flow__edgeupdater-target`);
    if (end && event.button === 0) {
      event.stopPropagation();
      end.dispatchEvent(new MouseEvent("mousedown", event));
    } else if (event.shiftKey && !block) event.stopPropagation();
  }, { capture: true, signal });
  const own = ownWheel(surface, signal);
  surface.addEventListener("wheel", (event) => own(event) || event.stopPropagation(), { capture: true, signal });

  return {
    draw(next) {
      scene = next;
      draw();
    },
    settle: () => dragged.clear(),
    close() {
      ending.abort();
      render(null, surface);
    },
  };
}
