// @ts-check
// What a chart holds: numbers out of buffers, their extremes, and the point next to a place.
/** @import { Part, Scale, Span } from "./types" */
/** @import { ChartData, Heights, HeightsByName, Packed } from "../messages" */


// The numbers of a buffer: float64, as a view, a buffer, or base64 in a page without a kernel.
/** @type {(packed: Packed | Float64Array) => Float64Array} */
export function floats(packed) {
  if (packed instanceof Float64Array) return packed;
  const bytes = typeof packed === "string" ? Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0)) : packed;
  const [buffer, start, length] = bytes instanceof ArrayBuffer ? [bytes, 0, bytes.byteLength] : [bytes.buffer, bytes.byteOffset, bytes.byteLength];
  return start % 8 === 0 ? new Float64Array(buffer, start, length / 8) : new Float64Array(buffer.slice(start, start + length));
}

// The parts of a chart with their numbers unpacked. heights: of maps by name, where they come apart from the chart.
/** @type {(data: ChartData, heights?: Partial<HeightsByName>) => Part[]} */
export function unpacked(data, heights = {}) {
  /** @type {(series: any[], names: string[]) => any[]} */
  const lines = (series, names) => series.map((one) => ({ ...one, ...Object.fromEntries(names.map((name) => [name, floats(one[name])])) }));
  return data.parts.map((part) => {
    const field = part.kind === "map" ? (part.heights ?? heights[part.name]) : null;
    const plot = part.kind === "plot" ? part : null;
    return /** @type {Part} */ ({
      ...part,
      curves: lines(part.curves, ["x", "y"]),
      bands: lines(plot?.bands ?? [], ["x", "low", "high"]),
      dots: lines(part.dots, ["x", "y"]),
      marks: plot?.marks ?? [],
      heights: field ? { ...field, values: floats(field.values), shade: floats(field.shade) } : null,
    });
  });
}

// What the plots of one label have in common when they are zoomed; maps have axes of their own.
/** @type {(part: Part) => string} */
export const acrossOf = (part) => (part.kind === "map" ? `map ${part.name}` : `x ${part.x.label}`);
/** @type {(part: Part, one: { label: string }) => string} */
export const keyOf = (part, one) => `${part.name}/${one.label}`;
/** @type {(one: { label: string }, part: Part) => string} */
export const labelOf = (one, part) => one.label || part.title;

// Widens [low, high] by those of `values` that an axis can show, where `keep` (as many numbers) lie in a window.
/** @type {(span: Span, values: ArrayLike<number>, axis: { log?: boolean }, keep?: ArrayLike<number> | null, window?: Span | null) => Span} */
export function widen(span, values, axis, keep = null, window = null) {
  let [low, high] = span;
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (!(axis.log ? value > 0 && value < Infinity : Math.abs(value) < Infinity)) continue;
    if (keep && window && !(keep[k] >= window[0] && keep[k] <= window[1])) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// The position of the x nearest to a place, by pixels; -1 where there is none.
/** @type {(x: Float64Array, y: Float64Array, scale: Scale, pixel: number) => number} */
export function nearest(x, y, scale, pixel) {
  let best = -1;
  let least = Infinity;
  for (let k = 0; k < x.length; k++) {
    if (Number.isNaN(y[k])) continue;
    const away = Math.abs(scale.at(x[k]) - pixel);
    if (away < least) [best, least] = [k, away];
  }
  return best;
}

// The ends of an axis of a map, which are given.
/** @type {(axis: { low: number | null, high: number | null }) => { low: number, high: number }} */
export const endsOf = ({ low, high }) => ({ low: Number(low), high: Number(high) });

// A field of heights between its points; NaN outside.
/** @type {(map: { x: { low: number, high: number }, y: { low: number, high: number }, heights: Heights }, x: number, y: number) => number} */
export function heightAt(map, x, y) {
  const { rows, columns, values } = map.heights;
  const u = ((x - map.x.low) / (map.x.high - map.x.low)) * (columns - 1);
  const v = ((y - map.y.low) / (map.y.high - map.y.low)) * (rows - 1);
  if (!(u >= 0 && v >= 0 && u <= columns - 1 && v <= rows - 1)) return NaN;
  const [i, j] = [Math.min(Math.floor(u), columns - 2), Math.min(Math.floor(v), rows - 2)];
  const at = (/** @type {number} */ row, /** @type {number} */ column) => values[row * columns + column];
  const [a, b] = [u - i, v - j];
  return (1 - b) * ((1 - a) * at(j, i) + a * at(j, i + 1)) + b * ((1 - a) * at(j + 1, i) + a * at(j + 1, i + 1));
}
