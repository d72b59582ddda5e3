// @ts-check
// The keyboard of a panel: space plays and pauses, arrows go one step, with shift ten. A race has it, too.


const TEXT = "input:not([type=range]), textarea, [contenteditable=true]";
const TURNED = ".burlab-knob input[type=range], .burlab-smoothing"; // arrows are theirs

// playing: whether the run plays now. back: whether there is a way back. Gives what ends the listening.
export function onPanelKeys(el, act, playing, back = true) {
  const ending = new AbortController();
  const on = (type, then) => el.addEventListener(type, then, { capture: true, signal: ending.signal });
  let pressed = false; // whether what has the focus got it from the mouse: a button keeps its own keys for the others
  el.tabIndex = -1;
  on("pointerdown", (event) => {
    pressed = true;
    if (!event.target.closest("input, select, button, canvas, summary")) el.focus({ preventScroll: true });
  });
  const acts = {
    " ": () => act({ type: playing() ? "pause" : "play" }),
    ArrowRight: (count) => act({ type: "step", count }),
    ...(back ? { ArrowLeft: (count) => act({ type: "rewind", count }) } : {}),
  };
  const meant = ({ key, target, ctrlKey, metaKey, altKey }) => {
    if (!acts[key] || ctrlKey || metaKey || altKey || target.closest(TEXT)) return false;
    if (key === " ") return pressed || !target.closest("button, select, summary");
    return !target.closest(TURNED) && (pressed || !target.closest("select, canvas"));
  };
  on("keydown", (event) => {
    if (event.key === "Tab") pressed = false;
    if (!meant(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key !== " " || !event.repeat) acts[event.key](event.shiftKey ? 10 : 1);
  });
  on("keyup", (event) => {
    if (event.key === " " && meant(event)) event.preventDefault(); // else it presses a button
  });
  return () => ending.abort();
}
