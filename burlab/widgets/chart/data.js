// @ts-check
// What a chart holds: numbers out of buffers, their extremes, and the point next to a place.


// The numbers of a buffer: float64, as a view, a buffer, or base64 in a page without a kernel.
export function floats(packed) {
  if (packed instanceof Float64Array) return packed;
  const bytes = typeof packed === "string" ? Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0)) : packed;
  const [buffer, start, length] = bytes instanceof ArrayBuffer ? [bytes, 0, bytes.byteLength] : [bytes.buffer, bytes.byteOffset, bytes.byteLength];
  return start % 8 === 0 ? new Float64Array(buffer, start, length / 8) : new Float64Array(buffer.slice(start, start + length));
}

// The parts of a chart with their numbers unpacked. heights: of maps by name, where they come apart from the chart.
export function unpacked(data, heights = {}) {
  const lines = (found, names) => found.map((one) => ({ ...one, ...Object.fromEntries(names.map((name) => [name, floats(one[name])])) }));
  return data.parts.map((part) => {
    const field = part.heights ?? heights[part.name];
    return {
      ...part,
      curves: lines(part.curves, ["x", "y"]),
      bands: lines(part.bands ?? [], ["x", "low", "high"]),
      dots: lines(part.dots, ["x", "y"]),
      marks: part.marks ?? [],
      heights: field ? { ...field, values: floats(field.values), shade: floats(field.shade) } : null,
    };
  });
}

// What the plots of one label have in common when they are zoomed; maps have axes of their own.
export const acrossOf = (part) => (part.kind === "map" ? `map ${part.name}` : `x ${part.x.label}`);
export const labelOf = (one, part) => one.label || part.title;

// Widens [low, high] by those of `values` that an axis can show, where `keep` (numbers beside them) lie in a window.
export function widen(span, values, axis, keep = null, window = null) {
  let [low, high] = span;
  for (let k = 0; k < values.length; k++) {
    const value = values[k];
    if (!(axis.log ? value > 0 && value < Infinity : Math.abs(value) < Infinity)) continue;
    if (window && !(keep[k] >= window[0] && keep[k] <= window[1])) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

// The position of the x nearest to a place, by pixels; -1 where there is none.
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

// A field of heights between its points; NaN outside.
export function heightAt(map, x, y) {
  const { rows, columns, values } = map.heights;
  const u = ((x - map.x.low) / (map.x.high - map.x.low)) * (columns - 1);
  const v = ((y - map.y.low) / (map.y.high - map.y.low)) * (rows - 1);
  if (!(u >= 0 && v >= 0 && u <= columns - 1 && v <= rows - 1)) return NaN;
  const [i, j] = [Math.min(Math.floor(u), columns - 2), Math.min(Math.floor(v), rows - 2)];
  const at = (row, column) => values[row * columns + column];
  const [a, b] = [u - i, v - j];
  return (1 - b) * ((1 - a) * at(j, i) + a * at(j, i + 1)) + b * ((1 - a) * at(j + 1, i) + a * at(j + 1, i + 1));
}
