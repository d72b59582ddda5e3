// The head of a run's panel: what plays the run, what it is doing, and the way back through its record.
// Python owns the state and the words; this draws them and sends intents.

const REFUSED = 1000; // milliseconds after which a field shows again what is, and not a text that was refused
const PAGE = String(performance.timeOrigin); // one per load of the page
const ICON = {
  play: "M3 1.5v11l9-5.5z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  step: "M2 2v10l6-5zM9.5 2H12v10H9.5z",
  steps: "M1 2v10l4.5-5zM5.5 2v10L10 7zM10.8 2H13v10h-2.2z",
  reset: "M2 2h2.2v10H2zM12 2v10L5 7z",
};
const SPEEDS = [[-1, "growing speed"], [0, "full speed"], [1000, "1,000 steps/s"], [100, "100 steps/s"], [10, "10 steps/s"], [1, "1 step/s"]];

const button = (intent, text, hint) =>
  `<button type="button" data-intent="${intent}" title="${hint}"><svg viewBox="0 0 14 14" aria-hidden="true">` +
  `<path d="${ICON[intent]}"/></svg>${text}</button>`;

const HTML = `
<div class="burlab-gone" role="alert">The kernel of this panel is gone: it was restarted or shut down.
  Run this cell again.</div>
<div class="burlab-bar" role="toolbar" aria-label="run">
  ${button("play", "Play", "Run until paused, or until a criterion stops it")}
  ${button("pause", "Pause", "Rest at the step reached")}
  ${button("step", "Step", "Do one step")}
  <span class="burlab-pair"><input class="burlab-count" aria-label="number of steps" inputmode="numeric" value="100">
  ${button("steps", "Step n", "Do so many steps")}</span>
  ${button("reset", "Reset", "Back to step 0; the record stays")}
  <button type="button" class="burlab-csv" title="Save the points of the curves that are shown">CSV</button>
  <select aria-label="step axis" class="burlab-axis" title="The axis of the steps in the plots">
    <option value="auto">steps: auto</option><option value="linear">steps: linear</option>
    <option value="log">steps: logarithmic</option></select>
  <select aria-label="speed" class="burlab-speed" title="How fast Play goes: a growing speed does ten times as many steps every five seconds">
    ${SPEEDS.map(([value, text]) => `<option value="${value}">${text}</option>`).join("")}</select>
</div>
<div class="burlab-status" role="status"><i></i><span></span><em></em></div>
<div class="burlab-seek"><span>step</span><input type="range" aria-label="step" min="0" max="0" step="1" value="0">
  <input class="burlab-at" aria-label="go to step" inputmode="numeric" value="0"><span class="burlab-length"></span></div>
<div class="burlab-readouts"></div>`;

// At most one message per `pause` milliseconds while something is dragged, and always the last one.
function throttled(send, pause = 60) {
  let waiting = null;
  let timer = 0;
  const fire = () => {
    timer = 0;
    if (waiting === null) return;
    send(waiting);
    waiting = null;
    timer = setTimeout(fire, pause);
  };
  return (message) => {
    waiting = message;
    if (!timer) fire();
  };
}

