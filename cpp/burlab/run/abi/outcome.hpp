#pragma once
// How a step or a sum ended, and where it failed.
#include <cstdint>

#include "../../abi.hpp"

BURLAB_BEGIN
namespace burlab::run {

/// Which kernel of a loss or of a step failed.
enum class Part : std::int32_t {
  samples = 0,      // of a sample, or of a tile of them
  prepare = 1,      // the part computed once for all tiles
  regularizer = 2,  // the part added once
  update = 3,       // the optimizer's update rule
  chosen = 4,       // no kernel: a query chose a sample that does not exist
  output = 5,       // the optimizer's output point
  entries = 6,      // no kernel: a query chose an entry of the gradient that does not exist
  clients = 7,      // no kernel: a query named a client that does not exist
  within = 8,       // no kernel: a query chose a sample that the client `node` does not hold
  elsewhere = 9,    // no kernel: the executor of the remote clients failed
  sampler = 10,     // the user's function that names the samples of a step
  drawn = 11,       // no kernel: that function named a sample that does not exist
  size = 12,        // the kernel that computes the batch size
  finish = 13,      // the part computed once behind all tiles
  row = 14,         // no kernel: leaf `node` of the state of the loss does not have this row
};

/// The loss that failed: the run's own, its validation's, the full gradient of its stopping criterion, or that of the
/// query with this number.
inline constexpr std::int32_t kRunLoss = -1, kValidation = -2, kFullGradient = -3;

/// Mirrored in Python.
struct Outcome {
  Status status = Ok;
  Part part = Part::samples;
  std::int32_t owner = kRunLoss;  // a query's number, or one of the constants above
  std::int32_t node = 0;          // at fault, in the kernel's graph
  std::int64_t sample = -1;       // at fault; -1 where it was none

  bool ok() const { return status == Ok; }

  /// The outcome of a kernel from its return value.
  static Outcome of(std::int64_t answer, std::int64_t sample, Part part = Part::samples) {
    return {status_of(answer), part, kRunLoss, static_cast<std::int32_t>(node_of(answer)), sample};
  }
  /// The same outcome, attributed to another loss.
  Outcome of_owner(std::int32_t other) const { return {status, part, other, node, sample}; }
};

}  // namespace burlab::run
BURLAB_END
