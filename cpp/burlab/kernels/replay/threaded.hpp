#pragma once
// Stretches as threaded code: each term names the code that carries it out, and that code jumps to the next term's. A
// CPU learns such jumps while they are few, or alike, so that nothing is left of them but the operations; the result
// before stays in a register, which is where the next term finds it. Long and irregular stretches go in runs
// (`stretch.hpp`), whose jumps nobody has to learn. Both round alike: x + y is x 1 + y, and so on, to the bit.
#include <type_traits>

#include "../../numbers/packet.hpp"
#include "stretch.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// A term with the code of it. Mirrored by `burlab/compiler/replay/threaded.py`.
struct Turn {
  const void* code;
  Word result, x, y, z;

  /// What y and z say together where they are an address.
  template <class P> BURLAB_INLINE const P* pointer() const noexcept {
    const P* p = nullptr;
    std::memcpy(&p, &y, sizeof p);
    return p;
  }
  /// Where an array of a table starts, and the bytes between two lanes.
  BURLAB_INLINE char* place(Tables tables) const noexcept { return array(tables, x) + y; }
  BURLAB_INLINE Int step() const noexcept { return static_cast<std::int32_t>(z); }
};

/// Terms of a kind that has no code here.
struct Call {
  TermLoop turns;
  const Word *words, *end;
};

// Codes that compute: name, operands, value. x, y and z are operands in memory, `last` is the result before.
// `mul_add` is x y + z, `sub_mul` (x - y) z, and so on: each rounds twice.
// clang-format off
#define BURLAB_CODES(CODE)                                                                                            \
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

/// Terms, up to one that ends. W: lanes.
template <class T, int W> struct Threaded {
  using Lanes = std::conditional_t<W == 1, T, typename PacketType<T, W == 1 ? 2 : W>::type>;
  typedef Lanes Loose __attribute__((aligned(alignof(T)), may_alias));  // as it lies in memory

  /// words: the turns; nullptr: writes the addresses of all codes to memory instead, in the order of `threaded.py`.
  BURLAB_WIDE static void run(const Word* words, const Word*, char* memory, Tables tables) noexcept {
#define BURLAB_ADDRESS(name, ...) , &&name
    const void* const codes[] = {&&end,    &&numbers, &&call, &&fetch,
                                 &&spread, &&gather,  &&keep, &&scatter BURLAB_CODES(BURLAB_ADDRESS)};
#undef BURLAB_ADDRESS
    if (BURLAB_UNLIKELY(words == nullptr)) {
      std::memcpy(memory, codes, sizeof codes);
      return;
    }
    const Turn* t = reinterpret_cast<const Turn*>(words);
    Lanes last{};
#define BURLAB_AT(place) (*reinterpret_cast<Loose*>(place))
#define BURLAB_NEXT goto * (++t)->code
#define BURLAB_CODE(name, ...)                                                                 \
  name:                                                                                        \
  {                                                                                            \
    [[maybe_unused]] const Loose &x = BURLAB_AT(memory + t->x), &y = BURLAB_AT(memory + t->y); \
    [[maybe_unused]] const Loose& z = BURLAB_AT(memory + t->z);                                \
    last = __VA_ARGS__;                                                                        \
    BURLAB_AT(memory + t->result) = last;                                                      \
    BURLAB_NEXT;                                                                               \
  }
    goto * t->code;
    BURLAB_CODES(BURLAB_CODE)
#undef BURLAB_CODE
  fetch:
    last = BURLAB_AT(t->place(tables));
    BURLAB_AT(memory + t->result) = last;
    BURLAB_NEXT;
  spread:
    last = *reinterpret_cast<const T*>(t->place(tables)) - Lanes{};  // x - 0 is x
    BURLAB_AT(memory + t->result) = last;
    BURLAB_NEXT;
  gather:
    move<T, W>(memory + t->result, sizeof(T), t->place(tables), t->step());
    last = BURLAB_AT(memory + t->result);
    BURLAB_NEXT;
  keep:
    BURLAB_AT(t->place(tables)) = BURLAB_AT(memory + t->result);
    BURLAB_NEXT;
  scatter:
    move<T, W>(t->place(tables), t->step(), memory + t->result, sizeof(T));
    BURLAB_NEXT;
  numbers:
    {
      Packet<std::uint64_t, 8> block;
      const char* const from = t->pointer<char>();
      BURLAB_ONE_BY_ONE
      for (Word at = 0; at < t->x; at += 64) {
        load(block, from + at);
        store(memory + t->result + at, block);
      }
      BURLAB_NEXT;
    }
  call:
    {
      const Call* const c = t->pointer<Call>();
      c->turns(c->words, c->end, memory, tables);
      BURLAB_NEXT;
    }
#undef BURLAB_NEXT
#undef BURLAB_AT
  end:
    return;
  }
};

#undef BURLAB_CODES

}  // namespace burlab::kernels
BURLAB_END
