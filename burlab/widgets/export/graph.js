// @ts-check
// A graph without a kernel: what GraphView requests of Python is answered from pictures that were laid out in advance.


/** @import { GraphData, GraphIntent, GraphState, GraphWords, View } from "../messages" */
import graphView from "../graph_view/view.js";

const ALONE = "This page has no kernel";

/** @type {(place: HTMLElement, data: GraphData) => void} */
export function buildGraph(place, data) {
  /** @type {(() => void)[]} */
  const listeners = [];
  let [at, note] = ["", ""];
  let selected = /** @type {number | null} */ (null);
  let focus = /** @type {GraphWords["focus"]} */ ([null, 0]);
  let found = { text: "", items: /** @type {GraphData["words"]} */ ([]), at: 0 };

  /** @type {(name: keyof GraphState) => any} */
  const get = (name) => {
    const state = data.states[at];
    if (name === "picture") return state.picture;
    if (name === "marks") return { ...state.marks, selected, found: found.items.map(([item]) => item) };
    const { title, count, groups, diff, backward } = data;
    return {
      title, count, groups, diff, backward, numbers: false, missing: ALONE, heat: "none", subjects: [], subject: "", sweep: null,
      search: { text: found.text, at: found.at, count: found.items.length }, focus, opened: state.opened,
      detail: selected === null ? null : (data.details[selected] ?? null), note,
    };
  };
  // The picture in which the inside of a group is seen, or of the nearest one around it that has a picture.
  const within = (/** @type {string | number} */ group) => {
    let inner = String(group);
    while (!(inner in data.states) && inner in data.parents) inner = data.parents[inner];
    return inner in data.states ? inner : "";
  };
  const isOpen = (/** @type {number} */ group) => data.states[at].picture.frames.some(([item]) => item === group);
  /** @type {{ [T in GraphIntent["type"]]?: (intent: Extract<GraphIntent, { type: T }>) => void }} */
  const acts = {
    toggle: ({ item }) => {
      at = within(isOpen(item) ? data.parents[item] : item);
      selected = item;
      focus = [item, focus[1] + 1];
    },
    select: ({ item }) => {
      selected = item;
    },
    open: () => {
      if ("all" in data.states) at = "all";
      else note = `${ALONE}, and all groups at once are too many for it: open one.`;
    },
    close: () => {
      at = "";
    },
    search: ({ text, by = 1 }) => {
      const words = text.trim().toLowerCase();
      if (words !== found.text) found = { text: words, items: words ? data.words.filter(([, all]) => all.includes(words)) : [], at: 0 };
      if (!found.items.length) return;
      const many = found.items.length;
      found.at = ((found.at - 1 + by + many) % many) + 1;
      const [item, , group] = found.items[found.at - 1];
      at = within(group);
      selected = item;
      focus = [item, focus[1] + 1];
    },
  };
  const send = (/** @type {GraphIntent} */ intent) => {
    note = "";
    /** @type {((intent: GraphIntent) => void) | undefined} */ (acts[intent.type])?.(intent);
    for (const then of listeners) then();
  };
  /** @type {View<GraphState, GraphIntent>["model"]} */
  const model = { get, send, on: (_names, then) => void listeners.push(then), off: () => {} };
  graphView.render({ model, el: place });
}
