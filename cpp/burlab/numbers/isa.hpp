#pragma once
// Which instruction set code is compiled for. Exactly one name is set, and with BURLAB_AVX512 also BURLAB_AVX2, whose
// instructions it includes. Headers test these names and never the compiler's own: a region of code may have more than
// the compiler's flags say (`burlab/runtime/cpu.py`), and __AVX512F__ is not defined in it.
//
// Python defines the name before any header is read. A program that is compiled without it gets the name that its
// flags imply: only this file reads them.
#if !defined(BURLAB_AVX2) && !defined(BURLAB_NEON) && !defined(BURLAB_PLAIN)
#if defined(__AVX2__) && defined(__FMA__)
#define BURLAB_AVX2 1
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define BURLAB_AVX512 1
#endif
#elif defined(__aarch64__)
#define BURLAB_NEON 1
#else
#define BURLAB_PLAIN 1
#endif
#endif

// Bytes of the widest register.
#if defined(BURLAB_AVX512)
#define BURLAB_REGISTER 64
#elif defined(BURLAB_AVX2)
#define BURLAB_REGISTER 32
#else
#define BURLAB_REGISTER 16
#endif
