#pragma once
// The threads of OpenBLAS. After each call they wait for the next one in a busy loop, for about a tenth of a second, on
// cores that the threads of `crew.hpp` then lack.
#include <memory>
#include <mutex>

#include "numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab {

/// One OpenBLAS of the process, and the scopes that keep it on the threads of its callers.
struct Blas {
  int (*set_threads)(int) = nullptr;  // returns the previous number; nullptr for another library
  int scopes = 0, before = 1;

  void hold() {
    if (set_threads != nullptr && scopes++ == 0) before = set_threads(1);
  }
  /// The number is what it was, unless somebody has set another one meanwhile.
  void release() {
    if (scopes == 0 || --scopes > 0) return;
    if (const int now = set_threads(before); now != 1) set_threads(now);
  }
};

// Variables, because a process has one of each, also if it loads cached code of another session.
inline Blas blas_of_scipy{}, blas_of_numpy{};
inline std::mutex blas_lock{};

/// One thread for the calls of SciPy's OpenBLAS in a scope, if `holds`.
class OneBlasThread {
 public:
  explicit OneBlasThread(bool holds) : holds_(holds && blas_of_scipy.set_threads != nullptr) {
    if (!holds_) return;
    const std::lock_guard guard(blas_lock);
    blas_of_scipy.hold();
  }
  ~OneBlasThread() {
    if (!holds_) return;
    const std::lock_guard guard(blas_lock);
    blas_of_scipy.release();
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  const bool holds_;
};

// For `burlab/runtime/blas_threads.py`.
inline void connect_blas(int (*of_scipy)(int), int (*of_numpy)(int)) noexcept {
  blas_of_scipy.set_threads = of_scipy;
  blas_of_numpy.set_threads = of_numpy;
}
inline void hold_blas() noexcept {
  const std::lock_guard guard(blas_lock);
  blas_of_scipy.hold();
  blas_of_numpy.hold();
}
inline void release_blas() noexcept {
  const std::lock_guard guard(blas_lock);
  blas_of_scipy.release();
  blas_of_numpy.release();
}
/// In a child process, where the threads that held them do not exist.
inline void free_blas() noexcept {
  std::construct_at(&blas_lock);
  for (Blas* const blas : {&blas_of_scipy, &blas_of_numpy}) {
    if (blas->scopes == 0) continue;
    blas->scopes = 1;
    blas->release();
  }
}

}  // namespace burlab
BURLAB_END
