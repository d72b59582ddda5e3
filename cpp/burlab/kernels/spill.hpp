#pragma once
// Hints to the operating system about arrays in a workspace that is mapped from a file. They change no number.
#include <cstdint>

#include "kernel.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

BURLAB_BEGIN
namespace burlab::kernels {

#if defined(__linux__)
inline constexpr int kPageOut = 21;  // MADV_PAGEOUT of Linux 5.4, which older headers do not name

/// Gives advice about the whole pages between two addresses.
inline void advise(void* begin, Int bytes, int advice) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + static_cast<std::uintptr_t>(bytes)) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, advice);
}
#endif

/// The array is not needed for a while: its pages may go to their file. d: its bytes.
struct Retire {
  static Status run([[maybe_unused]] const Int* d, [[maybe_unused]] void* out, const void*, const void*,
                    const void* const*) noexcept {
#if defined(__linux__)
    advise(out, d[0], kPageOut);
#endif
    return Ok;
  }
};

/// The array is needed soon: its pages may come from their file. d: its bytes.
struct Recall {
  static Status run([[maybe_unused]] const Int* d, [[maybe_unused]] void* out, const void*, const void*,
                    const void* const*) noexcept {
#if defined(__linux__)
    advise(out, d[0], MADV_WILLNEED);
#endif
    return Ok;
  }
};

}  // namespace burlab::kernels
BURLAB_END
