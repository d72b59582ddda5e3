#pragma once
// Arithmetic on results: blocks of memory with spans of float and of double.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../../crew.hpp"
#include "../../numbers/packet.hpp"
#include "../abi/summand.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// out[i] = rule(a[i], b[i]) for n numbers, 16 at a time.
template <class T, class Rule> BURLAB_INLINE void each(T* out, const T* a, const T* b, std::int64_t n, Rule rule) {
  Packet<T, 16> x, y;
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    load(x, a + i);
    load(y, b + i);
    rule(x, y);
    std::memcpy(out + i, &x, sizeof(x));
  }
  for (; i < n; ++i) {
    T last = a[i];
    rule(last, b[i]);
    out[i] = last;
  }
}

/// One of several equal parts of every span, for a thread.
struct Portion {
  std::int64_t number = 0, of = 1;

  /// A multiple of 16 numbers, but for the last.
  Span of_span(const Span& span) const {
    if (of == 1) return span;  // a division costs as much as the sum of a small result
    const std::int64_t first = start(number, span.count), end = start(number + 1, span.count);
    return {span.offset + first * bytes_of(span.dtype), end - first, span.dtype};
  }

 private:
  std::int64_t start(std::int64_t k, std::int64_t count) const { return k == of ? count : (count / 16) * k / of * 16; }
};

/// Call act(T{}, span) for a portion of each span of a block, T being the type of its numbers.
template <class Act> BURLAB_INLINE void for_spans(const Block& block, Portion portion, Act act) {
  for (std::int64_t k = 0; k < block.spans; ++k) {
    const Span span = portion.of_span(block.parts[k]);
    if (span.dtype == Dtype::float64) act(double{}, span);
    else act(float{}, span);
  }
}

/// Work that a thread does alone, numbers of a block.
constexpr std::int64_t kAlone = 1 << 18;
/// From which it is worth waking helpers, bytes.
constexpr std::int64_t kWaking = 1 << 22;

/// Call work(portion) for portions that make up the whole, on the threads that this one may use.
template <class Work> void in_portions(const Block& block, const Work& work) {
  const bool alone = block.bytes < kAlone || (block.bytes < kWaking && !crew.is_awake());
  const int threads = alone ? 1 : std::min(threads_of_thread(), crew.most());
  if (threads == 1) return work(Portion{});
  struct Job {
    const Work& work;
    int portions;
  } job{work, threads};
  crew.run(
      threads, job.portions,
      [](void* with, int number) {
        const Job& job = *static_cast<const Job*>(with);
        job.work(Portion{number, job.portions});
      },
      &job);
}

/// Set all numbers to 0.
inline void clear(const Block& block, char* target, Portion portion = {}) {
  if (portion.of == 1) {
    std::memset(target, 0, static_cast<std::size_t>(block.bytes));
    return;
  }
  for_spans(block, portion, [=]<class T>(T, const Span& part) {
    std::memset(target + part.offset, 0, static_cast<std::size_t>(part.count) * sizeof(T));
  });
}

/// target += term, number by number.
BURLAB_NOINLINE void add(const Block& block, char* target, const char* term, Portion portion = {}) {
  for_spans(block, portion, [=]<class T>(T, const Span& part) {
    T* const sum = reinterpret_cast<T*>(target + part.offset);
    each(sum, sum, reinterpret_cast<const T*>(term + part.offset), part.count, [](auto& x, const auto& y) { x += y; });
  });
}

/// Return true if any of its numbers are floats: sums over long batches need more digits than float has.
inline bool is_narrow(const Block& block) {
  for (std::int64_t k = 0; k < block.spans; ++k)
    if (block.parts[k].dtype == Dtype::float32) return true;
  return false;
}

/// The sum of blocks of numbers in double, whatever their type.
class WideSum {
 public:
  static std::int64_t bytes(const Block& block) { return 2 * block.bytes; }

  /// block: must outlive it. numbers: its memory.
  WideSum(const Block& block, char* numbers) : block_(block), numbers_(numbers) {}

  void clear(Portion portion) {
    for_spans(block_, portion, [this]<class T>(T, const Span& part) { std::fill_n(at(part), part.count, 0.0); });
  }
  BURLAB_NOINLINE void add(const char* term, Portion portion) {
    for_spans(block_, portion, [this, term]<class T>(T, const Span& part) {
      double* const sum = at(part);
      const T* const more = reinterpret_cast<const T*>(term + part.offset);
      Packet<double, 16> x;
      Packet<T, 16> y;
      std::int64_t i = 0;
      for (; i + 16 <= part.count; i += 16) {
        load(x, sum + i);
        load(y, more + i);
        x += __builtin_convertvector(y, Packet<double, 16>);
        std::memcpy(sum + i, &x, sizeof(x));
      }
      for (; i < part.count; ++i) sum[i] += static_cast<double>(more[i]);
    });
  }
  BURLAB_NOINLINE void put(char* out, Portion portion) const {
    for_spans(block_, portion, [this, out]<class T>(T, const Span& part) {
      T* const to = reinterpret_cast<T*>(out + part.offset);
      for (std::int64_t i = 0; i < part.count; ++i) to[i] = static_cast<T>(at(part)[i]);
    });
  }

 private:
  double* at(const Span& part) const { return reinterpret_cast<double*>(numbers_ + 2 * part.offset); }

  const Block& block_;
  char* numbers_;
};

/// sum /= count, number by number.
BURLAB_NOINLINE void divide(const Block& block, char* sum, std::int64_t count, Portion portion = {}) {
  for_spans(block, portion, [=]<class T>(T, const Span& part) {
    T* const total = reinterpret_cast<T*>(sum + part.offset);
    const T n = static_cast<T>(count);
    each(total, total, total, part.count, [n](auto& x, const auto&) { x /= n; });
  });
}

}  // namespace burlab::run
BURLAB_END
