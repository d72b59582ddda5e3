#pragma once
// The memory of the process, as the system counts it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Bytes of the process in memory, its resident set; NaN where the system has no /proc/self/statm.
inline double resident_bytes() {
  char text[128] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::numeric_limits<double>::quiet_NaN();
  const auto length = read(file, text, sizeof(text) - 1);
  close(file);
  char* end = text;
  strtoll(text, &end, 10);  // the size; the resident pages come second
  const long long pages = strtoll(end, &end, 10);
  return length > 0 ? static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE))
                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace burlab::run
BURLAB_END
