#pragma once
// A step that touches the entries of one sparse row only, as Python hands it over.
#include <cstdint>

#include "../../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// What the gradient of a sample is corrected by: nothing, or its number in a table and the mean of the table's rows.
/// The table is written by each step, as in SAGA, or anew at a snapshot, as in SVRG. Mirrored in Python.
enum class Correction : std::int64_t { none, table, snapshot };

/// The gradient of sample i is c_i times its row, plus weight x. A step is
///
///   x <- shrink(x - lr ((c_i - table_i) row_i + mean + weight x), lr l1) / (1 + lr l2)
///
/// The kernel of the loss gives the sample's value and c_i. Mirrored in Python.
struct Lazy {
  std::int64_t on;  // 1: there is such a step
  Correction correction;
  std::int64_t refresh;        // steps from one snapshot to the next
  std::int64_t every;          // steps from one settlement to the next: see `LazyStep`
  std::int64_t lr, l1, l2;     // which hyperparameters they are; -1: it is 0
  double weight, constant;     // the regularizer is weight |x|^2 / 2 + constant
  const double* values;        // of all entries of the matrix
  const void* columns;         // of these, ascending in each row
  std::int64_t column_bytes;   // of each, 4 or 8
  std::int64_t entries;        // how many there are
  std::int64_t starts, ends;   // which data arrays hold the first entry of a row, and the one behind its last
  std::int64_t mean, table;    // which buffers of the state they are; 0: there is none
  std::int64_t last, carried;  // likewise: see `Lagging`
};

}  // namespace burlab::run
BURLAB_END
