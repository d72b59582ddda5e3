#pragma once
// What Python calls to do the steps of several runs in the lanes of one kernel. Separate from `abi/loop.hpp`, because
// most runs step alone.
#include <algorithm>
#include <cstdint>

#include "../lanes/arrival.hpp"
#include "loop.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Move a run at rest to the end of its lane's steps. first: the number of the first one. nanoseconds: their duration.
/// False if nothing was changed and the run must do these steps itself.
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

/// Do steps of several runs together, in chunks, from step `first` until `target`, until about this many nanoseconds
/// have passed, or until a run leaves. loops: one for each lane, nullptr for an empty lane. The entry of a run that
/// leaves becomes nullptr; that run rests at the end of its last chunk. Returns the step of the other runs.
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
