#pragma once
// Segments as threaded code: each instruction holds the address of the code that executes it, and that code jumps to
// the code of the next one. A CPU predicts such jumps if they are few, or alike, so that little time is lost between
// operations; the last result stays in a register for the next instruction. Long and irregular segments are grouped
// instead (`segment.hpp`), which needs no prediction. Both round alike: x + y is x 1 + y, and so on, with the same
// bits.
#include <type_traits>

#include "../../numbers/packet.hpp"
#include "opcodes.hpp"
#include "segment.hpp"

BURLAB_BEGIN
namespace burlab::kernels {

/// An instruction of threaded code. Mirrored in Python.
struct Instruction {
  const void* code;
  Word result, x, y, z;

  /// The address that y and z hold together.
  template <class P> BURLAB_INLINE const P* pointer() const noexcept {
    const P* p = nullptr;
    std::memcpy(&p, &y, sizeof p);
    return p;
  }
  /// Where an array of a table starts, and the bytes between two lanes.
  BURLAB_INLINE char* place(Tables tables) const noexcept { return array(tables, x) + y; }
  BURLAB_INLINE Int step() const noexcept { return static_cast<std::int32_t>(z); }
};

/// Instructions of an operation without code here. Mirrored in Python.
struct Call {
  Interpreter* interpreter;
  const Word *begin, *end;
};

/// Executes instructions up to the code `end`. W: lanes.
template <class T, int W> struct Threaded {
  using Lanes = std::conditional_t<W == 1, T, typename PacketType<T, W == 1 ? 2 : W>::type>;
  typedef Lanes Loose __attribute__((aligned(alignof(T)), may_alias));  // as stored in memory

  /// begin: the instructions; nullptr: writes the addresses of all codes to memory instead, in their order.
  BURLAB_WIDE static void run(const Word* begin, const Word*, char* memory, Tables tables) noexcept {
#define BURLAB_ADDRESS(name, ...) &&name,
    const void* const codes[] = {BURLAB_MOVING_CODES(BURLAB_ADDRESS) BURLAB_COMPUTING_CODES(BURLAB_ADDRESS)};
#undef BURLAB_ADDRESS
    if (BURLAB_UNLIKELY(begin == nullptr)) {
      std::memcpy(memory, codes, sizeof codes);
      return;
    }
    const Instruction* t = reinterpret_cast<const Instruction*>(begin);
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
    BURLAB_COMPUTING_CODES(BURLAB_CODE)
#undef BURLAB_CODE
  load:
    last = BURLAB_AT(t->place(tables));
    BURLAB_AT(memory + t->result) = last;
    BURLAB_NEXT;
  broadcast:
    last = *reinterpret_cast<const T*>(t->place(tables)) - Lanes{};  // x - 0 is x
    BURLAB_AT(memory + t->result) = last;
    BURLAB_NEXT;
  gather:
    move<T, W>(memory + t->result, sizeof(T), t->place(tables), t->step());
    last = BURLAB_AT(memory + t->result);
    BURLAB_NEXT;
  store:
    BURLAB_AT(t->place(tables)) = BURLAB_AT(memory + t->result);
    BURLAB_NEXT;
  scatter:
    move<T, W>(t->place(tables), t->step(), memory + t->result, sizeof(T));
    BURLAB_NEXT;
  literals:
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
      c->interpreter(c->begin, c->end, memory, tables);
      BURLAB_NEXT;
    }
#undef BURLAB_NEXT
#undef BURLAB_AT
  end:
    return;
  }
};

}  // namespace burlab::kernels
BURLAB_END
