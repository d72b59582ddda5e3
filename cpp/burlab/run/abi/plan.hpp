#pragma once
// What Python hands over to open a run.
#include <bit>
#include <cstdint>

#include "../step/query.hpp"
#include "../step/row_buffers.hpp"
#include "../step/validation.hpp"
#include "../sum/sampler.hpp"
#include "criteria.hpp"
#include "summand.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// A window of a buffer: a leaf of x, or of the state what goes with one; or a whole buffer. Mirrored in Python.
struct Piece {
  std::int64_t buffer, offset;  // bytes
};

/// A step as one kernel. In: the leaves of x, a sample of each data array, its key if there is one, the step, the
/// hyperparameters, the pieces of the state; of float64 a number that the gradient is multiplied by for its norm. Out:
/// the value; as doubles the squares of the norms of gradient and step; metrics; what the schedules gave; what the rule
/// logs; all pieces. Mirrored in Python.
struct Fused {
  Kernel kernel;        // no function: gradient and update are separate
  std::int64_t pieces;  // the leaves of x first
  const Piece* table;
};

/// All that a run consists of. `burlab/run/loop/setup.py` keeps what the kernels and the loss point to; the other
/// pointers are read once. Mirrored in Python.
struct Plan {
  Loss loss;       // outputs: value, gradient and metrics, each as one span
  Summand each;    // a row for each sample, if the update reads them and their mean; else no kernel
  Stream stream;   // the batches
  Kernel size;     // in: t, hyperparameters, state. Out: how many samples a step uses. No function: all
  Kernel sampler;  // in: the key of a step, t. Out: its samples. No function: as the stream says
  std::int64_t threads;
  Dtype dtype;                     // of x
  std::int64_t dimension, leaves;  // of x; its leaves lie in it one after another
  const std::int64_t* places;      // where each leaf begins, bytes
  std::int64_t gradient;           // where the gradient begins in a result, bytes; -1: the rule reads none
  std::int64_t metrics, measured;  // how many other numbers a result has, and where they begin, bytes
  const Validation* validation;    // nullptr if there is none
  const Validation* full;          // the full gradient, whose norm is written down; nullptr if nobody asks
  /// In: g, x, t, hyperparameters, state, value, key, indices, oracle. Out: x, state, what the schedules gave, what the
  /// rule logs, and of each row buffer the rows that were written. It comes in as what goes out.
  Kernel update;
  /// In: x, t, hyperparameters, state. Out: the point that the optimizer gives. No function: it is x.
  Kernel output;
  Fused fused;         // in place of the kernels of loss and update
  std::int64_t chunk;  // entries of x, and of all of the state that has as many, for one call of it; 0: all at once
  std::int64_t row_buffers;  // buffers of which a step writes some rows
  const RowBuffer* row_buffer;
  std::int64_t counters;   // which counts are columns: bit k for the Counter k
  std::int64_t totals;     // how many of the last columns are added up, the counts and the logged metrics before them
  const double* spent;     // where these begin
  const Queries* queries;  // of the update; nullptr if there are none
  std::int64_t hypers, buffers;  // buffers: x and the leaves of the state
  const double* hyper;           // start values; NaN: as scheduled
  std::int64_t noted;            // numbers that an update gives: of schedules, and logged by the rule
  std::int64_t logs_value;       // 1: the last of them is the value of the step, and no column more; else 0
  const char* const* start;      // start values of the buffers; nullptr: they come from another run
  const std::int64_t* bytes;     // of each buffer
  std::int64_t history_bytes, keyframe_bytes;  // budgets
  std::int64_t feed_rows;                      // a power of 2; 0 where nobody must see every row
  Criteria criteria;
};

/// The columns of a run's record before the extra ones: metrics, the value of the validation, the norm of the full
/// gradient, what schedules gave and the rule logs, and what was counted. The last ones are totals up to the end of a
/// step.
enum Column : std::int64_t { value_column, gradient_norm, step_norm, first_extra };

inline std::int64_t columns_of(const Plan& plan) {
  const auto counted = std::popcount(static_cast<std::uint64_t>(plan.counters));
  const auto noted = plan.noted - plan.logs_value;
  return first_extra + plan.metrics + (plan.validation != nullptr) + (plan.full != nullptr) + noted + counted;
}

}  // namespace burlab::run
BURLAB_END