// Enter acts; Escape leaves the field with what it `was`, before anybody wrote in it.
// A listener, never `onkeydown = ...`: a handler set like that cancels the key where it returns false.
function onKeys(field, act, was) {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") act();
    if (event.key !== "Escape") return;
    field.value = was();
    field.blur();
  });
}

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2);
  const find = (selector) => el.querySelector(selector);
  const send = (message) => {
    try {
      model.send({ ...message, view });
    } catch {
      // there is no kernel: the page says so, see .burlab-gone
    }
  };
  el.classList.add("burlab-head");
  el.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take arrows and letters for its own
  el.addEventListener("keydown", (event) => event.stopPropagation());
  el.innerHTML = HTML;
  const [slider, at, count, axis, speed] =
    ["[type=range]", ".burlab-at", ".burlab-count", ".burlab-axis", ".burlab-speed"].map(find);
  const seek = throttled((step) => send({ type: "seek", step }));
  let dragged = false;

  const intents = {
    steps: () => send({ type: "step", count: count.value }),
    step: () => send({ type: "step", count: 1 }),
  };
  find(".burlab-csv").addEventListener("click", () => saveCurves(el.closest(".burlab-panel")));
  for (const one of el.querySelectorAll("button[data-intent]")) {
    const type = one.dataset.intent;
    one.addEventListener("click", intents[type] ?? (() => send({ type })));
  }
  let counted = count.value;
  count.addEventListener("change", () => (counted = count.value));
  onKeys(count, intents.steps, () => counted);
  axis.addEventListener("change", () => send({ type: "axis", value: axis.value }));
  speed.addEventListener("change", () => send({ type: "speed", value: Number(speed.value) }));
  slider.addEventListener("input", () => {
    dragged = true;
    at.value = slider.value;
    seek(Number(slider.value));
  });
  slider.addEventListener("change", () => {
    dragged = false;
    seek(Number(slider.value));
  });
  at.addEventListener("change", () => {
    send({ type: "seek", step: at.value });
    setTimeout(showStep, REFUSED);
  });
  onKeys(at, () => at.blur(), () => model.get("state").step);

  const showStep = () => {
    if (document.activeElement !== at && !dragged) at.value = model.get("state").step;
  };

  function draw() {
    const state = model.get("state");
    const { step, length, playing, tone } = state;
    find("[data-intent=play]").disabled = playing;
    find("[data-intent=pause]").disabled = !playing;
    find("[data-intent=reset]").disabled = step === 0 && !playing;
    find(".burlab-status").dataset.tone = tone;
    const words = find(".burlab-status span");
    if (words.textContent !== state.status) words.textContent = state.status;
    find(".burlab-status em").textContent = state.title;
    slider.max = length;
    slider.disabled = at.disabled = length === 0;
    if (!dragged) slider.value = step;
    slider.style.setProperty("--part", length ? slider.value / length : 0);
    showStep();
    if (document.activeElement !== speed) speed.value = state.speed;
    if (document.activeElement !== axis) axis.value = state.axis;
    find(".burlab-length").textContent = `of ${length.toLocaleString("en")}`;
    drawReadouts(find(".burlab-readouts"), state.readouts);
    el.dataset.ready = view; // the mark that tests wait for
    requestAnimationFrame(() => send({ type: "drawn", tick: state.tick }));
  }

  // Python draws for those who look.
  let seen = true;
  const tell = () => send({ type: "watch", page: PAGE, visible: seen && !document.hidden });
  const observer = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    tell();
  });
  // All of the panel: it is taller than many windows, and who turns a knob at its foot does not see its head.
  let watched = null;
  const watch = () => {
    const panel = el.closest(".burlab-panel") ?? el; // the page puts its parts together after this
    if (panel === watched) return;
    observer.disconnect();
    observer.observe((watched = panel));
  };
  watch();
  document.addEventListener("visibilitychange", tell);
  const pulse = setInterval(tell, 15000);

  // The plots fit themselves to the page when its window changes; they cannot see that only their cell does.
  let width = 0;
  let fitting = 0;
  const fit = new ResizeObserver(() => {
    watch();
    if (el.clientWidth === width || el.clientWidth === 0) return;
    width = el.clientWidth;
    clearTimeout(fitting);
    fitting = setTimeout(() => window.dispatchEvent(new Event("resize")), 60);
  });
  fit.observe(el);

  model.on("change:state", draw);
  draw();
  tell();
  return () => {
    observer.disconnect();
    fit.disconnect();
    clearInterval(pulse);
    document.removeEventListener("visibilitychange", tell);
    model.off("change:state", draw);
    send({ type: "leave" });
  };
}

// What the plots of a panel show now, as a file: a line per point, with the name of its curve.
function saveCurves(panel) {
  const curves = [...(panel?.querySelector(".js-plotly-plot")?.data ?? [])].filter((curve) => curve.type === "scatter");
  const quoted = (text) => `"${String(text ?? "").replaceAll('"', '""')}"`;
  const rows = curves.flatMap(({ name, x, y }) => Array.from(x ?? [], (at, k) => `${quoted(name)},${at},${y[k]}`));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([["curve,x,y", ...rows].join("\n") + "\n"], { type: "text/csv" }));
  link.download = "run.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

function drawReadouts(list, readouts) {
  if (list.childElementCount !== readouts.length) {
    list.innerHTML = "<div><span></span><b></b></div>".repeat(readouts.length);
  }
  readouts.forEach(([title, text], k) => {
    const [name, value] = list.children[k].children;
    if (name.textContent !== title) name.textContent = title;
    if (value.textContent !== text) value.textContent = text;
  });
}

export default { render };
