#pragma once
// Several numbers in one register, as the compiler's own vector type: + - * work on all lanes at once.
#include <cstring>

#include "simd.hpp"

BURLAB_BEGIN
namespace burlab {

template <class T, int N> struct PacketType {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

/// N numbers of type T. Passed by reference only: by value, its binary interface would depend on the instruction set.
template <class T, int N> using Packet = typename PacketType<T, N>::type;

/// Lanes that fill the widest register there is, 64 bytes.
template <class T> inline constexpr int kLanes = static_cast<int>(64 / sizeof(T));

template <class P, class T> BURLAB_INLINE void load(P& packet, const T* from) { std::memcpy(&packet, from, sizeof(P)); }
template <class P, class T> BURLAB_INLINE void store(const P& packet, T* to) { std::memcpy(to, &packet, sizeof(P)); }

}  // namespace burlab
BURLAB_END
