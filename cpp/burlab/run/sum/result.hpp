#pragma once
// Arithmetic on results: blocks of memory with spans of float and of double.
#include <cstdint>
#include <cstring>

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

/// Call act(T{}, span) for each span of a block, T being the type of its numbers.
template <class Act> BURLAB_INLINE void for_spans(const Block& block, Act act) {
  for (std::int64_t k = 0; k < block.spans; ++k)
    if (block.parts[k].wide) act(double{}, block.parts[k]);
    else act(float{}, block.parts[k]);
}

/// target += term, number by number.
BURLAB_NOINLINE void add(const Block& block, char* target, const char* term) {
  for_spans(block, [=]<class T>(T, const Span& part) {
    T* const sum = reinterpret_cast<T*>(target + part.offset);
    each(sum, sum, reinterpret_cast<const T*>(term + part.offset), part.count, [](auto& x, const auto& y) { x += y; });
  });
}

/// sum /= count, number by number.
BURLAB_NOINLINE void divide(const Block& block, char* sum, std::int64_t count) {
  for_spans(block, [=]<class T>(T, const Span& part) {
    T* const total = reinterpret_cast<T*>(sum + part.offset);
    const T n = static_cast<T>(count);
    each(total, total, total, part.count, [n](auto& x, const auto&) { x /= n; });
  });
}

}  // namespace burlab::run
BURLAB_END
