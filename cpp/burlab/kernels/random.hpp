#pragma once
// Random numbers as a function of a key: the same key gives the same numbers in every gear, on every machine.
#include "../run/sum/philox.hpp"
#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Numbers in [0, 1): element e of a key's array is word e % 4 of block e / 4. a: keys of two words each.
/// Descriptor: number of keys, elements for each.
template <class T> struct Uniform {
  static Status run(const Int* d, void* out, const void* a, const void*, const void* const*) noexcept {
    T* y = static_cast<T*>(out);
    const auto* keys = static_cast<const std::uint64_t*>(a);
    StopCheck stop;
    for (Int k = 0; k < d[0]; ++k, keys += 2) {
      for (Int e = 0; e < d[1]; e += 4) {
        if (stop.after(4)) return Stopped;
        const PhiloxBlock words = philox({static_cast<std::uint64_t>(e / 4), 0, 0, 0}, {keys[0], keys[1]});
        for (Int j = 0; j < 4 && e + j < d[1]; ++j) *y++ = unit(words[static_cast<std::size_t>(j)]);
      }
    }
    return Ok;
  }

 private:
  static T unit(std::uint64_t word) {
    if constexpr (sizeof(T) == 8) return unit_double(word);
    else return unit_float(word);
  }
};

/// A new key from each key and a number. a: keys of two words each; b: one int64 for each, or one for all.
/// Descriptor: number of keys, step from one number to the next (1 or 0).
struct FoldIn {
  static Status run(const Int* d, void* out, const void* a, const void* b, const void* const*) noexcept {
    auto* y = static_cast<std::uint64_t*>(out);
    const auto* keys = static_cast<const std::uint64_t*>(a);
    const auto* data = static_cast<const Int*>(b);
    for (Int k = 0; k < d[0]; ++k, keys += 2, data += d[1]) {
      const Key key = fold_in({keys[0], keys[1]}, static_cast<std::uint64_t>(*data));
      *y++ = key[0];
      *y++ = key[1];
    }
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
