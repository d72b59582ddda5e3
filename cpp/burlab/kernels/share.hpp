#pragma once
// Steps of one kernel on several threads: each thread computes a range of the outputs, in the order that one thread
// would take.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "../crew.hpp"
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

inline constexpr Int kMaxIntegers = 512;  // of a descriptor, or a box

/// One part of consecutive steps, of so many. It returns Ok, or an outcome of the kernel.
using Section = Int (*)(void* frame, Int part, Int parts) noexcept;

/// All parts of a section, on up to `most` threads; 0: those that the kernels of this thread may use. The outcome is
/// that of the first node that failed.
inline Int share(Section section, void* frame, Int most) noexcept {
  const int threads = std::min(most > 0 ? static_cast<int>(most) : threads_of_thread(), crew.most());
  if (threads == 1) return section(frame, 0, 1);
  struct Job {
    Section section;
    void* frame;
    Int parts;
    std::atomic<Int> outcome{Ok};

    void add(Int more) {
      Int so_far = outcome.load(std::memory_order_relaxed);
      while (is_first(more, so_far) && !outcome.compare_exchange_weak(so_far, more, std::memory_order_relaxed)) {
      }
    }
    static bool is_first(Int more, Int so_far) {
      if (more == Ok || status_of(so_far) == Ok) return more != Ok;
      if (status_of(more) == Stopped || status_of(so_far) == Stopped) return status_of(so_far) == Stopped;
      return more >> 8 < so_far >> 8;
    }
  } job{section, frame, threads};
  crew.run(
      threads, static_cast<int>(job.parts),
      [](void* with, int part) {
        Job& job = *static_cast<Job*>(with);
        job.add(job.section(job.frame, part, job.parts));
      },
      &job);
  return job.outcome.load(std::memory_order_relaxed);
}

/// Integers of a call, of which one is another.
struct OtherIntegers {
  Int own[kMaxIntegers];

  OtherIntegers(const Int* integers, Int size, Int position, Int value) {
    std::memcpy(own, integers, static_cast<std::size_t>(size) * sizeof(Int));
    own[position] = value;
  }
};

/// Calls a kernel with a descriptor that differs in one integer; around it `each` walks a box, unless that is nullptr.
inline Status call_cut(Kernel kernel, const Int* d, Int size, Int position, Int value, const Int* box, void* out,
                       const void* a, const void* b) noexcept {
  const OtherIntegers other(d, size, position, value);
  return box == nullptr ? kernel(other.own, out, a, b, nullptr) : each(kernel, box, other.own, out, a, b);
}

/// Calls `each` with a box that differs in one integer.
inline Status each_cut(Kernel kernel, const Int* box, Int size, Int position, Int value, const Int* d, void* out,
                       const void* a, const void* b) noexcept {
  return each(kernel, OtherIntegers(box, size, position, value).own, d, out, a, b);
}

}  // namespace burlab::kernels
BURLAB_END
