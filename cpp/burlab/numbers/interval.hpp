#pragma once
// Intervals: numbers of which two bounds are known. Each operation rounds outwards, so bounds hold for exact arithmetic
// (Moore 1966, Interval Analysis). The structs of operations run on them, values and partial derivatives alike, and a
// Dual of an Interval encloses derivatives. Python's transform `bl.interval` has rules that are tighter at kinks.
#include <cmath>
#include <limits>
#include <type_traits>

#include "../ops/rounding.hpp"
#include "assignment.hpp"

BURLAB_BEGIN
namespace burlab {

/// What a comparison of intervals gives: whether it surely holds, and whether it may.
struct IntervalMask {
  bool sure = false, possible = false;
};
template <>
inline constexpr bool is_mask<IntervalMask> = true;
constexpr IntervalMask either(IntervalMask a, IntervalMask b) { return {a.sure || b.sure, a.possible || b.possible}; }
constexpr IntervalMask both(IntervalMask a, IntervalMask b) { return {a.sure && b.sure, a.possible && b.possible}; }
constexpr IntervalMask negate(IntervalMask a) { return {!a.possible, !a.sure}; }

/// All numbers from low to high. Both are nan where a function has left its domain.
template <class T>
struct Interval {
  T low = 0, high = 0;

  constexpr Interval() = default;
  constexpr Interval(T least, T most) : low(least), high(most) {}
  template <class S>
    requires std::is_arithmetic_v<S>
  constexpr Interval(S number) : low(static_cast<T>(number)), high(static_cast<T>(number)) {}

  /// Bounds of two computed numbers that are off by no more than some units in the last place.
  static Interval outwards(T a, T b, int steps = 1) {
    for (; steps > 0; --steps) {
      a = ops::LowerBound::number(a);
      b = ops::UpperBound::number(b);
    }
    return {a, b};
  }
  /// Around high + low, where a float may be next to high on either side.
  static Interval of_digits(double high, double low) {
    if constexpr (!std::is_same_v<T, double>) return outwards(static_cast<T>(high), static_cast<T>(high));
    else return {low < 0 ? ops::LowerBound::number(high) : high, low > 0 ? ops::UpperBound::number(high) : high};
  }
  static Interval everything() { return {-kInfinity, kInfinity}; }
  static Interval nothing() { return {kNan, kNan}; }
  bool contains(T x) const { return low <= x && x <= high; }
  T width() const { return ops::UpperBound::number(high - low); }

