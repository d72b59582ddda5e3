"""Names that a standalone C++ program can give to the function of a kernel."""

import re

_KEYWORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq"
)
# What the exported program, its headers and the C library behind <cmath> and <cstdio> already mean by a name.
_LIBRARY = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2 exp10 expm1 fabs fdim "
    "finite floor fma fmax fmin fmod fpclassify frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp "
    "lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 "
    "remainder remquo rint round scalb scalbln scalbn significand signbit signgam sin sincos sinh sqrt tan tanh tgamma "
    "trunc y0 y1 yn NAN INFINITY EOF NULL FILE abs div labs printf puts putc putchar getc gets getline remove rename "
    "stdin stdout stderr perror linux unix"
)
_RESERVED = "burlab main near std workspace"
_TAKEN = frozenset(f"{_KEYWORDS} {_LIBRARY} {_RESERVED}".split())


def identifier(name: str) -> str:
    """The name itself where C++ can use it for a namespace of its own, else `kernel`.

    >>> identifier("loss"), identifier("<lambda>"), identifier("double")
    ('loss', 'kernel', 'kernel')
    """
    return name if re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) and name not in _TAKEN else "kernel"
