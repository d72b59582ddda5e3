#pragma once
// A loop of known length over the elements of sequences, as defined in `burlab/graph/scan_nodes.py`.
#include "control.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// The descriptor of a scan, and the addresses that change from one iteration to the next.
///
/// Integers: iterations, whether the scan starts at the last element, numbers of carries, of sequences, of inputs and
/// of results of the body; bytes of each of these results; bytes of one element of each sequence; bytes from one
/// element of each stacked result to the next, 0 where it is not used; whether the values of each carry are stacked;
/// whether the body updates each carry in place; the body.
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
        stacks(strides + results - carries),
        updated(stacks + carries),
        body(*reinterpret_cast<const SubGraph*>(updated + carries)) {}

  const Int length;
  const bool reverse;
  const Int carries, sequences, inputs, results;
  const Int *bytes, *steps, *strides, *stacks, *updated;
  const SubGraph& body;
  const void** in = nullptr;
  void** to = nullptr;
  char* spare = nullptr;  // a second block for each carry: an iteration reads one and writes the other
  char* workspace = nullptr;

  /// The addresses and blocks lie at the start of the memory; the body uses the rest.
  void arrange(char* scratch) noexcept {
    in = reinterpret_cast<const void**>(scratch);
    to = reinterpret_cast<void**>(scratch) + inputs;
    spare = scratch + rounded(8 * (inputs + results));
    workspace = spare;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < carries; ++k) workspace += rounded(bytes[k]);
  }

  /// The index of the element that an iteration reads and writes.
  Int element(Int iteration) const noexcept { return reverse ? length - 1 - iteration : iteration; }

  static void copy(void* to, const void* from, Int count) noexcept {
    std::memcpy(to, from, static_cast<std::size_t>(count));
  }

  /// The memory of the next carries: the results in the last iteration, and where they are updated in place; else the
  /// stack if there is one, or the one of two blocks that is not read.
  void aim(Int iteration, void* const* out) const noexcept {
    char* block = spare;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < carries; ++k) {
      const bool last = iteration == length - 1 || updated[k] != 0;
      if (!last && stacks[k] != 0) to[k] = static_cast<char*>(out[results + k]) + element(iteration + 1) * bytes[k];
      else to[k] = last || (length - 1 - iteration) % 2 == 0 ? out[k] : block;
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
    if (scan.updated[k] != 0) {
      Scan::copy(out[k], in[k], scan.bytes[k]);
      scan.in[k] = out[k];
    } else if (scan.length == 0) Scan::copy(out[k], in[k], scan.bytes[k]);
    else if (scan.stacks[k] != 0)
      Scan::copy(static_cast<char*>(out[scan.results + k]) + scan.element(0) * scan.bytes[k], in[k], scan.bytes[k]);
  }
  StopPoll stop;
  for (Int iteration = 0; iteration < scan.length; ++iteration) {
    const Int at = scan.element(iteration);
    if (BURLAB_UNLIKELY(stop.requested())) return Stopped;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < scan.sequences; ++k)
      scan.in[scan.carries + k] = static_cast<const char*>(in[scan.carries + k]) + at * scan.steps[k];
    BURLAB_ONE_BY_ONE
    for (Int k = scan.carries; k < scan.results; ++k)
      scan.to[k] = static_cast<char*>(out[k]) + at * scan.strides[k - scan.carries];
    scan.aim(iteration, out);
    if (const Int outcome = scan.body.run(scan.in, scan.to, scan.workspace); BURLAB_UNLIKELY(outcome != Ok))
      return outcome;
    BURLAB_ONE_BY_ONE
    for (Int k = 0; k < scan.carries; ++k) scan.in[k] = scan.to[k];
  }
  return Ok;
}

}  // namespace burlab::kernels
BURLAB_END
