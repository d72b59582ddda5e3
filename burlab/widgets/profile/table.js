// @ts-check
// The rows of a profile: sorted by a click on a title, grouped by scope, and linked with the chart above them.

/** @import { Chart } from "../chart/types" */
/** @import { ProfileIntent, ProfileRow, ProfileState, View } from "../messages" */
import { button, element, keepKeys, sender, targetOf } from "../dom.js";

/** @type {[key: keyof ProfileRow, title: string, kind: string][]} */
const COLUMNS = [
  ["nanoseconds", "time", "number"], ["nbytes", "bytes", "number"], ["name", "step", "text"], ["phase", "phase", "text"],
  ["shape", "shape", "text"], ["lines", "line", "text"], ["scope", "scope", "text"],
];
const MAX_ROWS = 400; // that a page shows at once and stays quick
const HOVER_AFTER = 40; // milliseconds that the mouse must rest on a row

/** @type {(ns: number) => string} */
export const formatTime = (ns) => `${(ns / 1e3).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} µs`;

/** Return rows sorted by a column; as they are for the key "". @type {(rows: ProfileRow[], key: keyof ProfileRow | "", down: boolean) => ProfileRow[]} */
export function sorted(rows, key, down) {
  if (!key) return rows;
  const sign = down ? -1 : 1;
  return rows.toSorted(({ [key]: a }, { [key]: b }) =>
    sign * (typeof a === "number" ? a - Number(b) : a.localeCompare(String(b))));
}

/** Return a row of sums for each scope. @type {(rows: ProfileRow[]) => { sum: ProfileRow, members: ProfileRow[] }[]} */
export function byScope(rows) {
  return [...Map.groupBy(rows, ({ scope }) => scope)].map(([scope, members]) => {
    const total = (/** @type {"nanoseconds" | "nbytes"} */ key) => members.reduce((sum, row) => sum + row[key], 0);
    const sum = { index: -1, start: -1, nanoseconds: total("nanoseconds"), nbytes: total("nbytes"), name: scope, phase: "", shape: "", lines: "", scope };
    return { sum, members };
  });
}

