#pragma once
// Several numbers in one register, as the compiler's own vector type: + - * work on all lanes at once.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

template <class T, int N> struct PacketType {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

/// N numbers of type T. Passed by reference only: by value, its binary interface would depend on the instruction set.
template <class T, int N> using Packet = typename PacketType<T, N>::type;

template <class P, class T> BURLAB_ANYWHERE void load(P& packet, const T* from) {
  std::memcpy(&packet, from, sizeof(P));
}
template <class P, class T> BURLAB_ANYWHERE void store(T* to, const P& packet) { std::memcpy(to, &packet, sizeof(P)); }

/// The sum of 16 lanes, by halves.
template <class T> BURLAB_ANYWHERE T sum_lanes(const Packet<T, 16>& x) {
  const Packet<T, 8> y = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                         __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
  const Packet<T, 4> z = __builtin_shufflevector(y, y, 0, 1, 2, 3) + __builtin_shufflevector(y, y, 4, 5, 6, 7);
  return (z[0] + z[2]) + (z[1] + z[3]);
}

/// The lanes in which a comparison of packets of N = 2, 4, 8 or 16 numbers holds, one bit each.
template <int N, class Mask> BURLAB_INLINE std::uint64_t lanes_where(const Mask& mask) {
  static_assert(N == 2 || N == 4 || N == 8 || N == 16);
#ifdef BURLAB_AVX2
  if constexpr (sizeof(Mask) == 32 && N == 4)
    return static_cast<std::uint64_t>(__builtin_ia32_movmskpd256(__builtin_bit_cast(Packet<double, 4>, mask)));
  if constexpr (sizeof(Mask) == 32 && N == 8)
    return static_cast<std::uint64_t>(__builtin_ia32_movmskps256(__builtin_bit_cast(Packet<float, 8>, mask)));
#endif
#ifdef BURLAB_BITS
  if constexpr (N >= 8) {
    using Bits = std::conditional_t<N == 8, std::uint8_t, std::uint16_t>;
    return BURLAB_BITS(mask, N, Bits);
  }
#endif
  std::uint64_t bits = 0;
  for (int k = 0; k < N; ++k) bits |= std::uint64_t{mask[k] != 0} << k;
  return bits;
}

}  // namespace burlab
BURLAB_END
