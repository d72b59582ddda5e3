"""The words of C++ that are not to be had for names."""

STATEMENTS = frozenset(
    "if for while do switch return try catch throw goto break continue case default else co_return co_await co_yield "
    "__if_exists".split()
)
EXPRESSIONS = frozenset(
    "new delete this sizeof alignof noexcept true false nullptr static_cast dynamic_cast const_cast reinterpret_cast "
    "typeid not compl".split()
)
TYPES = frozenset(
    "auto bool char short int long float double signed unsigned wchar_t char8_t char16_t char32_t".split()
)
KEYWORDS = TYPES | frozenset(
    "void const volatile struct class union enum static inline constexpr consteval constinit extern typedef typename "
    "decltype operator template using namespace static_assert _Static_assert asm __asm__ __asm friend virtual explicit "
    "register thread_local mutable concept requires export public private protected __attribute__ alignas "
    "__extension__ __restrict __restrict__ __typeof__ __typeof typeof".split()
)
RESERVED = STATEMENTS | EXPRESSIONS | KEYWORDS
