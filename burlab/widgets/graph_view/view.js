// @ts-check
// A graph to inspect. Python owns what is open, where it stands and all words; this draws them and sends intents.

import { graphScene } from "./scene.js";
import { detailPanel, legend, sweepPanel } from "./words.js";
/** @import { GraphIntent, GraphState, View } from "../messages" */
/** @import { Scene } from "./scene.js" */
import { find, keepKeys, onChange, sender, showIn, targetOf } from "../dom.js";
import { surface } from "../surface/surface.js";

/** @type {Record<string, string>} */
const BUTTON = {
  "zoom in": "M7 2v10M2 7h10", "zoom out": "M2 7h10", "fit": "M1.5 5V1.5H5M9 1.5h3.5V5M12.5 9v3.5H9M5 12.5H1.5V9",
  "previous": "M9 2L4 7l5 5", "next": "M5 2l5 5-5 5", "to the start": "M3 2v10M11 2L6 7l5 5", "to the end": "M11 2v10M3 2l5 5-5 5",
};
const READABLE_SCALE = 0.65; // pixels per unit: a picture that would be smaller is shown from its beginning, in a size that can be read
const SEARCH_AFTER = 250; // milliseconds without a letter
const MIN_LONG_PIXELS = 640; // pixels of a picture that is given the whole width, if it is three times as long as high
const ICON = "http://www.w3.org/2000/svg";

/** @type {(name: string, hint?: string) => string} */
const iconButton = (name, hint = name) => `<button type="button" data-act="${name}" aria-label="${name}" title="${hint}">` +
  `<svg xmlns="${ICON}" viewBox="0 0 14 14" aria-hidden="true"><path d="${BUTTON[name]}"/></svg></button>`;

const HTML = `
<div class="burlab-gone" role="alert">The kernel of this view is gone: it was restarted or shut down. Run this cell again.</div>
<div class="burlab-tools" role="toolbar" aria-label="graph">
  <span class="burlab-pair"><input class="burlab-search" type="search" aria-label="search" placeholder="search: operation, name, line"
    title="Enter goes to the next, shift Enter to the one before"><output class="burlab-hits" aria-live="polite"></output></span>
  <span class="burlab-pair">${iconButton("zoom out", "zoom out (−)")}${iconButton("zoom in", "zoom in (+)")}${iconButton("fit", "all of it, or its beginning where all could not be read (0)")}</span>
  <span class="burlab-pair"><button type="button" data-act="open" title="Open all groups">Open all</button><button type="button"
    data-act="close" title="Close all groups">Close all</button></span>
  <select class="burlab-subject" aria-label="graph of"></select>
  <label class="burlab-check"><input type="checkbox" class="burlab-numbers">numbers</label>
  <select class="burlab-heat" aria-label="colour by"><option value="none">colour: phase</option><option value="gradient">colour: |gradient|</option>
    <option value="time">colour: time</option><option value="bytes">colour: bytes</option><option value="digits">colour: digits</option></select>
</div>
<div class="burlab-note" role="status"></div>
<div class="burlab-stage"><div class="burlab-sheet"></div><div class="burlab-detail" role="region" aria-label="selected" tabindex="0"></div></div>
<div class="burlab-keys"></div>
<div class="burlab-sweep" role="group" aria-label="sweep">
  <span class="burlab-pair">${iconButton("to the start")}${iconButton("previous", "one step back (arrow left)")}${iconButton("next", "one step on (arrow right)")}${iconButton("to the end")}</span>
  <input type="range" aria-label="step of the sweep" min="0" max="0" value="0">
  <div class="burlab-step" aria-live="polite"></div>
</div>`;

