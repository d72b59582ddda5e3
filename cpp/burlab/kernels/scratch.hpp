#pragma once
// Memory that one call of a kernel needs.
#include <cstdlib>

#include "kernel.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// Memory of one call, given back at its end; data is nullptr where there is none.
template <class T> struct Scratch {
  explicit Scratch(Int size) : data(static_cast<T*>(std::malloc(static_cast<std::size_t>(size + 1) * sizeof(T)))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(data); }

  T* const data;
};

}  // namespace burlab::kernels
BURLAB_END
