#pragma once
// Every compiler-specific word of the project lives here: what clang (Cling) and g++ spell differently.
#include "isa.hpp"

#if defined(__clang__)
#define BURLAB_PRAGMA(text) _Pragma(#text)
// Whatever flags the precompiled header was built with, our arithmetic is IEEE and never contracted behind our back:
// a * b + c rounds twice in every gear, and a kernel that wants a fused multiply-add asks for it by name.
#define BURLAB_BEGIN BURLAB_PRAGMA(float_control(precise, on, push)) BURLAB_PRAGMA(clang fp contract(off))
#define BURLAB_END BURLAB_PRAGMA(float_control(pop))
#define BURLAB_UNROLL _Pragma("unroll")
// Before a loop whose iterations do not depend on each other: SIMD lanes without a run-time check for overlap.
#define BURLAB_LANES _Pragma("clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)")
#define BURLAB_ONE_BY_ONE _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")
#if !defined(BURLAB_PLAIN)
#define BURLAB_FUSED BURLAB_PRAGMA(clang fp contract(fast))  // first in a block: a * b + c rounds once
#endif
#define BURLAB_OPTNONE __attribute__((optnone, noinline))  // cold code: costs the just-in-time compiler least
#define BURLAB_SMALL __attribute__((minsize, noinline))    // compiled fast, for what is called rarely
// The lanes of a mask as the bits of an integer.
#define BURLAB_BITS(mask, N, Integer) \
  __builtin_bit_cast(Integer, __builtin_convertvector(mask, bool __attribute__((ext_vector_type(N)))))
#define BURLAB_PERMUTED(packet, order) __builtin_ia32_permvardi512(packet, order)  // eight 64-bit lanes, AVX-512
#define BURLAB_WIDE __attribute__((min_vector_width(512)))  // a function whose packets take whole AVX-512 registers
// A packet of one register, to be put together here: else its parts are shuffled apart, and then put together.
#if defined(BURLAB_AVX2)
#define BURLAB_OPAQUE(packet) \
  if constexpr (sizeof(packet) <= BURLAB_REGISTER) __asm__("" : "+v"(packet))
#endif
#else
#define BURLAB_BEGIN
#define BURLAB_END
// g++ fuses a product with what it is added to, which spoils sums that are exact by construction: a number is rounded.
#if defined(__aarch64__)
#define BURLAB_ROUNDED(number) __asm__("" : "+w"(number))
#elif defined(__x86_64__)
#define BURLAB_ROUNDED(number) __asm__("" : "+x"(number))
#endif
#define BURLAB_UNROLL _Pragma("GCC unroll 16")
#define BURLAB_LANES _Pragma("GCC ivdep")
#define BURLAB_ONE_BY_ONE
#define BURLAB_OPTNONE __attribute__((noinline))
#define BURLAB_SMALL __attribute__((noinline))
#define BURLAB_PERMUTED(packet, order) __builtin_shuffle(packet, order)
#define BURLAB_WIDE
#endif

#if !defined(BURLAB_ROUNDED)
#define BURLAB_ROUNDED(number)
#endif
#if !defined(BURLAB_FUSED)
#define BURLAB_FUSED
#endif
#if !defined(BURLAB_OPAQUE)
#define BURLAB_OPAQUE(packet)
#endif

// A region of code for an instruction set (`burlab/runtime/cpu.py`) reaches neither the constructors, destructors and
// assignments that the compiler writes by itself, nor the standard library's templates. They have only what the
// compiler's flags say, and cannot inline a function that has more. So what numbers and tapes are made of, and whatever
// such a member calls, is inlined anywhere: it needs no more than each x86-64 has, its own target goes before the
// region's, and what it becomes part of decides. Kernels, which call what only their instruction set has, cannot.
#if defined(__clang__) && defined(BURLAB_AVX2)
#define BURLAB_ALWAYS __attribute__((always_inline, target("sse2")))
#else
#define BURLAB_ALWAYS __attribute__((always_inline))
#endif
#define BURLAB_ANYWHERE inline BURLAB_ALWAYS
#define BURLAB_CONSTEXPR BURLAB_ALWAYS constexpr
#define BURLAB_INLINE inline __attribute__((always_inline))  // into what is compiled for this instruction set
#define BURLAB_RULE BURLAB_CONSTEXPR static                  // the value or a partial of an operation
#define BURLAB_NOINLINE inline __attribute__((noinline))
#define BURLAB_COLD inline BURLAB_OPTNONE
#define BURLAB_PREFETCH(address) __builtin_prefetch(address)  // never faults
#define BURLAB_LIKELY(x) __builtin_expect(!!(x), 1)
#define BURLAB_UNLIKELY(x) __builtin_expect(!!(x), 0)

// Square roots that leave errno alone, so that a loop over them becomes SIMD code. Generated code declares them too.
extern "C" double burlab_sqrt(double) noexcept __asm__("sqrt") __attribute__((const));
extern "C" float burlab_sqrtf(float) noexcept __asm__("sqrtf") __attribute__((const));
