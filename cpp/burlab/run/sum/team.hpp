#pragma once
// A few threads that share pieces of work. The result does not depend on which thread takes a share.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "../../stop_token.hpp"
#include "../loop/quiet.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The caller and up to `threads - 1` helpers, which sleep between two pieces of work and are joined at the end. A halt
/// of the caller's kernels halts the helpers'. It does not use the `wait` of atomics: their table of sleepers exists
/// twice if one side comes from cached code and the other from Cling, and then no thread wakes.
class Team {
 public:
  static constexpr int kMaxThreads = 16;  // threads that are ever used

  /// If the system refuses a thread, the team is smaller and does the same work.
  explicit Team(int threads) {
    try {
      for (; helpers_ < std::min(threads, kMaxThreads) - 1; ++helpers_)
        threads_[helpers_] = std::thread([this] { serve(); });
    } catch (...) {
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    share_ = nullptr;  // a woken helper reads this and returns to sleep
    wake();
    for (int i = 0; i < helpers_; ++i) threads_[i].join();
  }

  /// Call work(0), ..., work(shares - 1) once each, and wait for all of them. `work` must not throw.
  template <class Work> void run(int shares, Work& work) {
    if (shares == 1 || helpers_ == 0) {
      for (int i = 0; i < shares; ++i) work(i);
      return;
    }
    work_ = &work;
    share_ = [](void* pointer, int i) { (*static_cast<Work*>(pointer))(i); };
    shares_ = shares;
    next_ = 0;
    stop_ = false;
    StopToken& token = stop_token_of_thread();
    token_ = StopToken{token.flag != nullptr ? token.flag : &stop_};
    busy_ = helpers_;
    wake();
    take();
    if (token.poll != nullptr) watch(token);
    await(finished_, [this] { return busy_ == 0; });
  }

 private:
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      ++round_;
    }
    begun_.notify_all();
  }

  /// Return when `so` holds: poll for a short time, then sleep until notified.
  template <class So> void await(std::condition_variable& notified, So so) {
    for (int tries = 0; tries < kTries; ++tries) {
      if (so()) return;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    notified.wait(lock, so);
  }

  /// Wait for the helpers. The poll for halts works only on this thread; if it requests a halt, stop them.
  void watch(StopToken& token) {
    constexpr std::chrono::microseconds longest(10'000);
    stop_ = token.stopped;
    for (std::chrono::microseconds pause(1); busy_ != 0; pause = std::min(2 * pause, longest)) {
      std::this_thread::sleep_for(pause);
      if (pause == longest && token.poll()) stop_ = token.stopped = true;
    }
  }

  void take() {
    for (int i = next_++; i < shares_; i = next_++) share_(work_, i);
  }

  void serve() {
    block_signals();
    for (std::uint32_t seen = 0;;) {
      await(begun_, [&] { return round_ != seen; });
      seen = round_;
      if (share_ == nullptr) return;
      const StopScope scope(token_);
      take();
      if (--busy_ == 0) {
        const std::lock_guard lock(mutex_);  // so that the caller sleeps, or has seen it
        finished_.notify_one();
      }
    }
  }

  static constexpr int kTries = 20;

  std::thread threads_[kMaxThreads - 1];
  int helpers_ = 0;
  void* work_ = nullptr;
  void (*share_)(void*, int) = nullptr;
  int shares_ = 0;
  StopToken token_;
  std::atomic<bool> stop_{false};
  std::atomic<int> next_{0}, busy_{0};
  std::atomic<std::uint32_t> round_{0};
  std::mutex mutex_;
  std::condition_variable begun_, finished_;
};

}  // namespace burlab::run
BURLAB_END
