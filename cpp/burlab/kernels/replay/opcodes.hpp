#pragma once
// The codes of threaded code (`threaded.hpp`), in the order of `burlab/compiler/replay/opcodes.py`.

// clang-format off
/// Codes that move numbers, call other code, or end a segment.
#define BURLAB_MOVING_CODES(CODE)                                                                                     \
  CODE(end) CODE(literals) CODE(call) CODE(load) CODE(broadcast) CODE(gather) CODE(store) CODE(scatter)

/// Codes that compute: name, value. x, y and z are operands in memory, `last` is the last result; the letters m and l
/// of a name stand for memory and last. `mul_add` is x y + z, `sub_mul` (x - y) z, and so on: each rounds twice.
#define BURLAB_COMPUTING_CODES(CODE)                                                                                  \
  CODE(mul_mm, x * y) CODE(mul_lm, last * y) CODE(mul_ll, last * last) CODE(add_mm, x + y)                            \
  CODE(add_lm, last + y) CODE(add_ll, last + last) CODE(sub_mm, x - y) CODE(sub_lm, last - y)                         \
  CODE(sub_ml, x - last) CODE(mul_add_mmm, x * y + z) CODE(mul_add_lmm, last * y + z)                                 \
  CODE(mul_add_mml, x * y + last) CODE(mul_sub_mmm, x * y - z) CODE(mul_sub_lmm, last * y - z)                        \
  CODE(mul_from_mmm, z - x * y) CODE(mul_from_lmm, z - last * y) CODE(mul_mul_mmm, x * y * z)                         \
  CODE(mul_mul_lmm, last * y * z) CODE(add_mul_mmm, (x + y) * z) CODE(add_mul_lmm, (last + y) * z)                    \
  CODE(add_mul_llm, (last + last) * z) CODE(sub_mul_mmm, (x - y) * z) CODE(sub_mul_lmm, (last - y) * z)               \
  CODE(add_add_mmm, x + y + z) CODE(add_add_lmm, last + y + z) CODE(add_sub_mmm, x + y - z)                           \
  CODE(add_sub_lmm, last + y - z) CODE(sub_add_mmm, x - y + z) CODE(sub_add_lmm, last - y + z)                        \
  CODE(sub_sub_mmm, x - y - z) CODE(sub_sub_lmm, last - y - z)
// clang-format on