/** @type {(view: View<GraphState, GraphIntent>) => () => void} */
function render({ model, el }) {
  const part = (/** @type {string} */ selector) => find(el, selector);
  let chosen = /** @type {number | null} */ (null); // by an arrow, until Python confirms it: the next arrow goes on from there
  const sendToPython = sender(model);
  const send = (/** @type {GraphIntent} */ message) => {
    chosen = null;
    sendToPython(message);
  };
  el.classList.add("burlab-graphview");
  const releaseKeys = keepKeys(el);
  el.innerHTML = HTML;
  let scene = /** @type {Scene | null} */ (null);
  const canvas = part(".burlab-sheet");
  const surf = surface(canvas, { label: "graph", onView: (view) => scene?.onView(view), least: READABLE_SCALE });
  const shownScene = graphScene(surf.scene, surf.seen);
  scene = shownScene;
  const showDetail = detailPanel(part(".burlab-detail"));
  const showSweep = sweepPanel(part(".burlab-step"));
  const [search, slider, subject, numbers, heat] =
    [".burlab-search", ".burlab-sweep [type=range]", ".burlab-subject", ".burlab-numbers", ".burlab-heat"].map(part);

  // ---- drawing
  let focused = 0;
  let shown = "";
  let refits = false; // whether all was opened or closed, and the next picture is fitted as a whole
  function fit(/** @type {boolean} */ glide) {
    const { width, height } = model.get("picture");
    surf.fit({ x: 0, y: 0, width, height }, glide);
  }
  function drawPicture() {
    const picture = model.get("picture");
    const key = JSON.stringify(picture);
    if (key === shown) return;
    const first = shown === "";
    shown = key;
    if (first) part(".burlab-stage").classList.toggle("burlab-long", picture.width > Math.max(MIN_LONG_PIXELS, 3 * picture.height));
    canvas.style.setProperty("--tall", `${Math.round(Math.min(Math.max(picture.height + 50, 180), 460))}px`);
    shownScene.draw(picture);
    shownScene.onView(surf.view);
    if (first) requestAnimationFrame(() => fit(false));
    else if (refits) fit(true);
    else surf.measure({ x: 0, y: 0, width: picture.width, height: picture.height });
    refits = false;
  }
  function draw() {
    const words = model.get("words");
    const marks = model.get("marks");
    drawPicture();
    if (marks.selected === chosen) chosen = null;
    shownScene.mark(marks);
    showDetail(words.detail);
    showSweep(words.sweep);
    legend(part(".burlab-keys"), words, model.get("picture"), marks);
    part(".burlab-note").textContent = words.note || (words.diff ? words.title : "");
    const { text, at, count } = words.search;
    part(".burlab-hits").textContent = text ? (count ? `${at} of ${count.toLocaleString("en")}` : "nothing found") : "";
    subject.hidden = words.subjects.length < 2;
    if (subject.options.length !== words.subjects.length) {
      subject.replaceChildren(...words.subjects.map((name) => new Option(name, name)));
    }
    showIn(subject, words.subject);
    showIn(numbers, words.numbers, "checked");
    numbers.disabled = heat.options[1].disabled = heat.options[2].disabled = heat.options[4].disabled = words.missing !== "";
    numbers.parentElement.title = words.missing || "values and gradients in the boxes";
    showIn(heat, words.heat);
    part("[data-act=open]").disabled = words.groups === words.opened;
    part("[data-act=close]").disabled = words.opened === 0;
    part(".burlab-sweep").hidden = words.missing !== "";
    slider.max = words.sweep?.length ?? 0;
    slider.disabled = !words.sweep;
    showIn(slider, words.sweep?.done ?? 0);
    slider.style.setProperty("--part", words.sweep ? words.sweep.done / words.sweep.length : 0);
    slider.style.setProperty("--turn", words.sweep ? words.sweep.forward / words.sweep.length : 1);
    const [item, times] = words.focus;
    const target = shownScene.place(item);
    if (times !== focused && target) surf.show(target);
    focused = times;
    el.dataset.ready = "true"; // the mark that tests wait for
    el.dataset.boxes = String(shownScene.items().length);
  }

  // ---- requests
  function openOrClose(/** @type {"open" | "close"} */ type) {
    refits = true;
    send({ type });
  }
  /** @type {Record<string, () => void>} */
  const acts = {
    "zoom in": () => surf.zoom(1.25),
    "zoom out": () => surf.zoom(0.8),
    fit: () => fit(true),
    open: () => openOrClose("open"),
    close: () => openOrClose("close"),
    next: () => send({ type: "step", by: 1 }),
    previous: () => send({ type: "step", by: -1 }),
    "to the start": () => send({ type: "seek", done: 0 }),
    "to the end": () => send({ type: "seek", done: 1e9 }),
  };
  for (const one of el.querySelectorAll("[data-act]")) one.addEventListener("click", acts[one.getAttribute("data-act") ?? ""]);
  search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") send({ type: "search", text: search.value, by: event.shiftKey ? -1 : 1 });
    if (event.key === "Escape") surf.svg.focus();
  });
  let typing = 0;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      if (search.value.trim() !== model.get("words").search.text) send({ type: "search", text: search.value });
    }, SEARCH_AFTER);
  });
  subject.addEventListener("change", () => {
    shown = ""; // another graph: it is fitted anew
    send({ type: "subject", name: subject.value });
  });
  numbers.addEventListener("change", () => send({ type: "numbers", on: numbers.checked }));
  heat.addEventListener("change", () => {
    if (heat.value === "time") part(".burlab-note").textContent = "Compiling and measuring ...";
    send({ type: "heat", name: heat.value });
  });
  slider.addEventListener("change", () => send({ type: "seek", done: Number(slider.value) }));

  const itemAt = (/** @type {Event} */ event) => targetOf(event).closest?.("[data-item]");
  surf.svg.addEventListener("click", (event) => {
    const there = itemAt(event);
    if (!there) return;
    const item = Number(there.dataset.item);
    const inFrame = there.classList.contains("burlab-frame");
    if (inFrame && !targetOf(event).closest(".burlab-title")) return;
    const group = inFrame || there.classList.contains("group");
    send({ type: group && !event.shiftKey ? "toggle" : "select", item });
  });
  surf.svg.addEventListener("dblclick", (event) => {
    if (!itemAt(event)) fit(true);
  });
  surf.svg.addEventListener("pointerover", (event) => shownScene.point(itemAt(event)?.dataset.item ?? null));
  surf.svg.addEventListener("pointerleave", () => shownScene.point(null));

  function choose(/** @type {number} */ by) {
    const items = shownScene.items();
    const at = items.indexOf(chosen ?? model.get("marks").selected ?? -1);
    const next = items[at < 0 ? 0 : (at + by + items.length) % items.length];
    send({ type: "select", item: next });
    chosen = next;
    const place = shownScene.place(next);
    if (place) surf.show(place);
  }
  // Keys belong to the view while it has the focus; fields keep theirs.
  el.addEventListener("keydown", (event) => {
    const target = targetOf(event);
    if (target.matches("input, select, pre, .burlab-detail") && target.type !== "checkbox") return;
    const { selected } = model.get("marks");
    if (event.key === "/") search.focus();
    else if (event.key === "ArrowRight" && !event.shiftKey) acts.next();
    else if (event.key === "ArrowLeft" && !event.shiftKey) acts.previous();
    else if (event.key === "ArrowDown" && !event.shiftKey) choose(1);
    else if (event.key === "ArrowUp" && !event.shiftKey) choose(-1);
    else if (event.key === "Enter" && target === surf.svg && selected !== null) send({ type: "toggle", item: selected });
    else if (event.key === "Escape") send({ type: "select", item: null });
    else {
      surf.key(event);
      return;
    }
    event.preventDefault();
  });

  const stop = onChange(model, ["picture", "marks", "words"], draw);
  draw();
  return () => {
    clearTimeout(typing);
    releaseKeys();
    stop();
    surf.close();
  };
}

export default { render };
