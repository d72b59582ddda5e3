#pragma once
// Steps of several runs at once, which differ only in their numbers: one kernel, with a lane for each run. The results
// of several steps are stored until each run takes over its own.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../abi/plan.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Python owns what it points to. A row is one number of each run. In: the step; a row for each hyperparameter, and for
/// each number of x and the state. Out: rows for the value, the squares of the norms of gradient and step, metrics,
/// values of schedules and logged metrics; then the new numbers. Mirrored in Python.
struct Lanes {
  static constexpr std::int64_t kWidth = 16;  // numbers of a row
  using Row = Packet<double, kWidth>;

  Kernel kernel;
  std::int64_t hypers, columns, numbers;  // how many rows of each kind
  std::int64_t points, most, done;        // numbers of x that a path holds; steps that fit, and steps done
  const double* hyper;                    // (hypers, kWidth)
  double* taken;                          // (most, columns, kWidth): results of each step
  double* states;                         // (1 + most, numbers, kWidth): before the first of them, and after each
  double* least;   // (1 + columns, kWidth): 0 where all numbers of a run are finite; least of each column
  double* record;  // (kWidth, columns + points, most): the rows to record for each run
  const void** in;
  void** out;
  void* workspace;

  const double* number(std::int64_t step, std::int64_t k) const { return states + (step * numbers + k) * kWidth; }
  const double* recorded(std::int64_t lane, std::int64_t k) const {
    return record + (lane * (columns + points) + k) * most;
  }

  /// Do `count` more steps; the first has this number. False if the kernel failed.
  bool advance(std::int64_t first, std::int64_t count) {
    std::memmove(states, number(done, 0), sizeof(double) * static_cast<std::size_t>(numbers * kWidth));
    for (std::int64_t k = 0; k < hypers; ++k) in[1 + k] = hyper + k * kWidth;
    begin();
    for (std::int64_t step = first; done < count; ++step, ++done) {
      double *const rows = taken + done * columns * kWidth, *const state = states + done * numbers * kWidth;
      in[0] = &step;
      for (std::int64_t k = 0; k < numbers; ++k) in[1 + hypers + k] = state + k * kWidth;
      for (std::int64_t k = 0; k < columns; ++k) out[k] = rows + k * kWidth;
      for (std::int64_t k = 0; k < numbers; ++k) out[columns + k] = state + (numbers + k) * kWidth;
      if (kernel.function(kernel.context, in, out, workspace) != Ok) return false;
      describe(rows);
    }
    check(number(done, 0));
    for (std::int64_t k = 0; k < columns; ++k) transpose(taken + k * kWidth, columns * kWidth, k);
    for (std::int64_t k = 0; k < points; ++k) transpose(states + k * kWidth, numbers * kWidth, columns + k);
    return true;
  }

 private:
  void begin() {
    done = 0;
    std::fill_n(least, kWidth, 0.0);
    std::fill_n(least + kWidth, columns * kWidth, std::numeric_limits<double>::infinity());
  }

  /// Convert rows of a step to those of the record, as `FusedStep::describe` does, and update the least values.
  void describe(double* rows) {
    Row sum, low, row;
    load(sum, least);
    for (const std::int64_t k : {gradient_norm, step_norm}) {  // inf or nan where squares do not hold a norm
      load(row, rows + k * kWidth);
      sum += row - row;
      roots(rows + k * kWidth);
    }
    for (std::int64_t k = 0; k < columns; ++k) {
      load(row, rows + k * kWidth);
      load(low, least + (1 + k) * kWidth);
      store(least + (1 + k) * kWidth, row < low ? row : low);
      if (k <= gradient_norm) sum += row - row;
    }
    store(least, sum);
  }
  void check(const double* state) {
    Row sum, row;
    load(sum, least);
    for (std::int64_t k = 0; k < numbers; ++k) {
      load(row, state + k * kWidth);
      sum += row - row;
    }
    store(least, sum);
  }
  static void roots(double* row) {
    BURLAB_UNROLL
    for (std::int64_t lane = 0; lane < kWidth; ++lane) row[lane] = burlab_sqrt(row[lane]);
  }

  /// Write the numbers of one run next to each other. rows: of the steps, `stride` numbers apart.
  void transpose(const double* rows, std::int64_t stride, std::int64_t k) {
    for (std::int64_t step = 0; step < done; step += 8)
      for (std::int64_t lane = 0; lane < kWidth; ++lane) {
        double* const to = record + (lane * (columns + points) + k) * most + step;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(8, done - step); ++i)
          to[i] = rows[(step + i) * stride + lane];
      }
  }
};

}  // namespace burlab::run
BURLAB_END
