#pragma once
// What Python hands over to open a run.
#include <bit>
#include <cstdint>

#include "../step/query.hpp"
#include "../step/row_buffers.hpp"
#include "../step/shift_buffers.hpp"
#include "../step/validation.hpp"
#include "../sum/sampler.hpp"
#include "criteria.hpp"
#include "lazy.hpp"
#include "summand.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// The dtype of an x of 16 bits, whose gradients are float32. Mirrored in Python.
enum class Narrow : std::int64_t { none, float16, bfloat16 };

/// A window of a buffer: a leaf of x, the part of the state that belongs to it, or a whole buffer. Mirrored in Python.
struct Piece {
  std::int64_t buffer, offset;  // bytes
};

/// A step as one kernel. In: the leaves of x, the numbers of the loss, a sample of each data array, its key if there is
/// one, the step, the hyperparameters, the pieces of the state; a float64 factor of the gradient for its norm. Out: the
/// value; as doubles the squares of the norms of gradient and step; metrics; values of schedules; metrics that the rule
/// logs; all pieces.
///
/// In place, if there is a second kernel, the first one gives no pieces and not the step's norm, but the new numbers of
/// the state, which all entries share, and the cuts. In of the second, after those of the first: whether the run moves,
/// the cuts. Out: squares of the norm of the step, for float64 also times 2^600 and over it; all other pieces.
/// Mirrored in Python.
struct Fused {
  Kernel kernel, second;      // no function of the first: gradient and update are separate kernels
  std::int64_t pieces, cuts;  // pieces: the leaves of x first
  const Piece* table;
  const std::int64_t* cut_bytes;
};

/// A leaf of the state that a loss gives anew: where it lies in a result, bytes. Or, of a table in which a step writes
/// `rows` rows, where these lie, and the int64 numbers of them; size: bytes of a row. Mirrored in Python.
struct LossLeaf {
  std::int64_t place, rows;  // rows: 0 for the whole leaf
  std::int64_t numbers, size;
};

/// How a step writes over x and the state, see `Plan::in_place`.
inline constexpr std::int64_t kInPlaceAtOnce = 2;

/// All parts of a run. `burlab/run/loop/setup.py` owns the memory that the kernels and the loss point to; the other
/// pointers are read once. Mirrored in Python.
struct Plan {
  Loss loss;       // outputs: value, gradient and metrics, each as one span
  Summand each;    // a row for each sample, if the update reads rows and their mean; else no kernel
  Stream stream;   // the batches
  Kernel size;     // in: t, hyperparameters, state. Out: how many samples a step uses. No function: all
  Kernel sampler;  // in: the key of a step, t. Out: its samples. No function: as the stream says
  std::int64_t threads;
  Dtype dtype;                     // of gradients, and of x unless it is narrow
  Narrow narrow;                   // of x
  std::int64_t dimension, leaves;  // of x, which holds its leaves one after another
  const std::int64_t* places;      // where each leaf begins, bytes
  std::int64_t gradient;           // where the gradient begins in a result, bytes; -1: the rule reads none
  std::int64_t metrics, measured;  // how many metrics a result has, and where they begin, bytes
  const Validation* validation;    // nullptr if there is none
  const Validation* full;          // the full gradient, whose norm is recorded; nullptr if there is none
  /// In: g, x, t, hyperparameters, state, value, key, indices, oracle. Out: x, state, values of schedules, logged
  /// metrics, whether to shift each shift buffer, of which only the new row is written, and the written rows of each
  /// row buffer, which is updated in place.
  Kernel update;
  /// In: x, t, hyperparameters, state. Out: the optimizer's output point. No function: it is x.
  Kernel output;
  Fused fused;         // replaces the kernels of loss and update
  Lazy lazy;           // replaces the update; the kernel of the loss gives a value and the number of a row
  std::int64_t chunk;  // entries of x, and of each state buffer of its size, in one call of the update; 0: all at once
  /// If not 0, a step writes its results over x and the state, chunk by chunk, and its update cannot fail.
  /// kInPlaceAtOnce: the update reads each entry before it writes there, so that its outputs may be its inputs.
  std::int64_t in_place;
  std::int64_t row_buffers;  // buffers of which a step writes some rows
  const RowBuffer* row_buffer;
  std::int64_t shift_buffers;  // buffers that a step shifts by a row
  const ShiftBuffer* shift_buffer;
  std::int64_t counters;         // which counters are columns: bit k for Counter k
  std::int64_t totals;           // how many of the last columns are running totals: counters and logged metrics
  const double* spent;           // where these begin
  const Queries* queries;        // of the update; nullptr if there are none
  std::int64_t hypers, buffers;  // buffers: x, the leaves of the optimizer's state, those of the state of the loss
  const double* hyper;           // start values; NaN: as scheduled
  /// Inputs of a loss behind x: hyperparameters, t, and the last `loss_buffers` buffers, which are its state; 0: none.
  std::int64_t numbers;
  std::int64_t first_number;  // the first of these hyperparameters
  std::int64_t loss_buffers;  // of the state of the loss, which gives them anew in each step: the last ones
  const LossLeaf* loss_leaf;
  std::int64_t noted;         // numbers from an update: values of schedules, and logged metrics
  std::int64_t logs_value;    // 1: the last of them is the value of the step and adds no column; else 0
  std::int64_t logs_norm;     // likewise for the norm of its gradient, the last one before the value
  const char* const* start;   // start values of the buffers, nullptr for zeros; nullptr: they come from another run
  const std::int64_t* bytes;  // of each buffer
  std::int64_t history_bytes, keyframe_bytes;  // budgets
  std::int64_t feed_rows;                      // a power of 2; 0: no reader needs every row
  Criteria criteria;
};

/// The columns of a run's record before the extra ones: metrics, the value of the validation, the norm of the full
/// gradient, values of schedules, metrics that the rule logs, and counters. The last ones are totals up to the end of a
/// step.
enum Column : std::int64_t { value_column, gradient_norm, step_norm, first_extra };

inline std::int64_t columns_of(const Plan& plan) {
  const auto counted = std::popcount(static_cast<std::uint64_t>(plan.counters));
  const auto noted = plan.noted - plan.logs_value - plan.logs_norm;
  return first_extra + plan.metrics + (plan.validation != nullptr) + (plan.full != nullptr) + noted + counted;
}

}  // namespace burlab::run
BURLAB_END
