// What a panel tells others: Python, whether it is seen; and those who do not see it, what happens.

const PAGE = String(performance.timeOrigin); // one per load of the page
const PULSE = 15000; // milliseconds between two signs of life
const QUIET = 4000; // milliseconds between two things that are said aloud

// Python draws for those who look. Gives what ends it.
function onSight(el, send) {
  let seen = true;
  const tell = () => send({ type: "watch", page: PAGE, visible: seen && !document.hidden });
  const observer = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    tell();
  });
  observer.observe(el);
  document.addEventListener("visibilitychange", tell);
  const pulse = setInterval(tell, PULSE);
  tell();
  return () => {
    observer.disconnect();
    clearInterval(pulse);
    document.removeEventListener("visibilitychange", tell);
  };
}

// A line for screen readers: says where the run is when that changes in kind, and not with every step.
function buildVoice(el) {
  const line = element("div", "burlab-voice", el);
  line.role = "status";
  let [told, last, timer] = ["", -Infinity, 0];
  return ({ tone, status }) => {
    const text = tone === "running" ? "Running" : status;
    if (text === told) return;
    told = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = performance.now();
      say(line, told);
    }, Math.max(300, last + QUIET - performance.now()));
  };
}
