"""Costs of the eager gear, as ratios within one run; limits are half of a quiet machine's ratios."""

import ctypes
import time
from collections.abc import Callable
from typing import Any

from micrograd import engine

from burlab.eager import Value
from burlab.runtime import address, declare

# The same tiny graph, differentiated on burlab's tape through calls that the optimiser cannot see through, and on a
# tape of the plainest kind: arrays, a switch, everything inlined.
TAPES = """
using burlab::Value;
Value add(Value x, Value y) { return x + y; }
Value subtract(Value x, Value y) { return x - y; }
Value multiply(Value x, Value y) { return x * y; }
Value squared(Value x) { return square(x); }
Value cubed(Value x) { return cube(x); }
Value halved(Value x) { return x * 0.5; }
Value leaf(burlab::Tape& tape, double x) { return Value(tape, x); }
void sweep(Value x) { x.backward(); }
Value (*volatile p_add)(Value, Value) = add;
Value (*volatile p_subtract)(Value, Value) = subtract;
Value (*volatile p_multiply)(Value, Value) = multiply;
Value (*volatile p_squared)(Value) = squared;
Value (*volatile p_cubed)(Value) = cubed;
Value (*volatile p_halved)(Value) = halved;
Value (*volatile p_leaf)(burlab::Tape&, double) = leaf;
void (*volatile p_sweep)(Value) = sweep;

double opaque(burlab::Tape& tape, double x, double y) {
  tape.rewind({0, 0});
  const Value a = p_leaf(tape, x), b = p_leaf(tape, y);
  const Value g = p_halved(p_squared(p_subtract(p_add(a, b), p_add(p_multiply(a, b), p_cubed(b)))));
  p_sweep(g);
  return g.data() + a.grad() + b.grad();
}

struct Plain {
  double value[64], gradient[64];
  int left[64], right[64], code[64], size = 0;
  BURLAB_INLINE int put(int op, double v, int x, int y) {
    value[size] = v, gradient[size] = 0, left[size] = x, right[size] = y, code[size] = op;
    return size++;
  }
  BURLAB_INLINE void sweep(int root) {
    gradient[root] = 1;
    for (int i = root; i >= 0; --i) {
      const double g = gradient[i];
      const int x = left[i], y = right[i];
      switch (code[i]) {
        case 1: gradient[x] += g; gradient[y] += g; break;
        case 2: gradient[x] += g; gradient[y] -= g; break;
        case 3: gradient[x] += g * value[y]; gradient[y] += g * value[x]; break;
        case 4: gradient[x] += 2 * g * value[x]; break;
        case 5: gradient[x] += 3 * g * value[x] * value[x]; break;
        case 6: gradient[x] += 0.5 * g; break;
        default: break;
      }
    }
  }
};
Plain plain;

double inlined(double x, double y) {
  Plain& t = plain;
  t.size = 0;
  const int a = t.put(0, x, 0, 0), b = t.put(0, y, 0, 0), c = t.put(1, x + y, a, b);
  const int m = t.put(3, x * y, a, b), q = t.put(5, y * y * y, b, b), d = t.put(1, t.value[m] + t.value[q], m, q);
  const int e = t.put(2, t.value[c] - t.value[d], c, d), f = t.put(4, t.value[e] * t.value[e], e, e);
  const int g = t.put(6, t.value[f] * 0.5, f, f);
  t.sweep(g);
  return t.value[g] + t.gradient[a] + t.gradient[b];
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}
extern "C" void @unit_measure(double* best, double* sums) {
  burlab::Tape tape;
  best[0] = best[1] = 1e30;
  for (int round = 0; round < 300; ++round) {
    const double start = now();
    for (int k = 0; k < 1000; ++k) sums[0] += opaque(tape, -41 + 1e-6 * k, 2 - 1e-6 * k);
    const double middle = now();
    for (int k = 0; k < 1000; ++k) sums[1] += inlined(-41 + 1e-6 * k, 2 - 1e-6 * k);
    const double end = now();
    best[0] = middle - start < best[0] ? middle - start : best[0];
    best[1] = end - middle < best[1] ? end - middle : best[1];
  }
}
"""


def test_opaque_calls_on_the_tape_cost_a_few_times_an_inlined_one():
    unit = declare(TAPES, ("burlab/burlab.hpp",), name="tapes")
    measure = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address(f"{unit}_measure"))
    best, sums = (ctypes.c_double * 2)(), (ctypes.c_double * 2)()
    measure(best, sums)
    assert abs(sums[0] / sums[1] - 1) < 1e-12
    assert best[0] / best[1] < 4.5


def tiny(value: Any) -> Callable[[], Any]:
    def run() -> tuple[float, float, float]:
        a, b = value(-41.0), value(2.0)
        d = a * b + b**3
        g = ((a + b) - d) ** 2 / 2
        g.backward()
        return g.data, a.grad, b.grad

    return run


def shortest(function: Callable[[], Any], calls: int, rounds: int = 200) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def test_python_builds_and_differentiates_many_times_faster_than_micrograd():
    ours, theirs = tiny(Value), tiny(engine.Value)
    assert ours() == theirs()
    assert shortest(theirs, 20) / shortest(ours, 200) > 22
