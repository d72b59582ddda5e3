// @ts-check
// The rows of a profile: sorted by a click on a title, grouped by scope, and linked with the chart above them.

import { keepKeys } from "../keys.js";

const COLUMNS = [
  ["nanoseconds", "time", "number"], ["nbytes", "bytes", "number"], ["name", "step", "text"], ["phase", "phase", "text"],
  ["shape", "shape", "text"], ["lines", "line", "text"], ["scope", "scope", "text"],
];
const MOST = 400; // rows that a page shows at once and stays quick

function render({ model, el }) {
  el.classList.add("burlab-profile");
  keepKeys(el);
  el.addEventListener("keydown", (event) => event.stopPropagation());
  let sort = { key: "", down: true };
  let grouped = false;
  const closed = new Set();
  const send = (message) => {
    try {
      model.send(message);
    } catch {
      // there is no kernel: rows are sorted all the same
    }
  };
  const make = (name, text = null, className = "") => {
    const made = document.createElement(name);
    if (text !== null) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const bar = make("div", null, "burlab-profile-bar");
  const group = Object.assign(make("input"), { type: "checkbox" });
  const label = make("label");
  label.append(group, " group by scope");
  const told = make("span");
  bar.append(label, told);
  const frame = make("div", null, "burlab-profile-frame");
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", "steps of the profile");
  const table = make("table");
  const head = make("thead");
  const body = make("tbody");
  table.append(head, body);
  frame.append(table);
  el.append(bar, frame);

  const heads = COLUMNS.map(([key, title, kind]) => {
    const cell = make("th", null, kind);
    const press = make("button", title);
    press.type = "button";
    press.addEventListener("click", () => {
      sort = { key, down: sort.key === key ? !sort.down : kind === "number" };
      draw();
    });
    cell.append(press);
    return cell;
  });
  const titles = make("tr");
  titles.append(make("th", "", "bar"), ...heads);
  head.append(titles);
  group.addEventListener("change", () => {
    grouped = group.checked;
    draw();
  });

  const time = (ns) => `${(ns / 1e3).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} µs`;
  const ordered = (rows) => {
    if (!sort.key) return rows;
    const by = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
    return [...rows].sort((a, b) => (sort.down ? -1 : 1) * by(a[sort.key], b[sort.key]));
  };

  function line(row, total) {
    const made = make("tr");
    made.dataset.row = row.index;
    const bar = make("td", null, "bar");
    const share = make("i");
    share.dataset.phase = row.phase;
    share.style.width = `${Math.max((110 * row.nanoseconds) / total, 1)}px`;
    bar.append(share);
    made.append(bar, make("td", time(row.nanoseconds), "number"), make("td", row.nbytes.toLocaleString("en"), "number"),
      ...["name", "phase", "shape", "lines", "scope"].map((key) => make("td", row[key], "text")));
    return made;
  }
  function scopeLine(scope, rows, total) {
    const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
    const made = line({ index: "", nanoseconds: sum("nanoseconds"), nbytes: sum("nbytes"), name: "", phase: "", shape: "",
      lines: "", scope: "" }, total);
    made.className = "burlab-scope";
    const press = make("button", `${closed.has(scope) ? "▸" : "▾"} ${scope || "no scope"} (${rows.length})`);
    press.type = "button";
    press.dataset.scope = scope;
    press.ariaExpanded = String(!closed.has(scope));
    press.addEventListener("click", () => {
      if (!closed.delete(scope)) closed.add(scope);
      draw();
      [...body.querySelectorAll("button")].find((one) => one.dataset.scope === scope)?.focus();
    });
    made.children[3].append(press);
    return made;
  }

  function draw() {
    const { rows, total, head: words } = model.get("data");
    heads.forEach((one, k) => {
      one.ariaSort = COLUMNS[k][0] !== sort.key ? "none" : sort.down ? "descending" : "ascending";
    });
    let lines = [];
    if (grouped) {
      const scopes = new Map();
      for (const row of rows) scopes.set(row.scope, [...(scopes.get(row.scope) ?? []), row]);
      const sums = [...scopes].map(([scope, mine]) => ({ scope, mine, name: scope, phase: "", shape: "", lines: "",
        nanoseconds: mine.reduce((all, row) => all + row.nanoseconds, 0), nbytes: mine.reduce((all, row) => all + row.nbytes, 0) }));
      for (const { scope, mine } of ordered(sums)) {
        lines.push(scopeLine(scope, mine, total));
        if (!closed.has(scope)) lines.push(...ordered(mine).map((row) => line(row, total)));
      }
    } else {
      lines = ordered(rows).map((row) => line(row, total));
    }
    told.textContent = `${words}${lines.length > MOST ? `, ${(lines.length - MOST).toLocaleString("en")} rows are not shown` : ""}`;
    body.replaceChildren(...lines.slice(0, MOST));
    mark();
    el.dataset.ready = "true"; // the mark that tests wait for
  }
  let pointed = -1; // the row whose span in the chart is under the mouse
  function mark() {
    const row = pointed >= 0 ? pointed : model.get("row");
    for (const one of body.children) one.classList.toggle("burlab-marked", row >= 0 && one.dataset.row === String(row));
  }
  let hovered = -1;
  let timer = 0;
  frame.addEventListener("pointerover", (event) => {
    const row = Number(event.target.closest("tr")?.dataset.row || -1);
    if (row < 0 || row === hovered) return;
    hovered = row;
    clearTimeout(timer);
    timer = setTimeout(() => send({ type: "hover", row }), 40);
  });
  // A span of the chart under the mouse marks its row, in the page alone: a line that came back would lie under the mouse.
  const ending = new AbortController();
  document.addEventListener("pointermove", (event) => {
    const place = event.target.closest?.(".burlab-profile-chart");
    const found = place?.parentElement?.contains(el) ? rowUnder(place.querySelector(".burlab-chart")?.chart) : -1;
    if (found === pointed) return;
    pointed = found;
    mark();
    if (found >= 0) table.querySelector(".burlab-marked")?.scrollIntoView({ block: "nearest" });
  }, { signal: ending.signal });
  function rowUnder(chart) {
    const part = chart?.hover && chart.parts.find(({ name }) => name === chart.hover.part);
    if (!part) return -1;
    const at = part.frame.sx.back(chart.hover.u) * 1e9;
    return model.get("data").rows.find(({ start, nanoseconds }) => start >= 0 && at >= start && at < start + nanoseconds)?.index ?? -1;
  }
  const follow = () => {
    mark();
    if (model.get("row") !== hovered) table.querySelector(".burlab-marked")?.scrollIntoView({ block: "nearest" });
  };
  model.on("change:data", draw);
  model.on("change:row", follow);
  draw();
  return () => {
    clearTimeout(timer);
    ending.abort();
    model.off("change:data", draw);
    model.off("change:row", follow);
  };
}

export default { render };
