#pragma once
// The first lanes of a packet: how the end of a row is read and written without touching what lies behind it.
#include <cstdint>

#include "packet.hpp"

BURLAB_BEGIN
namespace burlab {

/// Loads and stores the first `count` of W lanes, 0 <= count <= W; the others read as 0, their memory is not touched.
template <class T, int W> class First {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : count_(count) {}

  BURLAB_INLINE void load(Packet<T, W>& x, const T* from) const {
    T copy[W] = {};
    BURLAB_ONE_BY_ONE
    for (std::int64_t k = 0; k < count_; ++k) copy[k] = from[k];
    burlab::load(x, copy);
  }

  BURLAB_INLINE void store(T* to, const Packet<T, W>& x) const {
    T copy[W];
    burlab::store(copy, x);
    BURLAB_ONE_BY_ONE
    for (std::int64_t k = 0; k < count_; ++k) to[k] = copy[k];
  }

 private:
  std::int64_t count_;
};

#if defined(BURLAB_AVX512)  // masked moves of whole registers
template <> class First<float, 16> {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : mask_(static_cast<unsigned short>((1u << count) - 1u)) {}
  BURLAB_INLINE void load(Packet<float, 16>& x, const float* from) const {
    x = __builtin_ia32_loadups512_mask(from, Packet<float, 16>{}, mask_);
  }
  BURLAB_INLINE void store(float* to, const Packet<float, 16>& x) const {
    __builtin_ia32_storeups512_mask(to, x, mask_);
  }

 private:
  unsigned short mask_;
};

template <> class First<double, 8> {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : mask_(static_cast<unsigned char>((1u << count) - 1u)) {}
  BURLAB_INLINE void load(Packet<double, 8>& x, const double* from) const {
    x = __builtin_ia32_loadupd512_mask(from, Packet<double, 8>{}, mask_);
  }
  BURLAB_INLINE void store(double* to, const Packet<double, 8>& x) const {
    __builtin_ia32_storeupd512_mask(to, x, mask_);
  }

 private:
  unsigned char mask_;
};
#endif

#if defined(BURLAB_AVX2)  // masked loads; masked stores take twelve cycles on some processors
/// The first `count` lanes, count <= W: all at once, or halves.
template <class T, int W> BURLAB_INLINE void store_first(T* to, const Packet<T, W>& x, std::int64_t count) {
  if (count == W) return store(to, x);
  if constexpr (W > 1) {
    Packet<T, W / 2> half;
    std::memcpy(&half, &x, sizeof half);
    if ((count & (W / 2)) != 0) {
      store(to, half);
      to += W / 2;
      std::memcpy(&half, reinterpret_cast<const char*>(&x) + sizeof half, sizeof half);
    }
    store_first<T, W / 2>(to, half, count & (W / 2 - 1));
  }
}

template <> class First<float, 8> {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : count_(count) {
    BURLAB_UNROLL
    for (int k = 0; k < 8; ++k) mask_[k] = k < count ? -1 : 0;
  }
  BURLAB_INLINE void load(Packet<float, 8>& x, const float* from) const {
    x = __builtin_ia32_maskloadps256(reinterpret_cast<const Packet<float, 8>*>(from), mask_);
  }
  BURLAB_INLINE void store(float* to, const Packet<float, 8>& x) const { store_first<float, 8>(to, x, count_); }

 private:
  std::int64_t count_;
  Packet<int, 8> mask_ = {};
};

template <> class First<float, 4> {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : count_(count) {
    BURLAB_UNROLL
    for (int k = 0; k < 4; ++k) mask_[k] = k < count ? -1 : 0;
  }
  BURLAB_INLINE void load(Packet<float, 4>& x, const float* from) const {
    x = __builtin_ia32_maskloadps(reinterpret_cast<const Packet<float, 4>*>(from), mask_);
  }
  BURLAB_INLINE void store(float* to, const Packet<float, 4>& x) const { store_first<float, 4>(to, x, count_); }

 private:
  std::int64_t count_;
  Packet<int, 4> mask_ = {};
};

template <> class First<double, 4> {
 public:
  BURLAB_INLINE explicit First(std::int64_t count) : count_(count) {
    BURLAB_UNROLL
    for (int k = 0; k < 4; ++k) mask_[k] = k < count ? -1 : 0;
  }
  BURLAB_INLINE void load(Packet<double, 4>& x, const double* from) const {
    x = __builtin_ia32_maskloadpd256(reinterpret_cast<const Packet<double, 4>*>(from), mask_);
  }
  BURLAB_INLINE void store(double* to, const Packet<double, 4>& x) const { store_first<double, 4>(to, x, count_); }

 private:
  std::int64_t count_;
  Packet<long long, 4> mask_ = {};
};
#endif

}  // namespace burlab
BURLAB_END
