#pragma once
// The threads that work for one run.
#include "../../crew.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Up to so many threads of the process's crew, the caller included.
class Team {
 public:
  static constexpr int kMaxThreads = Crew::kMaxThreads;

  explicit Team(int threads) : threads_(threads) {}

  int threads() const { return threads_; }

  /// Call work(0), ..., work(shares - 1) once each, and wait for all of them. `work` must not throw.
  template <class Work> void run(int shares, Work& work) {
    crew.run(threads_, shares, [](void* with, int share) { (*static_cast<Work*>(with))(share); }, &work);
  }

 private:
  int threads_;
};

}  // namespace burlab::run
BURLAB_END
