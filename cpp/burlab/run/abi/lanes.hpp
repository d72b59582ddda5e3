#pragma once
// What Python calls to do the steps of several runs in the lanes of one kernel. Apart from `abi/loop.hpp`, as most runs
// step by themselves.
#include <algorithm>
#include <cstdint>

#include "../lanes/arrival.hpp"
#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Have a run at rest be where the steps of its lane lead to. first: the number of the first. nanoseconds: what they
/// took. False where it has to do them by itself, as if nothing had been done.
inline bool arrives(Loop& loop, const Lanes& lanes, std::int64_t lane, std::int64_t first, double nanoseconds) {
  constexpr std::int64_t kPatience = 50;  // milliseconds
  bool done = false;
  loop.control.between(kPatience, [&](Pending& pending) {
    const Arrival arrival(loop, pending, lanes, lane, first);
    done = arrival.fits() && arrival.take(nanoseconds);
    return false;
  });
  return done;
}

/// Let runs at rest at step `first` do steps together, in chunks, until they are at `target`, about so many nanoseconds
/// are over, or a run leaves. loops: of each lane; nullptr where it has none, and from now on where its run has left:
/// that one is at rest at the end of the last chunk that it took. Answers the step at which the others are.
inline std::int64_t lanes_step(Lanes* lanes, Loop** loops, std::int64_t first, std::int64_t target,
                               double nanoseconds) noexcept {
  const auto begin = Stopwatch::Clock::now();
  const std::int64_t runs = Lanes::kWidth - std::count(loops, loops + Lanes::kWidth, nullptr);
  bool all = true;
  for (double before = 0, now = 0; all && first < target && now < nanoseconds; before = now) {
    const std::int64_t count = std::min(target - first, lanes->most);
    const bool done = lanes->advance(first, count);
    now = Stopwatch::nanoseconds(Stopwatch::Clock::now() - begin);
    for (std::int64_t lane = 0; lane < Lanes::kWidth; ++lane) {
      if (loops[lane] == nullptr) continue;
      if (done && arrives(*loops[lane], *lanes, lane, first, (now - before) / static_cast<double>(runs))) continue;
      loops[lane] = nullptr;
      all = false;
    }
    first += count;
  }
  return first;
}

}  // namespace burlab::run
BURLAB_END
