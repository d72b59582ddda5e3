#pragma once
// How far functions of our own are from the exact value, for every float of a range of bit patterns. The reference is
// the same function in double, which tests compare with long double elsewhere; a block of floats at whose ends it
// rounds to one number is known by monotonicity.
#include <burlab/numbers/lane.hpp>
#include <burlab/ops/activation.hpp>

BURLAB_BEGIN
namespace sweep {

inline constexpr int kBlock = 1024;

/// |y - exact| in units in the last place of the rounded exact value, as the bits of a double, which order as it does;
/// those of nan where one of both is not finite or has another sign.
BURLAB_INLINE std::uint64_t error_bits(float y, double exact) {
  const float rounded = static_cast<float>(exact);
  const auto a = __builtin_bit_cast(std::uint32_t, y), b = __builtin_bit_cast(std::uint32_t, rounded);
  const std::uint32_t field = (b >> 23) & 255, exponent = field == 0 ? 1 : field;
  const double unit = __builtin_bit_cast(double, std::uint64_t(exponent + (1023 - 127 - 23)) << 52);
  const double distance = (static_cast<double>(y) - exact) / unit;
  const bool same = (a == b) | ((y != y) & (rounded != rounded)), apart = ((a ^ b) >> 31) != 0;
  const double error = apart ? __builtin_nan("") : distance;
  const double counted = same ? 0.0 : error;
  return __builtin_bit_cast(std::uint64_t, counted) & ~(std::uint64_t(1) << 63);
}

/// The worst error over the floats with bit patterns begin, begin + step, ... below end; Op: an operation struct.
template <class Op> double worst(std::uint64_t begin, std::uint64_t end, std::uint64_t step, float* where) {
  using F = burlab::Own<Op>;
  float x[kBlock], y[kBlock];
  double exact[kBlock];
  std::uint64_t errors[kBlock], top = 0;
  for (std::uint64_t block = begin; block < end; block += kBlock * step) {
    const std::uint64_t left = (end - block + step - 1) / step;
    const int n = left < kBlock ? int(left) : kBlock;
    BURLAB_LANES
    for (int i = 0; i < n; ++i)
      x[i] = __builtin_bit_cast(float, std::uint32_t(block) + std::uint32_t(i) * std::uint32_t(step));
    BURLAB_LANES
    for (int i = 0; i < n; ++i) y[i] = F::primal(x[i]);
    const float first = float(F::primal(double(x[0]))), last = float(F::primal(double(x[n - 1])));
    if (first == last && __builtin_signbit(x[0]) == __builtin_signbit(x[n - 1])) {
      const auto wanted = __builtin_bit_cast(std::uint32_t, first);
      std::uint32_t differs = 0;
      BURLAB_LANES
      for (int i = 0; i < n; ++i) differs |= __builtin_bit_cast(std::uint32_t, y[i]) ^ wanted;
      if (differs == 0) continue;
    }
    BURLAB_LANES
    for (int i = 0; i < n; ++i) exact[i] = F::primal(double(x[i]));
    BURLAB_LANES
    for (int i = 0; i < n; ++i) errors[i] = error_bits(y[i], exact[i]);
    std::uint64_t best = 0;
    BURLAB_LANES
    for (int i = 0; i < n; ++i) best = errors[i] > best ? errors[i] : best;
    if (best <= top) continue;
    top = best;
    for (int i = 0; i < n; ++i) *where = errors[i] == best ? x[i] : *where;
  }
  return __builtin_bit_cast(double, top);
}

}  // namespace sweep
BURLAB_END
