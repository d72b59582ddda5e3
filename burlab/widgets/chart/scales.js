// @ts-check
// Axes: positions of values, values with labels, and the format of numbers.
/** @import { Scale, Scaling, Span, Tick } from "./types" */


/** @type {[factor: number, prefix: string][]} */
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"]];
/** @type {Record<string, string>} */
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const DECADES_PER_LABEL = [1, 2, 3, 5, 6, 9, 10, 15, 20, 30, 50, 60, 90, 100, 150]; // from one label to the next
const MIN_POSITIVE = 5e-324; // the least positive number: 0 ends no axis of logarithms
const MAX_PIXEL = 1e5; // pixels: beyond any canvas, and small enough for its arithmetic

/** @type {(text: string) => string} */
const minus = (text) => text.replace("-", "−");

// A number as people read it, in at most so many significant digits.
/** @type {(value: number | null, unit?: string, digits?: number) => string} */
export function formatNumber(value, unit = "", digits = 4) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (unit) return `${prefixed(value, Math.min(digits, 3))}${unit}`;
  if (Number.isInteger(value) && Math.abs(value) < 1e12) return minus(value.toLocaleString("en"));
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return minus(`${Number(mantissa)}e${minus(String(Number(power)))}`);
  }
  return minus(String(Number(value.toPrecision(digits))));
}

// With an SI prefix, and the space before the unit.
/** @type {(value: number, digits: number) => string} */
function prefixed(value, digits) {
  if (value === 0) return "0 ";
  const size = Math.abs(value);
  const [factor, prefix] = PREFIXES.find(([least]) => size >= 0.9995 * least) ?? PREFIXES[PREFIXES.length - 1];
  return minus(`${Number((value / factor).toPrecision(digits))} ${prefix}`);
}

// An axis from pixel `from` to pixel `to`: `at` returns the pixel of a value, `back` the value of a pixel.
/** @type {(axis: Scaling, span: Span, from: number, to: number) => Scale} */
export function scaled(axis, [low, high], from, to) {
  const put = axis.log ? Math.log : (/** @type {number} */ value) => value;
  const per = (to - from) / (put(high) - put(low) || 1);
  const first = put(low);
  const floor = axis.log && axis.floor ? from + (put(axis.floor) - first) * per : NaN;
  /** @type {(value: number) => number} */
  const at = (value) => {
    if (axis.log && !(value > 0)) return value === 0 ? floor : NaN;
    return Math.max(-MAX_PIXEL, Math.min(MAX_PIXEL, from + (put(value) - first) * per));
  };
  /** @type {(pixel: number) => number} */
  const back = (pixel) => (axis.log ? Math.max(Math.exp(first + (pixel - from) / per), MIN_POSITIVE) : first + (pixel - from) / per);
  return { at, back, low, high, from, to };
}

// The labels of an axis, about `most` of them, and the faint lines between them.
// short: whole numbers are formatNumber with a prefix, as 10k, and not as a power. whole: there are no others.
/** @type {(axis: Scaling, span: Span, most: number, short?: boolean, whole?: boolean) => { labels: Tick[], between: number[] }} */
export function ticksOf(axis, [low, high], most, short = false, whole = false) {
  const ticks = axis.log ? logTicks(axis, low, high, most, short) : linearTicks(axis, low, high, most, whole);
  const { log, floor } = axis;
  if (log && floor && low <= floor) {
    ticks.labels = [{ value: floor, text: "0" }, ...ticks.labels.filter(({ value }) => value > floor * 1.5)];
    ticks.between = ticks.between.filter((value) => value > floor);
  }
  return ticks;
}

/** @type {(axis: Scaling, low: number, high: number, most: number, whole?: boolean) => { labels: Tick[], between: number[] }} */
function linearTicks({ unit }, low, high, most, whole) {
  let step = roundStep((high - low) / most);
  if (Math.floor(high / step) - Math.ceil(low / step) < 1) step = roundStep(0.4 * step); // one number is no scale
  step = Math.max(step, whole ? 1 : 0);
  /** @type {Tick[]} */
  const labels = [];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const [factor, prefix] = unit || largest >= 1e4 ? (PREFIXES.find(([least]) => largest >= least) ?? PREFIXES[PREFIXES.length - 1]) : [1, ""];
  const power = Math.floor(Math.log10(largest || 1));
  const powers = !unit && (largest < 1e-3 || largest >= 1e15);
  const by = powers ? 10 ** power : factor;
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / by) + 1e-9)));
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9 && labels.length < 50; k++) {
    const digits = minus((k * step / by).toFixed(decimals));
    const text = k === 0 ? "0" : powers ? `${digits}e${minus(String(power))}` : `${digits}${unit ? ` ${prefix}${unit}` : prefix}`;
    labels.push({ value: k * step, text });
  }
  return { labels, between: [] };
}

/** @type {(rough: number) => number} */
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10);
}

/** @type {(axis: Scaling, low: number, high: number, most: number, short: boolean) => { labels: Tick[], between: number[] }} */
function logTicks(axis, low, high, most, short) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const decades = Math.log10(high / low);
  if (decades < 1.6 || last - first < 1) {
    const found = severalPerDecade(low, high);
    if (found.length < 3) return linearTicks(axis, low, high, most);
    return { labels: found.map((value) => ({ value, text: power(value, axis.unit, short) })), between: [] };
  }
  const every = DECADES_PER_LABEL.find((step) => step >= (last - first + 1) / most && (!axis.unit || step % 3 === 0 || step === 1)) ?? 300;
  /** @type {Tick[]} */
  const labels = [];
  const between = /** @type {number[]} */ ([]);
  for (let k = first; k <= last; k++) {
    if (k % every === 0) labels.push({ value: 10 ** k, text: power(10 ** k, axis.unit, short) });
    else if (decades < 60) between.push(10 ** k);
  }
  return { labels, between };
}

/** @type {(low: number, high: number) => number[]} */
function severalPerDecade(low, high) {
  const found = /** @type {number[]} */ ([]);
  for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++) {
    for (const factor of [1, 2, 5]) {
      const value = Number(`${factor}e${k}`);
      if (value >= low * 0.9999 && value <= high * 1.0001) found.push(value);
    }
  }
  return found;
}

/** @type {(value: number, unit: string | undefined, short: boolean) => string} */
function power(value, unit, short) {
  if (unit) return `${prefixed(value, 3)}${unit}`;
  const exponent = Math.floor(Math.log10(value) + 1e-9);
  if (short && exponent >= 3) return prefixed(value, 3).replace(" ", "");
  if (exponent >= -3 && exponent <= 3) return String(Number(value.toPrecision(3)));
  const factor = Math.round(value / 10 ** exponent);
  return `${factor > 1 ? `${factor}·` : ""}10${[...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("")}`;
}

// The ends of an axis that shows values from `low` to `high`, with some room around them.
/** @type {(axis: Scaling, low: number, high: number, room?: number) => Span} */
export function withRoom(axis, low, high, room = 0.05) {
  if (!(low <= high)) return axis.log ? [0.1, 10] : [0, 1];
  if (axis.log) {
    if (low === high) return [Math.max(low / 2, MIN_POSITIVE), high * 2];
    const factor = (high / low) ** room;
    return Number.isFinite(factor) ? [Math.max(low / factor, MIN_POSITIVE), Math.min(high * factor, 1e308)] : [low, high];
  }
  const least = 1e-6 * Math.max(Math.abs(low), Math.abs(high)) || 1; // no more digits than fit
  const more = Math.max((high - low) * room, (least - (high - low)) / 2);
  return [low - more, high + more];
}
