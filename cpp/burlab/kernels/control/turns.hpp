#pragma once
// A loop of known length over the elements of sequences: `burlab/graph/scan.py` says what it computes.
#include "control.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The descriptor of a scan, and the addresses that change from turn to turn.
///
/// Integers: turns, whether from the last element, numbers of carries, of sequences, of inputs and of results of the
/// body; bytes of each of these results; bytes of one element of each sequence; bytes from one element of each stacked
/// result to the next, 0 where nobody asks for it; whether the trail of each carry is asked for; the body.
struct Scan {
  explicit Scan(const Int* d)
      : length(d[0]),
        reverse(d[1] != 0),
        carries(d[2]),
        sequences(d[3]),
        inputs(d[4]),
        results(d[5]),
        bytes(d + 6),
        steps(bytes + results),
        strides(steps + sequences),
        trails(strides + results - carries),
        body(*reinterpret_cast<const Part*>(trails + carries)) {}

  const Int length;
  const bool reverse;
  const Int carries, sequences, inputs, results;
  const Int *bytes, *steps, *strides, *trails;
  const Part& body;
  const void** in = nullptr;
  void** to = nullptr;
  char* spare = nullptr;  // a second block for each carry: a turn reads one and writes the other
  char* workspace = nullptr;

  /// The addresses and blocks lie at the start of the memory, what is left is the body's.
  void arrange(char* scratch) noexcept {
    in = reinterpret_cast<const void**>(scratch);
    to = reinterpret_cast<void**>(scratch) + inputs;
    spare = scratch + rounded(8 * (inputs + results));
    workspace = spare;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < carries; ++k) workspace += rounded(bytes[k]);
  }

  /// The element that a turn reads, and at which it writes.
  Int element(Int turn) const noexcept { return reverse ? length - 1 - turn : turn; }

  static void copy(void* to, const void* from, Int count) noexcept {
    std::memcpy(to, from, static_cast<std::size_t>(count));
  }

  /// Where a turn writes the next carries: the last one to the results, one before it to the trail where there is one,
  /// else to that of two blocks which it does not read.
  void aim(Int turn, void* const* out) const noexcept {
    char* block = spare;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < carries; ++k) {
      const bool last = turn == length - 1;
      if (!last && trails[k] != 0) to[k] = static_cast<char*>(out[results + k]) + element(turn + 1) * bytes[k];
      else to[k] = last || (length - 1 - turn) % 2 == 0 ? out[k] : block;
      block += rounded(bytes[k]);
    }
  }
};

inline Int run_scan(const Int* d, void* const* out, const void* const* in, char* scratch) noexcept {
  Scan scan(d);
  scan.arrange(scratch);
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < scan.inputs; ++k) scan.in[k] = in[k];
  BURLAB_ONE_BY_ONE
  for (Int k = 0; k < scan.carries; ++k) {
    if (scan.length == 0) Scan::copy(out[k], in[k], scan.bytes[k]);
    else if (scan.trails[k] != 0)
      Scan::copy(static_cast<char*>(out[scan.results + k]) + scan.element(0) * scan.bytes[k], in[k], scan.bytes[k]);
  }
  Halting halting;
  for (Int turn = 0; turn < scan.length; ++turn) {
    const Int at = scan.element(turn);
    if (BURLAB_UNLIKELY(halting.rings())) return Stopped;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < scan.sequences; ++k)
      scan.in[scan.carries + k] = static_cast<const char*>(in[scan.carries + k]) + at * scan.steps[k];
    BURLAB_ONE_BY_ONE
    for (Int k = scan.carries; k < scan.results; ++k)
      scan.to[k] = static_cast<char*>(out[k]) + at * scan.strides[k - scan.carries];
    scan.aim(turn, out);
    if (const Int outcome = scan.body.run(scan.in, scan.to, scan.workspace); BURLAB_UNLIKELY(outcome != Ok))
      return outcome;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < scan.carries; ++k) scan.in[k] = scan.to[k];
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
