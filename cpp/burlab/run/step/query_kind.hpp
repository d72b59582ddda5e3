#pragma once
// The kinds of queries of an update, and the counters of their cost.
#include <array>
#include <cstddef>
#include <cstdint>

#include "../../numbers/simd.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The kinds, by the numbers of `burlab/graph/query.py`.
enum QueryKind : std::int64_t {
  query_value,
  query_grad,
  query_value_and_grad,
  query_hvp,
  query_full_value,
  query_full_grad,
  query_per_sample_grads,
  query_jvp,
  query_partial_grad,
  query_resampled_grad,
  query_targets,
  query_surrogate,
  query_per_sample_values,
  query_hessian,
  query_residuals_and_jacobian,
  query_part_value_and_grad,
  query_part_value,
  query_part_hvp,
  query_link_grads,
  query_client_grads,
  query_client_hessians,
  query_client_values_and_grads,
  kQueries
};

/// The costs of an update apart from its state: evaluations of one sample each, by kind.
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

/// The counter of a kind of query.
inline Counter counter_of(std::int64_t query) {
  switch (query) {
    case query_value:
    case query_full_value:
    case query_per_sample_values:
    case query_part_value:
      return count_values;
    case query_hvp:
    case query_hessian:
    case query_client_hessians:
    case query_part_hvp:
      return count_hvps;
    case query_jvp:
      return count_jvps;
    case query_partial_grad:
      return count_partials;
    case query_surrogate:
      return count_surrogates;
    default:
      return count_gradients;
  }
}

}  // namespace burlab::run
BURLAB_END
