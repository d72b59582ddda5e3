#pragma once
// The threads of the process that help a thread with its work. Every run and every kernel shares them, so that two runs
// never have more threads at work than one may have.
//
// Work is cut into parts, and whoever is free takes one: a part is computed by one thread, in the order that one thread
// would take, so its bits do not depend on threads. A helper that sleeps, or that the system does not run, delays
// nothing: another thread takes its part.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "quiet.hpp"
#include "stop_token.hpp"
#include "thread_own.hpp"

BURLAB_BEGIN
namespace burlab {

/// Constant at the start, so that there is one in a process, whichever session compiled the code that uses it.
class Crew {
 public:
  static constexpr int kMaxThreads = 64;  // and parts of a job
  using Work = void (*)(void* with, int part);

  /// How many threads work at most, all together.
  int most() const noexcept { return most_.load(std::memory_order_relaxed); }
  void allow(int threads) noexcept { most_.store(std::clamp(threads, 1, kMaxThreads), std::memory_order_relaxed); }

  /// Return true if helpers wait for work without sleep: then short work is worth their help.
  bool is_awake() const noexcept { return helpers_ > 0 && asleep_.load(std::memory_order_relaxed) == 0; }

  /// Call work(with, part) once for each of up to kMaxThreads parts, on this thread and up to `threads - 1` others, and
  /// wait for all. `work` must not throw. Where the crew works for another thread, this one does all parts.
  void run(int threads, int parts, Work work, void* with) noexcept {
    const int wanted = std::min({threads, parts, most()}) - 1;
    if (wanted < 1 || busy_.exchange(true, std::memory_order_acquire)) return alone(parts, work, with);
    hire(wanted);
    if (helpers_ == 0) {
      busy_.store(false, std::memory_order_release);
      return alone(parts, work, with);
    }
    keep_off();
    StopToken& token = stop_token_of_thread();
    stop_.store(token.stopped, std::memory_order_relaxed);
    flag_.store(token.flag != nullptr ? token.flag : &stop_, std::memory_order_relaxed);
    work_.store(work, std::memory_order_relaxed);
    with_.store(with, std::memory_order_relaxed);
    wanted_.store(std::min(wanted, helpers_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    const std::uint64_t job =
        (job_.load(std::memory_order_relaxed) / kParts + 1) * kParts + static_cast<unsigned>(parts);
    job_.store(job);
    if (asleep_.load() > 0) wake();
    take(job, 0);
    await(parts, token);
    busy_.store(false, std::memory_order_release);
  }

  /// End all helpers. Later work is done by its own thread.
  void dismiss() noexcept {
    if (getpid() != process_) return;
    while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();  // for good
    ended_.store(true);
    wake();
    for (int i = 0; i < helpers_; ++i) pthread_join(threads_[i], nullptr);
    helpers_ = 0;
  }

 private:
  static void alone(int parts, Work work, void* with) noexcept {
    for (int part = 0; part < parts; ++part) work(with, part);
  }

  /// Start helpers until there are so many, or the system refuses one.
  void hire(int wanted);
  static void* serve(void* seat) noexcept;

  /// Keep helpers off the core of this thread: a system may wake a thread where its waker runs, and leave it there for
  /// milliseconds while another core is idle.
  void keep_off() noexcept {
#if defined(__linux__)
    const int here = sched_getcpu();
    if (here < 0 || (here == taken_core_ && placed_ == helpers_)) return;
    const std::int64_t now = nanoseconds();
    if (placed_ == helpers_ && now - placed_at_ < kPlacing) return;
    cpu_set_t others;
    if (pthread_getaffinity_np(pthread_self(), sizeof(others), &others) != 0 || CPU_COUNT(&others) < 2) return;
    CPU_CLR(static_cast<unsigned>(here), &others);
    for (int i = 0; i < helpers_; ++i) pthread_setaffinity_np(threads_[i], sizeof(others), &others);
    taken_core_ = here;
    placed_ = helpers_;
    placed_at_ = now;
#endif
  }

  void wake() noexcept {
    if (getpid() != process_) return forget();
    pthread_mutex_lock(&mutex_);
    pthread_cond_broadcast(&begun_);
    pthread_mutex_unlock(&mutex_);
  }

  /// In a child process, which has none of the helpers, but all that they may have held.
  void forget() noexcept {
    placed_ = 0;
    helpers_.store(0);
    asleep_.store(0);
    mutex_ = PTHREAD_MUTEX_INITIALIZER;
    begun_ = PTHREAD_COND_INITIALIZER;
  }

  /// Take parts of a job that nobody has taken, from `first` on. The job's work is read after a part is taken: then it
  /// is that of this job, because nobody begins the next one before all parts are done.
  void take(std::uint64_t job, int first) noexcept {
    const int parts = static_cast<int>(job % kParts);
    for (int k = 0; k < parts; ++k) {
      const int part = (first + k) % parts;
      std::uint64_t last = taken_[part].job.load(std::memory_order_relaxed);
      if (last >= job || !taken_[part].job.compare_exchange_strong(last, job, std::memory_order_acq_rel)) continue;
      work_.load(std::memory_order_relaxed)(with_.load(std::memory_order_relaxed), part);
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  /// Wait for the helpers. The poll for halts works only on this thread; if it requests a halt, stop them.
  void await(int parts, StopToken& token) noexcept {
    for (int tries = 0; done_.load(std::memory_order_acquire) != parts; ++tries) {
      if (tries < kTries) {
        pause();
      } else {
        sched_yield();
        if (tries % 64 == 0 && token.poll != nullptr && check_stop()) stop_.store(true, std::memory_order_relaxed);
      }
    }
  }

  /// Return when there is another job than the one that was seen: spin for a short time, then sleep.
  std::uint64_t next(std::uint64_t seen) noexcept {
    std::uint64_t job = job_.load(std::memory_order_acquire);
    std::int64_t end = 0;
    for (int tries = 0; job == seen; job = job_.load(std::memory_order_acquire)) {
      pause();
      if (++tries % kSpins != 0) continue;
      const std::int64_t now = nanoseconds();
      if (end == 0) end = now + kPatience;
      if (now < end && !ended_.load(std::memory_order_relaxed)) continue;
      return sleep(seen);
    }
    return job;
  }

  std::uint64_t sleep(std::uint64_t seen) noexcept {
    pthread_mutex_lock(&mutex_);
    asleep_.fetch_add(1);
    std::uint64_t job = job_.load();
    for (; job == seen && !ended_.load(); job = job_.load()) pthread_cond_wait(&begun_, &mutex_);
    asleep_.fetch_sub(1);
    pthread_mutex_unlock(&mutex_);
    return job;
  }

  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
  }

  static constexpr std::uint64_t kParts = 256;
  static constexpr int kSpins = 256;                   // pauses between two readings of the clock
  static constexpr std::int64_t kPlacing = 1'000'000;  // nanoseconds before they are told again
  static constexpr int kTries = 2000;                  // pauses of a thread that waits for others, before it yields
  static constexpr std::int64_t kPatience = 50'000;    // nanoseconds before a helper sleeps

  struct alignas(64) Taken {
    std::atomic<std::uint64_t> job{0};  // the last one of which this part was taken
  };

  alignas(64) std::atomic<std::uint64_t> job_{0};  // the number of the current job times kParts, and its parts
  std::atomic<Work> work_{nullptr};
  std::atomic<void*> with_{nullptr};
  std::atomic<int> wanted_{0};  // helpers
  std::atomic<const std::atomic<bool>*> flag_{nullptr};
  std::atomic<int> most_{kMaxThreads};
  alignas(64) std::atomic<int> done_{0};
  alignas(64) std::atomic<bool> busy_{false}, stop_{false}, ended_{false};
  std::atomic<int> asleep_{0};
  int taken_core_ = -1, placed_ = 0;  // where the caller ran, and how many helpers know
  std::int64_t placed_at_ = 0;        // when they were told
  pid_t process_ = 0;                 // in which the helpers live
  std::atomic<int> helpers_{0};
  pthread_t threads_[kMaxThreads - 1] = {};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t begun_ = PTHREAD_COND_INITIALIZER;
  Taken taken_[kMaxThreads];
};

inline Crew crew{};

inline void Crew::hire(int wanted) {
  if (process_ == 0) static_cast<void>(std::atexit([] { crew.dismiss(); }));
  process_ = getpid();
  for (; helpers_ < wanted; ++helpers_) {
    void* const number = reinterpret_cast<void*>(static_cast<std::intptr_t>(helpers_));
    if (pthread_create(&threads_[helpers_], nullptr, &serve, number) != 0) return;
  }
}

inline void* Crew::serve(void* seat) noexcept {
  block_signals();
  const int number = static_cast<int>(reinterpret_cast<std::intptr_t>(seat));
  for (std::uint64_t job = 0;;) {
    job = crew.next(job);
    if (crew.ended_.load()) return nullptr;
    if (number >= crew.wanted_.load(std::memory_order_relaxed)) continue;
    const StopScope scope(StopToken{crew.flag_.load(std::memory_order_relaxed)});
    crew.take(job, number + 1);
  }
}

/// Called by Python, which knows how many cores the process may use.
inline void allow_threads(int threads) noexcept { crew.allow(threads); }

struct ThreadCount {
  int threads = 1;
};

/// How many threads the kernels that this thread calls may use, itself included. Through a variable, as the token of a
/// thread is.
BURLAB_NOINLINE int& own_threads() { return thread_own<ThreadCount>().threads; }
inline int& (*threads_of_thread)() = &own_threads;

/// Sets that number for as long as the scope lasts.
class ThreadsScope {
 public:
  explicit ThreadsScope(int threads) : before_(threads_of_thread()) { threads_of_thread() = threads; }
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;
  ~ThreadsScope() { threads_of_thread() = before_; }

 private:
  const int before_;
};

}  // namespace burlab
BURLAB_END
