#pragma once
// x and its state where entries lag behind: each is as it was after a step of its own.
#include <algorithm>
#include <cstdint>

#include "drift.hpp"
#include "state_buffers.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// last: of each entry, how many steps have been applied to it. carried: of all entries at the present step: |x|^2,
/// <x, mean> and |mean|^2, unless the loss has no weight; and the rates of the steps that lag.
struct Lagging {
  double* x;
  std::int64_t* last;
  double *carried, *mean, *table;  // nullptr: there is none

  Lagging(const Lazy& lazy, const StateBuffers& state)
      : x(reinterpret_cast<double*>(state.current(0))),
        last(at<std::int64_t>(state, lazy.last)),
        carried(at<double>(state, lazy.carried)),
        mean(at<double>(state, lazy.mean)),
        table(at<double>(state, lazy.table)) {}

  double mean_at(std::int64_t j) const { return mean == nullptr ? 0 : mean[j]; }
  Rates rates() const { return {carried[3], carried[4], carried[5]}; }
  void set_rates(const Rates& rates) const {
    carried[3] = rates.lr;
    carried[4] = rates.l1;
    carried[5] = rates.l2;
  }

  /// Entry j at a step. drift: of the rates of the steps that lag.
  BURLAB_INLINE double entry(const Drift& drift, std::int64_t j, std::int64_t step) const {
    return drift.after(x[j], mean_at(j), std::clamp<std::int64_t>(step - last[j], 0, drift.most()));
  }

 private:
  template <class T> static T* at(const StateBuffers& state, std::int64_t k) {
    return k == 0 ? nullptr : reinterpret_cast<T*>(state.current(k));
  }
};

}  // namespace burlab::run
BURLAB_END