  friend Interval operator-(Interval x) { return {-x.high, -x.low}; }
  friend Interval operator+(Interval x, Interval y) { return outwards(x.low + y.low, x.high + y.high); }
  friend Interval operator-(Interval x, Interval y) { return outwards(x.low - y.high, x.high - y.low); }
  friend Interval operator*(Interval x, Interval y) {
    return extremes(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
  }
  /// Everything where 0 is inside of y. An end at 0 has the sign of what is inside.
  friend Interval operator/(Interval x, Interval y) {
    if (y.low < 0 && y.high > 0) return everything();
    const T a = y.low + T(0), b = -(T(0) - y.high);
    return extremes(x.low / a, x.low / b, x.high / a, x.high / b);
  }
  friend IntervalMask operator<(Interval x, Interval y) { return {x.high < y.low, x.low < y.high}; }
  friend IntervalMask operator<=(Interval x, Interval y) { return {x.high <= y.low, x.low <= y.high}; }
  friend IntervalMask operator>(Interval x, Interval y) { return y < x; }
  friend IntervalMask operator>=(Interval x, Interval y) { return y <= x; }
  friend IntervalMask operator==(Interval x, Interval y) {
    return {x.low == y.high && x.high == y.low, x.low <= y.high && y.low <= x.high};
  }
  friend IntervalMask operator!=(Interval x, Interval y) { return negate(x == y); }

  static constexpr T kInfinity = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();

 private:
  /// Of four candidates; those that are 0 times infinity do not count.
  static Interval extremes(T a, T b, T c, T d) {
    return outwards(std::fmin(std::fmin(a, b), std::fmin(c, d)), std::fmax(std::fmax(a, b), std::fmax(c, d)));
  }
};

template <class T>
inline constexpr bool has_fabs<Interval<T>> = true;
template <class T>
inline constexpr bool is_number<Interval<T>> = true;

template <class T> Interval<T> hull(Interval<T> x, Interval<T> y) {
  if (x.low != x.low || y.low != y.low) return Interval<T>::nothing();
  return {std::fmin(x.low, y.low), std::fmax(x.high, y.high)};
}
template <class T> Interval<T> select(IntervalMask mask, Interval<T> yes, Interval<T> no) {
  return mask.sure ? yes : mask.possible ? hull(yes, no) : no;
}
template <class T> IntervalMask is_zero(Interval<T> x) { return x == Interval<T>(0); }

template <class T> Interval<T> fabs(Interval<T> x) {
  return {std::fmax(std::fmax(x.low, -x.high), T(0)), std::fmax(-x.low, x.high)};
}
template <class T> Interval<T> max(Interval<T> x, Interval<T> y) {
  return {std::fmax(x.low, y.low), std::fmax(x.high, y.high)};
}
template <class T> Interval<T> min(Interval<T> x, Interval<T> y) {
  return {std::fmin(x.low, y.low), std::fmin(x.high, y.high)};
}
/// x * x, of one x: not below 0.
template <class T> Interval<T> square(Interval<T> x) {
  const Interval<T> size = fabs(x);
  return Interval<T>::outwards(size.low * size.low, size.high * size.high);
}

// Functions that rise or fall between the ends of their domain, with the steps of their worst error, as that of libm
// was measured by Zimmermann et al. 2024, "Accuracy of mathematical functions in single, double, ... precision", and by
// us.
#define BURLAB_INTERVAL(name, steps, start, end, first, last)                                         \
  template <class T> Interval<T> name(Interval<T> x) {                                                \
    using std::name;                                                                                  \
    if (!(x.low >= T(start) && x.high <= T(end))) return Interval<T>::nothing();                      \
    return Interval<T>::outwards(static_cast<T>(name(x.first)), static_cast<T>(name(x.last)), steps); \
  }
#define BURLAB_RISING(name, steps, start, end) BURLAB_INTERVAL(name, steps, start, end, low, high)
BURLAB_RISING(sqrt, 1, 0, INFINITY)
BURLAB_RISING(cbrt, 5, -INFINITY, INFINITY)
BURLAB_RISING(exp2, 2, -INFINITY, INFINITY)
BURLAB_RISING(exp, 2, -INFINITY, INFINITY)
BURLAB_RISING(expm1, 3, -INFINITY, INFINITY)
BURLAB_RISING(log, 1, 0, INFINITY)
BURLAB_RISING(log1p, 2, -1, INFINITY)
BURLAB_RISING(log2, 3, 0, INFINITY)
BURLAB_RISING(log10, 3, 0, INFINITY)
BURLAB_RISING(asin, 2, -1, 1)
BURLAB_INTERVAL(acos, 2, -1, 1, high, low)
BURLAB_RISING(asinh, 4, -INFINITY, INFINITY)
BURLAB_RISING(acosh, 4, 1, INFINITY)
BURLAB_RISING(sinh, 2, -INFINITY, INFINITY)
BURLAB_RISING(tanh, 3, -INFINITY, INFINITY)
BURLAB_RISING(atan, 2, -INFINITY, INFINITY)
BURLAB_RISING(atanh, 2, -1, 1)
BURLAB_RISING(erf, 2, -INFINITY, INFINITY)
BURLAB_INTERVAL(erfc, 6, -INFINITY, INFINITY, high, low)
#undef BURLAB_RISING
#undef BURLAB_INTERVAL

template <class T> Interval<T> sigmoid(Interval<T> x) { return Interval<T>(1) / (Interval<T>(1) + exp(-x)); }

template <class T> Interval<T> cosh(Interval<T> x) {
  const Interval<T> size = fabs(x);
  return max(Interval<T>::outwards(std::cosh(size.low), std::cosh(size.high), 2), Interval<T>(1));
}

/// The whole numbers k from low to high with (k + shift) pi in x, a few more where rounding leaves it open.
template <class T> Interval<T> half_periods(Interval<T> x, double shift) {
  const auto scaled = [&](T end, double sign) {
    const double turns = static_cast<double>(end) * 0.3183098861837907, margin = 1e-15 * (std::fabs(turns) + 1);
    return turns - shift + sign * margin;
  };
  return {static_cast<T>(std::ceil(scaled(x.low, -1))), static_cast<T>(std::floor(scaled(x.high, 1)))};
}

/// From the values at the ends, with 1 or -1 where there is an even or an odd number of half periods between them.
template <class T> Interval<T> wave(Interval<T> x, T a, T b, double shift) {
  const Interval<T> k = half_periods(x, shift);
  if (x.low != x.low || !(std::fabs(x.low) < INFINITY && std::fabs(x.high) < INFINITY))
    return x.low <= x.high ? Interval<T>(-1, 1) : Interval<T>::nothing();
  const bool some = k.high >= k.low, several = k.high > k.low, odd = k.low != 2 * std::floor(k.low / 2);
  const Interval<T> ends = Interval<T>::outwards(std::fmin(a, b), std::fmax(a, b));
  return {several || (some && odd) ? T(-1) : std::fmax(ends.low, T(-1)),
          several || (some && !odd) ? T(1) : std::fmin(ends.high, T(1))};
}
template <class T> Interval<T> sin(Interval<T> x) { return wave(x, std::sin(x.low), std::sin(x.high), 0.5); }
template <class T> Interval<T> cos(Interval<T> x) { return wave(x, std::cos(x.low), std::cos(x.high), 0); }
template <class T> Interval<T> tan(Interval<T> x) {
  const Interval<T> k = half_periods(x, 0.5);
  if (!(std::fabs(x.low) < INFINITY && std::fabs(x.high) < INFINITY) || k.high >= k.low)
    return x.low <= x.high ? Interval<T>::everything() : Interval<T>::nothing();
  return Interval<T>::outwards(std::tan(x.low), std::tan(x.high), 2);
}

/// The angle of a point of a box: at its corners, and all angles where it meets the negative axis or 0.
template <class T> Interval<T> atan2(Interval<T> y, Interval<T> x) {
  if (!(y.low <= y.high && x.low <= x.high)) return Interval<T>::nothing();
  const T turn = ops::UpperBound::number(static_cast<T>(3.1415926535897936));
  if (y.low <= 0 && y.high >= 0 && x.low <= 0) return {-turn, turn};
  const T a = std::atan2(y.low, x.low), b = std::atan2(y.low, x.high), c = std::atan2(y.high, x.low);
  const T d = std::atan2(y.high, x.high);
  return Interval<T>::outwards(std::fmin(std::fmin(a, b), std::fmin(c, d)), std::fmax(std::fmax(a, b), std::fmax(c, d)),
                               2);
}

/// Of a base that is not negative, or of a whole exponent.
template <class T> Interval<T> pow(Interval<T> x, Interval<T> y) {
  const T n = y.low;
  if (n == y.high && n == std::floor(n)) {
    if (n < 0) return Interval<T>(1) / pow(x, -y);
    const Interval<T> base = std::fmod(n, T(2)) == 0 ? fabs(x) : x;
    return Interval<T>::outwards(std::pow(base.low, n), std::pow(base.high, n), 2);
  }
  if (!(x.low >= 0)) return Interval<T>::nothing();
  const T a = std::pow(x.low, y.low), b = std::pow(x.low, y.high), c = std::pow(x.high, y.low);
  const T d = std::pow(x.high, y.high);
  return Interval<T>::outwards(std::fmin(std::fmin(a, b), std::fmin(c, d)), std::fmax(std::fmax(a, b), std::fmax(c, d)),
                               2);
}

}  // namespace burlab
BURLAB_END
