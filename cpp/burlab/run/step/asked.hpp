#pragma once
// What an update may ask, and what answers count as.
#include <array>
#include <cstddef>
#include <cstdint>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What may be asked, by the numbers of `burlab/graph/query.py`.
enum Asked : std::int64_t {
  asked_value,
  asked_grad,
  asked_value_and_grad,
  asked_hvp,
  asked_full_value,
  asked_full_grad,
  asked_per_sample_grads,
  asked_jvp,
  asked_partial_grad,
  asked_resampled_grad,
  asked_targets,
  asked_surrogate,
  asked_per_sample_values,
  asked_hessian,
  asked_client_grads,
  asked_client_hessians,
  asked_client_values_and_grads,
  kQueries
};

/// What an update costs besides its state: evaluations of one sample each, by kind.
enum Counter : std::size_t {
  count_gradients,
  count_values,
  count_hvps,
  count_jvps,
  count_partials,
  count_surrogates,
  kCounters
};
using Counts = std::array<std::int64_t, kCounters>;

/// The kind of what is asked.
inline Counter counter_of(std::int64_t asked) {
  switch (asked) {
    case asked_value:
    case asked_full_value:
    case asked_per_sample_values:
      return count_values;
    case asked_hvp:
    case asked_hessian:
    case asked_client_hessians:
      return count_hvps;
    case asked_jvp:
      return count_jvps;
    case asked_partial_grad:
      return count_partials;
    case asked_surrogate:
      return count_surrogates;
    default:
      return count_gradients;
  }
}

}  // namespace burlab::run
BURLAB_END
