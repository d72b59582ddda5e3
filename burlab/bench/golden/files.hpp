#pragma once
// Golden: numbers to a file and back, as raw bytes.
#include <cstdint>
#include <cstdio>

namespace burlab::bench {

/// Write n numbers to a new file, again and again; how often that failed.
inline std::int64_t save(std::int64_t times, const char* path, const double* x, std::int64_t n) {
  std::int64_t failures = 0;
  for (; times > 0; --times) {
    std::FILE* file = std::fopen(path, "wb");
    if (!file) return times;
    failures += std::fwrite(x, sizeof(double), static_cast<std::size_t>(n), file) != static_cast<std::size_t>(n);
    failures += std::fclose(file) != 0;
  }
  return failures;
}

/// Read n numbers from a file, again and again; how often that failed.
inline std::int64_t load(std::int64_t times, const char* path, double* x, std::int64_t n) {
  std::int64_t failures = 0;
  for (; times > 0; --times) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) return times;
    failures += std::fread(x, sizeof(double), static_cast<std::size_t>(n), file) != static_cast<std::size_t>(n);
    std::fclose(file);
  }
  return failures;
}

}  // namespace burlab::bench
