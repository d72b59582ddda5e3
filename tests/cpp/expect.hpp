#pragma once
// What every program here says about itself: each expectation that failed, and how many did.
#include <atomic>
#include <cstdio>

inline std::atomic<int> failures{0};  // threads expect things, too

inline void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  ++failures;
}
