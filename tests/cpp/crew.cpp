// The threads of the process: each part is done once, whoever does it; halts reach helpers; child processes work on.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "burlab/kernels/reduce/blocks.hpp"
#include "burlab/kernels/share.hpp"
#include "expect.hpp"

using namespace burlab;
using kernels::Int;

namespace {

struct Tally {
  std::array<std::atomic<int>, Crew::kMaxThreads> done{};
  void add(int part) { ++done[static_cast<std::size_t>(part)]; }
  bool each_once(int parts) const {
    for (int k = 0; k < Crew::kMaxThreads; ++k)
      if (done[static_cast<std::size_t>(k)] != (k < parts ? 1 : 0)) return false;
    return true;
  }
};

void add_to_tally(void* with, int part) { static_cast<Tally*>(with)->add(part); }

void test_parts() {
  for (int round = 0; round < 300; ++round)
    for (const int parts : {1, 2, 3, 7, 64}) {
      Tally tally;
      crew.run(1 + round % 8, parts, &add_to_tally, &tally);
      expect(tally.each_once(parts), "each part is done once");
    }
}

// Numbers that one job writes, the next one reads, whoever takes which part.
void test_order() {
  std::vector<long> numbers(64, 0);
  for (int round = 0; round < 2000; ++round)
    crew.run(
        4, 4,
        [](void* with, int part) {
          auto& all = *static_cast<std::vector<long>*>(with);
          for (std::size_t k = static_cast<std::size_t>(part); k < all.size(); k += 4) ++all[k];
        },
        &numbers);
  for (const long number : numbers) expect(number == 2000, "a job sees what the one before wrote");
}

void test_two_callers() {
  std::atomic<int> total{0};
  const auto work = [&total] {
    for (int round = 0; round < 500; ++round)
      crew.run(3, 5, [](void* with, int) { ++*static_cast<std::atomic<int>*>(with); }, &total);
  };
  std::thread other(work);
  work();
  other.join();
  expect(total == 5000, "two callers get all their parts done");
}

void test_limit() {
  crew.allow(2);
  std::atomic<int> inside{0}, most{0};
  struct Both {
    std::atomic<int>&inside, &most;
  } both{inside, most};
  crew.run(
      8, 8,
      [](void* with, int) {
        auto& [now, highest] = *static_cast<Both*>(with);
        const int here = ++now;
        for (int seen = highest; seen < here && !highest.compare_exchange_weak(seen, here);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --now;
      },
      &both);
  expect(most <= 2, "no more threads than are allowed");
  crew.allow(Crew::kMaxThreads);
}

struct Frame {
  std::array<Int, 16> ends{};
  Int failing = -1;
};

void test_sections() {
  const ThreadsScope scope(5);
  Frame frame;
  const auto section = [](void* with, Int part, Int parts) noexcept -> Int {
    Frame& own = *static_cast<Frame*>(with);
    for (Int k = 16 * part / parts; k < 16 * (part + 1) / parts; ++k) own.ends[static_cast<std::size_t>(k)] = k + 1;
    if (own.failing == 99) return part == 0 ? Int{Stopped} : IndexOutOfRange | (7 + part) << 8;
    return part == own.failing ? IndexOutOfRange | 7 << 8 : Int{Ok};
  };
  expect(kernels::share(section, &frame, 0) == Ok, "a section without a fault");
  for (Int k = 0; k < 16; ++k) expect(frame.ends[static_cast<std::size_t>(k)] == k + 1, "all of its units");
  frame.failing = 3;
  expect(kernels::share(section, &frame, 4) == (IndexOutOfRange | 7 << 8),
         "the fault of a part is that of the section");
  frame.failing = 99;
  expect(kernels::share(section, &frame, 4) == (IndexOutOfRange | 8 << 8), "the first node that failed, not a halt");
}

// Threads leave the sums of blocks, and one adds them up, to the bits of one thread.
void test_blocks() {
  struct Sums {
    std::vector<double> numbers, sums;
    std::array<Int, 4> shape;
  } frame;
  for (int k = 0; k < 20011; ++k) frame.numbers.push_back(1.0 / (k + 1));
  const Int count = 20011 / 512;
  frame.sums.resize(static_cast<std::size_t>(count));
  frame.shape = {count, 20011, 1, 512};
  using Kind = kernels::SumBlocks<double>;
  const auto section = [](void* with, Int part, Int parts) noexcept -> Int {
    Sums& own = *static_cast<Sums*>(with);
    const Int first = own.shape[0] * part / parts, last = own.shape[0] * (part + 1) / parts;
    const double* const x = own.numbers.data() + 512 * first;
    return kernels::call_cut(&kernels::EachBlock<Kind>::run, own.shape.data(), 4, 0, last - first, nullptr,
                             own.sums.data() + first, x, x);
  };
  double alone = 0, shared = 0;
  const std::array<Int, 7> all{1, 0, 1, 0, 20011, 1, 0};
  kernels::Sum<double, false>::run(all.data(), &alone, frame.numbers.data(), nullptr, nullptr);
  const void* const x = frame.numbers.data();
  for (int threads = 1; threads <= 8; ++threads) {
    expect(kernels::share(section, &frame, threads) == Ok, "all blocks");
    kernels::AllBlocks<Kind>::run(frame.shape.data(), &shared, frame.sums.data(), x, &x);
    expect(shared == alone, "the sum of one thread");
  }
}

void test_child() {
  Tally before;
  crew.run(4, 4, &add_to_tally, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // helpers sleep
  const pid_t child = fork();
  if (child == 0) {
    Tally tally;
    crew.run(1, 4, &add_to_tally, &tally);
    _exit(tally.each_once(4) ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  expect(status == 0, "a child process works without the helpers");
}

}  // namespace

int main() {
  test_parts();
  test_order();
  test_two_callers();
  test_limit();
  test_sections();
  test_blocks();
  test_child();
  return failures;
}
