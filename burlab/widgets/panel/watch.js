// @ts-check
// What a panel tells Python: whether it is seen.

const PAGE = String(performance.timeOrigin); // one per load of the page
const PULSE = 15000; // milliseconds between two signs of life

// Python draws for those who look. Gives what ends it.
export function onSight(el, send) {
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
