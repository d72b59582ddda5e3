// Scans over hand-written bodies: every length, from either end, with and without results that are not used, in exactly
// the memory that they are promised.
#include <cstdint>
#include <cstring>
#include <vector>

#include "burlab/kernels/control/scan.hpp"
#include "expect.hpp"

using namespace burlab;

namespace {

using Int = std::int64_t;
template <class T> const T& at(const void* place) { return *static_cast<const T*>(place); }
template <class T> T& to(void* place) { return *static_cast<T*>(place); }

// The carries a, b change places, the new one is b + x scale; stacked is a.
Int body(const void*, const void* const* in, void* const* out, void* workspace) noexcept {
  std::memset(workspace, 1, 64);  // uses all that it was promised
  to<double>(out[0]) = at<double>(in[1]) + at<double>(in[2]) * at<double>(in[3]);
  to<double>(out[1]) = at<double>(in[0]);  // and reads after it has written
  to<double>(out[2]) = at<double>(in[0]);
  return at<double>(in[2]) < 100 ? Int{Ok} : IndexOutOfRange | 3 << 8;
}

/// Two carries, one sequence, one value from around; one stacked result, and both carries stacked.
struct Scan {
  Int length;
  bool reverse, stack_results, stack_carries;
  std::vector<double> x, ends{0, 0}, stacked, stack_a, stack_b;
  double spare = 0;
  double start[2] = {1, 2}, scale = 0.5;

  Int run() {
    const Int rows = stack_results ? 8 : 0, used = stack_carries ? 1 : 0;
    const std::vector<Int> descriptor{
        length, reverse, 2, 1, 4, 3, 8, 8, 8, 8, rows, used, used, 0, 0, reinterpret_cast<Int>(body), 0, 20};
    const auto size = static_cast<std::size_t>(length);
    stacked.assign(stack_results ? size : 0, -1);
    stack_a.assign(stack_carries ? size : 0, -1), stack_b.assign(stack_carries ? size : 0, -1);
    void* const out[] = {&ends[0], &ends[1], stack_results ? stacked.data() : &spare, stack_a.data(), stack_b.data()};
    const void* const in[] = {&start[0], &start[1], x.data(), &scale};
    std::vector<char> scratch(64 + 2 * 64 + 64);  // on the heap: the sanitizer sees the end of it
    return kernels::run_scan(descriptor.data(), out, in, scratch.data());
  }
};

void test(Int length, bool reverse, bool stack_results, bool stack_carries) {
  Scan scan{length, reverse, stack_results, stack_carries, {}, {0, 0}, {}, {}, {}};
  for (Int k = 0; k < length; ++k) scan.x.push_back(static_cast<double>(k * k) - 3);
  expect(scan.run() == Ok, "a scan ends");
  double a = 1, b = 2;
  for (Int t = 0; t < length; ++t) {
    const auto k = static_cast<std::size_t>(reverse ? length - 1 - t : t);
    if (stack_results) expect(scan.stacked[k] == a, "a result stands where its element does");
    if (stack_carries)
      expect(scan.stack_a[k] == a && scan.stack_b[k] == b, "a stack holds what each iteration began with");
    const double next = b + scan.x[k] * 0.5;
    b = a, a = next;
  }
  expect(scan.ends[0] == a && scan.ends[1] == b, "the carries at the end");
}

}  // namespace

int main() {
  for (const Int length : {0, 1, 2, 3, 8})
    for (int k = 0; k < 8; ++k) test(length, (k & 1) != 0, (k & 2) != 0, (k & 4) != 0);
  Scan faulty{2, false, true, true, {1, 100}, {0, 0}, {}, {}, {}};
  expect(faulty.run() == (IndexOutOfRange | (20 + 3) << 8), "an outcome counts nodes of the whole");
  std::atomic<bool> flag{true};
  const StopScope scope(StopToken{&flag});
  Scan stopped{2, false, true, true, {1, 1}, {0, 0}, {}, {}, {}};
  expect(stopped.run() == Stopped, "a flag stops a scan");
  return failures;
}