/** @type {(view: View<ProfileState, ProfileIntent>) => () => void} */
function render({ model, el }) {
  el.classList.add("burlab-profile");
  const releaseKeys = keepKeys(el);
  const send = sender(model);
  let sort = { key: /** @type {keyof ProfileRow | ""} */ (""), down: true };
  let grouped = false;
  const closed = new Set();

  const bar = element("div", "burlab-profile-bar", el);
  const label = element("label", "", bar);
  const group = element("input", "", label, { type: "checkbox" });
  label.append(" group by scope");
  const summary = element("span", "", bar);
  const frame = element("div", "burlab-profile-frame", el, { tabIndex: 0, role: "region", ariaLabel: "steps of the profile" });
  const table = element("table", "", frame);
  const titles = element("tr", "", element("thead", "", table));
  const body = element("tbody", "", table);
  element("td", "bar", titles);
  const heads = COLUMNS.map(([key, title, kind]) => {
    const cell = element("th", kind, titles);
    button(cell, title, "", () => {
      sort = { key, down: sort.key === key ? !sort.down : kind === "number" };
      draw();
    });
    return cell;
  });
  group.addEventListener("change", () => {
    grouped = group.checked;
    draw();
  });

  function line(/** @type {ProfileRow} */ row, /** @type {number} */ total) {
    const created = element("tr");
    created.dataset.row = String(row.index);
    const share = element("i", "", element("td", "bar", created));
    share.dataset.phase = row.phase;
    share.style.width = `${Math.max((110 * row.nanoseconds) / total, 1)}px`;
    for (const [key, , kind] of COLUMNS) {
      const text = key === "nanoseconds" ? formatTime(row.nanoseconds) : row[key].toLocaleString("en");
      element("td", kind, created, { textContent: text });
    }
    return created;
  }
  function scopeLine(/** @type {ProfileRow} */ sum, /** @type {number} */ count, /** @type {number} */ total) {
    const { scope } = sum;
    const created = line({ ...sum, name: "", scope: "" }, total);
    created.className = "burlab-scope";
    const toggle = button(created.children[3], `${closed.has(scope) ? "▸" : "▾"} ${scope || "no scope"} (${count})`, "", () => {
      if (!closed.delete(scope)) closed.add(scope);
      draw();
      [...body.querySelectorAll("button")].find((one) => one.dataset.scope === scope)?.focus();
    });
    toggle.dataset.scope = scope;
    toggle.ariaExpanded = String(!closed.has(scope));
    return created;
  }

  function draw() {
    const { rows, total, head } = model.get("data");
    const ordered = (/** @type {ProfileRow[]} */ some) => sorted(some, sort.key, sort.down);
    heads.forEach((one, k) => {
      one.ariaSort = COLUMNS[k][0] !== sort.key ? "none" : sort.down ? "descending" : "ascending";
    });
    let lines = [];
    if (grouped) {
      const scopes = byScope(rows);
      for (const sum of ordered(scopes.map((one) => one.sum))) {
        const members = scopes.find((one) => one.sum === sum)?.members ?? [];
        lines.push(scopeLine(sum, members.length, total));
        if (!closed.has(sum.scope)) lines.push(...ordered(members).map((row) => line(row, total)));
      }
    } else {
      lines = ordered(rows).map((row) => line(row, total));
    }
    summary.textContent = `${head}${lines.length > MAX_ROWS ? `, ${(lines.length - MAX_ROWS).toLocaleString("en")} rows are not shown` : ""}`;
    body.replaceChildren(...lines.slice(0, MAX_ROWS));
    mark();
    el.dataset.ready = "true"; // the mark that tests wait for
  }
  let pointed = -1; // the row whose span in the chart is under the mouse
  function mark() {
    const row = pointed >= 0 ? pointed : model.get("row");
    for (const one of body.rows) one.classList.toggle("burlab-marked", row >= 0 && one.dataset.row === String(row));
  }
  const showMarked = () => table.querySelector(".burlab-marked")?.scrollIntoView({ block: "nearest" });
  let hovered = -1;
  let timer = 0;
  frame.addEventListener("pointerover", (event) => {
    const row = Number(targetOf(event).closest("tr")?.dataset.row || -1);
    if (row < 0 || row === hovered) return;
    hovered = row;
    clearTimeout(timer);
    timer = setTimeout(() => send({ type: "hover", row }), HOVER_AFTER);
  });
  // A span of the chart under the mouse marks its row, in the page alone: a line that came back would lie under the mouse.
  const ending = new AbortController();
  document.addEventListener("pointermove", (event) => {
    const place = targetOf(event).closest?.(".burlab-profile-chart");
    const found = place?.parentElement?.contains(el) ? rowUnder(place.querySelector(".burlab-chart")?.chart) : -1;
    if (found === pointed) return;
    pointed = found;
    mark();
    if (found >= 0) showMarked();
  }, { signal: ending.signal });
  function rowUnder(/** @type {Chart | undefined} */ chart) {
    const hover = chart?.hover;
    const part = hover && chart?.parts.find(({ name }) => name === hover.part);
    if (!part) return -1;
    const at = part.frame.sx.back(hover.u) * 1e9;
    return model.get("data").rows.find(({ start, nanoseconds }) => start >= 0 && at >= start && at < start + nanoseconds)?.index ?? -1;
  }
  const onRow = () => {
    mark();
    if (model.get("row") !== hovered) showMarked();
  };
  model.on("change:data", draw);
  model.on("change:row", onRow);
  draw();
  return () => {
    clearTimeout(timer);
    ending.abort();
    releaseKeys();
    model.off("change:data", draw);
    model.off("change:row", onRow);
  };
}

export default { render };
